# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: an interrupted run ends soon and can be resumed; progress is only written to stderr. Method: a
scenario that would take minutes gets a signal; a terminal is made with a pty.
"""
import os
import pty
import signal
import time
import unittest

from program import SMALL, ProgramTest
from share import in_full

LONG = (SMALL.replace("name: small", "name: small\nengine: exact").replace("rate: 0.5/s", "rate: 2000/s")
        .replace("duration: 2d", "duration: 400d"))


class StopTest(ProgramTest):
    def test_run_that_is_interrupted_can_be_resumed(self):
        self.write("long.yaml", LONG)
        for run, number in [(1, signal.SIGINT), (2, signal.SIGTERM)]:
            process = self.start("run", "long.yaml", "--quiet")
            self.wait_for_work(process, 0.49)
            begin = time.monotonic()
            process.send_signal(number)
            out, err = process.communicate(timeout=60)
            self.assertEqual((process.returncode, out), (128 + number, b""))
            self.assertEqual(err.decode(), f"interrupted; bucketlab run --resume {run} --db bucketlab.db resumes "
                                           "from here\n")
            self.assertLess(time.monotonic() - begin, 20)
            self.assertEqual(self.files(), ["bucketlab.db", "long.yaml"])

    def test_second_interrupt_ends_at_once(self):
        """Whether or not the run has stored a state by then, the database is sound, and no work counts twice.
        """
        self.write("long.yaml", LONG)
        for _ in range(3):
            process = self.start("run", "long.yaml", "--quiet", "--snapshot-every", "50ms")
            self.wait_for_work(process, 0.49)
            begin = time.monotonic()
            process.send_signal(signal.SIGINT)
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=60)
            self.assertIn(process.returncode, [128 + signal.SIGINT, 128 + signal.SIGTERM])
            self.assertLess(time.monotonic() - begin, 10)
        runs = self.good_json("runs", "--json")
        self.assertEqual([run["run"] for run in runs], [3, 2, 1])
        self.assertLessEqual({run["state"] for run in runs}, {"stopped", "running"})

    def test_one_key_of_very_many_rows_is_interrupted(self):
        self.write("huge.yaml", "duration: 30d\nkeys: {count: 1}\narrivals: {rate: 1000000000/s}\n"
                   "strategies: [probabilistic: {bits: 2, threshold: 8}]\nengine: thinned\n")
        process = self.start("run", "huge.yaml", "--quiet")
        self.wait_for_work(process, 0.49)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 128 + signal.SIGINT)
        self.assertEqual(self.files(), ["bucketlab.db", "huge.yaml"])

    def test_run_whose_parent_ignores_interrupts_continues(self):
        self.write("long.yaml", LONG)
        process = self.start("run", "long.yaml", "--quiet",
                             preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
        self.wait_for_work(process, 0.49)
        process.send_signal(signal.SIGINT)
        self.wait_for_work(process, 0.49)
        self.assertIsNone(process.poll())
        process.terminate()
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 128 + signal.SIGTERM)

    @in_full
    def test_progress_is_a_bar_on_a_terminal_only(self):
        self.write("long.yaml", LONG)
        for options, expects_bar in [([], True), (["--quiet"], False)]:
            try:
                master, slave = pty.openpty()
            except OSError as error:
                self.skipTest(f"no pseudo-terminal here: {error}")
            process = self.start("run", "long.yaml", *options, stderr=slave)
            os.close(slave)
            time.sleep(1.5)
            process.terminate()
            out, _ = process.communicate(timeout=60)
            text = os.read(master, 65536).decode()
            os.close(master)
            self.assertEqual(out, b"")
            self.assertEqual("rows/s" in text and "small" in text, expects_bar, text)


if __name__ == "__main__":
    unittest.main()
