# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: a command for which memory runs out, wherever that is, says so in one line and leaves everything whole.
Method: every command again and again; allocation N of the program and of SQLite returns NULL, alone or with all
that follow, for N = 1, 2, 3 ... until the command gets by with fewer."""
import unittest

from faults import COMMANDS, FaultsTest, IS_SLOW

# SQLite's own allocations are many and its own tests fail each of them: here a sample is enough.
SAMPLE_OF_SQLITE = 60


class MemoryTest(FaultsTest):
    def test_every_command_bears_an_allocation_that_fails(self):
        cases = []
        for name in COMMANDS:
            for callers in ["program", "libsqlite3"]:
                total = self.run_command(name, {"FAULTY_CALLERS": callers}).count("memory")
                most = 6 if callers == "program" else 2
                numbers = self.numbers(total, most)
                if callers == "libsqlite3" and len(numbers) > SAMPLE_OF_SQLITE:
                    numbers = numbers[::len(numbers) // SAMPLE_OF_SQLITE]
                for number in numbers:
                    chosen = {"FAULTY_CALLERS": callers, "FAULTY_MEMORY": str(number)}
                    lasting = {**chosen, "FAULTY_LASTING": "1"}
                    cases += [(name, chosen), (name, lasting)] if IS_SLOW else [(name, [chosen, lasting][number % 2])]
        self.try_all(cases)


if __name__ == "__main__":
    unittest.main()
