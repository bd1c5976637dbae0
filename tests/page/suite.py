# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs every test of this folder with one Chromium: suite.py PROGRAM [NAME...], names as unittest takes them."""
import sys
import time
import unittest

import browser
import pages

SKIPPED = 77  # tests.cmake names it to ctest
MODULES = ["live_test", "figures_test", "safe_test", "columns_test", "reach_test", "look_test", "print_test"]


class Result(unittest.TextTestResult):
    """Says how long each test took."""

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
