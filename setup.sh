#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Installs missing packages that bucketlab needs, by apt. Prints nothing if all are installed.
#   ./setup.sh [build] [test] [mpi] [machines] [fuzz] [packages]     default: build and test
# mpi: for runs over several processes (docs/sweep.md); `test` includes it. packages: the tools with which cpack makes
# Debian packages. machines: compilers and emulators for arm64 and s390x (docs/determinism.md), which few developers
# need.
set -euo pipefail

build=(gcc libc6-dev cmake ninja-build pkg-config zlib1g-dev libzstd-dev libbz2-dev liblzma-dev libgsl-dev
       libsqlite3-dev libcairo2-dev libpango1.0-dev libpng-dev libfyaml-dev libjansson-dev liblz4-dev libxml2-dev fonts-dejavu-core)
# clang-format has a fixed version, because versions format slightly differently.
test=(libcmocka-dev clang libclang-rt-dev lld tcc clang-format-14 cppcheck git patch python3 poppler-utils librsvg2-bin sqlite3 libxml2-utils
      python3-yaml mandoc zsh fish gcovr valgrind abigail-tools debootstrap lintian python3-prometheus-client)
fuzz=(clang libclang-rt-dev)
packages=(dpkg-dev file gzip)
mpi=(libopenmpi-dev openmpi-bin)
test+=("${mpi[@]}" iproute2)
# Ubuntu has Chromium only as a snap, so the tests of the page are skipped there.
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
    echo "setup.sh: no apt on this system; install these packages by hand if they are missing: ${wanted[*]}" >&2
    exit 0
fi

here=$(dirname "$0")
for architecture in "${foreign[@]}"; do
    "$here/tests/golden/libraries.sh" "$architecture" "$here/build/machines/$architecture" || exit 3
done

# dpkg-query fails for unknown names, but lists the others.
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
        echo "setup.sh: not root, and no sudo; as root, run: apt-get install ${missing[*]}" >&2
        exit 3
    fi
    as_root=(sudo env)
fi
echo "Installing by apt: ${missing[*]}"
apt=("${as_root[@]}" DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=120)
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# A source that cannot be reached may not be needed, so only the result of the installation decides.
if ! { "${apt[@]}" update || true; "${apt[@]}" install --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    echo "setup.sh: apt failed; fix the error above, or install by hand: ${missing[*]}" >&2
    exit 3
fi
