# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the program in a fresh folder. A test script is given the program's path as its first argument."""
import contextlib
import json
import os
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))  # share.py

# A shell makes background processes ignore these signals, and the program would inherit that.
for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
    signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)

PROGRAM = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else ""
SOURCE = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))

SMALL = """\
name: small
seed: 7
duration: 2d
keys: {count: 20, popularity: uniform}
arrivals: {rate: 0.5/s}
row: {bytes: 100, cells: 3}
reads: {latest: {rows: 10, rate: 0.01/s}}
limits: {partition_rows: 3000, tiny_rows: 24}
strategies:
  - unbucketed: {}
  - time: {window: 6h}
  - count: {rows: 1000, counter: external}
  - probabilistic: {bits: 4, threshold: 40}
  - hash: {buckets: 4}
"""


def without_progress(err):
    """The text without the progress lines that a command prints after 10 s, as under a sanitizer or on a busy
    machine."""
    line_of_progress = r"\S.*?( \d+ %)?, .*\d[^ ]* (rows|runs|seeds|tries)/s(, (best so far|mostly) .*)?$"
    return "".join(line for line in err.splitlines(True) if not re.match(line_of_progress, line))


def without_warnings(err):
    """The text without warnings about the scenario or about missing charts, which are not errors."""
    lines = without_progress(err).splitlines(True)
    return "".join(line for line in lines if not line.startswith(("warning: ", "left out: ")))


def program_environment(changes):
    """This process's environment with `changes`, without colours, and with a list of the libraries' known
    leaks to ignore."""
    leaks = os.path.join(os.path.dirname(os.path.abspath(__file__)), "leaks.supp")
    return {**os.environ, "NO_COLOR": "1", **changes, "LSAN_OPTIONS": f"suppressions={leaks}:print_suppressions=0"}


def commands_s():
    """The processor time of all commands that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def unit_s():
    """The processor time here of a fixed piece of work, which takes 0.1 s on a usual machine."""
    begin_s = time.process_time()
    sum(number * number for number in range(4 * 10 ** 6))
    return time.process_time() - begin_s


class ProgramTest(unittest.TestCase):
    maxDiff = None

    patience_s = 120  # for one command

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="bucketlab-test-")
        self.addCleanup(shutil.rmtree, self.folder)

    def start(self, *arguments, **options):
        environment = program_environment(options.pop("environment", {}))
        settings = {"cwd": self.folder, "env": environment, "stdin": subprocess.DEVNULL,
                    "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
        process = subprocess.Popen([PROGRAM, *arguments], **settings)
        self.addCleanup(process.kill)
        return process

    @staticmethod
    def used_s(pid):
        """The processor time of a running process so far."""
        return time.clock_gettime(~pid << 3 | 2)  # the clock of clock_getcpuclockid(3)

    def wait_for_work(self, process, seconds):
        """Waits until the running process has used this much more processor time, however busy the machine
        is."""
        end = self.used_s(process.pid) + seconds
        while self.used_s(process.pid) < end:
            self.assertIsNone(process.poll(), "it ended before it was stopped")
            time.sleep(0.005)

    def stop_after(self, seconds, number, *arguments):
        """Runs the program and sends it the signal when it has used this much processor time, unless it has
        ended; returns its exit code and stderr."""
        process = self.start(*arguments, stdout=subprocess.DEVNULL)
        while process.poll() is None and self.used_s(process.pid) < seconds:
            time.sleep(0.002)
        process.send_signal(number)
        _, err = process.communicate(timeout=60)
        return process.returncode, err

    def stored(self, table, name="bucketlab.db"):
        """The number of rows of a table in a database that the program may just be creating."""
        path = os.path.join(self.folder, name)
        if not os.path.exists(path):
            return 0
        with contextlib.closing(sqlite3.connect(path, timeout=20)) as database:
            try:
                return database.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            except sqlite3.OperationalError:
                return 0

    def wait_until(self, is_so, process):
        """Waits until is_so(), which the process must bring about before it ends."""
        end = time.monotonic() + self.patience_s
        while not is_so():
            self.assertIsNone(process.poll(), "it ended before it was seen at work")
            self.assertLess(time.monotonic(), end, "it was never seen at work")
            time.sleep(0.01)

    def run_program(self, *arguments, **options):
        """Returns the exit code, stdout and stderr."""
        process = self.start(*arguments, **options)
        out, err = process.communicate(timeout=self.patience_s)
        return process.returncode, (out or b"").decode(), without_progress(err.decode())

    def good(self, *arguments, **options):
        """stdout of a command that must succeed, with nothing but warnings about the scenario on stderr."""
        code, out, err = self.run_program(*arguments, **options)
        self.assertEqual((code, without_warnings(err)), (0, ""), out)
        return out

    def good_json(self, *arguments):
        return json.loads(self.good(*arguments))

    def bad(self, code, *arguments, **options):
        """The one line on stderr of a command that must fail with this code and an empty stdout."""
        actual, out, err = self.run_program(*arguments, **options)
        err = without_warnings(err)
        self.assertEqual((actual, out), (code, ""), err)
        self.assertRegex(err, r"\A[^\n]+\n\Z")
        return err[:-1]

    def small_files(self, limit):
        """Options for a program that cannot write files of more bytes. A build with branch coverage then
        writes its counters to another place: truncated counters would spoil all later ones."""
        counts = tempfile.mkdtemp(prefix="bucketlab-counts-")
        self.addCleanup(shutil.rmtree, counts)
        return {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
                "environment": {"GCOV_PREFIX": counts, "GCOV_ERROR_FILE": os.devnull}}

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def files(self):
        """Every file and folder below the test's folder."""
        found = []
        for root, folders, files in os.walk(self.folder):
            found += [os.path.relpath(os.path.join(root, name), self.folder) for name in folders + files]
        return sorted(found)
