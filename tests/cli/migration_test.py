# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: docs/migration.md has the figures of its scenarios. Method: the test makes the tables from runs and
searches for them in the page; UPDATE_DOCS=1 in the environment writes them into it.
"""
import json
import os
import unittest

from program import SOURCE, ProgramTest
from share import part

DOCUMENT = os.path.join(SOURCE, "docs", "migration.md")
# A scenario, its further options, and the columns: their names, and their metrics.
TABLES = {
    "change": ("migration", [], [
        ("largest partition, rows", "partitions.all.rows.max"), ("misrouted rows", "writes.misrouted"),
        ("`newest` violated", "oracle.newest.violations"), ("reads with too few rows", "reads.incomplete"),
        ("partitions per read", "reads.partitions_per_read.mean"), ("read p99, ms", "latency.read.p99")]),
    "backfill": ("migration-backfill", [], [
        ("largest partition, rows", "partitions.all.rows.max"), ("partitions over 5,000 rows", "partitions.over_limit"),
        ("misrouted rows", "writes.misrouted"), ("`newest` violated", "oracle.newest.violations"),
        ("extra operations per 1,000 rows", "writes.extra_ops_per_1000_rows")]),
    "reverse": ("migration-backfill", ["--set", "arrivals.backfill.order=reverse"], [
        ("largest partition, rows", "partitions.all.rows.max"), ("partitions over 5,000 rows", "partitions.over_limit"),
        ("`newest` violated", "oracle.newest.violations")]),
    "dual": ("migration-dual-write", [], [
        ("refused", "writes.refused"), ("unknown", "writes.unresolved")]),
    "retried": ("migration-dual-write", ["--set", "agents.retries=3"], [
        ("refused", "writes.refused"), ("unknown", "writes.unresolved")]),
}


def figure(value):
    if value is None:
        return "-"
    return f"{value:,.0f}" if value == int(value) else f"{value:.2f}" if value < 100 else f"{value:,.0f}"


class MigrationTest(ProgramTest):
    def table(self, name):
        scenario, more, columns = TABLES[name]
        path = os.path.join(SOURCE, "scenarios", scenario + ".yaml")
        _, run, _ = self.run_program("run", path, "--json", "--quiet", "--no-charts", *more, "--set", "expect=[]")
        lines = ["| strategy | " + " | ".join(said for said, _ in columns) + " |", "|---" * (len(columns) + 1) + "|"]
        for each in json.loads(run)["strategies"]:
            cells = [figure(each["metrics"].get(metric)) for _, metric in columns]
            lines.append(f"| `{each['label']}` | " + " | ".join(cells) + " |")
        return "\n".join(lines) + "\n"

    def test_the_document_has_the_figures(self):
        with open(DOCUMENT, encoding="utf-8") as file:
            text = file.read()
        for name in part(TABLES) if "UPDATE_DOCS" not in os.environ else TABLES:
            begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
            before, found, rest = text.partition(begin)
            self.assertTrue(found, name)
            inside, found, after = rest.partition(end)
            self.assertTrue(found, name)
            made = self.table(name)
            if "UPDATE_DOCS" in os.environ:
                text = before + begin + made + end + after
            else:
                self.assertEqual(inside, made)
        if "UPDATE_DOCS" in os.environ:
            with open(DOCUMENT, "w", encoding="utf-8") as file:
                file.write(text)


if __name__ == "__main__":
    unittest.main()
