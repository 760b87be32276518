#!/usr/bin/env bash
# Install Snakemake's plug-ins for S3 and Kubernetes, and a server for S3, into build/storage, for the tests of this folder.
# It looks into .venv for all else. Starts nothing.
set -euo pipefail
cd "$(dirname "$0")/../.."
[ -e build/storage/installed ] && exit 0
.venv/bin/python -m venv build/storage
packages=$(build/storage/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))' >"$packages/fathom-requirements.pth"
pip=(build/storage/bin/python -m pip --quiet --disable-pip-version-check)
"${pip[@]}" install --constraint requirements.lock --requirement container/cloud.lock 'moto[server]==5.2.5'
# what each job installs, as the executor has it
"${pip[@]}" download --no-deps --dest build/storage/wheels --constraint container/cloud.lock snakemake-storage-plugin-s3
touch build/storage/installed
