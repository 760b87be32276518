#!/usr/bin/env bash
# Install Chromium and its driver from the packages of Debian or Ubuntu, for the tests of this folder.
set -euo pipefail
packages=(chromium chromium-driver)
if command -v chromium >/dev/null && command -v chromedriver >/dev/null; then exit 0; fi
[ "$(id -u)" = 0 ] || { echo "installing ${packages[*]} needs root" >&2; exit 1; }
command -v apt-get >/dev/null || { echo "there is no apt-get" >&2; exit 1; }
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends "${packages[@]}" >/dev/null
