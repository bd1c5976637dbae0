#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Live runs on a SQLite file: several processes that embed the core write rows in bursts, and are killed,
stopped for longer than their leases, and started again with the same number. `bucketlab judge` judges their
logs and the tables that are read back, and the lab's twin of each run is run for comparison.

    sqlite.py HOST BUCKETLAB [--protocols A,B] [--rows N] [--kills N] [--out DIR] [--json FILE]

HOST is the program of host.c. Exit code 1: a guarantee was broken, or the unsafe lead does not break where
the lab says that it does.
"""

import argparse
import os
import sqlite3
import sys

import run


class Run(run.Run):
    def __init__(self, host, *arguments):
        self.host = host
        super().__init__(*arguments)

    def prepare(self):
        """If several processes set the journal mode at the same time, one of them may find the file locked.
        """
        store = sqlite3.connect(self.path("store.db"))
        store.execute("PRAGMA journal_mode = WAL")
        store.close()

    def program(self):
        return [self.host], self.path("store.db")

    def tables(self):
        store = sqlite3.connect(self.path("store.db"))
        yield store.execute("SELECT key, bucket, number, time FROM rows")
        yield store.execute("SELECT key, c0, c1, c2, c3 FROM states")
        yield store.execute("SELECT key, bucket, total FROM counters")
        store.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("host")
    parser.add_argument("lab")
    run.add_options(parser, rows=20000, kills=20, pause_us=4000)
    options = parser.parse_args()
    host = os.path.abspath(options.host)
    return run.run_all(options, lambda *arguments: Run(host, *arguments))


if __name__ == "__main__":
    sys.exit(main())
