# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: the manual page describes exactly what the program does. Method: its commands and options are compared
with `--help`, its fields of `--json` with the output of real runs, its format with mandoc; docs/cli.md must
name the same options. Arguments: the program, the share folder of the build.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import unittest

SHARE = os.path.abspath(sys.argv.pop(2))

from program import SMALL, SOURCE, ProgramTest  # noqa: E402 (takes the program from the arguments that are left)

PAGE = os.path.join(SHARE, "man", "man1", "bucketlab.1")
TUNE = """\
name: sensors
seed: 4
duration: 4d
keys: {count: 8, popularity: uniform}
arrivals: {rate: 0.5/s}
row: {bytes: 100}
limits: {partition_rows: 3000}
strategies:
  - unbucketed: {}
  - probabilistic: {bits: 4, threshold: 40}
  - time: {window: 6h}
"""
# Fields that only some runs have; each of the other fields must occur in a run below.
SELDOM = {"runs": {"[].sweep", "[].sweep_runs"},
          "tune SCENARIO": {"candidates[].settings.calendar", "candidates[].settings.chance",
                            "candidates[].settings.bytes", "candidates[].settings.buckets",
                            "candidates[].settings.rows", "candidates[].settings.bits",
                            "candidates[].settings.window_s", "candidates[].settings.threshold",
                            "candidates[].writes_per_s", "candidates[].reads_per_s",
                            "recommended.writes_per_s", "recommended.reads_per_s",
                            "candidates[].fails_by", "recommended.settings.*", "recommended.fails_by",
                            "lead.label", "lead.formula_s",
                            # A margin that a distribution judged has no partitions.
                            "margin[].rates[].rows_max", "margin[].rates[].bytes_max",
                            "margin[].rates[].partitions.over_limit.share"},
          "cql": {"[].profile"}}


def page_lines():
    with open(PAGE, encoding="utf-8") as file:
        return file.read().replace("\\-", "-").splitlines()


def section(title):
    """The lines below '.Ss title'."""
    lines = page_lines()
    begin = lines.index(".Ss " + title) + 1
    end = next(i for i in range(begin, len(lines)) if lines[i].startswith((".Ss", ".Sh")))
    return lines[begin:end]


def fields_of_page(title):
    """Every field that the page names: the path of its object, a dot, its name."""
    found, paths = set(), [""]
    for line in section("JSON of " + title):
        if line.startswith(".It Va "):
            paths = [path + "." for path in line[len(".It Va "):].split(" , ")]
        elif line.startswith(".Va "):
            found |= {path + line.split()[1] for path in paths}
    return found


def documented_objects(title):
    return {path for line in section("JSON of " + title) if line.startswith(".It Va ")
            for path in line[len(".It Va "):].split(" , ")}


def fields_of_value(value, path, objects):
    """Every field of the printed value; '.NAME' for an object whose fields are the run's own names."""
    if isinstance(value, list):
        found = set()
        for item in value:
            found |= fields_of_value(item, path + "[]", objects)
        return found
    if not isinstance(value, dict):
        return set()
    found = set()
    for name, item in value.items():
        if path + ".NAME" in objects:
            found |= fields_of_value(item, path + ".NAME", objects)
            continue
        own = f"{path}.{name}" if path else name
        found |= {own} | fields_of_value(item, own, objects)
    return found


