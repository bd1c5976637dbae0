# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: the Dockerfile's steps work, the Debian packages that they make can be installed and removed without a
trace, and the README's commands for an author of a service do what they say. Method: no Docker engine is
needed. debootstrap makes a bare Debian 12 in a folder, each stage of the Dockerfile is a copy of it, and a
shell in separate namespaces runs each RUN line there. The argument is a folder to work in, which is empty
afterwards; `--base DIR` uses an existing bare system instead of debootstrap. Needs root, debootstrap, lintian
and a mirror of Debian.
"""

import glob
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import sources

RELEASE = "bookworm"
MIRROR = "http://deb.debian.org/debian"
INSTALL = "DEBIAN_FRONTEND=noninteractive apt-get -q -y install --no-install-recommends "
# Tags about fields that a distributor sets; and CPack calls ldconfig in scripts in addition to the trigger.
LINTIAN = "bogus-mail-host,bogus-mail-host-in-debian-changelog,initial-upload-closes-no-bugs,maintscript-calls-ldconfig"
NAMES = ("libbucketing1", "libbucketing-dev", "bucketlab")


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def check(is_fine, otherwise):
    if not is_fine:
        sys.exit(otherwise)


def call(*command, **options):
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **options
    )
    check(done.returncode == 0, f"{command} ended with {done.returncode}:\n{done.stdout[-6000:]}")
    return done.stdout


class System:
    """A Debian in a folder: a copy of the bare one."""

    def __init__(self, base, folder):
        self.root, self.place = pathlib.Path(folder), "/"
        call("cp", "-a", str(base), str(folder))

    def inside(self, path):
        return self.root / os.path.join(self.place, path).lstrip("/")

    def run(self, line):
        print(f"  {line}", flush=True)
        home = {
            "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "HOME": "/root",
            "LC_ALL": "C.UTF-8",
        }
        return call(
            "unshare",
            "--mount",
            "--pid",
            "--fork",
            f"--root={self.root}",
            f"--wd={self.place}",
            "--mount-proc",
            "/bin/sh",
            "-c",
            line,
            env=home,
            stdin=subprocess.DEVNULL,
        )

    def take(self, files, to):
        """Copies files there as COPY does: a folder's contents, or files into a folder."""
        target = self.inside(to)
        for file in map(str, files):
            if os.path.isdir(file):
                shutil.copytree(file, target, dirs_exist_ok=True, symlinks=True)
            else:
                target.mkdir(parents=True, exist_ok=True)
                shutil.copy2(file, target)

    def files(self):
        """All files, except for the package managers' own records."""
        left = (
            "./proc/",
            "./sys/",
            "./dev/",
            "./tmp/",
            "./var/cache/",
            "./var/log/",
            "./var/lib/apt/",
            "./var/lib/dpkg/",
        )
        found = call("find", ".", "-not", "-type", "d", cwd=self.root).splitlines()
        return {name for name in found if not name.startswith(left)}


def tree(folder):
    """The repository's own files, as `COPY . .` sees them through .dockerignore."""
    copy = pathlib.Path(folder) / "tree"
    for name in call("git", "ls-files", "-co", "--exclude-standard", cwd=sources.ROOT).splitlines():
        if (sources.ROOT / name).exists():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(sources.ROOT / name, copy / name)
    return copy


def build_image(base, folder):
    """The Dockerfile's stages by name, the last one as "", and the words of its ENTRYPOINT."""
    stages, entry, now = {}, None, None
    text = re.sub(r"\\\n\s*", " ", (sources.ROOT / "Dockerfile").read_text(encoding="utf-8"))
    for line in text.splitlines():
        word, _, rest = line.partition(" ")
        if word == "FROM":
            image, _, name = rest.partition(" AS ")
            check(re.fullmatch(r"debian:12(-slim)?", image), f"FROM {image}: the test has no such system")
            now = stages[name] = System(base, os.path.join(folder, f"stage-{name or 'last'}"))
            print(line)
        elif word == "WORKDIR":
            now.place = rest
            now.inside(".").mkdir(parents=True, exist_ok=True)
        elif word == "COPY":
            origin, paths, to = re.fullmatch(r"(?:--from=(\w+) )?(\S+) (\S+)", rest).groups()
            now.take(glob.glob(f"{stages[origin].root}{paths}") if origin else [tree(folder) / paths], to)
        elif word == "RUN":
            now.run(rest)
        elif word == "ENTRYPOINT":
            entry = json.loads(rest)
        else:
            check(word in ("", "#"), f"{line}: the test does not know this instruction")
    return stages, entry


def inspect(packages):
    """Checks lintian's report, and that no part of the library's packages is under the GPL."""
    print("lintian")
    call(
        "lintian",
        "--allow-root",
        "--fail-on",
        "error,warning",
        "--suppress-tags",
        LINTIAN,
        *packages.values(),
    )
    for name in NAMES[:2]:
        with tempfile.TemporaryDirectory() as folder:
            call("dpkg-deb", "-x", packages[name], folder)
            for path in pathlib.Path(folder).rglob("*"):
                check(
                    path.is_symlink()
                    or path.is_dir()
                    or not re.search(rb"GPL|GNU General Public", path.read_bytes()),
                    f"{name}: {path} speaks of the GPL",
                )
            check(
                "License: Expat" in (pathlib.Path(folder) / f"usr/share/doc/{name}/copyright").read_text(),
                f"{name}: no licence",
            )
    wanted = {
        "libbucketing1": ["libc6"],
        "libbucketing-dev": ["libbucketing1 (= "],
        "bucketlab": [
            "libgsl27",
            "libcairo2",
            "libpng16-16",
            "libfyaml0",
            "libsqlite3-0",
            "libjansson4",
            "libxml2",
            "libzstd1",
            "liblz4-1",
            "libbz2-1.0",
            "liblzma5",
        ],
    }
    for name, parts in wanted.items():
        depends = call("dpkg-deb", "-f", packages[name], "Depends")
        check(all(part in depends for part in parts), f"{name} depends on {depends}")
    check(
        "libbucketing" not in call("dpkg-deb", "-f", packages["bucketlab"], "Depends"),
        "the program links the library statically",
    )


