# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: a command that runs out of memory, at any allocation, reports it in one line and leaves all data
complete. Method: every command is repeated; allocation N of the program, of SQLite and of Jansson returns
NULL, alone or with all later ones. Slow: for N = 1, 2, 3 ... until the command makes fewer; for a command
with thousands of allocations, and for the libraries, the first, the last and some others at each place in the
code that allocates. With `calls`: one N for each call in the program that leads to an allocation.
"""
import random
import unittest

from faults import COMMANDS, FaultsTest, IS_BY_CALL, IS_SHARED, IS_SLOW, program_of

ALL_UP_TO = 1100
CALLERS = ["program", "libsqlite3", "libjansson"]
EACH, EACH_OF_SQLITE = 4, 40


class MemoryTest(FaultsTest):
    def test_every_command_survives_a_failed_allocation(self):
        cases, calls = [], {}
        for at, name in enumerate(COMMANDS):
            first = at % len(CALLERS) if IS_SHARED else 0
            for callers in CALLERS[first:] + CALLERS[:first]:
                numbers = self.chosen(name, callers, calls.setdefault((callers, program_of(name)), set()))
                for number in numbers:
                    chosen = {"FAULTY_CALLERS": callers, "FAULTY_MEMORY": str(number)}
                    cases.append((name, {**chosen, "FAULTY_LASTING": "1"} if number % 3 == 0 else chosen))
                if IS_SHARED and numbers:  # one of the three in turn
                    break
        self.try_all(cases)

    def chosen(self, name, callers, seen):
        """The numbers of the allocations that fail."""
        if not IS_SLOW and not IS_BY_CALL:
            total = self.right[name].count(callers)
            most = 1 if IS_SHARED else 4 if callers == "program" else 2
            return sorted(random.Random(total).sample(range(1, total + 1), min(total, most)))
        sites = self.sites(name, {"FAULTY_CALLERS": callers})
        if IS_BY_CALL:
            return self.first_of_each_call(sites, seen)
        draw = random.Random(len(sites))
        if callers == "program" and len(sites) <= ALL_UP_TO:
            return range(1, len(sites) + 1)
        # SQLite allocates at two places in its code, for all its purposes.
        places, each = {}, EACH_OF_SQLITE if callers == "libsqlite3" else EACH
        for number, site in enumerate(sites, 1):
            places.setdefault(site[0], []).append(number)
        return sorted({number for numbers in places.values()
                       for number in [numbers[0], numbers[-1], *draw.sample(numbers, min(len(numbers), each))]})


if __name__ == "__main__":
    unittest.main()
