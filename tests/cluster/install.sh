#!/usr/bin/env bash
# Install Slurm from the packages of Debian or Ubuntu, for the tests of this folder. Starts no daemon.
set -euo pipefail
packages=(munge slurm-client slurmctld slurmd)
missing=
for program in munged slurmctld slurmd squeue; do command -v $program >/dev/null || missing=yes; done
[ -n "$missing" ] || exit 0
[ "$(id -u)" = 0 ] || { echo "installing ${packages[*]} needs root" >&2; exit 1; }
command -v apt-get >/dev/null || { echo "there is no apt-get" >&2; exit 1; }
# packages would start their daemons; a file of this name forbids it
policy=/usr/sbin/policy-rc.d
if [ ! -e $policy ]; then
  printf '#!/bin/sh\nexit 101\n' >$policy
  chmod 755 $policy
  trap 'rm -f $policy' EXIT
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends "${packages[@]}" >/dev/null
