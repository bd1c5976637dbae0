# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: an interrupted run ends soon; progress is only written to stderr. Method: a
scenario that would take hours gets a signal; a terminal is made with a pty.
"""
import os
import signal
import unittest

from program import PROGRAM, SMALL, ProgramTest
from share import in_full
from terminal import Terminal

LONG = (SMALL.replace("name: small", "name: small\nengine: exact").replace("rate: 0.5/s", "rate: 2000/s")
        .replace("duration: 2d", "duration: 400d"))
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

    @in_full
    def test_progress_is_a_bar_on_a_terminal_only(self):
        self.write("long.yaml", LONG)
        with open(os.path.join(self.folder, "stdout"), "w+b") as file:
            words = [PROGRAM, "run", "long.yaml", "--no-charts"]
            # The quiet one begins first, so that it would have shown its bar before the other.
            quiet, shown = (Terminal([*words, *option], folder=self.folder, stdout=file.fileno())
                            for option in (["--quiet", "--db", "quiet.db"], []))
            self.addCleanup(quiet.close)
            shown.read_until(lambda text: "rows/s" in text and "small" in text)
            for terminal in (quiet, shown):
                os.kill(terminal.pid, signal.SIGTERM)
                self.assertEqual(terminal.read_all(), 128 + signal.SIGTERM)
            self.assertNotIn("rows/s", quiet.text)
            self.assertEqual(file.read(), b"")


if __name__ == "__main__":
    unittest.main()
