#!/usr/bin/env bash
# Writes the hashed locks anew: requirements/lock.sh [--upgrade]. No lock names an index, so that it holds with any.
set -euo pipefail
cd "$(dirname "$0")"
compile() {
    uv pip compile --quiet --generate-hashes --python-version 3.11 --custom-compile-command requirements/lock.sh \
        --no-emit-index-url --no-emit-find-links "$@"
}
compile "$@" base.in -o base.txt
compile "$@" -c base.txt score.in -o score.txt
compile "$@" -c base.txt -c score.txt dev.in -o dev.txt
compile "$@" --no-deps encoder.in -o encoder.txt
for models in models models-tf5; do
    compile "$@" -c torch.txt -c score.txt --unsafe-package torch --no-emit-package torch "$models.in" -o "$models.txt"
done
