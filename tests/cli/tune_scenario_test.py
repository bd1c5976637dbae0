# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: `tune SCENARIO` recommends a setting within the limits, shows it in a table that fits, stores it in
the database, and names the binding limit when no setting is within the limits. Method: a scenario of some ten
thousand rows; `run` runs the recommended setting again, and the test judges it.
"""
import json
import math
import os
import re
import shutil
import signal
import sqlite3
import tempfile
import time
import unittest

from program import SOURCE, ProgramTest, commands_s, without_progress
from share import in_full

SMALL = """\
name: small
seed: 7
duration: 2d
keys: {count: 30, popularity: {zipf: 0.8}}
arrivals: {rate: 0.5/s}
row: {bytes: {lognormal: {mean: 300, sigma: 0.8}}, cells: 3}
reads: {latest: {rows: 20, rate: 0.02/s}}
limits: {partition_rows: 1000, partition_bytes: 250KB, tiny_rows: 24}
tune: {risk: 2%, seeds: 4}
strategies:
  - time: {window: 1d, label: mine}
  - probabilistic: {bits: 4, threshold: 20}
"""
# No distribution knows deletes, so settings are run.
DELETES = ["--set", "deletes={share: 1%, after: 1h}", "--set", "reads=null"]
# About two seconds of work, so that outcomes are stored several times.
LONG = ["--set", "arrivals.rate=4/s", "--set", "duration=20d", "--set", "engine=exact"]
SHORT = ["--set", "duration=6h"]
STATUSES = {"recommended", "within", "not judged", "exceeds", "disqualified", "costly"}


class TuneScenarioTest(ProgramTest):
    undisturbed = None
    told = None

    @classmethod
    def setUpClass(cls):
        cls.shared = tempfile.mkdtemp(prefix="bucketlab-test-")
        cls.addClassCleanup(shutil.rmtree, cls.shared)

    def setUp(self):
        super().setUp()
        self.write("small.yaml", SMALL)

    def tune(self, *arguments):
        return self.good_json("tune", "small.yaml", "--json", "--no-charts", "--quiet", *arguments)

    def answer(self):
        """The answer for the scenario above, which is computed once for all tests that read it."""
        if TuneScenarioTest.undisturbed is None:
            TuneScenarioTest.undisturbed = self.tune("--jobs", "1", "--db", os.path.join(self.shared, "answer.db"))
        return TuneScenarioTest.undisturbed

    def tell(self):
        """The output for that scenario, computed once for all tests; its database is this test's, its charts
        and page are in the folder x."""
        if TuneScenarioTest.told is None:
            TuneScenarioTest.told = self.good("tune", "small.yaml", "--quiet", "--format", "png,html,pdf", "--out", "x")
            shutil.copytree(self.folder, self.shared, dirs_exist_ok=True)
        else:
            shutil.copytree(os.path.join(self.shared, "x"), os.path.join(self.folder, "x"))
            shutil.copy(os.path.join(self.shared, "bucketlab.db"), self.folder)
        return TuneScenarioTest.told

    def test_tune_recommends_by_the_rule(self):
        """Of the settings within the limits whose load is within the tolerance of the least, the one with the
        lowest CV; without a sequence number, unless nothing else is within the limits."""
        answer = self.answer()
        self.assertEqual(list(answer), ["scenario", "seed", "asked", "candidates", "recommended", "why", "growth",
                                        "prices", "unbucketed_days_left", "needs_buckets", "notes",
                                        "margin", "lead", "run"])
        self.assertEqual((answer["scenario"], answer["seed"], answer["asked"]["tolerance"]), ("small", 7, 0.005))
        best = answer["recommended"]
        by_label = {each["label"]: each for each in answer["candidates"]}
        self.assertEqual(len(by_label), len(answer["candidates"]))
        self.assertEqual({each["status"] for each in by_label.values()} - STATUSES, set())
        within = [each for each in by_label.values() if each["status"] in ("recommended", "within") and
                  not each["grows"] and "sequence" not in each["requires"]]
        for each in within:
            over = each["metrics"]["partitions.over_limit.share"]
            self.assertLessEqual(over["high"], 0.02)
            self.assertLessEqual(over["low"], over["mean"])
        load = {each["label"]: 1000 + each["metrics"]["cost_per_1000_rows"]["mean"] for each in within}
        equal = [each for each in within if load[each["label"]] <= 1.005 * min(load.values())]
        self.assertEqual(best["label"],
                         min(equal, key=lambda each: each["metrics"]["partitions.closed.rows.cv"]["mean"])["label"])
        self.assertEqual(best["status"], "recommended")
        self.assertTrue(best["seeds"] == 4 or best["judged_by"] == "distribution", best)
        self.assertEqual((by_label["mine"]["status"], by_label["mine"]["fails_by"]), ("exceeds", "limits"))
        self.assertTrue(by_label["mine"]["own"])
        self.assertTrue(answer["why"][0].startswith(f"Use {best['label']} ("), answer["why"])
        self.assertEqual({line.split(":")[0] for line in answer["why"][1:]} -
                         {"size", "cost", "margin", "node", "needs", "lost", "else", "not"}, set())

    def test_a_trace_that_grows_gets_the_time_when_it_needs_buckets(self):
        """With 6,000,000 rows in 60 days and a rate that doubles in a year, when does an unbucketed key have
        100 million?"""
        per_day = math.log(2) / 365
        self.write("grow.csv", "timestamp_ms,key,count\n" +
                   "".join(f"{1767225600000 + day * 86_400_000},k,{round(1e5 * math.exp(per_day * day))}\n"
                           for day in range(60)))
        self.write("grow.yaml", "name: grow\ntrace: {file: grow.csv}\nrow: {bytes: 100}\nlimits: {partition_rows: "
                   "100M}\ntune: {seeds: 2, strategies: [unbucketed, time, count]}\n"
                   "strategies: [{time: {window: 10d}}]\n")
        answer = self.good_json("tune", "grow.yaml", "--json", "--no-charts", "--quiet")
        self.assertAlmostEqual(answer["growth"]["doubles_days"], 365, delta=0.1)
        grown = math.expm1(per_day * 60)
        all_rows = sum(round(1e5 * math.exp(per_day * day)) for day in range(60))
        wanted = math.log1p(1e8 / all_rows * grown) / per_day
        self.assertAlmostEqual((answer["unbucketed_days_left"] + 60) / wanted, 1, delta=0.001)
        self.assertIn("at this trace's growth (its rate doubles every 365 days)", answer["why"][0])
        # A run reports the same about these rows, whether or not unbucketed is tried.
        for strategies in ("[{time: {window: 10d}}]", "[unbucketed: {}, time: {window: 10d}]"):
            run = self.good_json("run", "grow.yaml", "--json", "--no-charts", "--quiet", "--no-store", "--set",
                                 f"strategies={strategies}")
            self.assertEqual((run["needs_buckets"], run["unbucketed_days_left"]),
                             (answer["needs_buckets"], answer["unbucketed_days_left"]))
            metrics = run["strategies"][-1]["metrics"]
            self.assertEqual(metrics["horizon.doubles_days"], answer["growth"]["doubles_days"])
            self.assertEqual(metrics["keys.rows.max"], all_rows)
            year = all_rows * math.expm1(per_day * 365) / grown  # of the first 365 days
            each = metrics["partitions.all.bytes.mean"] * metrics["partitions.total"] / all_rows
            self.assertAlmostEqual(metrics["capacity.bytes_per_node"] / (year * each * 3 / 6), 1, delta=0.001)
            self.assertIn(f"{metrics['capacity.bytes_per_node'] / 1e9:.3g}", "".join(answer["why"]))
        text = self.good("run", "grow.yaml", "--quiet", "--out", "run", "--format", "html", "--set",
                         f"strategies={strategies}")
        again = self.good("show", "2")
        with open(os.path.join(self.folder, "run", "grow.html"), encoding="utf-8") as file:
            page = file.read()
        need = answer["why"][0]
        self.assertTrue(need.startswith("You need no buckets yet: unbucketed is within the limits for "), need)
        for told in (text, again, page):
            self.assertIn(need, " ".join(told.split()))
        self.assertIn(f"grow.yaml: note: {need}", self.good("check", "grow.yaml", "--no-store"))
        days = next(each["horizon_days"] for each in answer["candidates"] if each["label"] == "time")
        self.assertAlmostEqual(metrics["horizon.days"], days)
        self.assertTrue(5 * 365 < days < 7 * 365, days)

    def test_figures_are_those_of_the_table_of_metrics(self):
        with open(os.path.join(SOURCE, "docs", "metrics.md"), encoding="utf-8") as file:
            rows = re.findall(r"^\| `([\w.]*)(?:\{([\w,]+)\}|(\*))?`", file.read(), re.M)
        told = {start + end for start, ends, star in rows for end in (star or ends).split(",")}
        own = {"cost_per_1000_rows", "cost_of_writes_per_1000_rows", "writes.counter_increments_per_1000_rows",
               "partitions.over_limit.share", "partitions.tiny.share", "partitions.rows.mean", "partitions.bytes.mean"}
        for each in self.answer()["candidates"]:
            for name in set(each["metrics"]) - own:
                self.assertTrue(name in told or re.sub(r"\.\w+$", ".*", name) in told, name)

    def test_recommended_holds_when_it_is_run(self):
        answer = self.answer()
        shares, writes, reads = [], [], []
        seeds = answer["recommended"]["seeds"]
        for seed in range(7, 7 + seeds):
            run = self.good_json("run", "small.yaml", "--json", "--no-charts", "--seed", str(seed), "--set",
                                 "strategies=[{" + answer["recommended"]["yaml"] + "}]")
            metrics = run["strategies"][0]["metrics"]
            shares.append(metrics["partitions.over_limit"] / metrics["partitions.total"])
            asked = metrics["reads.count"] * metrics["reads.partitions_per_read.mean"]
            writes.append(metrics["writes.extra_ops_per_1000_rows"])
            reads.append(1000 * asked / metrics["writes.rows"])
        share = answer["recommended"]["metrics"]["partitions.over_limit.share"]
        self.assertAlmostEqual(sum(shares) / seeds, share["mean"], places=12)
        self.assertLessEqual(share["mean"], 0.02)
        told = answer["recommended"]["metrics"]
        self.assertAlmostEqual(sum(writes) / seeds, told["writes.extra_ops_per_1000_rows"]["mean"])
        # The expected number of reads, while a run draws them: some 3,500 in each seed, so 10 % are over
        # five standard errors.
        expected = told["cost_per_1000_rows"]["mean"] - told["cost_of_writes_per_1000_rows"]["mean"]
        self.assertAlmostEqual(sum(reads) / seeds / expected, 1, delta=0.1)

    def test_margin_is_that_of_higher_rates(self):
        """Within the limits at one rate, and so at every lower one; a run at a rate that was run is the same."""
        answer = self.answer()
        self.assertEqual(answer["margin"][0]["label"], answer["recommended"]["label"])
        order = ["within", "not judged", "exceeds"]
        for margin in answer["margin"]:
            self.assertEqual([step["times"] for step in margin["rates"]], [1.5, 2, 3, 5, 10])
            words = [order.index(step["within"]) for step in margin["rates"]]
            self.assertEqual(words, sorted(words), margin)
        self.assertNotIn("not judged", [step["within"] for step in answer["margin"][0]["rates"]])
        answer = self.tune(*DELETES)
        label, step = next((margin["label"], step) for margin in answer["margin"] for step in margin["rates"]
                           if "rows_max" in step)
        yaml = next(each["yaml"] for each in answer["candidates"] if each["label"] == label)
        run = self.good_json("run", "small.yaml", "--json", "--no-charts", *DELETES, "--set",
                             f"arrivals.rate={step['times'] / 2}/s", "--set", "strategies=[{" + yaml + "}]")
        metrics = run["strategies"][0]["metrics"]
        self.assertEqual(metrics["partitions.all.rows.max"], step["rows_max"])
        self.assertEqual(metrics["partitions.all.bytes.max"], step["bytes_max"])

    def test_rates_that_the_distribution_decides_are_not_run(self):
        """Rows of one size: more rows make no partition of these kinds larger."""
        rows = ["--set", "row.bytes=300"]
        margins = {margin["label"]: margin["rates"] for margin in self.tune(*rows)["margin"]}
        proven = [step for label, rates in margins.items() if not label.startswith("mine") for step in rates]
        self.assertGreaterEqual(len(proven), 10)
        for step in proven:
            self.assertIn((step["within"], step["judged_by"]), {("within", "distribution"), ("within", "certain")})
            self.assertNotIn("rows_max", step)

    def test_answer_does_not_depend_on_jobs_and_is_stored(self):
        self.assertEqual(self.answer(), self.tune("--jobs", "3"))
        bursts = ["--set", "arrivals.bursts={on: 10m, off: 1h, factor: 10}", "--set", "tune.strategies=[time]", "--set",
                  "duration=8h"]
        answers = [self.tune(*bursts, "--jobs", jobs, "--db", jobs) for jobs in ("1", "3")]
        self.assertEqual(answers[0], answers[1])
        answers = [self.answer()]
        database = sqlite3.connect(os.path.join(self.shared, "answer.db"))
        self.addCleanup(database.close)
        stored = database.execute("SELECT run, answer FROM tune").fetchall()
        self.assertEqual([(run, json.loads(answer)) for run, answer in stored],
                         [(1, {name: answers[0][name] for name in answers[0] if name != "run"})])
        labels = [row[0] for row in database.execute("SELECT label FROM strategy ORDER BY position")]
        self.assertEqual(labels[0], answers[0]["recommended"]["label"])
        own = {"mine", "probabilistic"}
        self.assertEqual(own - set(labels), set())
        within = {each["label"] for each in answers[0]["candidates"] if each["status"] in ("recommended", "within")}
        self.assertEqual(set(labels) - own - within, set())
        self.assertIn("same digest", self.good("replay", "1"))

    def test_table_fits_and_names_all_that_matters(self):
        out = self.tell()
        for line in out.split("strategies:")[0].splitlines():
            self.assertLessEqual(len(line), 80, line)
        self.assertNotIn("\033", out)
        for piece in [r"\AUse \S+ \(", r"\n  size ", r"\n> \S+ .* recommended\n", r"\n  mine .* exceeds\n",
                      r"\nstrategies:\n  - \w+: \{.*\}\n",
                      r"\nrun 1 in bucketlab\.db, seed 7, digest [0-9a-f]{16}, \d+\.\d s\n\Z"]:
            self.assertRegex(out, piece)
        names = ["small-tune-" + name for name in
                 ["costs", "front", "nodes", "partitions-bytes", "partitions-rows", "reads",
                  "survival-bytes",
                  "survival-rows", "timeline"]]
        self.assertEqual([name for name in sorted(os.listdir(os.path.join(self.folder, "x"))) if name.endswith("png")],
                         [name + ".png" for name in names])
        shown = self.good("show", "last")
        self.assertNotIn("Choose", shown)
        self.assertNotIn("\n>", shown)
        self.assertIn("These are the settings that tune ran with the most seeds", shown.replace("\n", " "))
        self.good("report", "last", "--out", "y")
        for name in names:
            charts = []
            for folder in ["x", "y"]:
                with open(os.path.join(self.folder, folder, name + ".png"), "rb") as file:
                    charts.append(file.read())
            self.assertEqual(charts[0], charts[1])

    def test_page_has_the_recommendation_and_the_chart(self):
        self.tell()
        self.good("report", "last", "--format", "html", "--out", "y")
        pages = []
        for folder in ["x", "y"]:
            with open(os.path.join(self.folder, folder, "small-tune.html"), encoding="utf-8") as file:
                pages.append(file.read())
        self.assertEqual(pages[0], pages[1])
        self.assertIn("Use " + self.answer()["recommended"]["label"], pages[0])
        self.assertIn('id="chart-tune-front"', pages[0])
        self.assertEqual(pages[0].count('class="chosen"'), 1)

    def test_run_that_is_stored_has_the_best_of_each_kind(self):
        self.tell()
        answer = self.answer()
        labels = [each["label"] for each in self.good_json("show", "1", "--json")["strategies"]]
        self.assertEqual(labels[0], answer["recommended"]["label"])
        self.assertGreaterEqual(set(labels), {"mine", "probabilistic"} | {each["label"] for each in answer["margin"]})
        self.assertLessEqual(len(labels), 8)

    def test_damaged_answer_is_reported_by_report(self):
        self.tell()
        database = sqlite3.connect(os.path.join(self.folder, "bucketlab.db"))
        database.execute("UPDATE tune SET answer = substr(answer, 1, 100)")
        database.commit()
        database.close()
        self.assertRegex(self.bad(3, "report", "1"), r"the answer of 'tune' .* is damaged: .*; restore the database")

    def test_agents_get_guarded_and_a_lead(self):
        agents = ["--set", "agents={count: 3, cache_ttl: 1s}", "--set", "duration=20s", "--set", "arrivals.rate=40/s",
                  "--set", "keys.count=3", "--set", "limits={partition_rows: 400}", "--set",
                  "tune={risk: 20%, seeds: 8, strategies: [probabilistic]}", "--set",
                  "strategies=[{probabilistic: {bits: 3, threshold: 20, coordination: three-state, lead: 3s}}]"]
        answer = self.tune(*agents)
        templates = {each["template"] for each in answer["candidates"]}
        self.assertEqual(templates, {"probabilistic", "guarded"})
        self.assertRegex(answer["recommended"]["yaml"], r"coordination: (guarded|three-state)")
        self.assertEqual(answer["lead"]["label"].split("-")[0], "probabilistic")
        self.assertGreater(answer["lead"]["formula_s"], 1)
        self.assertIn("ead of probabilistic", answer["notes"])

    def test_setting_whose_agents_refuse_late_rows_is_not_recommended(self):
        """three-state remembers two changes of a key's bucket; guarded remembers all."""
        late = ["--set", "agents={count: 3, cache_ttl: 1s}", "--set", "duration=2m", "--set", "arrivals={rate: 40/s, "
                "late: {share: 30%, by: 1m}}", "--set", "keys={count: 3}", "--set", "limits={partition_rows: 400}",
                "--set", "tune={risk: 20%, seeds: 2, strategies: [probabilistic]}", "--set",
                "strategies=[{probabilistic: {bits: 1, threshold: 20, coordination: three-state, lead: 3s}}, "
                "{probabilistic: {bits: 1, threshold: 20, coordination: guarded, label: guarded}}]"]
        answer = self.tune(*late)
        three_state = next(each for each in answer["candidates"] if each["label"] == "probabilistic")
        self.assertEqual((three_state["status"], three_state["fails_by"]), ("disqualified", "available"))
        self.assertEqual(answer["recommended"]["template"], "guarded")
        told = self.good("tune", "small.yaml", "--no-charts", "--quiet", *late)
        self.assertRegex(told, r"\n  probabilistic .* refuses\n")
        self.assertIn("refuses: its agents refuse rows although nothing has failed", told)
        run = self.good("run", "small.yaml", "--no-charts", "--no-store", "--quiet", *late).replace("\n", " ")
        self.assertTrue(run.startswith("Use guarded "), run)
        self.assertRegex(run, r"probabilistic: [\d.]+% of the rows are refused")

    def test_impossible_limits_name_the_nearest_and_a_working_remedy(self):
        """The shortest windows that are tried have a second, in which the busiest key has 3.7 rows on average."""
        base = ["tune", "small.yaml", "--quiet", "--no-charts", "--set", "duration=10m", "--set", "arrivals.rate=20/s",
                "--set", "tune.strategies=[time]", "--set", "tune.seeds=3", "--set", "limits={partition_rows: 3}"]
        line = self.bad(1, *base)
        self.assertRegex(line, r"small\.yaml: no setting stays within the limits: with mine-\w+, the nearest, "
                               r"[\d.]+% of partitions exceed 3 rows; raise partition_rows to \d+, "
                               r"or risk to [\d.]+%\Z")
        rows, risk = line.split("partition_rows to ")[1].split(", or risk to ")
        self.good(*base, "--set", "limits.partition_rows=" + rows)
        self.good(*base, "--risk", risk)
        self.assertEqual(self.files(), ["bucketlab.db", "small.yaml"])

    def test_a_remedy_by_the_distribution_works(self):
        """The run shows no partition above the limit, and the distribution has rows of any size."""
        self.write("wild.yaml", "duration: 10d\nkeys: {count: 20}\narrivals: {rate: 1/m}\n"
                                "row: {bytes: {pareto: {min: 400B, alpha: 1.6}}, format: payload}\n"
                                "limits: {partition_bytes: 1MB}\ntune: {strategies: [weighted], seeds: 2}\n"
                                "strategies: [weighted: {bytes: 5KB, threshold: 40}]\n")
        base = ["tune", "wild.yaml", "--quiet", "--no-charts"]
        line = self.bad(1, *base)
        self.assertRegex(line, r"with weighted, the nearest, none of \d+ partitions is above 1.MB, but [\d.]+ "
                               r"are to be expected in 365 days; raise partition_bytes to \w+, or risk to [\d.]+%\Z")
        size, risk = line.split("partition_bytes to ")[1].split(", or risk to ")
        self.good(*base, "--set", "limits.partition_bytes=" + size)
        self.good(*base, "--risk", risk)

    def test_no_risk_means_that_no_partition_may_exceed_a_limit(self):
        base = [*SHORT, "--set", "tune.strategies=[time]", "--set", "tune.seeds=2"]
        own = ["--set", "tune.risk=null", "--set", "limits.over_limit_share=0%"]
        answers = [self.tune(*base, *more) for more in (["--risk", "0"], ["--set", "tune.risk=0%"], own)]
        self.assertEqual(answers[0]["asked"]["over_limit_share"], 0)
        for answer in answers[1:]:
            self.assertEqual([answer["asked"], answer["candidates"]], [answers[0]["asked"], answers[0]["candidates"]])

    def test_remedy_has_no_higher_risk_than_allowed(self):
        line = self.bad(1, "tune", "small.yaml", "--quiet", "--no-charts", *SHORT, "--set", "tune.seeds=2", "--set",
                        "limits={partition_bytes: 1B}")
        self.assertRegex(line, r"no setting stays within the limits: .* partitions exceed 1B; "
                               r"raise partition_bytes to \w+\Z")

    def test_tiny_partitions_can_be_the_failed_demand(self):
        line = self.bad(1, "tune", "small.yaml", "--quiet", "--no-charts", "--set",
                        "tune={strategies: [time], seeds: 3, risk: 50%, tiny: 0%}", "--set", "limits.tiny_rows=100000")
        self.assertRegex(line, r"% of closed partitions are tiny; raise tune\.tiny to [\d.]+%")

    def test_limit_of_less_than_a_row_is_enforced(self):
        line = self.bad(1, "tune", "small.yaml", "--quiet", "--no-charts", *SHORT, "--set",
                        "limits={partition_bytes: 20B}", "--set", "row.format=payload", "--set", "tune.seeds=2")
        self.assertRegex(line, r"(100|9\d[\d.]*)% of partitions exceed 20B; raise partition_bytes to \w+\Z")

    def test_trace_has_no_margin(self):
        self.write("trace.csv", "timestamp_ms,key,bytes\n" +
                   "".join(f"{1000 * i},k{i % 3},{100 + i % 7}\n" for i in range(3000)))
        self.write("trace.yaml", "trace: {file: trace.csv}\nlimits: {partition_rows: 200}\nstrategies:\n"
                   "  - count: {rows: 100, counter: external}\n  - time: {window: 30m}\n")
        answer = self.good_json("tune", "trace.yaml", "--json", "--no-charts", "--quiet")
        self.assertEqual(answer["margin"], [])
        self.assertNotIn("sequence", answer["recommended"]["requires"])
        self.assertTrue(answer["margin"] == [] and "needs a gapless number" in " ".join(answer["why"]))
        own = {each["label"]: each for each in answer["candidates"]}["time"]
        self.assertEqual((own["status"], own["metrics"]["partitions.over_limit.share"]["mean"]), ("exceeds", 1))
        self.assertEqual(own["metrics"]["partitions.over_limit.share"]["low"], 1)

    def test_bad_use_is_reported(self):
        cases = [
            (["--rows", "1..2"], "bucketlab: --rows applies only to 'tune' without a scenario; a scenario has its "
                                 "limits under 'limits'"),
            (["--risk", "60%"], "bucketlab: --risk 60%: out of range; give a share from 0 to 0.5, for "
                                "example 0.003, 0.3% or 1/300"),
            (["--seeds", "1"], "bucketlab: --seeds 1: out of range; give a whole number from 2 to 1000"),
            (["--set", "limits=null", "--set", "tune=null"],
             "small.yaml: no limit to tune for; add limits: {partition_bytes: 100MB}, or --set "
             "limits.partition_rows=100000"),
        ]
        for arguments, line in cases:
            self.assertEqual(self.bad(2, "tune", "small.yaml", *arguments), line)
        self.assertEqual(self.bad(2, "tune", "--seeds", "3"),
                         "bucketlab: --seeds applies only to 'tune SCENARIO'; name a scenario, or leave the option out")
        self.assertEqual(self.files(), ["small.yaml"])

    def outcomes(self, name="bucketlab.db"):
        """The number of runs that a database keeps of unfinished tunes."""
        return self.stored("outcome", name)

    def interrupt(self, number, above, *arguments):
        """Stops a tune that has stored more runs than `above`; returns its stderr, and the number of runs
        that it stored."""
        process = self.start("tune", "small.yaml", "--json", "--no-charts", "--jobs", "1", *arguments)
        self.wait_until(lambda: self.outcomes() > above, process)
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, out), (128 + number, b""), err)
        return without_progress(err.decode()), self.outcomes()

    def long_tune(self):
        """The answer of an undisturbed tune that takes two seconds of processor time on any machine, so that
        outcomes are stored several times; and its settings."""
        days = 20
        while True:
            settings, before_s = [*LONG, "--set", f"duration={days}d"], commands_s()
            whole = self.good("tune", "small.yaml", "--json", "--no-charts", "--quiet", *settings, "--db",
                              "whole.db")
            if commands_s() - before_s >= 2:
                return whole, settings
            days *= 2
            os.remove(os.path.join(self.folder, "whole.db"))

    @in_full
    def test_interrupted_tune_continues_where_it_was(self):
        whole, days = self.long_tune()
        command = ["tune", "small.yaml", "--json", "--no-charts", *days]
        self.assertEqual(self.outcomes("whole.db"), 0)
        done = 0
        for number in [signal.SIGINT, signal.SIGTERM]:
            err, kept = self.interrupt(number, done, *days)
            self.assertGreater(kept, done)
            self.assertEqual(err, (f"tune: {done} runs were done\n" if done > 0 else "") + f"interrupted; {kept} runs "
                             "are in bucketlab.db, and the same command resumes with the others\n")
            done = kept
        self.assertEqual(self.good_json("runs", "--json"), [])
        code, out, err = self.run_program(*command)
        self.assertEqual((code, out, without_progress(err)), (0, whole, f"tune: {done} runs were done\n"))
        self.assertEqual(self.outcomes(), 0)

    def test_tune_that_is_killed_continues_from_the_last_half_second(self):
        days, done = 2, 0
        while done == 0:  # a machine may be so fast that it had ended
            command = ["tune", "small.yaml", "--json", "--no-charts", "--jobs", "1", *LONG, "--set",
                       "arrivals.rate=24/s", "--set", "tune.strategies=[time]", "--set", f"duration={days}d"]
            process = self.start(*command, "--quiet")
            while process.poll() is None and self.outcomes() == 0:
                time.sleep(0.01)
            process.kill()
            process.communicate(timeout=60)
            done = self.outcomes()
            days *= 4
        code, _, err = self.run_program(*command)
        self.assertEqual((code, without_progress(err)), (0, f"tune: {done} runs were done\n"))

    @in_full
    def test_changed_tune_ignores_stored_results(self):
        _, days = self.long_tune()
        _, kept = self.interrupt(signal.SIGINT, 0, *days)
        for arguments in [["--set", "row.bytes=100"], ["--seed", "8"], ["--risk", "3%"], ["--seeds", "2"]]:
            shutil.copy(os.path.join(self.folder, "bucketlab.db"), os.path.join(self.folder, "copy.db"))
            process = self.start("tune", "small.yaml", "--no-charts", "--json", "--db", "copy.db", *days,
                                 *arguments)
            self.wait_for_work(process, 0.1)
            process.terminate()
            _, err = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 128 + signal.SIGTERM)
            self.assertNotIn(b"runs were done", err, arguments)
            self.assertGreaterEqual(self.outcomes("copy.db"), kept, arguments)
        # The same command for another scenario deletes what the first one stored.
        self.write("small.yaml", SMALL.replace("mean: 300", "mean: 301"))
        whole = self.good("tune", "small.yaml", "--json", "--no-charts", "--quiet", *days, "--db", "other.db")
        code, out, err = self.run_program("tune", "small.yaml", "--json", "--no-charts", *days)
        self.assertEqual((code, without_progress(err)), (0, ""))
        self.assertEqual({**json.loads(out), "run": 1}, json.loads(whole))
        self.assertEqual(self.outcomes(), 0)

    def test_interrupted_tune_says_when_it_cannot_store_its_results(self):
        self.good("run", "small.yaml", "--no-charts")
        database = sqlite3.connect(os.path.join(self.folder, "bucketlab.db"), isolation_level=None)
        self.addCleanup(database.close)
        done_s, err = 0.2, b"nothing was stored"
        while b"nothing was stored" in err:  # a machine may be so slow that no run had ended
            process = self.start("tune", "small.yaml", "--no-charts", "--quiet", "--jobs", "1", *LONG, *DELETES,
                                 "--seeds", "1000")
            self.wait_for_work(process, 0.1)
            database.execute("BEGIN IMMEDIATE")
            self.wait_for_work(process, done_s)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
            database.execute("ROLLBACK")
            self.assertEqual((process.returncode, out), (130, b""), err)
            done_s *= 4
        self.assertRegex(err.decode(), r"\Ainterrupted; the last \d+ runs could not be kept: bucketlab.db: .*\n\Z")

    def test_interrupt_of_the_first_run_leaves_nothing(self):
        process = self.start("tune", "small.yaml", "--set", "arrivals.rate=200000/s", "--set", "engine=exact",
                             "--quiet", "--no-charts")
        self.wait_for_work(process, 0.2)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, out, err.decode()), (130, b"", "interrupted; nothing was stored\n"))
        self.assertEqual(self.files(), ["small.yaml"])


if __name__ == "__main__":
    unittest.main()
