# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: `check` is a reliable gate: it fails when something is wrong and reports it with the key and a line
that reproduces it; otherwise it passes; and a baseline is made only of a passing result, or not at all.
Method: small scenarios, baselines that are made and then falsified by SQL, faults of the disk and of the
file, and JUnit reports compared with the test's own schema and counted.
"""
import json
import math
import os
import re
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
import unittest
import xml.etree.ElementTree as ElementTree

BOLD = os.path.abspath(sys.argv.pop(2)) if len(sys.argv) > 2 else ""

from program import SMALL, SOURCE, ProgramTest  # noqa: E402
from share import in_full, part  # noqa: E402

SCHEMA = os.path.join(SOURCE, "tests", "cli", "junit.xsd")
GOOD = SMALL + "expect:\n  - count.partitions.closed.rows.max == 1000\n  - hash.partitions.total > 0\n"
FINDING = r"(?m)^(?!.*\.yaml: note: )[\w ]+\.yaml: .*$"
BAD = SMALL.replace("name: small", "name: bad") + ("expect:\n  - count.partitions.closed.rows.max == 1000\n"
                                                   "  - hash.partitions.all.rows.max <= 1000\n")
AGENTS = """\
name: agents
seed: 3
duration: 10m
keys: {count: 4}
arrivals: {rate: 20/s}
row: {bytes: 100}
cluster: {nodes: 3, replication_factor: 3}
agents: {count: 4, cache_ttl: 5s}
strategies:
  - probabilistic: {bits: 4, threshold: 10}
  - probabilistic: {bits: 4, threshold: 10, coordination: guarded, label: guarded}
