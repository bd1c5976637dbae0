# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the three tests in one process, so that each command runs undisturbed once instead of three times; the
arguments are those of faults.py.
"""
import unittest

from clock_test import ClockTest  # noqa: F401
from disk_test import DiskTest  # noqa: F401
from memory_test import MemoryTest  # noqa: F401

if __name__ == "__main__":
    unittest.main()
