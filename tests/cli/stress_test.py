# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: cassandra-stress accepts the profile of `cql --stress`, and the profile's distributions have the
figures of the scenario. Method: a reader as strict as the tool's (StressProfile, OptionDistribution and
OptionRatioDistribution of apache/cassandra), and the mean of each distribution by the formula of the tool.
"""
import json
import math
import re
import unittest

from program import SMALL, ProgramTest

# LOOKUP of OptionDistribution; its 'weibull' is null there, so a profile that used it would fail.
PARAMETERS = {"exp": {1}, "extr": {2}, "extreme": {2}, "gaussian": {1, 2, 3}, "normal": {1, 2, 3}, "gauss": {1, 2, 3},
              "norm": {1, 2, 3}, "uniform": {1}, "fixed": {1}}
SHAPE = {"": {"keyspace", "keyspace_definition", "table", "table_definition", "columnspec", "insert", "queries"},
         "columnspec": {"name", "size", "population", "cluster"}, "insert": {"partitions", "batchtype", "select"},
         "latest": {"cql", "fields"}}


def whole(text):
    digits = re.fullmatch(r"([0-9]+)([kmb]?)", text.lower())
    assert digits, text
    return int(digits[1]) * {"": 1, "k": 10 ** 3, "m": 10 ** 6, "b": 10 ** 9}[digits[2]]


def distribution(text):
    """The name, the bounds, and the numbers after them."""
    match = re.fullmatch(r"(~?)([A-Za-z]+)\((.+)\)", text)
    assert match, text
    name, parameters = match[2].lower(), match[3].split(",")
    assert name in PARAMETERS and len(parameters) in PARAMETERS[name], text
    if name == "fixed":
        return name, (whole(parameters[0]),) * 2, []
    bounds = re.fullmatch(r"([^.]+)\.\.+([^.]+)", parameters[0])
    assert bounds, text
    low, high = whole(bounds[1]), whole(bounds[2])
    assert low < high, text
    return name, (low, high), [float(number) for number in parameters[1:]]


def moments(text):
    """The mean and standard deviation of the tool's draws, ignoring the bounds."""
    name, (low, high), numbers = distribution(text)
    if name == "fixed":
        return low, 0
    if name == "uniform":
        return (low + high) / 2, (high - low) / math.sqrt(12)
    if name == "gaussian":
        assert low < numbers[0] < high
        return numbers
    assert name == "extreme", text
    shape = numbers[0]
    scale = (high - low) / (0.5 * math.log(high - low)) ** (1 / shape)
    mean, square = math.gamma(1 + 1 / shape), math.gamma(1 + 2 / shape)
    return low + scale * mean, scale * math.sqrt(square - mean ** 2)


def read_yaml(text):
    """Reads only the part of YAML that a profile needs; no name may occur twice."""
    lines = [line for line in text.split("\n") if line.strip() and not line.startswith("#")]

    def value(text):
        return json.loads(text) if text.startswith('"') else text

    def mapping(at, indent):
        found = {}
        while at < len(lines):
            spaces = len(lines[at]) - len(lines[at].lstrip(" "))
            if spaces < indent or lines[at].lstrip().startswith("- "):
                break
            assert spaces == indent, lines[at]
            name, _, rest = lines[at].strip().partition(":")
            assert re.fullmatch(r"[a-z_]+", name) and name not in found, lines[at]
            assert rest == "" or rest.startswith(" "), lines[at]
            rest, at = rest.strip(), at + 1
            if rest == "|":
                block = []
                while at < len(lines) and lines[at].startswith(" " * (indent + 2)):
                    block.append(lines[at][indent + 2:])
                    at += 1
                found[name] = "\n".join(block)
            elif rest == "" and lines[at].lstrip().startswith("- "):
                found[name], at = items(at, indent + 2)
            elif rest == "":
                found[name], at = mapping(at, indent + 2)
            else:
                found[name] = value(rest)
        return found, at

    def items(at, indent):
        found = []
        while at < len(lines) and lines[at].startswith(" " * indent + "- "):
            lines[at] = lines[at].replace("- ", "  ", 1)
            item, at = mapping(at, indent + 2)
            found.append(item)
        return found, at

    tree, at = mapping(0, 0)
    assert at == len(lines), lines[at]
    return tree


