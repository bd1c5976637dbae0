# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: `fuzz` finds the same violations with any number of threads, reports them, and leaves a scenario that
reproduces each. Method: the program itself, and a build whose table guarantees too much, so that a seed is
sure to fail. The replay lines in its output are run.
"""
import difflib
import glob
import json
import os
import re
import shlex
import signal
import sys
import unittest

BOLD = os.path.abspath(sys.argv.pop(2)) if len(sys.argv) > 2 else ""
import program  # noqa: E402  it takes the first argument
from program import SOURCE, ProgramTest, without_progress  # noqa: E402

PROBES = {"roll_during_node_down", "roll_lost_to_another", "counter_update_unknown"}
# Strategies with which fuzz finds nothing.
FINE = "strategies: [{hash: {buckets: 3}}, {unbucketed: {}}]\n"
SINGLE = "strategies: [{probabilistic: {bits: 2, threshold: 5, label: \"it's\"}}]\n"


class FuzzTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.plain = program.PROGRAM
        self.addCleanup(setattr, program, "PROGRAM", self.plain)

    def json(self, code, *arguments):
        actual, out, err = self.run_program("fuzz", "--json", "--quiet", *arguments)
        self.assertEqual(actual, code, err)
        self.assertRegex(err, r"\A([^\n]+\n)?\Z")
        return json.loads(out)

    def bold(self):
        program.PROGRAM = BOLD

    # --- nothing found

    def test_reads_of_ranges_that_are_requested_fit_every_seed(self):
        self.good("fuzz", "--set", "reads={range: {span: 10s, age: 1s, rate: 2/s}}", "--seeds", "1..60", "--quiet")

    def test_table_of_guarantees_is_that_of_the_page(self):
        table = self.good("fuzz", "--guarantees")
        self.assertIn("| `guarded` | `live` |", table)
        with open(os.path.join(SOURCE, "docs", "oracles.md"), encoding="utf-8") as page:
            written = page.read().split("<!-- guarantees -->\n")[1].split("<!-- /guarantees -->")[0]
        lines = difflib.unified_diff(written.splitlines(), table.splitlines(), "docs/oracles.md", "printed",
                                     lineterm="", n=0)
        if written != table:
            self.fail("docs/oracles.md needs what `bucketlab fuzz --guarantees` prints:\n" + "\n".join(lines))

    def test_campaign_without_findings_says_what_it_tried(self):
        self.write("fine.yaml", FINE)
        out = self.good("fuzz", "fine.yaml", "--seeds", "3..32", "--quiet")
        self.assertRegex(out, r"\A30 seeds from 3 on, [\d,]+ seeds/s; the median seed has \d+ rows and \d+ rolls\n"
                              r"no guarantee was broken\n")
        self.assertRegex(out, r"\nhash, 30 runs\n  findable +30 ")
        self.assertRegex(out, r"\nroll_during_hint_loss +\d+ +[0-9.]+%\n")
        self.assertEqual(self.files(), ["fine.yaml"])

    def test_observed_sizes_are_judged_by_no_oracle(self):
        observed = os.path.join(SOURCE, "scenarios", "observed", "messages.csv")
        self.write("fine.yaml", f"strategies: [{{hash: {{buckets: 3}}}}, {{observed: {{file: {observed}}}}}]\n")
        found = self.json(0, "fine.yaml", "--seeds", "1..5")
        self.assertEqual({cell["strategy"] for cell in found["guarantees"]}, {"hash"})

    def test_json_holds_the_fields_that_are_guaranteed(self):
        self.write("fine.yaml", FINE)
        found = self.json(0, "fine.yaml", "--seeds", "1..20")
        self.assertEqual((found["seeds"], found["failures"]), (20, []))
        self.assertGreater(found["seeds_per_second"], 0)
        self.assertLessEqual(PROBES, found["probes"].keys())
        self.assertGreater(found["probes"]["hint_delivered"], 0)
        cell = next(cell for cell in found["guarantees"] if (cell["strategy"], cell["oracle"]) == ("hash", "findable"))
        self.assertEqual(cell["judged"], 20)
        self.assertEqual((cell["broken"], cell["excused_runs"]), (0, cell["violated"]))
        self.assertEqual((found["last"], found["next"]), (20, 21))

    def test_table_says_where_nothing_is_guaranteed_and_why(self):
        """Each condition that excused a violation is among the conditions that suspended the guarantee."""
        out = self.good("fuzz", "--seeds", "1..60", "--quiet")
        found = self.json(0, "--seeds", "1..60")["guarantees"]
        for cell in found:
            if cell["oracle"].startswith("kept_below_"):
                self.assertLessEqual(cell["violated"], cell["judged"])
            elif cell["guaranteed"] is None:
                self.assertRegex(out, rf"\n  {cell['oracle']} +{cell['judged']} +- +- +{cell['violated']}  never ")
                self.assertEqual(cell["not_guaranteed"], {})
            if cell["guaranteed"] is None:
                continue
            lapsed = cell["judged"] - cell["guaranteed"]
            self.assertLessEqual(cell["excused_runs"], lapsed)
            self.assertLessEqual(max(cell["not_guaranteed"].values(), default=0), lapsed)
            self.assertGreaterEqual(sum(cell["not_guaranteed"].values()), lapsed)
            for condition, runs in cell["excused"].items():
                self.assertLessEqual(runs, cell["not_guaranteed"][condition])
        self.assertRegex(out, r"\n  \w+ +(\d+) +0 +0 +\d+  not in \1: \w+ \d+")
        self.assertTrue(any(cell["excused"] for cell in found))
        self.assertIn("\nviolated but not broken: the strategy does not guarantee this, or a condition excused "
                      "it\n", out)
        # Exactly the conditions that the table names are explained.
        told = out.split("\nconditions that suspend a guarantee", 1)[1].split("\n\n", 1)[0].splitlines()[1:]
        self.assertEqual({line.split()[0] for line in told},
                         {name for cell in found for name in cell["not_guaranteed"]})
        # A condition that is held is not a reason any more.
        held = self.json(0, "--seeds", "1..60", "--hold", "uneven_settings")["guarantees"]
        self.assertIn("uneven_settings", {name for cell in found for name in cell["not_guaranteed"]})
        self.assertNotIn("uneven_settings", {name for cell in held for name in cell["not_guaranteed"]})

    def test_time_limit_decides_only_the_number_of_seeds(self):
        self.write("fine.yaml", FINE)
        out = self.good("fuzz", "fine.yaml", "--for", "300ms", "--seeds", "5..", "--jobs", "2", "--quiet")
        seeds = int(re.match(r"([\d,]+) seeds from 5 on", out)[1].replace(",", ""))
        following = f"\nnext seeds: bucketlab fuzz fine.yaml --seeds {5 + seeds}.. --for 300ms\n"
        self.assertTrue(out.endswith(following), out)
        same = self.good("fuzz", "fine.yaml", "--seeds", f"5..{4 + seeds}", "--jobs", "1", "--quiet")
        self.assertEqual(re.sub(r", [\d,]+ seeds/s", "", out).split("\n\nnext seeds")[0],
                         re.sub(r", [\d,]+ seeds/s", "", same).rstrip("\n"))
        # A campaign that has done all of its seeds has no next one; the shortest time is sufficient for one
        # seed.
        self.assertNotIn("next", self.good("fuzz", "fine.yaml", "--for", "1h", "--seeds", "5..6", "--quiet"))
        found = self.json(0, "fine.yaml", "--for", "1ms")
        self.assertEqual((found["first"], found["last"], found["next"]), (1, found["seeds"], found["seeds"] + 1))

    def test_threads_change_nothing_but_the_time(self):
        self.bold()
        for arguments in [["--keep-going", "--seeds", "1..60"], ["--seeds", "1..1000"]]:
            found = [self.json(1, *arguments, "--jobs", jobs) for jobs in ["1", "2", "5"]]
            for one in found:
                one.pop("seeds_per_second")
            self.assertEqual(found[0], found[1])
            self.assertEqual(found[0], found[2])

    def test_print_writes_scenarios_that_run(self):
        out = self.good("fuzz", "--seeds", "7..8", "--print")
        one, other = out.split("---\n")
        self.assertIn("seed: 8\n", other)
        self.assertEqual(self.files(), [])
        self.write("seven.yaml", one)
        run = self.good_json("run", "seven.yaml", "--json", "--quiet", "--no-charts")
        self.assertEqual((run["scenario"], run["seed"]), ("fuzz-7", 7))

    # --- something found

    def test_broken_guarantee_is_reported_replayed_shrunk_and_kept(self):
        self.bold()
        self.write("single.yaml", SINGLE)
        code, out, err = self.run_program("fuzz", "single.yaml", "--set", "agents.cache_ttl=800ms", "--quiet")
        self.assertEqual(code, 1, err)
        match = re.match(r"\Aseed (\d+): it's breaks its guarantee 'monotone'; again: (bucketlab fuzz [^\n]+)\n\Z", err)
        self.assertTrue(match, err)
        seed, replay = match[1], match[2]
        self.assertRegex(out, rf"\Aseed {seed}: it's breaks its guarantee 'monotone': ")
        name = f"bucketlab-out/single-{seed}-monotone.yaml"
        self.assertEqual(self.files(), ["bucketlab-out", name, "single.yaml"])

        # The line that replays it fails in the same way, with the same file.
        kept = self.read(name)
        os.remove(os.path.join(self.folder, name))
        self.assertEqual(shlex.split(replay)[0], "bucketlab")
        again = self.run_program(*shlex.split(replay)[1:], "--quiet")
        self.assertEqual(again[0::2], (code, err))
        self.assertEqual(self.read(name), kept)

        # The kept scenario is small, its expectation fails, and its run gives the printed event trace.
        self.assertIn(f"# Seed {seed} of `{replay}`\n", kept)
        self.assertIn(kept[kept.index("seed: "):], out)
        self.assertLess(len(kept), 1500)
        run = self.json_of_run(1, name)
        self.assertEqual([expect["text"] for expect in run["expect"]], ["it's.oracle.monotone.violations == 0"])
        self.assertFalse(run["expect"][0]["ok"])
        self.assertLess(run["rows"], 300)
        line = next(line for line in out.splitlines() if line.startswith("shrunk: bucketlab "))
        _, events, _ = self.run_program(*shlex.split(line)[2:], "--quiet")
        told = out.split("\nthe last events")[1].split("\n", 1)[1].split("\n\nagain: ")[0].splitlines()
        self.assertIn("\n".join(told), events)
        self.assertLessEqual(5, len(told))
        self.assertLessEqual(len(told), 40)
        self.assertTrue(any("VIOLATION of monotone" in line for line in told), told)

    def test_shrunk_scenario_finds_a_trace_of_any_name_and_holds_any_replay(self):
        self.bold()
        name = "it's \"here\".csv"
        rows = "".join(f'{i * 50},a,10\n' for i in range(800))
        self.write(name, "timestamp_ms,key,bytes\n" + rows)
        self.write("single.yaml", json.dumps({"trace": {"file": name}, "strategies": [
            {"probabilistic": {"bits": 0, "threshold": 5}}]}))
        found = self.json(1, "single.yaml", "--set", "agents.count= 4")
        shrunk = found["failures"][0]["scenario"]
        self.assertTrue(shrunk)
        comments = [line for line in self.read(shrunk).splitlines() if line.startswith("#")]
        self.assertEqual(len(comments), 4)
        self.assertIn("agents.count= 4", comments[0])
        _, out, err = self.run_program("run", shrunk, "--json", "--quiet", "--no-charts")
        self.assertFalse(json.loads(out)["expect"][0]["ok"], err)

    def test_shrunk_scenario_finds_a_measured_node(self):
        """Rows are given up only on a node that never answers."""
        self.write("measured.json", json.dumps({"node": {"concurrency": 1, "write": "1h"}}))
        self.write("slow.yaml", json.dumps({
            "duration": "2m", "keys": {"count": 1}, "arrivals": {"rate": "1/s"}, "agents": {"count": 2}, "faults": [],
            "cluster": {"nodes": 3, "node": {"like": "measured.json"}}, "strategies": [{"unbucketed": {}}]}))
        found = self.json(1, "slow.yaml", "--hold", "short_timeouts", "--seeds", "1..1")
        shrunk = found["failures"][0]["scenario"]
        self.assertIn(f"like: {os.path.realpath(self.folder)}/measured.json", self.read(shrunk))
        _, out, err = self.run_program("run", shrunk, "--json", "--quiet", "--no-charts")
        self.assertFalse(json.loads(out)["expect"][0]["ok"], err)

    def test_shrunk_line_is_one_for_a_shell(self):
        self.bold()
        self.write("single.yaml", SINGLE)
        code, out, err = self.run_program("fuzz", "single.yaml", "--set", "agents.cache_ttl=800ms", "--out",
                                          "it's here", "--quiet")
        self.assertEqual(code, 1, err)
        words = shlex.split(re.search(r"\nshrunk: (.*)\n", out)[1])
        self.assertRegex(words[2], r"\Ait's here/single-\d+-monotone\.yaml\Z")
        self.assertIn("VIOLATION of monotone", self.run_program(*words[1:], "--quiet")[1])

    def json_of_run(self, code, name):
        actual, out, err = self.run_program("run", name, "--json", "--quiet", "--no-charts")
        self.assertEqual(actual, code, err)
        return json.loads(out)

    def test_json_of_a_broken_guarantee_names_its_scenario(self):
        self.bold()
        found = self.json(1, "--out", "kept")
        self.assertEqual(len(found["failures"]), 1)
        failure = found["failures"][0]
        self.assertEqual(failure["oracle"], "monotone")
        self.assertEqual(failure["seed"], found["seeds"])
        self.assertRegex(failure["key"], r"\Akey-\d\Z")
        self.assertEqual(failure["replay"], f"bucketlab fuzz --seeds {failure['seed']}..{failure['seed']}")
        self.assertEqual(failure["scenario"], f"kept/fuzz-{failure['seed']}-monotone.yaml")
        self.assertTrue(os.path.exists(os.path.join(self.folder, failure["scenario"])))

    def test_keep_going_lists_every_failing_seed(self):
        self.bold()
        self.write("single.yaml", SINGLE)
        first = self.json(1, "single.yaml", "--seeds", "1..60")["failures"]
        found = self.json(1, "single.yaml", "--seeds", "1..60", "--keep-going")
        self.assertEqual(found["seeds"], 60)
        self.assertGreater(len(found["failures"]), 3)
        self.assertEqual(found["failures"][0]["seed"], first[0]["seed"])
        self.assertEqual({failure["scenario"] for failure in found["failures"]}, {None})
        code, out, err = self.run_program("fuzz", "single.yaml", "--seeds", "1..60", "--keep-going", "--quiet")
        self.assertEqual(code, 1)
        self.assertRegex(err, rf"\A{len(found['failures'])} of 60 seeds break a guarantee, the first of them: "
                              "bucketlab ")
        self.assertEqual(len(re.findall(r"^seed \d+: ", out, re.M)), min(20, len(found["failures"])))

    def test_trace_that_fails_is_found_from_the_folder_of_what_is_kept(self):
        self.bold()
        lines = "".join(f"{1767225600000 + 50 * i},k,9\n" for i in range(1200))
        os.mkdir(os.path.join(self.folder, "data"))
        self.write("data/rows.csv", "timestamp_ms,key,bytes\n" + lines)
        self.write("data/traced.yaml", "trace: {file: rows.csv}\nagents: {count: 6, cache_ttl: 2s}\n" + SINGLE)
        failure = self.json(1, "data/traced.yaml", "--seeds", "1..200")["failures"][0]
        self.assertEqual(failure["key"], "k")
        self.json_of_run(1, failure["scenario"])

    # --- usage

    def test_wrong_usage_is_one_line_with_a_remedy(self):
        self.write("bad.yaml", "strategies:\n  - hash: {bukets: 3}\n")
        self.write("stream.yaml", "agents: null\nfaults: null\n" + FINE)
        for word, arguments in [
                ("not a range", ["--seeds", "1..2..3"]),
                ("not a range", ["--seeds", "-1..3"]),
                ("seeds are 0 to ", ["--seeds", "1..9999999999999999999"]),
                ("not a range", ["--seeds", "5.."]),
                ("seeds are 0 to ", ["--seeds", "9999999999999999999..", "--for", "1s"]),
                ("--for 60: ", ["--for", "60"]),
                ("bad.yaml:2:12: unknown field 'bukets'", ["bad.yaml"]),
                ("leave 'agents' out to have them drawn", ["stream.yaml"]),
                ("--set agents.count=0: ", ["--set", "agents.count=0"]),
                ("at most 1 argument", ["bad.yaml", "bad.yaml"])]:
            self.assertIn(word, self.bad(2, "fuzz", "--quiet", *arguments))
        self.assertEqual(self.files(), ["bad.yaml", "stream.yaml"])

    def test_help_names_the_options(self):
        out = self.good("fuzz", "--help")
        for word in ["--seeds A..B", "--keep-going", "--print", "--jobs N", "example:"]:
            self.assertIn(word, out)

    def test_interrupted_campaign_shows_what_it_has(self):
        self.write("fine.yaml", FINE)
        process = self.start("fuzz", "fine.yaml", "--seeds", "1..1000000000", "--json")
        self.wait_for_work(process, 0.3)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        seeds = json.loads(out)["seeds"]
        self.assertGreater(seeds, 0)
        self.assertEqual(process.returncode, 130)
        self.assertEqual(json.loads(out)["next"], seeds + 1)
        self.assertEqual(without_progress(err.decode()),
                         f"interrupted after {seeds} seeds; what they found is above\n")

    def read(self, name):
        with open(os.path.join(self.folder, name), encoding="utf-8") as file:
            return file.read()


if __name__ == "__main__":
    unittest.main()
