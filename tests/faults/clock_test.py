# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: no clock affects a result, and a clock that jumps does not end, delay or garble a command. Method:
every command is repeated while all clocks jump forward and back at every Nth reading, by hours and to before
1970.
"""
import unittest

from faults import COMMANDS, FaultsTest, IS_SHARED, IS_SLOW

HOUR, YEARS = 3600, 60 * 365 * 86400


LONG = ["run", "tiny.yaml", "--no-charts", "--jobs", "1", "--set"]


class ClockTest(FaultsTest):
    def test_clock_jumps_change_no_command(self):
        jumps = [(every, seconds) for every in [1, 2, 3] for seconds in [5 * HOUR, -5 * HOUR, YEARS, -YEARS]]
        apart = 8 if IS_SHARED else 4
        cases = [(name, {"FAULTY_CLOCK": str(every), "FAULTY_SECONDS": str(seconds), "FAULTY_CALLERS": callers})
                 for name in COMMANDS for index, (every, seconds) in enumerate(jumps)
                 if every <= self.right[name].count("clocks") and (IS_SLOW or index % apart == len(name) % apart)
                 for callers in ["program", "program libsqlite3"][:1 + IS_SLOW]]
        self.assertGreater(len(cases), 120 / apart)
        self.try_all(cases)

    def test_progress_continues_where_the_clock_jumps(self):
        for seconds in [5 * HOUR, -5 * HOUR]:
            # The first at which the run lasts for several clock readings, including those for its progress.
            for rate in [400, 1600, 6400, 25600, 102400]:
                outcome = self.run_command([*LONG, f"arrivals.rate={rate}/s"],
                                           {"FAULTY_CLOCK": "2", "FAULTY_SECONDS": str(seconds)})
                self.assertEqual(outcome.code, 0, outcome.err)
                if outcome.count("failed") > 4:
                    break
            self.assertGreater(outcome.count("failed"), 4)
            lines = [line for line in outcome.err.splitlines()
                     if not line.startswith(("warning: ", "bucketlab: more than a minute "))]
            self.assertLessEqual(len(lines), outcome.count("failed"), outcome.err)
            for line in lines:
                self.assertRegex(line, r"\Atiny +\d+ %, .* rows/s(, mostly .*)?\Z")


if __name__ == "__main__":
    unittest.main()
