#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Regenerates the generated parts of the documents: the charts in docs/images, the output between the markers in
# README.md, the claims in docs/findings.md, and the outputs in docs/tutorial.md. Usage: docs/make.sh [BUCKETLAB]
# (default: build/release/bucketlab)
set -euo pipefail
cd "$(dirname "$0")/.."
bucketlab=$(realpath "${1:-build/release/bucketlab}")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$bucketlab" run scenarios/chat-channels.yaml --quiet --db "$folder/make.db" --out "$folder" >"$folder/run.txt"
"$bucketlab" run scenarios/three-state.yaml --quiet --db "$folder/make.db" --out "$folder" >/dev/null
cp "$folder"/chat-channels-{summary,partitions-rows,partitions-bytes,survival-rows,costs}.png "$folder/three-state-bucket-changes.png" \
    docs/images/
python3 -B docs/charts.py "$bucketlab"
python3 -B docs/costs.py --write docs/strategies.md "$bucketlab"
python3 -B docs/facts.py "$bucketlab"
python3 -B docs/proof.py "$bucketlab"
python3 -B docs/tutorial.py "$bucketlab"

python3 - "$folder/run.txt" <<'PYTHON'
import re
import sys

text = open(sys.argv[1], encoding="utf-8").read()
# The duration and the output folder differ from run to run.
table = text.split("\ncharts")[0].rstrip()
readme = open("README.md", encoding="utf-8").read()
block = f"<!-- run -->\n```\n$ bucketlab run scenarios/chat-channels.yaml\n{table}\n```\n<!-- /run -->"
readme = re.sub(r"<!-- run -->.*<!-- /run -->", lambda _: block, readme, flags=re.S)
open("README.md", "w", encoding="utf-8").write(readme)
PYTHON
