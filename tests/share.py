# SPDX-License-Identifier: GPL-3.0-or-later
"""The share of its cases that a test tries, as in share.h: all, or one part in BUCKETLAB_TEST_SHARE, which
./test.sh sets.
"""
import os
import unittest

SHARE = int(os.environ.get("BUCKETLAB_TEST_SHARE", "1"))


def part(items):
    """The first of these items, and then every SHARE-th one."""
    return list(items)[::SHARE]


def in_full(test):
    """For a test that only `./test.sh --slow` runs: another one covers most of it in less time."""
    return unittest.skipIf(SHARE > 1, "with --slow")(test)
