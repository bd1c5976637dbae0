# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: the page of a large run is small and made quickly. Method: the shipped scenario with the largest page;
processor time rather than wall time, which depends on other load. Without BUCKETLAB_TIMED the time is not
judged: a build with sanitizers takes several times as long.
"""
import os
import unittest

import program
from share import SHARE

SCENARIO = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scenarios", "costs.yaml")
BYTES_MAX = 2_000_000
UNITS_MAX = 10


class PageTest(program.ProgramTest):
    def test_largest_page_is_small_and_quick(self):
        less = ["--set", "duration=1m", "--set", "expect=[]"] if SHARE > 1 else []
        self.good("run", SCENARIO, "--quiet", "--no-charts", *less)
        before_s = program.commands_s()
        self.good("report", "last", "--format", "html")
        used_s = program.commands_s() - before_s
        size = os.path.getsize(os.path.join(self.folder, "bucketlab-out", "costs.html"))
        self.assertGreater(size, 300_000)
        self.assertLess(size, BYTES_MAX)
        if "BUCKETLAB_TIMED" in os.environ:
            self.assertLess(used_s, UNITS_MAX * program.unit_s())


if __name__ == "__main__":
    unittest.main()
