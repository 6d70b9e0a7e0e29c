#!/usr/bin/env bash
# Writes the lock of the CUDA image's torch anew, and torch's own hashes into requirements/torch.txt:
# docker/lock.sh [--upgrade]. Only metadata is read, no wheel is fetched. The version stands in requirements/torch.txt; what
# torch shares with the other packages is held to requirements/models.txt. The hash of the CPU build in
# requirements.cpu.txt comes from PyTorch's own index, by hand.
set -euo pipefail
cd "$(dirname "$0")/../requirements"
lock=../docker/requirements.cuda.txt
env -u UV_FIND_LINKS uv pip compile --quiet --generate-hashes --python-version 3.11 --python-platform x86_64-manylinux_2_28 \
  --custom-compile-command docker/lock.sh --no-emit-index-url --no-emit-find-links \
  "$@" -c models.txt torch.txt -o "$lock"
{ grep '^#' torch.txt; sed -n '/^torch==/,/^    #/{/^    #/!p}' "$lock"; } > torch.txt.new
mv torch.txt.new torch.txt
