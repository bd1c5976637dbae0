# SPDX-License-Identifier: GPL-3.0-or-later
"""The installed core is usable outside of the tree: through pkg-config, through CMake, and by the programs of
core/examples, several of which share a file while one is killed.
"""
import os
import pathlib
import re
import signal
import sqlite3
import subprocess
import sys
import time

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "core" / "examples"
PROJECT = """cmake_minimum_required(VERSION 3.25)
project(outside C)
find_package(bucketing 1.0 REQUIRED)
foreach(library bucketing bucketing_static)
  add_executable(by_${library} main.c)
  target_link_libraries(by_${library} bucketing::${library})
endforeach()
"""
MAIN = """#include <bucketing/bucketing.h>
#include <stdio.h>
int main(void)
{
    int number = BK_VERSION_NUMBER;
    return printf("%s %d.%d.%d", bk_version(), number / 10000, number / 100 % 100, number % 100) < 0;
}
"""


def check(is_fine, otherwise):
    if not is_fine:
        sys.exit(otherwise)


class Embed:
    """An installation in a prefix, used from a folder."""

    def __init__(self, prefix, folder):
        self.prefix, self.folder = pathlib.Path(prefix), pathlib.Path(folder)
        self.folder.mkdir()
        self.package = next(self.prefix.rglob("bucketing.pc")).parent
        self.environment = {**os.environ, "LD_LIBRARY_PATH": str(self.package.parent)}

    def call(self, *command):
        done = subprocess.run([str(word) for word in command], cwd=self.folder, env=self.environment, text=True,
                              capture_output=True, check=False)
        check(done.returncode == 0, f"{command} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        return done.stdout

    def shows_its_functions_alone(self):
        declared = set()
        for header in (self.prefix / "include" / "bucketing").glob("*.h"):
            code = re.sub(r"/\*.*?\*/", "", header.read_text(encoding="utf-8"), flags=re.S)
            declared |= set(re.findall(r"\b(bk_\w+)\(", code))
        shown = {line.split()[-1] for library in self.package.parent.glob("libbucketing*.so")
                 for line in self.call("nm", "-D", "--defined-only", library).splitlines()}
        check(shown == declared, f"the shared library's functions and the headers' differ: {shown ^ declared}")

    def builds(self, pkg_config):
        for example in sorted(EXAMPLES.glob("*.c")):
            self.call("cc", "-Wall", "-Wextra", "-Werror", example, *pkg_config, "-o", example.stem)
        (self.folder / "CMakeLists.txt").write_text(PROJECT, encoding="utf-8")
        (self.folder / "main.c").write_text(MAIN, encoding="utf-8")
        self.call("cmake", "-S", ".", "-B", "build", f"-DCMAKE_PREFIX_PATH={self.prefix}")
        self.call("cmake", "--build", "build")
        for program in "bucketing", "bucketing_static":
            check(self.call(f"build/by_{program}").split() == [self.version] * 2, f"by_{program} tells another version")

    def route(self):
        done = subprocess.run([self.folder / "route"], input="room-7\n" * 200000, env=self.environment, text=True,
                              capture_output=True, check=True)
        buckets = [int(line.split(",")[0]) for line in done.stdout.splitlines()]
        # 40 rows of one in 512 each: a bucket's size has a CV of 1 / sqrt(40).
        check(len(buckets) == 200000 and buckets == sorted(buckets) and 6 <= buckets[-1] <= 14,
              f"200,000 rows end in bucket {buckets[-1]}")

    def route_as_emitted(self):
        """Routes by a setting as `tune --emit` writes it; a truncated one is refused with its line."""
        text = ("bucketing-setting 1\n# by bucketlab\nscenario_digest = 0000000000000001\nkind = count\nrows = 300\n"
                "counter = external\nend\n")
        (self.folder / "setting.bk").write_text(text, encoding="ascii")
        command = [self.folder / "route", "setting.bk"]
        done = subprocess.run(command, input="a\n" * 1000, env=self.environment, cwd=self.folder, text=True,
                              capture_output=True, check=True)
        check(done.stdout == "".join(f"{row // 300},a\n" for row in range(1000)), "300 rows are not a bucket of 300")
        (self.folder / "setting.bk").write_text(text[:-4], encoding="ascii")
        done = subprocess.run(command, input="a\n", env=self.environment, cwd=self.folder, text=True,
                              capture_output=True, check=False)
        check(done.returncode == 1 and done.stdout == "" and done.stderr.startswith("setting.bk:6: "),
              f"a setting that was cut off is taken: {done.stdout}{done.stderr}")

    def service(self):
        # While another program writes the new file, SQLite refuses to switch it to WAL, and does not wait.
        other = sqlite3.connect(self.folder / "chat.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        # The first one, which would never end, is killed when a bucket has become full.
        writers = [subprocess.Popen([self.folder / "service", "chat.db", str(number), "room-7", "write", rows],
                                    cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, text=True)
                   for number, rows in ((1, "1000000000"), (2, "2000"), (3, "2000"))]
        time.sleep(0.3)  # the longer, the surer is this test to see a writer that gives up; others only wait
        check([writer.poll() for writer in writers] == [None] * 3, "a writer gave up a file in use")
        other.close()
        rows = []
        while len(rows) < 500 or int(rows[-1].split()[0]) < 1:
            rows.append(writers[0].stdout.readline())
        writers[0].send_signal(signal.SIGKILL)
        again = subprocess.Popen([self.folder / "service", "chat.db", "1", "room-7", "write", "2000"],
                                 cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, text=True)
        for writer in (*writers, again):
            rows += [line for line in writer.communicate()[0].splitlines(True) if line.endswith("\n")]
        check([writer.returncode for writer in (*writers, again)] == [-signal.SIGKILL, 0, 0, 0], "a writer failed")
        with sqlite3.connect(self.folder / "chat.db") as file:
            stored = [(bucket, f"{number & (1 << 64) - 1:016x}") for bucket, number in
                      file.execute("SELECT bucket, id FROM rows ORDER BY time DESC")]
        told = {(int(row.split()[0]), row.split()[1]) for row in rows}
        check(told <= set(stored) and 6500 <= len(told), f"of {len(told)} rows that were acknowledged, some are gone")
        check(len(stored) - len(told) <= 1, "more rows are stored than one beyond what was acknowledged")
        check(max(bucket for bucket, _ in stored) >= 1, "no bucket was ever full")
        found = [line.split()[1] for line in self.call("./service", "chat.db", 4, "room-7", "read", 30).splitlines()]
        check(found == [number for _, number in stored[:30]], "a read does not find the newest rows")

    def idgen(self):
        takers = [subprocess.Popen([self.folder / "idgen", "ids.db", str(number), "600"], cwd=self.folder,
                                   env=self.environment, stdout=subprocess.PIPE, text=True) for number in (1, 2)]
        taken = [int(line) for taker in takers for line in taker.communicate()[0].splitlines()]
        check(len(taken) == 1200 and len(set(taken)) == 1200, "an identifier is missing, or was given twice")
        with sqlite3.connect(self.folder / "ids.db") as file:
            check(file.execute("SELECT v0 FROM locks").fetchall() == [(0,)], "the lock was not released")

    def judge(self):
        self.environment["PKG_CONFIG_PATH"] = str(self.package)
        self.version = self.call("pkg-config", "--modversion", "bucketing").strip()
        self.shows_its_functions_alone()
        self.builds(self.call("pkg-config", "--cflags", "--libs", "bucketing_idgen", "sqlite3").split())
        self.route()
        self.route_as_emitted()
        self.service()
        self.idgen()
