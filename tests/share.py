# SPDX-License-Identifier: GPL-3.0-or-later
"""How much of what it could try a test tries, as in share.h: all of it, or one part in BUCKETLAB_TEST_SHARE, which
./test.sh sets."""
import os
import unittest

SHARE = int(os.environ.get("BUCKETLAB_TEST_SHARE", "1"))


def part(items):
    """Of these the first, and one in SHARE in turn."""
    return list(items)[::SHARE]


def in_full(test):
    """For a test that is left to `./test.sh --slow`: another one tries most of what it does, in less time."""
    return unittest.skipIf(SHARE > 1, "with --slow")(test)
