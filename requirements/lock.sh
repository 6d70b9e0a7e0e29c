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
compile "$@" --no-deps encoder.in -o encoder.txt
models() { compile -c torch.txt --unsafe-package torch --no-emit-package torch "$@"; }
models "$@" -c score.txt models.in -o models.txt
compile "$@" -c score.txt -c models.txt metrics.in -o metrics.txt
models "$@" -c metrics.txt models-tf5.in -o models-tf5.txt
compile "$@" -c base.txt -c models.txt report.in -o report.txt
compile "$@" -c base.txt cluster.in -o cluster.txt
compile "$@" -c base.txt -c metrics.txt -c report.txt -c cluster.txt dev.in -o dev.txt
compile "$@" -c base.txt -c dev.txt docs.in -o docs.txt
compile "$@" platform.in -o platform.txt  # of its own: older versions than the others
