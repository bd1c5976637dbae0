#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Downloads the libraries that the simulator needs, of another architecture, into a separate folder, without
# changing the system.
#   libraries.sh ARCHITECTURE FOLDER      arm64, s390x, ... as dpkg names it; FOLDER then has usr/include and usr/lib
# The packages come from the system's own sources, through apt with lists and a cache inside the folder: about
# 9 MB.
set -euo pipefail

architecture=$1 folder=$2
names=(libfyaml-dev libjansson-dev zlib1g-dev libzstd-dev libbz2-dev liblzma-dev liblz4-dev)
compgen -G "$folder/usr/lib/*/pkgconfig/liblzma.pc" >/dev/null && exit 0
if ! command -v apt-get >/dev/null || ! command -v dpkg-deb >/dev/null; then
    echo "libraries.sh: no apt on this system; put ${names[*]} for $architecture into $folder" >&2
    exit 3
fi
work=$folder.part
rm -rf "$work"
mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/packages" "$work/tree"
: >"$work/status"
work=$(cd "$work" && pwd)
apt=(apt-get -q -o "APT::Architecture=$architecture" -o "APT::Architectures::=$architecture" -o APT::Sandbox::User=
     -o "Dir::State::Lists=$work/lists" -o "Dir::State::status=$work/status" -o "Dir::Cache=$work/cache"
     -o Acquire::Languages=none -o Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false)
# A source may lack this architecture without being needed, so only the download decides.
if ! (cd "$work/packages" && { "${apt[@]}" update || true; "${apt[@]}" download "${names[@]}"; }) \
        >"$work/log" 2>&1; then
    tail -n 5 "$work/log" >&2
    echo "libraries.sh: apt lacks one of ${names[*]} for $architecture; fix the error above" >&2
    exit 3
fi
for package in "$work"/packages/*.deb; do
    dpkg-deb -x "$package" "$work/tree"
done
rm -rf "$folder"
mv "$work/tree" "$folder"
rm -rf "$work"