class ManualTest(ProgramTest):
    def options_of(self, command):
        """Option -> the placeholder of its value, from --help."""
        text = self.good(command, "--help").split("options:\n")[1].split("\n\n")[0]
        return dict(re.findall(r"^  (--\S+)(?: (\S+))?", text, re.M))

    def commands(self):
        text = self.good("--help").split("commands:\n")[1].split("\n\n")[0]
        return [line.split()[0] for line in text.splitlines()]

    def test_page_has_each_command_with_its_usage_and_options(self):
        for command in self.commands():
            lines = section(command)
            usage = re.search(r"usage: bucketlab \S+ \[OPTIONS\] ?(.*)\n", self.good(command, "--help"))[1]
            self.assertEqual(lines[:3], [".Nm", ".Cm " + command, ".Op Ar options"])
            if usage:
                self.assertEqual(lines[3], ".Ar " + usage)
            named = dict(re.findall(r"^\.It Fl (-\S+)(?: Ar (\S+))?", "\n".join(lines), re.M))
            self.assertEqual({"-" + name: value for name, value in named.items()}, self.options_of(command))
            self.assertGreater(len(" ".join(lines[4:lines.index(".Pp", 6)])), 40, "a description")

    def test_page_is_sound_and_fits_80_columns(self):
        mandoc = shutil.which("mandoc")
        if mandoc is None:
            self.skipTest("no mandoc here")
        lint = subprocess.run([mandoc, "-Tlint", "-Wwarning", PAGE], capture_output=True, text=True, check=False)
        self.assertEqual((lint.returncode, lint.stdout), (0, ""))
        shown = subprocess.run([mandoc, "-Tutf8", "-Owidth=78", PAGE], capture_output=True, text=True, check=True)
        text = re.sub(".\b", "", shown.stdout)
        for line in text.splitlines():
            self.assertLessEqual(len(line), 80, line)
        self.assertIn("--seed N  ", text)
        self.assertIn(self.good("--version").strip(), text)

    def test_install_puts_page_and_completion_where_they_are_looked_for(self):
        cmake = shutil.which("cmake")
        if cmake is None:
            self.skipTest("no cmake here")
        subprocess.run([cmake, "--install", os.path.dirname(SHARE), "--prefix", self.folder], check=True,
                       stdout=subprocess.DEVNULL)
        self.assertLessEqual({"bin/bucketlab", "share/man/man1/bucketlab.1", "share/zsh/site-functions/_bucketlab",
                              "share/bash-completion/completions/bucketlab",
                              "share/fish/vendor_completions.d/bucketlab.fish",
                              "share/doc/bucketlab/docs/cli.md"}, set(self.files()))

    def check_fields(self, title, value, root=""):
        objects = documented_objects(title)
        seen, named = fields_of_value(value, root, objects), fields_of_page(title)
        # The page says of these objects that their fields are the run's own names, or text.
        for path in ("strategies[].metrics", "points[].settings", "guarantees[].excused",
                     "guarantees[].not_guaranteed", "probes"):
            if path + ".NAME" not in objects:
                seen = {field for field in seen if not field.startswith(path + ".")}
        self.assertLessEqual(seen, named, f"JSON of {title}: not in the page")
        seldom = SELDOM.get(title, set())
        missing = {field for field in named - seen
                   if field not in seldom and field.rsplit(".", 1)[0] + ".*" not in seldom}
        self.assertEqual(missing, set(), f"JSON of {title}: in the page, but not in what was printed")

    def test_json_of_runs_matches_the_page(self):
        hot = SMALL + ("table: {name: logs, columns: {log_hour: bucket, id: id, body: data}, "
                       "partition_key: [log_hour], clustering: [id]}\nexpect: [time.partitions.total > 0]\n")
        hot = hot.replace("  - unbucketed: {}\n", "").replace("reads: {latest: {rows: 10, rate: 0.01/s}}\n", "")
        self.write("small.yaml", SMALL)
        self.write("hot.yaml", hot)
        _, out, _ = self.run_program("run", "hot.yaml", "--json", "--no-charts")
        self.check_fields("run, show and import", json.loads(out))
        self.good("run", "small.yaml", "--no-charts", "--quiet")
        self.good("run", "small.yaml", "--no-charts", "--quiet", "--set", "strategies.hash.buckets=5")
        self.check_fields("run, show and import", self.good_json("show", "1", "--json"))
        self.check_fields("runs", self.good_json("runs", "--json"))
        self.check_fields("replay", self.good_json("replay", "2", "--json", "--quiet"))
        self.good("run", "small.yaml", "--no-charts", "--quiet", "--seed", "8")
        self.check_fields("diff", self.good_json("diff", "2", "3", "--json", "--quiet"))
        code, out, _ = self.run_program("check", "small.yaml", "--set", "expect=[unbucketed.partitions.total < 0]",
                                        "--json", "--quiet")
        self.assertEqual(code, 1)
        self.check_fields("check", json.loads(out))

    def test_json_of_why_matches_the_page(self):
        short = SMALL.replace("duration: 2d", "duration: 3h")
        self.write("small.yaml", short + "agents: {count: 2}\nfaults: [{node_down: {node: 0, at: 1m, lasts: 1m}}]\n")
        self.check_fields("why", self.good_json("why", "small.yaml", "--json", "--quiet"))

    def test_json_of_sweep_and_merge_matches_the_page(self):
        self.write("s.yaml", SMALL + "sweep: {seeds: 2, grid: {arrivals.rate: [0.2/s, 0.4/s]}}\n")
        self.check_fields("sweep", self.good_json("sweep", "s.yaml", "--json", "--quiet"))
        self.check_fields("merge", self.good_json("merge", "bucketlab.db", "--db", "all.db", "--json", "--quiet"))
        listed = fields_of_value(self.good_json("runs", "--json"), "", set())
        self.assertLessEqual(SELDOM["runs"], listed)

    def test_json_of_tune_matches_the_page(self):
        self.write("t.yaml", TUNE)
        answer = self.good_json("tune", "t.yaml", "--seeds", "2", "--no-charts", "--json", "--quiet")
        self.assertIsNone(answer["growth"])
        self.write("grow.csv", "timestamp_ms,key,count\n" + "".join(f"{i * 604_800_000},k,9\n" for i in range(1, 7)))
        self.write("grow.yaml", "name: g\ntrace: {file: grow.csv}\nrow: {bytes: 9}\nlimits: {partition_rows: 99}\n"
                   "tune: {strategies: [time]}\nstrategies: [{time: {window: 7d}}]\n")
        grows = self.good_json("tune", "grow.yaml", "--no-charts", "--json", "--quiet")
        self.check_fields("tune SCENARIO", {**answer, "growth": grows["growth"]})
        rows = ["tune", "--rows", "12000..32000", "--risk", "0.003", "--json"]
        self.check_fields("tune --rows", self.good_json(*rows, "--probability", "any"))

    def test_json_of_the_other_commands_matches_the_page(self):
        self.write("small.yaml", SMALL)
        self.check_fields("cql", self.good_json("cql", "small.yaml", "--json"))
        stress = fields_of_value(self.good_json("cql", "small.yaml", "--json", "--stress", "--strategy",
                                                "probabilistic"), "", set())
        self.assertLessEqual({field.split(".")[-1] for field in stress}, {"strategy", "kind", "profile"})
        bits = ["--threshold", "40", "--below", "10", "--above", "900000"]
        self.check_fields("odds", self.good_json("odds", "--bits", "9", "--json", *bits))
        weighted = ["odds", "--weighted", "512KB", "--threshold", "40", "--below", "1MB", "--above", "30MB", "--json"]
        exact, bound = self.good_json(*weighted, "--row-bytes", "1KB"), self.good_json(*weighted)
        both = {**bound, **exact, "below": bound["below"] + exact["below"], "above": bound["above"] + exact["above"]}
        self.check_fields("odds --weighted", both)
        self.check_fields("token", self.good_json("token", "a", "--json"))
        self.check_fields("bucket-of", self.good_json("bucket-of", "--buckets", "9", "a", "--json"))

    def test_json_of_fuzz_matches_the_page(self):
        # Seed 27 is the first one that breaks a guarantee when a clock jump does not excuse it.
        code, out, _ = self.run_program("fuzz", "--seeds", "20..40", "--hold", "clock_jump", "--keep-going", "--json",
                                        "--quiet")
        self.assertEqual(code, 1)
        self.check_fields("fuzz", json.loads(out))

    def test_docs_name_the_options_of_help(self):
        with open(os.path.join(SOURCE, "docs", "cli.md"), encoding="utf-8") as file:
            text = file.read()
        sections = dict(re.findall(r"^## (\S+)\n(.*?)(?=^## |\Z)", text, re.M | re.S))
        for command in self.commands():
            options = self.options_of(command)
            self.assertIn(f"| `{command}", text)
            if command not in sections:
                continue
            tables = "\n".join(re.findall(r"^\| .*", sections[command], re.M))
            named = set(re.findall(r"--[a-z][a-z-]*", "\n".join(re.findall(r"^\| (`[^|]*)\|", tables, re.M))))
            self.assertLessEqual(named, set(options), command)
            left = set(options) - set(re.findall(r"--[a-z][a-z-]*", sections[command]))
            self.assertLessEqual(left, {"--db", "--json", "--quiet", "--jobs", "--help", "--out", "--format"}, command)


if __name__ == "__main__":
    unittest.main()
