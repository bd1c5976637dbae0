# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: no command reads uninitialised memory or leaks memory. Method: every command once under valgrind;
exits with 77 when valgrind is missing.
"""
import os
import shutil
import sys
import unittest

from faults import COMMANDS, FaultsTest

SUPPRESSIONS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "valgrind.supp")
VALGRIND = ["valgrind", "-q", "--error-exitcode=9", "--leak-check=full", f"--suppressions={SUPPRESSIONS}"]


class ValgrindTest(FaultsTest):
    def test_every_command_is_clean_under_valgrind(self):
        for name in COMMANDS:
            with self.subTest(name):
                outcome, right = self.run_command(name, {}, timeout=600, under=VALGRIND), self.right[name]
                self.assertEqual((outcome.code, outcome.err), (right.code, right.err))
                self.assertEqual(outcome.out, right.out)
                self.assertEqual(outcome.tables, right.tables)


if __name__ == "__main__":
    if shutil.which("valgrind") is None:
        print("valgrind is not installed")
        sys.exit(77)
    unittest.main()
