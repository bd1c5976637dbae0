# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: a disk that is full or broken, at any moment, destroys no earlier run, leaves no partial file, and is
reported in one line. Method: every command is repeated; call N of those that change a file or a folder fails
with a full disk, with an I/O error, or half way, alone or with all later ones, for N = 1, 2, 3 ... until the
command makes fewer calls. With `calls`: at least one N for each call in the program that leads to such a
call.
"""
import re
import unittest

from faults import COMMANDS, FaultsTest, IS_BY_CALL, IS_SLOW, program_of, words_of
from share import SHARE, part

KINDS = [{"FAULTY_ERROR": error, **lasting} for error in ["ENOSPC", "SHORT", "EIO"]
         for lasting in [{"FAULTY_LASTING": "1"}, {}]]


class DiskTest(FaultsTest):
    def test_every_command_survives_a_failed_disk_call(self):
        cases, calls = [], {}
        for name in COMMANDS:
            seen = calls.setdefault(program_of(name), set())
            by_call = self.first_of_each_call(self.sites(name, {}, "FAULTY_FILE_SITES"), seen) if IS_BY_CALL else []
            for number in sorted({*self.numbers(self.right[name].count("files"), 6), *by_call}):
                for kind in KINDS if IS_SLOW else [KINDS[number % len(KINDS)]]:
                    cases.append((name, {"FAULTY_FILE": str(number), **kind}))
        self.try_all(cases)

    def test_charts_without_room_are_drawn_by_the_printed_command(self):
        name, found = "run with charts", 0
        right = self.right[name]
        for number in part(range(right.count("files") - 1, 0, -9)):
            outcome = self.run_command(name, {"FAULTY_FILE": str(number), "FAULTY_LASTING": "1"})
            if outcome.tables != right.tables:
                break
            if "standard output" in outcome.err:
                continue
            self.assertEqual(outcome.code, 3)
            line = re.search(r"; run 3 is stored, draw it by: bucketlab (report 3 --db bucketlab\.db)\n\Z", outcome.err)
            self.assertIsNotNone(line, outcome.err)
            found += 1
        self.assertGreater(found, 5 / SHARE)
        words = [*line[1].split(), "--format", "svg,html", "--out", "made/here", "--quiet"]
        again = self.run_command(words, {"FAULTY_FILE": "0"}, first=words_of(name) + ["--no-charts"])
        self.assertEqual((again.code, again.files), (0, right.files))


if __name__ == "__main__":
    unittest.main()
