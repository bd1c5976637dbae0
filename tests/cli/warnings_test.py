#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: the lint warnings of a scenario appear before the run, in its JSON, and in `show`; never with --quiet,
and they change no exit code. Method: a scenario with known risks, run in each way.
"""
import unittest

from program import ProgramTest

LOGS = """\
name: logs
duration: 1h
keys: {count: 20}
arrivals: {rate: 2/s}
cluster: {nodes: 12}
table:
  name: server_logs
  columns: {hour: bucket, server: key}
  partition_key: [hour]
strategies:
  - time: {window: 10m, label: windows}
"""
LINES = [
    "warning: x.yaml: column 'hour': the writes of all keys meet in one partition at a time: 100 % of them, about 2 "
    "rows/s on average, go to 3 of 12 nodes; put 'server' into the partition key",
    "warning: x.yaml:11:5: windows: column 'hour': it makes no row unique: of about 1200 rows the largest partition "
    "keeps at most 1; add a column fed by id at the end of 'clustering'"]


class WarningsTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("x.yaml", LOGS)

    def test_run_shows_warnings_first_and_keeps_the_figures(self):
        code, out, err = self.run_program("run", "x.yaml", "--no-charts")
        self.assertEqual((code, err.splitlines()), (0, LINES))
        self.assertRegex(" ".join(out.split()), r" lost [\d,]+ of [\d,]+ rows were replaced by later ones with the "
                         "same primary key ")
        self.assertNotIn("warning", out)

    def test_quiet_is_silent(self):
        code, _, err = self.run_program("run", "x.yaml", "--no-charts", "--quiet")
        self.assertEqual((code, err), (0, ""))

    def test_json_and_show_have_the_same_warnings(self):
        result = self.good_json("run", "x.yaml", "--no-charts", "--quiet", "--json")
        self.assertEqual([(one["risk"], one["certain"], one["strategy"], one["column"])
                          for one in result["warnings"]],
                         [("hot_spot", True, None, "hour"), ("overwritten", True, "windows", "hour")])
        self.assertEqual(LINES[0], f"warning: x.yaml: column 'hour': {result['warnings'][0]['text']}; "
                                   f"{result['warnings'][0]['cure']}")
        self.assertEqual(self.good_json("show", "last", "--json"), result)
        path = self.folder + "/x.yaml"
        self.assertIn("\n".join(line.replace("x.yaml", path) for line in LINES), self.good("show", "last"))

    def test_a_sound_scenario_has_no_warnings(self):
        sets = ["--set", "table.partition_key=[hour, server]",
                "--set", "table.columns={hour: bucket, server: key, id: id}", "--set", "table.clustering=[id]"]
        code, out, err = self.run_program("run", "x.yaml", "--no-charts", *sets)
        self.assertEqual((code, err), (0, ""))
        self.assertNotIn("replaced", out)
        self.assertEqual(self.good_json("run", "x.yaml", "--no-charts", "--json", *sets)["warnings"], [])


if __name__ == "__main__":
    unittest.main()
