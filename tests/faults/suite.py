# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs what each of the three tests runs on its own, so that all commands run undisturbed once and not three times;
the arguments are those of faults.py."""
import unittest

from clock_test import ClockTest  # noqa: F401
from disk_test import DiskTest  # noqa: F401
from memory_test import MemoryTest  # noqa: F401

if __name__ == "__main__":
    unittest.main()
