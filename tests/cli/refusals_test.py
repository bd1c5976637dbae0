# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: a command that makes no sense ends with one line of error, exactly as expected, before anything is
done. Method: refusals.txt, which has command lines with the exit code and the line of each, in a folder with
a few scenarios and one run.
"""
import os
import shlex
import shutil
import unittest
from concurrent.futures import ThreadPoolExecutor

from program import SOURCE, ProgramTest

TINY = """\
name: tiny
seed: 7
duration: 2h
keys: {count: 3}
arrivals: {rate: 0.05/s}
row: {bytes: 100, cells: 3}
limits: {partition_rows: 3000}
strategies:
  - time: {window: 1h}
  - probabilistic: {bits: 2, threshold: 4}
"""
FILES = {
    "tiny.yaml": TINY,
    "free.yaml": TINY.replace("limits: {partition_rows: 3000}\n", ""),
    "swept.yaml": TINY + "sweep: {seeds: 2, grid: {strategies.probabilistic.bits: [2, 3]}}\n",
    "ring.yaml": TINY.replace("2h", "1m") + "agents: {count: 2}\n",
    "ids.yaml": "duration: 1m\nidentifiers: {}\nagents: {count: 2}\nstrategies:\n  - idgen: {}\n",
    "sizes.yaml": "strategies:\n  - observed: {file: sizes.csv}\n",
}


def cases():
    """A (line number, arguments, exit code, line of stderr) per case."""
    lines = []
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "refusals.txt"), encoding="utf-8") as file:
        lines += [(number, line.rstrip("\n")) for number, line in enumerate(file, 1)
                  if line.strip() and not line.startswith("#")]
    for (number, command), (_, told) in zip(lines[::2], lines[1::2], strict=True):
        assert command.startswith("$ ") and told[1] == " ", number
        yield number, shlex.split(command[2:]), int(told[0]), told[2:]


class RefusalsTest(ProgramTest):
    def test_each_line_of_the_table(self):
        for name, text in FILES.items():
            self.write(name, text)
        shutil.copy(os.path.join(SOURCE, "scenarios", "observed", "messages.csv"),
                    os.path.join(self.folder, "sizes.csv"))
        self.good("run", "tiny.yaml", "--no-charts", "--quiet")
        before, table = self.files(), list(cases())
        self.assertGreater(len(table), 150)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            outcomes = pool.map(lambda case: self.run_program(*case[1]), table)
            for (number, arguments, code, line), outcome in zip(table, outcomes):
                with self.subTest(f"refusals.txt:{number}", arguments=arguments):
                    self.assertEqual(outcome, (code, "", line + "\n"))
        # When several programs close the database at once, SQLite leaves its log to the next one.
        self.good("runs")
        self.assertEqual(self.files(), before)


if __name__ == "__main__":
    unittest.main()
