#!/usr/bin/env bash
# Build llama.cpp's server into build/llama, for the tests of this folder, from the source that llama-cpp-python
# brings along on PyPI. Takes cmake, a C++ compiler and some 25 minutes of a core. Starts nothing.
set -euo pipefail
cd "$(dirname "$0")/../.."
version=0.3.36
[ -x build/llama/bin/llama-server ] && exit 0
mkdir -p build/llama/source
if [ ! -d build/llama/source/vendor ]; then
  "${PYTHON:-python3}" -m venv build/llama/venv # so that what the source needs is not installed elsewhere
  build/llama/venv/bin/python -m pip download --quiet --disable-pip-version-check --no-deps --no-binary :all: \
    --dest build/llama "llama-cpp-python==$version"
  tar -xzf "build/llama/llama_cpp_python-$version.tar.gz" -C build/llama/source --strip-components 1
fi
cmake -S build/llama/source/vendor/llama.cpp -B build/llama -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF \
  -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_UI=OFF -DLLAMA_USE_PREBUILT_UI=OFF \
  -DLLAMA_OPENSSL=OFF -DGGML_NATIVE=OFF
cmake --build build/llama --target llama-server --parallel "${CORES:-2}"
