#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# From a checkout to a comparison and its charts: installs what is missing, builds, runs one scenario.
set -euo pipefail
cd "$(dirname "$0")"

./setup.sh build
log=$(mktemp)
trap 'rm -f "$log"' EXIT
echo "Building build/release/bucketlab"
# Tests are off, because they need further packages.
if ! { cmake --preset release -DBUCKETLAB_TESTS=OFF && cmake --build --preset release --target bucketlab; } \
    >"$log" 2>&1; then
    cat "$log" >&2
    echo "demo.sh: the build failed; its messages are above" >&2
    exit 1
fi
mkdir -p bucketlab-out
exec build/release/bucketlab run scenarios/chat-channels.yaml --db bucketlab-out/demo.db --out bucketlab-out
