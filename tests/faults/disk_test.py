# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: a disk that is full or broken, at whatever moment, costs no earlier run, leaves no half file, and is told in
one line.
Method: every command again and again; call N of those that change a file or a folder fails for want of room, with an
error of the disk, or half way, alone or with all that follow, for N = 1, 2, 3 ... until the command gets by with
fewer."""
import unittest

from faults import COMMANDS, FaultsTest, IS_SLOW

KINDS = [{"FAULTY_ERROR": error, **lasting} for error in ["ENOSPC", "SHORT", "EIO"]
         for lasting in [{"FAULTY_LASTING": "1"}, {}]]


class DiskTest(FaultsTest):
    def test_every_command_bears_a_call_of_the_disk_that_fails(self):
        cases = []
        for name in COMMANDS:
            for number in self.numbers(self.right[name].count("files"), 8):
                for kind in KINDS if IS_SLOW else [KINDS[number % len(KINDS)]]:
                    cases.append((name, {"FAULTY_FILE": str(number), **kind}))
        self.try_all(cases)


if __name__ == "__main__":
    unittest.main()
