# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs all tests of this folder with one Chromium: suite.py PROGRAM [NAME...], with names as in unittest."""
import sys
import time
import unittest

import browser
import pages

SKIPPED = 77  # the exit code for ctest, from tests.cmake
MODULES = ["live_test", "figures_test", "safe_test", "columns_test", "reach_test", "look_test", "print_test"]


class Result(unittest.TextTestResult):
    """Prints the time that each test took."""

    def startTest(self, test):
        super().startTest(test)
        self.begin = time.monotonic()

    def stopTest(self, test):
        self.stream.writeln(f"    {time.monotonic() - self.begin:.1f} s")
        super().stopTest(test)


def main():
    if browser.programs() is None:
        print(f"skipped: {browser.MISSING}")
        return SKIPPED
    pages.PageTest.pages = pages.Pages()
    try:
        tests = unittest.defaultTestLoader.loadTestsFromNames(sys.argv[1:] or MODULES)
        return 0 if unittest.TextTestRunner(verbosity=2, resultclass=Result).run(tests).wasSuccessful() else 1
    finally:
        pages.PageTest.pages.close()


sys.exit(main())
