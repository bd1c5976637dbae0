# SPDX-License-Identifier: GPL-3.0-or-later
"""The runs whose pages the tests open, made once, and the one browser that opens them."""
import itertools
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))

from browser import Browser  # noqa: E402
from program import PROGRAM, SOURCE, program_environment, without_warnings  # noqa: E402
from share import SHARE  # noqa: E402

# All five kinds, one above the limit; and a label that must not become markup.
STREAM = """\
name: "stream <b>&amp; 'all'"
about: Five kinds of buckets, <i>one</i> of them too large.
seed: 7
duration: 4d
keys: {count: 40, popularity: {zipf: 0.9}}
arrivals: {rate: 1/s, daily: {amplitude: 0.5, peak: 20h}}
row: {bytes: {lognormal: {mean: 350, sigma: 1.0}}, cells: 3}
reads: {latest: {rows: 50, rate: 0.01/s}}
limits: {partition_rows: 10000, partition_bytes: 8MB, tiny_rows: 24}
strategies:
  - unbucketed: {label: "<img src=x onerror=alert(1)>"}
  - time: {window: 6h, label: "</script><script>alert(2)</script>"}
  - count: {rows: 2000, counter: external, label: "Zähler \\"на ключ\\" & mehr"}
  - probabilistic: {bits: 5, threshold: 40}
  - probabilistic: {bits: 4, threshold: 160, label: finer}
  - hash: {buckets: 4}
"""
LABELS = ["<img src=x onerror=alert(1)>", "</script><script>alert(2)</script>", "Zähler \"на ключ\" & mehr",
          "probabilistic", "finer", "hash"]

TUNED = """\
name: tuned
seed: 7
duration: 1d
keys: {count: 30, popularity: {zipf: 0.8}}
arrivals: {rate: 0.5/s}
row: {bytes: {lognormal: {mean: 300, sigma: 0.8}}, cells: 3}
reads: {latest: {rows: 20, rate: 0.02/s}}
limits: {partition_rows: 1000, partition_bytes: 250KB, tiny_rows: 24}
tune: {risk: 2%, seeds: 2}
strategies:
  - probabilistic: {bits: 4, threshold: 20}
"""

CLUSTER = os.path.join(SOURCE, "scenarios", "findings", "lead-sweep.yaml")
NAMES = ["stream", "cluster", "tune"]


class Pages:
    """Three runs in one database, with a page each; the browser is started last."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="bucketlab-page-")
        self.browser = None
        self.paths = {}
        try:
            self.make("stream", "run", self.write("stream.yaml", STREAM))
            self.make("cluster", "run", CLUSTER)
            self.make("tune", "tune", self.write("tuned.yaml", TUNED))
            self.browser = Browser()
        except BaseException:
            self.close()
            raise

    def close(self):
        if self.browser is not None:
            self.browser.close()
        shutil.rmtree(self.folder)

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def make(self, name, command, scenario):
        program(self.folder, command, scenario, "--no-charts", "--quiet")
        out = os.path.join(self.folder, name)
        program(self.folder, "report", "last", "--format", "html", "--out", out)
        found = [each for each in os.listdir(out) if each.endswith(".html")]
        if len(found) != 1:
            raise AssertionError(f"{os.listdir(out)}: not one page of run '{name}'")
        self.paths[name] = os.path.join(out, found[0])

    def rows(self, query, *arguments):
        """The rows of a query on the runs' database; the runs are 1, 2, 3 as in NAMES."""
        with sqlite3.connect(os.path.join(self.folder, "bucketlab.db")) as database:
            return database.execute(query, arguments).fetchall()


def program(folder, *arguments):
    """stdout of the program."""
    done = subprocess.run([PROGRAM, *arguments], cwd=folder, env=program_environment({}), timeout=120,
                          stdin=subprocess.DEVNULL, capture_output=True, check=False)
    complaint = without_warnings(done.stderr.decode())
    if done.returncode != 0 or complaint:
        raise AssertionError(f"{arguments}: exit {done.returncode}, {complaint}")
    return done.stdout.decode()


class PageTest(unittest.TestCase):
    """suite.py passes the pages to a test; the reader's preferences have their initial values."""
    pages = None
    turns = itertools.count()
    maxDiff = None

    def setUp(self):
        self.browser = self.pages.browser
        self.browser.size(1100, 900)
        self.browser.prefer("light")

    def open(self, name):
        self.browser.open(self.pages.paths[name])

    def look(self, name):
        """Opens a page for a test that only reads it, which may be the page that the last look opened."""
        self.browser.open(self.pages.paths[name], is_read=True)

    def names(self):
        """The names of the pages to open: all, or the next one for each test in turn."""
        return NAMES if SHARE == 1 else [NAMES[next(self.turns) % len(NAMES)]]

    def each_page(self):
        """Opens one page after the other."""
        for name in self.names():
            self.open(name)
            yield name
