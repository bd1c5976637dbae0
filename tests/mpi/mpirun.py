# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the program under mpirun, in a fresh folder. The arguments of a test script are the paths of the
program, of the one that guarantees too much, of the probe, and of hasty.c's library.
"""
import os
import re
import signal
import sys
import time

BOLD, PROBE, HASTY = (os.path.abspath(sys.argv.pop(2)) for _ in range(3))
IS_SLOW = "slow" in sys.argv
if IS_SLOW:
    sys.argv.remove("slow")
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
import program  # noqa: E402  it takes the first argument
from program import SOURCE, ProgramTest, without_progress  # noqa: E402,F401

# There are more ranks than processors, and the user may be root; -q suppresses mpirun's own messages on exit
# codes.
MPIRUN = ["mpirun", "-q", "--allow-run-as-root", "--oversubscribe"]


def steady(text):
    """The output of a run without the parts that differ between runs: times and rates."""
    text = re.sub(r"digest ([0-9a-f]{16}), \d+\.\d s", r"digest \1", text)
    text = re.sub(r"[0-9-]+[ T][0-9:]+( UTC|Z)|\b[0-9.]+ m?s\b", "", text)
    text = re.sub(r'"(seconds|created|elapsed_ms)": ?[^,}]+', "", text)
    text = re.sub(r'"seeds_per_second": ?[^,}]+', "", text)
    return re.sub(r"\b[0-9.kM]+ seeds/s", "", text)


class MpiTest(ProgramTest):
    def start_ranks(self, ranks, *arguments, command=None, extra=(), **options):
        """Starts mpirun with the program and its arguments, or with another command."""
        words = [*MPIRUN, *extra, "-n", str(ranks), *(command or [program.PROGRAM]), *arguments]
        kept, program.PROGRAM = program.PROGRAM, words[0]
        try:
            return self.start(*words[1:], **options)
        finally:
            program.PROGRAM = kept

    def run_ranks(self, ranks, *arguments, **options):
        """Returns the exit code, stdout and stderr."""
        process = self.start_ranks(ranks, *arguments, **options)
        out, err = process.communicate(timeout=120)
        return process.returncode, out.decode(), without_progress(err.decode())

    def ranks_of(self, mpirun, count, deadline_s=30):
        """Process ids by rank, as soon as all of them exist."""
        end = time.monotonic() + deadline_s
        while time.monotonic() < end:
            found = {}
            for name in os.listdir("/proc"):
                if name.isdigit() and self.is_below(int(name), mpirun.pid):
                    rank = self.rank_of(int(name))
                    if rank is not None:
                        found[rank] = int(name)
            if len(found) == count:
                return found
            time.sleep(0.02)
        raise AssertionError(f"{count} ranks did not come up")

    @staticmethod
    def is_below(pid, ancestor):
        while pid > 1 and pid != ancestor:
            try:
                with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
                    pid = int(file.read().rsplit(")", 1)[1].split()[1])
            except OSError:
                return False
        return pid == ancestor

    @staticmethod
    def rank_of(pid):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                found = re.search(rb"(?:^|\0)OMPI_COMM_WORLD_RANK=(\d+)", file.read())
            with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
                is_alive = file.read().rsplit(")", 1)[1].split()[0] not in "ZX"
        except OSError:
            return None
        return int(found[1]) if found and is_alive else None

    def kill(self, pid, number=signal.SIGKILL):
        os.kill(pid, number)

    def assert_gone(self, pids, within_s=15):
        """Asserts that none of these processes exists any more."""
        end = time.monotonic() + within_s
        left = list(pids)
        while left and time.monotonic() < end:
            left = [pid for pid in left if self.rank_of(pid) is not None]
            time.sleep(0.05)
        self.assertEqual(left, [], "ranks were left behind")
