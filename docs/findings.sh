#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Regenerates the figures of docs/findings.md: tables, docs/findings/*.csv and docs/images/findings-*.png. This takes
# about 15 minutes of one processor. Usage: docs/findings.sh [OPTIONS] [BUCKETLAB]      (build/release/bucketlab when
# left out; --help tells the options)
set -euo pipefail
exec python3 -B "$(dirname "$0")/findings.py" "$@"
