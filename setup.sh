#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Installs by apt what bucketlab needs and the machine lacks; says nothing when all is there.
#   ./setup.sh [build] [test] [mpi] [machines] [fuzz] [packages]     no word: build and test
# mpi: for runs over several processes (docs/mpi.md); `test` has it too.
# packages: what cpack makes Debian packages with.
# machines: compilers and emulators for arm64 and s390x (docs/determinism.md), of which little is wanted every day.
set -euo pipefail

build=(gcc libc6-dev cmake ninja-build pkg-config zlib1g-dev libzstd-dev libgsl-dev libsqlite3-dev libcairo2-dev libpango1.0-dev
       libfyaml-dev libjansson-dev liblz4-dev libxml2-dev fonts-dejavu-core)
# clang-format stays at one version, as each formats a little differently.
test=(libcmocka-dev clang libclang-rt-dev lld clang-format-14 cppcheck git patch python3 poppler-utils librsvg2-bin sqlite3 libxml2-utils
      python3-yaml mandoc zsh fish gcovr valgrind abigail-tools debootstrap lintian python3-prometheus-client)
fuzz=(clang libclang-rt-dev)
packages=(dpkg-dev file gzip)
mpi=(libopenmpi-dev openmpi-bin)
test+=("${mpi[@]}" iproute2)
# Ubuntu has Chromium as a snap alone; there the tests of the page are skipped.
if [[ $(. /etc/os-release 2>/dev/null && echo "${ID:-}") == debian ]]; then
    test+=(chromium chromium-driver)
fi
machines=(cmake ninja-build pkg-config clang gcc-aarch64-linux-gnu gcc-s390x-linux-gnu libc6-dev-arm64-cross
          libc6-dev-s390x-cross qemu-user util-linux)

wanted=() foreign=()
for group in "${@:-all}"; do
    case $group in
    build) wanted+=("${build[@]}") ;;
    test) wanted+=("${test[@]}") ;;
    mpi) wanted+=("${mpi[@]}") ;;
    packages) wanted+=("${packages[@]}") ;;
    machines) wanted+=("${machines[@]}") foreign=(arm64 s390x) ;;
    fuzz) wanted+=("${fuzz[@]}") ;;
    all) wanted+=("${build[@]}" "${test[@]}") ;;
    *)
        echo "setup.sh: unknown group '$group'; use 'build', 'test', 'mpi', 'machines', 'fuzz' or 'packages'" >&2
        exit 2
        ;;
    esac
done

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    echo "setup.sh: no apt on this system; install by hand what is missing of: ${wanted[*]}" >&2
    exit 0
fi

here=$(dirname "$0")
for architecture in "${foreign[@]}"; do
    "$here/tests/golden/libraries.sh" "$architecture" "$here/build/machines/$architecture" || exit 3
done

# dpkg-query fails for names that it has never heard of, and lists the others.
present=" $(dpkg-query -W -f '${db:Status-Status}=${Package} ' "${wanted[@]}" 2>/dev/null || true)"
missing=()
for package in "${wanted[@]}"; do
    [[ $present == *" installed=$package "* ]] || missing+=("$package")
done
if ((${#missing[@]} == 0)); then
    exit 0
fi

as_root=(env)
if ((EUID != 0)); then
    if ! command -v sudo >/dev/null; then
        echo "setup.sh: neither root nor sudo; have root run: apt-get install ${missing[*]}" >&2
        exit 3
    fi
    as_root=(sudo env)
fi
echo "Installing by apt: ${missing[*]}"
apt=("${as_root[@]}" DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=120)
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# A source that cannot be reached need not be the one that is wanted, so that only the installation decides.
if ! { "${apt[@]}" update || true; "${apt[@]}" install --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    echo "setup.sh: apt failed; mend what it says above, or install by hand: ${missing[*]}" >&2
    exit 3
fi
