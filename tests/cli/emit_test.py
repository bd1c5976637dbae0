# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: `tune --emit FILE` writes the setting that it recommends, and a host that loads the file has the
setting that was tested; when nothing is recommended, or an expectation fails, the file stays unchanged.
Method: Python loads the file through the shared library, as a host would, and writes the setting again, which
must give the same file; a `run` of the file's setting gives exactly the stored run's partitions.
"""
import ctypes
import os
import sys
import unittest

from program import SOURCE, ProgramTest

LIBRARY = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else ""
SMALL = """\
name: small
seed: 7
duration: 2d
keys: {count: 30, popularity: {zipf: 0.8}}
arrivals: {rate: 0.5/s}
row: {bytes: {lognormal: {mean: 300, sigma: 0.8}}, cells: 3}
reads: {latest: {rows: 20, rate: 0.02/s}}
limits: {partition_rows: 1000, partition_bytes: 250KB, tiny_rows: 24}
tune: {risk: 2%, seeds: 2}
strategies:
  - time: {window: 1d, label: mine}
"""
KINDS = ["time", "count", "probabilistic", "weighted"]


class Error(ctypes.Structure):
    _fields_ = [("line", ctypes.c_uint32), ("text", ctypes.c_char * 160)]


def parse(text):
    """The calls of a host in Python: returns the struct as bytes, for the other calls, or the error."""
    core = ctypes.CDLL(LIBRARY)
    setting, error = ctypes.create_string_buffer(512), Error()
    core.bk_strategy_parse.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_void_p]
    status = core.bk_strategy_parse(text, len(text), setting, ctypes.byref(error))
    if status != 0:
        raise ValueError(f"line {error.line}: {error.text.decode()}")
    return core, setting


def printed(core, setting):
    core.bk_strategy_print.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_void_p]
    text = ctypes.create_string_buffer(1024)
    status = core.bk_strategy_print(setting, text, 1024, None)
    return text.value.decode() if status == 0 else None


def as_yaml(text):
    """The lines of a setting as a strategy of a scenario."""
    kind, groups = None, {"": []}
    for line in text.splitlines()[1:-1]:
        name, _, value = line.partition(" = ")
        group, _, last = name.rpartition(".")
        if name == "kind":
            kind = value
        elif not line.startswith("#") and name != "scenario_digest":
            groups.setdefault(group, []).append(f"{last}: {value}")
    said = groups.pop("") + [f"{group}: {{{', '.join(lines)}}}" for group, lines in groups.items()]
    return f"{kind}: {{{', '.join(said)}}}"


class EmitTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("small.yaml", SMALL)

    def tune(self, *arguments):
        return self.good_json("tune", "small.yaml", "--json", "--no-charts", "--quiet", *arguments)

    def read(self, name):
        with open(os.path.join(self.folder, name), encoding="utf-8") as file:
            return file.read()

    def test_emitted_setting_is_the_tested_one(self):
        for kind in KINDS:
            answer = self.tune("--set", f"tune.strategies=[{kind}]", "--emit", "setting.bk")
            text = self.read("setting.bk")
            core, setting = parse(text.encode())
            bare = "".join(line for line in text.splitlines(True) if not line.startswith("#"))
            self.assertEqual(printed(core, setting), bare)
            self.assertIn(f"\nkind = {kind}\n", text)
            self.assertIn(f"\nscenario_digest = {answer['scenario_digest']}\n", text)
            tested = self.good_json("show", str(answer["run"]), "--json")["strategies"][0]
            self.assertEqual(tested["label"], answer["recommended"]["label"])
            again = self.good_json("run", "small.yaml", "--set", f"strategies=[{as_yaml(text)}]", "--json", "--quiet",
                                   "--no-charts")["strategies"][0]
            self.assertEqual(again["placement_digest"], tested["placement_digest"])
            self.assertIn(f"placement digest {again['placement_digest']}\n", text)
            self.assertEqual(again["metrics"], tested["metrics"])

    def test_a_host_routes_as_the_run_did(self):
        self.tune("--set", "tune.strategies=[time]", "--emit", "setting.bk")
        core, setting = parse(self.read("setting.bk").encode())
        hours = int(next(line.split(" = ")[1][:-1] for line in self.read("setting.bk").splitlines()
                         if line.startswith("window") and line.endswith("h")))
        # struct bk_placement begins with the bucket, struct bk_row with the time; the strategy follows the digest.
        row, route = (ctypes.c_int64 * 8)(), (ctypes.c_int64 * 16)()
        row[0] = 100 * 3600 * 10**9
        core.bk_route.argtypes = [ctypes.c_void_p] * 4
        state = ctypes.create_string_buffer(64)
        self.assertEqual(core.bk_route(ctypes.byref(setting, 8), state, row, route), 0)
        self.assertEqual(route[0], 100 // hours)

    def test_the_digest_is_of_what_decides_the_figures(self):
        def digest(*more):
            return self.tune("--set", "tune.strategies=[time]", "--emit", "setting.bk", *more)["scenario_digest"]
        first = digest()
        self.assertEqual(digest("--jobs", "1", "--db", "other.db"), first)
        self.assertNotEqual(digest("--seed", "8"), first)
        self.assertNotEqual(digest("--set", "duration=1d"), first)
        self.write("small.yaml", SMALL + "# another text\n")
        self.assertNotEqual(digest(), first)

    def test_without_a_recommendation_the_file_stays(self):
        self.write("setting.bk", "old\n")
        text = self.bad(1, "tune", "small.yaml", "--quiet", "--no-charts", "--set", "limits.partition_rows=2", "--set",
                        "arrivals.rate=20/s", "--set", "duration=10m", "--set", "tune.strategies=[time]", "--emit",
                        "setting.bk")
        self.assertIn("no setting stays within the limits", text)
        code, out, err = self.run_program("tune", "small.yaml", "--quiet", "--no-charts", "--set",
                                          "tune.strategies=[time]", "--set", "expect=[tune.recommended == mine]",
                                          "--emit", "setting.bk")
        self.assertEqual(code, 1)
        self.assertIn("expectations of tune failed", err)
        self.assertNotIn("setting.bk", out)
        self.assertEqual(self.read("setting.bk"), "old\n")

    def test_the_reference_shows_a_file_as_it_is(self):
        scenario = os.path.join(SOURCE, "scenarios", "tune-sensors.yaml")
        self.good("tune", scenario, "--emit", "setting.bk", "--no-charts", "--quiet")
        with open(os.path.join(SOURCE, "docs", "cli.md"), encoding="utf-8") as file:
            self.assertIn(f"```\n{self.read('setting.bk')}```\n", file.read())

    def test_the_text_names_the_file(self):
        _, out, _ = self.run_program("tune", "small.yaml", "--quiet", "--no-charts", "--set", "tune.strategies=[time]",
                                     "--emit", "setting.bk")
        digest = self.read("setting.bk").partition("scenario_digest = ")[2].split()[0]
        self.assertIn(f"\nsetting  setting.bk, scenario digest {digest}\n", out)


if __name__ == "__main__":
    unittest.main()