class StressTest(ProgramTest):
    def profile(self, *arguments):
        text = self.good("cql", "x.yaml", "--stress", *arguments)
        tree = read_yaml(text)
        self.assertEqual(set(tree), SHAPE[""])
        self.assertEqual(set(tree["insert"]), SHAPE["insert"])
        self.assertEqual(set(tree["queries"]), {"latest"})
        self.assertEqual(set(tree["queries"]["latest"]), SHAPE["latest"])
        self.assertIn(tree["insert"]["batchtype"], {"LOGGED", "UNLOGGED", "COUNTER"})
        distribution(tree["insert"]["partitions"])
        ratio = re.fullmatch(r"(.*)/([0-9]+[KMB]?)", tree["insert"]["select"])
        self.assertTrue(ratio and distribution(ratio[1]))
        self.assertIn(tree["queries"]["latest"]["fields"], {"samerow", "multirow"})
        for column in tree["columnspec"]:
            self.assertLessEqual(set(column), SHAPE["columnspec"])
            for name in set(column) - {"name"}:
                distribution(column[name])
        tree["columns"] = {column["name"]: column for column in tree["columnspec"]}
        self.assertEqual(len(tree["columns"]), len(tree["columnspec"]))
        self.check_cql(tree)
        tree["pop"] = re.search(r"'dist=([^']+)'", text)[1]
        tree["text"] = text
        return tree

    def check_cql(self, tree):
        self.assertRegex(tree["keyspace_definition"],
                         rf"^CREATE KEYSPACE {tree['keyspace']} WITH replication = \{{.*\}};$")
        table = re.match(r"CREATE TABLE (\S+) \(\n", tree["table_definition"])[1]
        self.assertEqual(table.strip('"').replace('""', '"'), tree["table"])
        columns = [name for name in re.findall(r'^    ("(?:[^"]|"")*"|\w+) \w+,$', tree["table_definition"], re.M)]
        self.assertEqual([name.strip('"') for name in columns], list(tree["columns"]))
        clustering = re.search(r"CLUSTERING ORDER BY \((.*)\)$", tree["table_definition"])[1]
        clustered = {name for name, column in tree["columns"].items() if "cluster" in column}
        self.assertEqual({part.rsplit(" ", 1)[0].strip('"') for part in clustering.split(", ")}, clustered)
        query = tree["queries"]["latest"]["cql"]
        self.assertRegex(query,
                         rf"^SELECT .* FROM {re.escape(table)} WHERE .* = \? AND .* = \?( ORDER BY .*)? LIMIT [0-9]+$")

    def test_rows_are_those_of_a_run(self):
        self.write("x.yaml", SMALL)
        run = self.good_json("run", "x.yaml", "--no-charts", "--json")
        for strategy in run["strategies"]:
            metrics = strategy["metrics"]
            of = "closed" if metrics["partitions.closed"] > 0 else "all"
            tree = self.profile("--strategy", strategy["label"], "--run", "last")
            mean, stddev = moments(tree["columns"]["at"]["cluster"])
            self.assertAlmostEqual(mean / metrics[f"partitions.{of}.rows.mean"], 1, delta=0.005, msg=strategy["label"])
            wanted = metrics[f"partitions.{of}.rows.stddev"]
            self.assertAlmostEqual(stddev, wanted, delta=max(0.25, 0.02 * wanted), msg=strategy["label"])
            self.assertEqual(tree["columns"]["id"]["cluster"], "fixed(1)")
            self.assertIn(f"-pop seq=1..{metrics['partitions.total']:.0f} ", tree["text"])
            self.assertEqual(tree["columns"]["data"]["size"], "fixed(100)")
            self.assertTrue(tree["queries"]["latest"]["cql"].endswith(" LIMIT 10"))

    def test_rows_follow_from_settings_where_they_do(self):
        self.write("x.yaml", SMALL)
        self.assertEqual(moments(self.profile("--strategy", "count")["columns"]["at"]["cluster"]), (1000, 0))
        mean, stddev = moments(self.profile("--strategy", "probabilistic")["columns"]["at"]["cluster"])
        self.assertAlmostEqual(mean, 40 * 16, places=2)
        self.assertAlmostEqual(stddev, math.sqrt(40 * (1 - 1 / 16)) * 16, places=2)
        for label in ("unbucketed", "time", "hash"):
            error = self.bad(2, "cql", "x.yaml", "--stress", "--strategy", label)
            self.assertRegex(error, rf"^x.yaml:[0-9]+:5: strategy '{label}' has partitions whose sizes depend on the "
                                    r"stream; run the scenario first, and give the run's number with --run$")

    def test_sizes_of_rows_have_the_mean_of_their_distribution(self):
        for bytes_, mean, stddev in [
                ("{uniform: [100, 300]}", 200, 200 / math.sqrt(12)),
                ("{lognormal: {mean: 350, sigma: 1.0}}", 350, 350 * math.sqrt(math.e - 1)),
                ("{lognormal: {mean: 5KB, sigma: 0.2}}", 5000, 5000 * math.sqrt(math.exp(0.04) - 1)),
                ("{pareto: {min: 100, alpha: 3}}", 150, 50 * math.sqrt(3)),
                ("{pareto: {min: 100, alpha: 1}}", 200, 0)]:
            self.write("x.yaml", SMALL.replace("bytes: 100", f"bytes: {bytes_}"))
            found = moments(self.profile("--strategy", "count")["columns"]["data"]["size"])
            self.assertAlmostEqual(found[0] / mean, 1, delta=0.01, msg=bytes_)
            self.assertAlmostEqual(found[1], stddev, delta=0.03 * stddev + 0.01, msg=bytes_)

    def test_popular_tenth_gets_what_zipf_gives_it(self):
        for exponent in (0.5, 1.0, 1.3):
            keys = f"count: 1000, popularity: {{zipf: {exponent}}}"
            self.write("x.yaml", SMALL.replace("count: 20, popularity: uniform", keys).replace("0.5/s", "90/s"))
            name, (low, high), (shape,) = distribution(self.profile("--strategy", "count")["pop"])
            self.assertEqual((name, low, high), ("extreme", 1, 1000))
            scale = (high - low) / (0.5 * math.log(high - low)) ** (1 / shape)
            weights = [rank ** -exponent for rank in range(1, 1001)]
            self.assertAlmostEqual(1 - math.exp(-(99 / scale) ** shape), sum(weights[:100]) / sum(weights), places=3)
        self.write("x.yaml", SMALL)
        self.assertEqual(self.profile("--strategy", "count")["pop"], "uniform(1..20)")

    def test_names_that_need_quotes_and_datacenters(self):
        self.write("x.yaml", SMALL + "table: {name: Rows, columns: {Key: key, b: bucket, at: time, i: id, v: data}, "
                   "partition_key: [Key, b], clustering: [at, i]}\n"
                   "cluster: {datacenters: {east: {nodes: 3, replication_factor: 3}, west: {nodes: 2, "
                   "replication_factor: 1}}}\n")
        tree = self.profile("--strategy", "count")
        self.assertIn("'NetworkTopologyStrategy', 'east': 3, 'west': 1", tree["keyspace_definition"])
        self.assertEqual((tree["table"], list(tree["columns"])), ("Rows", ["Key", "b", "at", "i", "v"]))

    def test_json_holds_the_same_text(self):
        self.write("x.yaml", SMALL)
        found = self.good_json("cql", "x.yaml", "--stress", "--strategy", "count", "--json")
        self.assertEqual(found, {"strategy": "count", "profile": self.profile("--strategy", "count")["text"]})

    def test_table_that_stress_cannot_express_is_refused(self):
        self.write("x.yaml", SMALL.replace("reads: {latest: {rows: 10, rate: 0.01/s}}\n", "") +
                   "table: {name: t, columns: {k: key, b: bucket, at: time}, "
                   "partition_key: [k, b], clustering: [at]}\n")
        self.assertIn("shares its partitions or overwrites rows by this table",
                      self.bad(2, "cql", "x.yaml", "--stress", "--strategy", "count"))


if __name__ == "__main__":
    unittest.main()
