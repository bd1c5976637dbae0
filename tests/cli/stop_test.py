# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: an interrupted run ends soon; progress is only written to stderr. Method: a
scenario that would take hours gets a signal, and so does a command that reads a stream without end; a terminal is
made with a pty.
"""
import resource
import signal
import subprocess
import sys
import unittest

from program import SMALL, ProgramTest
from share import in_full

LONG = (SMALL.replace("name: small", "name: small\nengine: exact").replace("rate: 0.5/s", "rate: 2000/s")
        .replace("duration: 2d", "duration: 400d"))
AGENTS = """\
duration: 400d
keys: {count: 3}
arrivals: {rate: 6/d}
cluster: {nodes: 3, replication_factor: 3}
agents: {count: 2}
strategies: [time: {window: 7d, label: a}]
"""
HISTORY = """\
import itertools
print("     0.000000000 s  strategy a begins at 1767225600000000000.")
for agent in range(2):
    print(f"     0.000000000 s  agent {agent} begins, offset 0 drift 0.")
for n in itertools.count(1):
    print(f"{n // 1000:6d}.{n % 1000 * 1000000:09d} s  agent 0 wakes.")
"""
SOON_S = 60  # on the busiest machine; the run would take hours


class StopTest(ProgramTest):
    def test_run_that_is_interrupted_ends_soon(self):
        self.write("long.yaml", LONG)
        for number in [signal.SIGINT, signal.SIGTERM]:
            process = self.start("run", "long.yaml", "--quiet")
            self.wait_for_work(process, 0.15)
            process.send_signal(number)
            out, err = process.communicate(timeout=SOON_S)
            self.assertEqual((process.returncode, out), (128 + number, b""))
            self.assertEqual(err.decode(), "interrupted; nothing was stored\n")  # no key is done yet
            self.assertEqual(self.files(), ["long.yaml"])

    def test_second_interrupt_ends_at_once(self):
        self.write("long.yaml", LONG)
        for _ in range(3):
            process = self.start("run", "long.yaml", "--quiet")
            self.wait_for_work(process, 0.15)
            process.send_signal(signal.SIGINT)
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=SOON_S)
            self.assertIn(process.returncode, [128 + signal.SIGINT, 128 + signal.SIGTERM])

    def test_one_key_of_very_many_rows_is_interrupted(self):
        self.write("huge.yaml", "duration: 3000d\nkeys: {count: 1}\narrivals: {rate: 1000000000/s}\n"
                   "strategies: [probabilistic: {bits: 2, threshold: 8}]\nengine: thinned\n")
        process = self.start("run", "huge.yaml", "--quiet")
        self.wait_for_work(process, 0.15)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 128 + signal.SIGINT)
        self.assertEqual(self.files(), ["huge.yaml"])

    def test_run_whose_parent_ignores_interrupts_continues(self):
        self.write("long.yaml", LONG)
        process = self.start("run", "long.yaml", "--quiet",
                             preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
        self.wait_for_work(process, 0.15)
        process.send_signal(signal.SIGINT)
        self.wait_for_work(process, 0.15)
        self.assertIsNone(process.poll())
        process.terminate()
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 128 + signal.SIGTERM)

    @staticmethod
    def status(process, name):
        with open(f"/proc/{process.pid}/status", encoding="ascii") as status:
            return next((int(line.split()[1]) for line in status if line.startswith(name)), 0)

    def stop_stream(self, source, used, *arguments):
        """The exit code and stderr of a command that reads this program's output, and is stopped. It takes at most a
        second of processor time to stop, and little memory."""
        feeder = subprocess.Popen(source, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.addCleanup(feeder.wait)
        self.addCleanup(feeder.kill)
        process = self.start(*arguments, stdin=feeder.stdout)
        feeder.stdout.close()
        while self.status(process, "Threads") < 2 and arguments[0] == "judge":  # one of them waits for signals
            self.assertIsNone(process.poll())
        self.wait_for_work(process, used)
        self.assertLess(self.status(process, "VmHWM"), 300000)
        before = self.used_s(process.pid)
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        process.send_signal(signal.SIGTERM)
        _, error = process.communicate(timeout=SOON_S)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.assertLess(after.ru_utime + after.ru_stime - children.ru_utime - children.ru_stime - before, 1)
        return process.returncode, error.decode()

    def test_history_without_end_is_interrupted(self):
        self.write("agents.yaml", AGENTS)
        for source, used in (([sys.executable, "-c", HISTORY], 0.3), (["yes", ""], 0.3), (["sleep", "1000"], 0)):
            self.assertEqual(self.stop_stream(source, used, "judge", "agents.yaml", "-", "--quiet"),
                             (128 + signal.SIGTERM, "interrupted; nothing was judged\n"))

    def test_line_without_end_is_refused(self):
        self.write("agents.yaml", AGENTS)
        with open("/dev/zero", "rb") as zeros:
            process = self.start("judge", "agents.yaml", "-", "--quiet", stdin=zeros)
            out, err = process.communicate(timeout=SOON_S)
        self.assertEqual((process.returncode, out), (2, b""))
        self.assertEqual(err.decode(), "-:1: line is longer than 65536 bytes; a history has one event per line\n")

    def test_ids_without_end_are_interrupted(self):
        self.assertEqual(self.stop_stream(["yes"], 0.3, "ids", "-"), (-signal.SIGTERM, ""))

    @in_full
    def test_ids_without_end_are_refused(self):
        with subprocess.Popen(["yes"], stdout=subprocess.PIPE) as feeder:
            process = self.start("ids", "-", stdin=feeder.stdout)
            feeder.stdout.close()
            _, err = process.communicate(timeout=10 * SOON_S)
            feeder.kill()
        self.assertEqual((process.returncode, err.decode()),
                         (2, "-: more than 10000000 ids; a few thousand are enough, so test a part of them\n"))

    def test_many_random_faults_are_interrupted(self):
        self.write("faults.yaml", AGENTS.replace("rate: 6/d", "rate: 1/s") +
                   "faults: [random: {rate: 200000/h, kinds: [lost_message, gc_storm, node_down], lasts: 1s}]\n")
        self.assertEqual(self.stop_stream(["true"], 0.3, "run", "faults.yaml", "--quiet", "--no-charts", "--no-store"),
                         (128 + signal.SIGTERM, "interrupted; nothing was stored\n"))


if __name__ == "__main__":
    unittest.main()