"""


class CheckTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("small.yaml", GOOD)

    def check(self, *arguments, code=0, **options):
        actual, out, err = self.run_program("check", *arguments, "--quiet", **options)
        self.assertEqual(actual, code, out + err)
        return out, err

    def update(self, *paths, **options):
        return self.check(*(paths or ["small.yaml"]), "--baseline", "b.db", "--update-baseline", **options)

    def against(self, *arguments, code=1):
        """The findings: lines that begin with the scenario, before the command that reproduces them."""
        out, err = self.check(*(arguments or ["small.yaml"]), "--baseline", "b.db", code=code)
        self.assertEqual(err == "", code == 0)
        return self.findings(out)

    def findings(self, out):
        self.assertEqual(out.count("\nagain: "), len({line.split(":")[0] for line in re.findall(FINDING, out)}))
        return re.findall(FINDING, out)

    def sql(self, statements, name="b.db"):
        database = sqlite3.connect(os.path.join(self.folder, name))
        database.executescript("PRAGMA foreign_keys = ON;" + statements)
        database.close()

    def bytes_of(self, name):
        with open(os.path.join(self.folder, name), "rb") as file:
            return file.read()

    def confirmations(self, seeds=6):
        """The number of runs that must agree: the least m with 2 F / C(n + m, n) < 1/1000 for F figures."""
        figures = sqlite3.connect(os.path.join(self.folder, "b.db")).execute("SELECT count(*) FROM baseline_metric")
        figures, m = figures.fetchone()[0], 1
        while math.comb(seeds + m, seeds) < 2000 * figures:
            m += 1
        return m

    def junit(self, name="o.xml"):
        path = os.path.join(self.folder, name)
        if shutil.which("xmllint"):
            run = subprocess.run(["xmllint", "--noout", "--schema", SCHEMA, path], capture_output=True, text=True,
                                 check=False)
            self.assertEqual(run.returncode, 0, run.stderr)
        suites = ElementTree.parse(path).getroot().findall("testsuite")
        for suite in suites:
            cases = suite.findall("testcase")
            self.assertEqual(int(suite.get("tests")), len(cases))
            self.assertEqual(int(suite.get("failures")), len(suite.findall("testcase/failure")))
            self.assertEqual(int(suite.get("skipped")), len(suite.findall("testcase/skipped")))
        return suites

    # --- expectations

    def test_check_of_a_good_scenario_passes_and_stores_its_run(self):
        out, err = self.check("small.yaml")
        self.assertEqual(err, "")
        self.assertIn("\n2 checks in 1 scenario: all pass\n", out)
        self.assertEqual([run["scenario"] for run in self.good_json("runs", "--json")], ["small"])
        self.assertIn("same digest", self.good("replay", "last", "--quiet"))
        self.assertEqual(self.files(), ["bucketlab.db", "small.yaml"])

    def test_check_without_store_leaves_nothing(self):
        self.check("small.yaml", "--no-store")
        self.assertEqual(self.files(), ["small.yaml"])

    def test_failed_expectation_is_reported_with_limit_value_key_and_a_line_that_shows_it(self):
        self.write("a b.yaml", BAD)
        out, err = self.check("small.yaml", "a b.yaml", "--set", "row.bytes=90", code=1)
        line = self.findings(out)
        self.assertEqual(len(line), 1, out)
        largest = sqlite3.connect(os.path.join(self.folder, "bucketlab.db")).execute(
            "SELECT key, bucket, size FROM largest_partitions JOIN runs USING (run) WHERE scenario = 'bad' AND "
            "label = 'hash' AND unit = 'rows'").fetchone()
        self.assertEqual(line[0], "a b.yaml: expected hash.partitions.all.rows.max <= 1000, got %d "
                         "(largest: key %s, bucket %d, "
                         "%s rows)"
                         % (largest[2], largest[0], largest[1], format(largest[2], ",")))
        self.assertEqual(err, "1 of 4 checks failed, in bad; the command after 'again:' above reproduces each "
                              "failure\n")
        again = re.search(r"(?m)^again: (bucketlab run 'a b\.yaml' --seed 7 --set row\.bytes=90)$", out)
        again = shlex.split(again.group(1))
        code, out, err = self.run_program(*again[1:], "--quiet", "--no-charts")
        self.assertEqual((code, err), (1, "bad: 1 of 2 expectations failed\n"))
        self.assertIn(f"(actual {largest[2]})", out)

    def test_bad_input_among_good_ends_before_anything_runs(self):
        self.write("broken.yaml", GOOD.replace("keys:", "kees:"))
        self.write("twin.yaml", GOOD)
        self.write("trace.yaml", "name: t\ntrace: {file: none.csv}\nstrategies: [{unbucketed: {}}]\n")
        before = self.files()
        for arguments, text in [(["broken.yaml"], "unknown field 'kees'"), (["missing.yaml"], "missing.yaml"),
                                (["twin.yaml"], "the name 'small' is also that of small.yaml"),
                                (["trace.yaml"], "none.csv"),
                                (["--junit", "small.yaml/o.xml"], "small.yaml: Not a directory; choose a folder")]:
            self.assertIn(text, self.bad(2, "check", "small.yaml", *arguments, "--quiet"))
            self.assertEqual(self.files(), before)

    def test_expectation_that_cannot_be_judged_ends_before_anything_runs(self):
        endless = SMALL.replace("duration: 2d", "duration: 20000d")
        endless = endless.replace("name: small", "name: endless\nengine: exact")
        for line, text in [("hash.partitions.all.rows.max <= 50MB", "the metric's unit is 'rows'"),
                           ("hash.partitions.closd == 0", "did you mean 'hash.partitions.closed'?"),
                           ("hash.horizon.days > 3", "an expectation cannot name 'hash.horizon.days'")]:
            self.write("endless.yaml", endless + f"expect: [{line}]\n")
            for paths in (["endless.yaml"], ["small.yaml", "endless.yaml"]):
                self.assertIn(text, self.bad(2, "check", *paths, "--db", "c.db"))
            self.assertNotIn("c.db", self.files())
            self.assertIn(text, self.bad(2, "run", "small.yaml", "endless.yaml", "--db", "c.db", "--no-charts"))
            self.assertNotIn("c.db", self.files())

    def test_scenario_of_which_nothing_is_checked_is_not_said_to_pass(self):
        self.write("bare.yaml", SMALL.replace("name: small", "name: bare"))
        warning = ("warning: bare.yaml: nothing was checked, because it has no expectation and no guarantee; add "
                   "'expect:', or compare it with --baseline FILE\n")
        code, out, err = self.run_program("check", "bare.yaml", "--no-store")
        self.assertEqual((code, err.count(warning)), (0, 1))
        self.assertIn("\n0 checks in 1 scenario: nothing was checked\n", out)
        self.assertNotIn("pass", out)
        code, out, err = self.run_program("check", "bare.yaml", "small.yaml", "--no-store")
        self.assertEqual((code, err.count(warning), err.count("nothing was checked")), (0, 1, 1))
        self.assertIn("\n2 checks in 2 scenarios: all pass\n", out)
        # Not of a baseline that is made or compared.
        for option in (["--update-baseline"], []):
            code, out, err = self.run_program("check", "bare.yaml", "--baseline", "b.db", *option)
            self.assertEqual((code, err.count("nothing was checked")), (0, 0))
        self.assertIn(": all pass\n", out)

    def test_output_does_not_depend_on_threads(self):
        self.write("bad.yaml", BAD)
        self.write("agents.yaml", AGENTS)
        outs = set()
        for jobs in ["1", "2", "5"]:
            found = json.loads(self.check("small.yaml", "bad.yaml", "agents.yaml", "--json", "--no-store", "--jobs",
                                          jobs, code=1)[0])
            for item in found["scenarios"]:
                item["seconds"] = 0
            self.assertEqual([item["scenario"] for item in found["scenarios"]], ["small", "bad", "agents"])
            outs.add(json.dumps(found))
        self.assertEqual(len(outs), 1)

    # --- guarantees

    @unittest.skipUnless(BOLD, "no program with other guarantees")
    @in_full
    def test_excused_guarantees_are_explained_where_there_are_some(self):
        self.write("agents.yaml", AGENTS)
        faults = os.path.join(os.path.dirname(__file__), "..", "..", "scenarios", "faults.yaml")
        for path, is_excused in [("agents.yaml", False), (os.path.abspath(faults), True)]:
            checks = json.loads(self.check(path, "--json", "--no-store")[0])["scenarios"][0]["checks"]
            self.assertEqual("excused" in [check["state"] for check in checks], is_excused)
            text, _ = self.check(path, "--no-store")
            self.assertEqual("\nexcused: the guarantee does not cover" in text, is_excused)

    def test_broken_guarantee_fails_and_an_unguaranteed_violation_does_not(self):
        self.write("agents.yaml", AGENTS)
        out, _ = self.check("agents.yaml", "--json", "--junit", "o.xml")
        checks = json.loads(out)["scenarios"][0]["checks"]
        self.assertIn({"kind": "guarantee", "name": "guarded keeps newest", "state": "holds", "excuse": None,
                       "findings": 0}, checks)
        self.assertNotIn("probabilistic keeps newest", [check["name"] for check in checks])
        metrics = self.good_json("show", "last", "--json")["strategies"][0]["metrics"]
        self.assertGreater(metrics["oracle.newest.violations"], 0)
        run = subprocess.run([BOLD, "check", "agents.yaml", "--quiet", "--no-store", "--json"], cwd=self.folder,
                             capture_output=True, text=True, check=False)
        self.assertEqual(run.returncode, 1, run.stderr)
        finding = json.loads(run.stdout)["scenarios"][0]["findings"][0]
        self.assertEqual((finding["kind"], finding["strategy"]), ("guarantee", "probabilistic"))
        self.assertRegex(finding["key"], r"\Akey-\d+\Z")
        self.assertIn(f"of key {finding['key']} at ", finding["text"])
        self.assertEqual(finding["value"], metrics[f"oracle.{finding['name']}.violations"])

    # --- baselines

    def test_baseline_of_the_same_program_holds(self):
        out, _ = self.update()
        self.assertIn("\nbaseline of 1 scenario over 6 seeds written to b.db\n", out)
        before = self.bytes_of("b.db")
        self.assertEqual(self.against(code=0), [])
        self.assertEqual(self.bytes_of("b.db"), before)
        rows = sqlite3.connect(os.path.join(self.folder, "b.db")).execute(
            "SELECT name, count, mean, stddev, low, high FROM baseline_metric WHERE label = 'count' ORDER BY name")
        rows = {row[0]: row[1:] for row in rows}
        self.assertEqual(rows["partitions.closed.rows.max"], (6, 1000.0, 0.0, 1000.0, 1000.0))
        count, mean, stddev, low, high = rows["writes.rows"]
        values = [self.good_json("run", "small.yaml", "--seed", str(seed), "--json", "--no-charts",
                                 "--quiet")["rows"] for seed in range(7, 13)]
        average = sum(values) / 6
        spread = (sum((value - average) ** 2 for value in values) / 5) ** 0.5
        # Student's t with 5 degrees of freedom at 0.995: 4.0321 (from any table).
        half = 4.0321 * spread * (7 / 6) ** 0.5
        self.assertEqual(count, 6)
        for found, expected in [(mean, average), (stddev, spread), (low, average - half), (high, average + half)]:
            self.assertAlmostEqual(found / expected, 1, places=4)

    def test_moved_digest_is_reported_with_the_first_strategy(self):
        self.update()
        self.sql("UPDATE run SET digest = '0123456789abcdef';"
                 "UPDATE strategy SET placement_digest = '00000000000000aa' WHERE label IN ('time', 'hash')")
        found = self.against()
        self.assertEqual(len(found), 1, found)
        self.assertRegex(found[0], r"\Asmall.yaml: digest changed: [0-9a-f]{16}, baseline 0123456789abcdef; first "
                                   r"to differ: strategy time, placement [0-9a-f]{16}, baseline "
                                   r"00000000000000aa, 0 events, baseline 0, and 1 more of 5\Z")
        out, err = self.check("small.yaml", "--baseline", "b.db", "--digest", "ignore")
        self.assertIn("small.yaml: note: digest changed: ", out)
        self.sql("UPDATE run SET version = '0.0.9'")
        self.assertIn("baseline 0123456789abcdef by bucketlab 0.0.9, and this is ", self.against()[0])

    def test_other_figures_at_the_same_digest_are_no_chance(self):
        self.update()
        self.sql("UPDATE metric SET value = value + 1 WHERE name = 'writes.rows' AND strategy = "
                 "(SELECT strategy FROM strategy WHERE label = 'time')")
        found = self.against()
        self.assertEqual(len(found), 1, found)
        self.assertRegex(found[0], r"time\.writes\.rows: \d+, baseline \d+, although the digest is the "
                                   "same; the same program gave two results")
        self.sql("UPDATE run SET version = '0.0.9'")
        self.assertIn("another version of bucketlab made the baseline", self.against()[0])

    def test_figures_outside_their_interval_have_drifted(self):
        self.update()
        self.sql("UPDATE run SET digest = '0123456789abcdef';"
                 "UPDATE baseline_metric SET low = high * 1.5, high = high * 1.6 WHERE label = 'hash' AND name = "
                 "'partitions.all.bytes.p99';"
                 "UPDATE baseline_metric SET low = 999, high = 999 WHERE label = 'count' AND name = "
                 "'partitions.closed.rows.max'")
        found = self.against()
        runs = self.confirmations()
        self.assertEqual(len(found), 3, found)
        self.assertRegex(found[1], r"\Asmall\.yaml: count\.partitions\.closed\.rows\.max: 1000, and 999 at all 6 "
                                   rf"seeds of the baseline; so at each of {runs} seeds \(largest: key key-\d+, "
                                   r"bucket \d+, 1,000 rows\)")
        self.assertRegex(found[2], r"hash\.partitions\.all\.bytes\.p99: [\d.]+ is outside [\d.]+ to [\d.]+ "
                                   r"\(baseline: mean [\d.]+ over 6 seeds\), and so at each of "
                                   rf"{runs} seeds \(largest: key key-\d+, bucket \d, \d+(\.\d+)?KB\)")
        out, err = self.check("small.yaml", "--baseline", "b.db", "--digest", "ignore", "--json", code=1)
        self.assertEqual(len(json.loads(out)["scenarios"][0]["findings"]), 2)
        self.assertEqual(err, "2 of 9 checks failed, in small; if the change is intended, repeat this with "
                              "--update-baseline\n")
        self.assertIn(f"2 figures are outside the baseline; running up to {runs - 1} more seeds to rule out chance\n",
                      self.run_program("check", "small.yaml", "--baseline", "b.db")[2])

    def test_a_figure_that_is_outside_at_one_seed_alone_has_not_drifted(self):
        self.update()
        value, *others = [self.good_json("run", "small.yaml", "--seed", str(seed), "--json", "--no-charts",
                                         "--quiet")["rows"] for seed in range(7, 12)]
        # Outside by half a row, while some seed is inside.
        low, high = (value + 0.5, 2 * value) if max(others) > value else (0, value - 0.5)
        self.assertTrue(any(low <= other <= high for other in others))
        self.sql("UPDATE run SET digest = '0123456789abcdef';"
                 f"UPDATE baseline_metric SET low = {low}, high = {high} WHERE name = 'writes.rows'")
        self.assertEqual(len(self.against()), 1)
        self.sql(f"UPDATE baseline_metric SET low = 0, high = {value // 2} WHERE name = 'writes.rows'")
        self.assertEqual(len(self.against()), 1 + 3 + 1)

    def test_another_setting_drifts_and_another_seed_does_not(self):
        self.update()
        self.against("small.yaml", "--digest", "ignore", "--set", "seed=12345", code=0)
        found = self.against("small.yaml", "--digest", "ignore", "--set", "strategies.hash.buckets=5")
        self.assertEqual(found[0], "small.yaml: the strategy hash is another: hash {buckets: 5}, baseline hash "
                                   "{buckets: 4}")
        self.assertTrue(all("small.yaml: hash." in line for line in found[1:-1]), found)
        self.assertEqual(len(found), 5)
        self.assertRegex(found[-1], r"and \d+ more figures, by less; --json and --junit list all")

    def test_the_largest_of_many_drifted_figures_are_shown(self):
        self.update()
        arguments = ["small.yaml", "--baseline", "b.db", "--digest", "ignore", "--set", "arrivals.rate=2/s"]
        shown = self.findings(self.check(*arguments, code=1)[0])
        all_found = json.loads(self.check(*arguments, "--json", "--junit", "o.xml", code=1)[0])["scenarios"][0]
        figures = [finding for finding in all_found["findings"] if finding["kind"] == "baseline"]
        self.assertGreater(len(figures), 100)
        told = [line for line in shown if " is outside " in line or "seeds of the baseline" in line]
        self.assertEqual(len(told), 3)
        # The baseline exceeded no limit, so it has no time at which it did.
        self.assertRegex(shown[1], r"the baseline does not have \d figures? of hash, for example "
                                   r"partitions.first_over_days")
        self.assertIn(f"and {len(figures) - 4} more figures", shown[-1])
        text = "".join(failure.text for failure in self.junit()[0].findall("testcase/failure"))
        for finding in figures:
            self.assertIn(finding["text"], text)

    def test_changed_scenario_is_named(self):
        self.update()
        self.write("small.yaml", GOOD.replace("bits: 4", "bits: 3").replace("rows: 10,", "rows: 11,"))
        found = self.against()
        self.assertIn("first to differ: strategy probabilistic", found[1])
        self.assertTrue(found[1].endswith("; the scenario changed since"), found[1])
        self.write("small.yaml", GOOD + "# a remark\n")
        out, _ = self.check("small.yaml", "--baseline", "b.db")
        self.assertIn("small.yaml: note: all rows go to the same partitions as before; the scenario changed "
                      "since\n", out)
        self.write("small.yaml", GOOD)
        self.assertIn("; --set differs from the baseline's",
                      self.against("small.yaml", "--set", "arrivals.rate=0.4/s")[0])

    def test_a_strategy_that_only_one_side_has_fails(self):
        self.update()
        self.write("small.yaml", GOOD.replace("- time: {window: 6h}", "- time: {window: 6h, label: quarter}"))
        found = self.against("small.yaml", "--digest", "ignore")
        self.assertEqual(found, ["small.yaml: the run has strategy quarter, and the baseline does not",
                                 "small.yaml: the baseline has strategy time, and the run does not"])

    def test_figures_that_only_one_side_has_fail(self):
        self.update()
        self.sql("DELETE FROM metric WHERE name = 'writes.rows' AND strategy < 3;"
                 "DELETE FROM baseline_metric WHERE name = 'writes.lwt' AND label = 'hash'")
        found = self.against()
        self.assertEqual([line.split(", for")[0] for line in found],
                         [f"small.yaml: the baseline does not have 1 figure of {label}"
                          for label in ["unbucketed", "time", "hash"]])
        self.sql("UPDATE baseline_metric SET name = 'writes.of_old' WHERE name = 'writes.lwt';"
                 "UPDATE run SET digest = '0123456789abcdef'")
        self.assertIn(f"small.yaml: unbucketed.writes.of_old is missing, at each of {self.confirmations()} seeds",
                      self.json_findings())

    # --- the gate guards itself

    def json_findings(self, *arguments):
        out, _ = self.check("small.yaml", "--baseline", "b.db", "--json", *arguments, code=1)
        return ["small.yaml: " + finding["text"] for finding in json.loads(out)["scenarios"][0]["findings"]]

    def test_what_was_changed_or_removed_fails_by_name_until_the_baseline_is_made_again(self):
        limits = "limits: {partition_rows: 3000, partition_bytes: 1GB, tiny_rows: 24, over_limit_share: 1%}"
        good = re.sub(r"limits: .*", limits, GOOD) + "tune: {confidence: 95%}\n"
        self.write("small.yaml", good)
        self.update()
        for old, new, told in [
                ("partition_rows: 3000", "partition_rows: 3001",
                 "limits.partition_rows is 3001, baseline 3000"),
                ("partition_rows: 3000, ", "", "limits.partition_rows is 0, baseline 3000"),
                (": 1GB", ": 2GB", "limits.partition_bytes is 2000000000, baseline 1000000000"),
                ("tiny_rows: 24", "tiny_rows: 23", "limits.tiny_rows is 23, baseline 24"),
                ("share: 1%", "share: 2%", "limits.over_limit_share is 0.02, baseline 0.01"),
                ("confidence: 95%", "confidence: 90%", "tune.confidence is 0.9, baseline 0.95"),
                ("total > 0", "total > -1",
                 "the run does not have the expectation 'hash.partitions.total > 0'"),
                ("  - hash.partitions.total > 0\n", "",
                 "the run does not have the expectation 'hash.partitions.total > 0'"),
                ("window: 6h", "window: 7h",
                 "the strategy time is another: time {window: 7h}, baseline time {window: 6h}")]:
            self.assertIn(old, good)
            self.write("small.yaml", good.replace(old, new))
            found = self.against("small.yaml", "--digest", "ignore")
            self.assertEqual(found[0], f"small.yaml: {told}")
            self.assertLess(len(found), 8)
        self.write("small.yaml", good.replace("3000", "4000"))
        self.update()
        self.assertEqual(self.against(code=0), [])
        self.write("small.yaml", GOOD + "  - tune.best.hash != hash-5\n")
        self.update()
        self.assertEqual(self.against(code=0), [])
        self.write("small.yaml", GOOD)
        self.assertEqual(self.against(),
                         ["small.yaml: the run does not have the expectation 'tune.best.hash != hash-5'"])

    def test_baseline_that_lacks_any_part_fails(self):
        """Every table, and the rows of every strategy in it, are deleted in turn."""
        self.write("small.yaml", re.sub("limits: {", "limits: {over_limit_share: 1%, ", GOOD))
        self.write("agents.yaml", AGENTS.replace("10m", "3m"))
        self.update("small.yaml", "agents.yaml")
        whole = sqlite3.connect(os.path.join(self.folder, "b.db"))
        labels = whole.execute("SELECT strategy, label, scenario FROM strategy JOIN run USING (run)").fetchall()
        deletions = ["DELETE FROM baseline_metric WHERE name = 'writes.rows'", "DELETE FROM metric WHERE position = 0",
                     "DELETE FROM largest WHERE unit = 'bytes'", "UPDATE run SET scenario_text = NULL"]
        for (table,) in whole.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE "
                                      "'sqlite_%'").fetchall():
            columns = {row[1] for row in whole.execute(f"PRAGMA table_info({table})")}
            of_strategies = [f"strategy = {strategy}" for strategy, _, _ in labels] if "strategy" in columns else \
                [f"label = '{label}' AND scenario = '{scenario}'" for _, label, scenario in labels] \
                if "label" in columns else []
            deletions += [f"DELETE FROM {table} WHERE {where}" for where in ["1 = 1", *part(of_strategies)]
                          if whole.execute(f"SELECT count(*) FROM {table} WHERE {where}").fetchone()[0] > 0]
        whole.close()
        self.assertGreater(len(deletions), 20)
        good = self.bytes_of("b.db")
        for at, deletion in part(list(enumerate(deletions))[::-1]):
            with open(os.path.join(self.folder, "b.db"), "wb") as file:
                file.write(good)
            database = sqlite3.connect(os.path.join(self.folder, "b.db"))
            database.execute(deletion)
            database.commit()
            database.close()
            with self.subTest(deletion=deletion):
                code, out, _ = self.run_program("check", "small.yaml", "agents.yaml", "--baseline", "b.db", "--quiet",
                                                "--no-store", "--digest", ["exact", "ignore"][at % 2])
                self.assertNotEqual(code, 0, out)

    def test_scenario_without_baseline_fails_and_says_how_to_make_one(self):
        self.update()
        self.write("other.yaml", GOOD.replace("name: small", "name: other"))
        found = self.against("small.yaml", "other.yaml")
        self.assertEqual(len(found), 1)
        self.assertIn("other.yaml: b.db does not have 'other'; add it with --update-baseline", found[0])
        self.update("other.yaml")
        self.assertEqual(self.against("small.yaml", "other.yaml", code=0), [])

    def test_update_replaces_the_run_and_leaves_others(self):
        self.write("other.yaml", GOOD.replace("name: small", "name: other"))
        self.update("small.yaml", "other.yaml")
        self.update("small.yaml", "--seeds", "3", "--set", "row.bytes=70")
        found = sqlite3.connect(os.path.join(self.folder, "b.db")).execute(
            "SELECT scenario, run, seeds, (SELECT count(*) FROM run) FROM baseline ORDER BY scenario").fetchall()
        self.assertEqual(found, [("other", 2, 6, 2), ("small", 3, 4, 2)])
        self.assertIn("same digest", self.good("replay", "3", "--db", "b.db", "--quiet"))

    def test_update_from_a_run_that_fails_is_refused_and_changes_no_byte(self):
        self.write("bad.yaml", BAD)
        out, err = self.update("small.yaml", "bad.yaml", code=1)
        self.assertIn("bad.yaml: expected hash.partitions.all.rows.max <= 1000, got ", out)
        self.assertEqual(err, "1 of 4 checks failed, in bad; b.db is unchanged, because only runs that pass make a "
                              "baseline; fix the failures first\n")
        self.assertNotIn("b.db", self.files())
        self.update()
        before = self.bytes_of("b.db")
        self.update("small.yaml", "bad.yaml", code=1)
        self.assertEqual(self.bytes_of("b.db"), before)
        self.assertEqual([name for name in self.files() if name.startswith("b.db")], ["b.db"])

    # --- malformed and missing files

    def test_baseline_that_cannot_be_used_is_refused_and_not_changed(self):
        self.update()
        good = self.bytes_of("b.db")
        damaged = bytearray(good)
        damaged[4096:] = bytes(len(good) - 4096)
        newer = bytearray(good)
        newer[60:64] = (99).to_bytes(4, "big")
        foreign = bytearray(good)
        foreign[68:72] = (1).to_bytes(4, "big")
        for name, content, text in [("text.db", b"no database at all, but a long text" * 30, "not a database"),
                                    ("damaged.db", bytes(damaged), "damaged.db"),
                                    ("newer.db", bytes(newer), "newer"),
                                    ("foreign.db", bytes(foreign), "another program")]:
            with open(os.path.join(self.folder, name), "wb") as file:
                file.write(content)
            for more in [[], ["--update-baseline"]]:
                line = self.bad(3, "check", "small.yaml", "--baseline", name, "--quiet", "--no-store", *more)
                self.assertIn(text, line)
                self.assertNotIn("--db", line)
                self.assertEqual(self.bytes_of(name), content)
        self.assertIn("no such baseline; make it by the same command with --update-baseline",
                      self.bad(3, "check", "small.yaml", "--baseline", "none.db", "--quiet"))
        self.bad(3, "check", "small.yaml", "--baseline", "none/b.db", "--update-baseline", "--quiet")

    def test_locked_baseline_is_waited_for_and_then_not_changed(self):
        self.update()
        before = self.bytes_of("b.db")
        database = sqlite3.connect(os.path.join(self.folder, "b.db"), isolation_level=None)
        database.execute("BEGIN IMMEDIATE")
        self.assertIn("b.db: ", self.bad(3, "check", "small.yaml", "--baseline", "b.db", "--update-baseline", "--quiet",
                                         "--no-store"))
        database.execute("ROLLBACK")
        database.close()
        self.assertEqual(self.bytes_of("b.db"), before)

    @unittest.skipIf(os.geteuid() == 0, "root may write what is read-only")
    def test_read_only_baseline_is_refused(self):
        self.update()
        os.chmod(os.path.join(self.folder, "b.db"), 0o444)
        self.bad(3, "check", "small.yaml", "--baseline", "b.db", "--quiet")

    def test_full_disk_while_updating_leaves_the_old_baseline(self):
        self.update()
        before = self.bytes_of("b.db")
        self.write("other.yaml", GOOD.replace("name: small", "name: other"))
        line = self.bad(3, "check", "small.yaml", "other.yaml", "--baseline", "b.db", "--update-baseline", "--quiet",
                        "--no-store", **self.small_files(len(before) // 2))
        self.assertIn("b.db: ", line)
        self.assertEqual(self.against(code=0), [])
        held = sqlite3.connect(os.path.join(self.folder, "b.db")).execute("SELECT scenario, run FROM baseline")
        self.assertEqual(held.fetchall(), [("small", 1)])

    def test_interrupted_check_and_update_change_nothing(self):
        self.update()
        os.remove(os.path.join(self.folder, "bucketlab.db"))
        before, files = self.bytes_of("b.db"), self.files() + ["long.yaml"]
        self.write("long.yaml", GOOD.replace("name: small", "name: long\nengine: exact")
                   .replace("rate: 0.5/s", "rate: 300000/s"))
        for arguments in [["long.yaml"], ["small.yaml", "long.yaml", "--baseline", "b.db", "--update-baseline"]]:
            process = self.start("check", *arguments, "--quiet", "--junit", "o.xml")
            self.wait_for_work(process, 0.25)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
            self.assertEqual((process.returncode, out), (130, b""), err)
            self.assertIn(b"interrupted; nothing was stored", err)
            self.assertEqual(self.bytes_of("b.db"), before)
            self.assertEqual(self.files(), sorted(files))

    # --- reports

    def test_junit_holds_every_check_in_order(self):
        self.update()
        self.write("bad.yaml", BAD)
        self.check("small.yaml", "bad.yaml", "--baseline", "b.db", "--junit", "new/folder/o.xml", code=1)
        small, bad = self.junit("new/folder/o.xml")
        self.assertEqual([case.get("name") for case in small.findall("testcase")],
                         ["expect: count.partitions.closed.rows.max == 1000", "expect: hash.partitions.total > 0",
                          "baseline: scenario", "baseline: digest"] +
                         [f"baseline: figures of {label}"
                          for label in ["unbucketed", "time", "count", "probabilistic", "hash"]])
        properties = {one.get("name"): one.get("value") for one in small.iter("property")}
        shown = self.good_json("show", properties["run"], "--json")
        self.assertEqual((properties["seed"], properties["digest"], properties["rows"]),
                         ("7", shown["digest"], str(shown["rows"])))
        self.assertEqual(self.good("--version").split()[1], properties["version"])
        failure = bad.find("testcase/failure")
        self.assertTrue(failure.text.endswith("\nagain: bucketlab run bad.yaml --seed 7\n"))
        self.assertTrue(failure.text.startswith(failure.get("message") + "\n"))

    def test_junit_keeps_what_is_markup_elsewhere_as_text(self):
        label = "a<b> & \"c\" 'd' ]]> ü \U0001f600"
        self.write("odd.yaml", SMALL.replace("name: small", f"name: {json.dumps(label)}")
                   .replace("- unbucketed: {}", f"- unbucketed: {{label: {json.dumps(label)}}}") +
                   "expect:\n  - " + json.dumps(label + ".partitions.total < 0") + "\n")
        name = "o<&>\x01\x1f.yaml"
        os.rename(os.path.join(self.folder, "odd.yaml"), os.path.join(self.folder, name))
        self.check(name, "--junit", "o.xml", code=1)
        suite = self.junit()[0]
        self.assertEqual(suite.get("name"), label)
        self.assertEqual(suite.find("testcase").get("name"), f"expect: {label}.partitions.total < 0")
        self.assertIn(f"expected {label}.partitions.total < 0, got ", suite.find("testcase/failure").text)
        self.assertIn("o<&>??.yaml", suite.find("testcase/failure").text)

    def lint(self, text):
        path = self.write("lint.xml", text)
        return subprocess.run(["xmllint", "--noout", "--schema", SCHEMA, path], capture_output=True,
                              check=False).returncode

    def test_junit_that_cannot_be_written_is_one_line(self):
        before = self.files()
        line = self.bad(3, "check", "small.yaml", "--junit", "/proc/o.xml", "--quiet", "--no-store")
        self.assertIn("/proc", line)
        self.assertNotIn("--out", line)
        self.assertEqual(self.files(), before)


if __name__ == "__main__":
    unittest.main()