def install_and_remove(base, folder, packages):
    print("install and remove")
    system = System(base, os.path.join(folder, "clean"))
    system.take(packages.values(), "/packages")
    system.run(f"apt-get -q update && {INSTALL} /packages/*.deb")
    # Their dependencies stay; the packages are removed, installed and removed again.
    system.run(f"dpkg --purge {' '.join(NAMES)}")
    before = system.files()
    system.run("dpkg -i /packages/*.deb")
    there = system.files()
    owned = {f".{name}" for name in system.run(f"dpkg -L {' '.join(NAMES)}").splitlines()}
    check(
        there - before == {name for name in owned if name in there} != set(),
        "what is there is not what the packages own",
    )
    check("libbucketing.so.1" in system.run("ldconfig -p"), "the loader does not know the library")
    check("bucketlab 0" in system.run("bucketlab --version"), "the program does not run")
    for name in (
        "man/man1/bucketlab.1.gz",
        "bash-completion/completions/bucketlab",
        "zsh/site-functions/_bucketlab",
        "fish/vendor_completions.d/bucketlab.fish",
        "doc/bucketlab/copyright",
    ):
        check(f"./usr/share/{name}" in there, f"{name} is not in the packages")
    system.run(f"dpkg --purge {' '.join(NAMES)}")
    check(system.files() == before, f"left behind: {system.files() ^ before}")


def follow_readme(base, folder, packages):
    """The README's commands for an author of a service, verbatim; then the same with the packages instead of
    the source."""
    print("README")
    text = (sources.ROOT / "README.md").read_text(encoding="utf-8")
    install, compile_it = re.search(r"```\n(cmake -S core .*)\n(cc core/\S+ .*)\n```", text).groups()
    system = System(base, os.path.join(folder, "service"))
    for part in "core", "cmake":
        system.take([sources.ROOT / part], f"/source/{part}")
    system.place = "/source"
    system.run(f"apt-get -q update && {INSTALL} gcc libc6-dev cmake make pkg-config sudo libsqlite3-dev")
    system.run(install)
    system.run(compile_it)
    linked = system.run("ldd ./route")
    check("/usr/local/lib/libbucketing.so.1" in linked, f"route is linked with {linked}")
    check(system.run("yes room | head -n 3 | ./route").count("\n") == 3, "route does not answer each row")
    system.run("rm -rf /usr/local/lib /usr/local/include route && ldconfig")
    system.take([packages[name] for name in NAMES[:2]], "/packages")
    system.run(f"{INSTALL} /packages/*.deb")
    system.run(compile_it)
    linked = system.run("ldd ./route")
    check("libbucketing.so.1 => /" in linked and "/usr/local" not in linked, f"route is linked with {linked}")
    check(system.run("yes room | head -n 3 | ./route").count("\n") == 3, "route does not answer each row")
    system.run("cc core/examples/service.c -o service $(pkg-config --cflags --libs bucketing sqlite3)")
    check(
        system.run("./service chat.db 1 room-7 write 20").count("\n") == 20,
        "service does not acknowledge each row",
    )


def main():
    base = sys.argv[sys.argv.index("--base") + 1] if "--base" in sys.argv else None
    if os.geteuid() != 0:
        skip("a system in a folder needs root")
    for tool in ("unshare", "lintian", *([] if base else ["debootstrap"])):
        if shutil.which(tool) is None:
            skip(f"no {tool}; ./setup.sh test installs it")
    if (
        subprocess.run(
            ["unshare", "--mount", "--pid", "--fork", "true"], check=False, capture_output=True
        ).returncode
        != 0
    ):
        skip("no namespaces here")
    with tempfile.TemporaryDirectory(prefix="bucketlab-packages-", dir=sys.argv[1]) as folder:
        if base is None:
            base = os.path.join(folder, "base")
            made = subprocess.run(
                ["debootstrap", "--variant=minbase", RELEASE, base, MIRROR],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
            )
            if made.returncode != 0:
                skip(f"debootstrap made no Debian: {made.stdout.strip().splitlines()[-1]}")
        stages, entry = build_image(base, folder)
        last = stages[""]
        last.take([sources.ROOT / "scenarios" / "small-trace.yaml"], "/work")
        last.take([sources.ROOT / "scenarios" / "traces"], "/work/traces")
        check(
            "small-trace" in last.run(f"{' '.join(entry)} run small-trace.yaml"),
            "the image does not run a scenario",
        )
        found = glob.glob(f"{stages['build'].root}/source/build/packages/*.deb")
        packages = {os.path.basename(path).partition("_")[0]: path for path in found}
        check(set(packages) == set(NAMES), f"cpack made {sorted(packages)}")
        inspect(packages)
        install_and_remove(base, folder, packages)
        follow_readme(base, folder, packages)
    print("Dockerfile, packages and README's commands in a bare Debian")


main()
