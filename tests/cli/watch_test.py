# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: `watch` reports drift when a table's sizes differ from those of the run that predicts them, and none
otherwise; it stores each sample, continues after a failed one, and exports everything to Prometheus. Method:
the partitions of a run, written as a table's, unchanged, altered and of other seeds; the output of a real
Cassandra for a trace's rows; commands that fail, hang and are interrupted. prometheus_client and promtool
read the text where they are installed.
"""

import contextlib
import gzip
import json
import math
import os
import random
import re
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import unittest

from program import SMALL, SOURCE, ProgramTest
from share import SHARE

sys.path.insert(0, os.path.join(SOURCE, "scenarios", "observed"))
import make  # noqa: E402  the example's generator knows Cassandra's buckets

# Bursts enlarge several windows of a key together, so that its partitions are not independent.
BURSTS = """\
name: bursts
seed: 1
duration: 4d
keys: {count: 40, popularity: {zipf: 0.8}}
arrivals: {rate: 0.3/s, bursts: {on: 2h, off: 10h, factor: 20}}
row: {bytes: {lognormal: {mean: 300, sigma: 1.0}}}
limits: {partition_bytes: 250KB}
strategies:
  - time: {window: 6h}
  - probabilistic: {bits: 4, threshold: 20}
"""
SEEDS = max(6, 30 // SHARE)
NODE = os.path.join(SOURCE, "..", "shared", "cassandra5", "sizes")
REAL = """\
name: mixed
trace: {{file: {trace}}}
strategies:
  - time: {{window: 1d}}
"""


def binomial_upto(k, n, p):
    """P(at most k of n)."""
    return sum(math.exp(math.lgamma(n + 1) - math.lgamma(i + 1) - math.lgamma(n - i + 1) + i * math.log(p) +
                        (n - i) * math.log1p(-p)) for i in range(k + 1))


def share_at(above, chance):
    """The share at which above(share), which increases, has this value."""
    low, high = 0, 1
    for _ in range(60):
        low, high = (low, (low + high) / 2) if above((low + high) / 2) > chance else ((low + high) / 2, high)
    return low


class WatchTest(ProgramTest):
    def predict(self, scenario=SMALL, *more):
        self.good("run", self.write("s.yaml", scenario), "--no-charts", "--quiet", *more)

    def database(self):
        return contextlib.closing(sqlite3.connect(os.path.join(self.folder, "bucketlab.db")))

    def sizes(self, label, run=1, scale=1.0, name="t.csv"):
        """The run's partitions as a table's: key, size and rows."""
        with self.database() as database:
            found = database.execute(
                "SELECT size, partitions, rows / partitions FROM partition_histogram WHERE run = ? AND label = "
                "? AND unit = "
                "'bytes'",
                (run, label),
            ).fetchall()
        lines = ["key,size,rowCount\n"]
        for size, count, rows in found:
            lines += [f"p{len(lines) + i},{int(size * scale)},{rows}\n" for i in range(count)]
        return self.write(name, "".join(lines))

    def look(self, *arguments):
        return json.loads(self.good("watch", *arguments, "--json"))

    def test_a_table_that_is_as_predicted_fits(self):
        self.predict()
        self.sizes("time")
        look = self.look("1", "t.csv", "--strategy", "time", "--check")
        wanted = {
            "run": 2,
            "look": 1,
            "predicted_run": 1,
            "strategy": "time",
            "unit": "bytes",
            "distance": 0,
            "drift": False,
        }
        self.assertEqual({name: look[name] for name in wanted}, wanted)
        text = self.good("watch", "1", "t.csv", "--strategy", "time", "--by", "rows")
        self.assertRegex(
            text,
            r"\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ run 3, look 2: fits time of run 1; distance 0\.000, by chance at "
            r"most 0\.\d{3} \(\d+ partitions, \d+ predicted\)\n\Z",
        )

    def test_other_sizes_are_drift(self):
        self.predict()
        self.sizes("time", scale=1.5)
        self.assertFalse(
            self.look("1", "t.csv", "--strategy", "time", "--tolerance", "51%", "--check")["drift"]
        )
        code, out, err = self.run_program("watch", "1", "t.csv", "--strategy", "time", "--check")
        self.assertEqual(
            (code, err), (1, "the sizes no longer fit 'time' of run 1; see 'bucketlab diff 1 3'\n")
        )
        self.assertRegex(
            out,
            r"look 2: DRIFT from time of run 1; .*; \d+\.\d% of the partitions are up to [\d.]+KB, \d+\.\d% "
            r"were predicted to be; 160 partitions have [\d.]+KB or more, but the largest predicted one has [\d.]+KB\n",
        )
        look = self.look("1", "t.csv", "--strategy", "time")
        self.assertTrue(look["drift"] and look["distance"] > look["allowed"])
        self.assertIn("time", self.good("diff", "1", "3"))

    def test_more_partitions_over_the_limit_are_drift(self):
        self.predict(BURSTS)
        path = self.sizes("probabilistic")
        with open(path, "a", encoding="utf-8") as file:
            file.writelines(f"large{i},300000,600\n" for i in range(25))
        look = self.look("1", "t.csv", "--strategy", "probabilistic")
        self.assertLess(look["distance"], look["allowed"])
        self.assertGreater(look["over_limit_least"], look["over_limit_most_predicted"])
        self.assertTrue(look["drift"])
        self.assertIn(
            "% of the partitions exceed 250KB, at most",
            self.good("watch", "1", "t.csv", "--strategy", "probabilistic"),
        )

    def test_a_few_partitions_larger_than_any_predicted_are_drift(self):
        self.predict(BURSTS)
        for label in "time", "probabilistic":
            path = self.sizes(label)
            with open(path, encoding="utf-8") as file:
                plain = file.read()
            self.assertEqual(self.look("1", path, "--strategy", label)["beyond"], 0)
            for large in 1, 10:
                self.write("t.csv", plain + "".join(f"large{i},21000000000,600\n" for i in range(large)))
                look = self.look("1", path, "--strategy", label, "--prometheus", "drift.prom")
                self.assertLess(look["distance"], look["allowed"])
                self.assertEqual((look["drift"], look["beyond"]), (True, large))
                self.assertEqual(look["beyond_size"], 21000000000)
                with open(os.path.join(self.folder, "drift.prom"), encoding="utf-8") as file:
                    gauges = dict(line.rsplit(" ", 1) for line in file.read().splitlines() if line[0] != "#")
                labels = f'{{scenario="bursts",strategy="{label}"}}'
                self.assertEqual(gauges["bucketlab_drift" + labels], "1")
                self.assertEqual(gauges["bucketlab_partitions_beyond" + labels], str(large))
            self.assertRegex(
                self.good("watch", "1", path, "--strategy", label),
                r": DRIFT from .*; 10 partitions have 21\.0GB or more, but the largest predicted one has [\d.]+[KM]B\n",
            )

    def test_figures_follow_from_their_definitions(self):
        """The empirical distributions, the bound of Dvoretzky, Kiefer, Wolfowitz and Massart, and the limits of Clopper
        and Pearson by bisection, from lists of all sizes."""
        self.predict(BURSTS)
        with self.database() as database:
            found = database.execute(
                "SELECT size, partitions FROM partition_histogram WHERE run = 1 AND label = 'time' AND unit = 'bytes'"
            ).fetchall()
        predicted = sorted(size for size, count in found for _ in range(count))
        draw = random.Random(4)
        for number, count, scale, percent in ((1, 500, 1, 10), (3, 90, 1.3, 2), (5, 40, 0.6, 30)):
            tolerance, options = percent / 100, ("--strategy", "time", "--tolerance", f"{percent}%")
            observed = sorted(int(draw.choice(predicted) * scale) + 1 for _ in range(count))
            self.write("t.csv", "key,size\n" + "".join(f"k{i},{size}\n" for i, size in enumerate(observed)))
            told = self.look("1", "t.csv", *options)
            chance = 0.01 / (number * (number + 1)) / 5  # of this look, for each of its five bounds
            n, m, distance = len(observed), len(predicted), 0
            for size in set(observed):
                seen = [sum(one <= size for one in observed) / n, sum(one < size for one in observed) / n]
                expected = [sum(one <= size * (1 + tolerance) for one in predicted) / m,
                            sum(one < size / (1 + tolerance) for one in predicted) / m]
                distance = max(distance, seen[0] - expected[0], expected[1] - seen[1])
            over = sum(size > 250000 * (1 + tolerance) for size in observed)
            expected = sum(size > 250000 for size in predicted)
            wanted = {"partitions": n, "distance": distance, "largest_predicted": predicted[-1],
                      "allowed": sum(math.sqrt(math.log(2 / chance) / 2 / size) for size in (n, m)),
                      "over_limit_share": over / n,
                      "over_limit_least": share_at(lambda p: 1 - binomial_upto(over - 1, n, p), chance) if over else 0,
                      "over_limit_most_predicted": share_at(lambda p: 1 - binomial_upto(expected, m, p), 1 - chance)}
            for name, value in wanted.items():
                self.assertAlmostEqual(told[name], value, delta=1e-9 + 1e-9 * value, msg=name)
            self.assertIn(f"distance {distance:.3f}, by chance at most ", self.good("watch", "1", "t.csv", *options))

    def test_percentiles_alone_show_a_partition_larger_than_any_predicted(self):
        """The largest predicted partition has 1 MB or less; the other points are the prediction's own."""
        self.predict(BURSTS)
        with self.database() as database:
            found = database.execute(
                "SELECT size, partitions FROM partition_histogram WHERE run = 1 AND label = 'probabilistic' "
                "AND unit = 'bytes'"
            ).fetchall()
        sizes = sorted(size for size, count in found for _ in range(count))
        points = [make.bucket(sizes[-(-len(sizes) * p // 100) - 1])[1] for p in (50, 75, 95, 98, 99)]
        for largest, beyond in ((make.bucket(sizes[-1])[1], 0), (557074610, 1)):
            numbers = [*points, make.bucket(sizes[0])[0] + 1, largest]
            rows = zip(("50%", "75%", "95%", "98%", "99%", "Min", "Max"), numbers)
            self.write(
                "p.txt",
                "chat/messages histograms\nPercentile SSTables Write Latency Read Latency Partition Size Cell "
                "Count\n(micros) (micros) (bytes)\n" + "".join(f"{name} 1 1 1 {n} 1\n" for name, n in rows),
            )
            partitions = str(len(sizes))
            look = self.look("1", "p.txt", "--strategy", "probabilistic", "--partitions", partitions)
            self.assertEqual((look["beyond"], look["drift"]), (beyond, beyond > 0))

    def test_other_seeds_are_rarely_called_drift(self):
        """Half of all watches may find drift, and half of these in the first sample: 7.5 of 30 on average.
        The bound is so wide that hardly any does, even where bursts make the partitions of a key alike."""
        self.predict(BURSTS)
        shutil.copy(os.path.join(self.folder, "bucketlab.db"), os.path.join(self.folder, "first.db"))
        drifted = 0
        for seed in range(2, 2 + SEEDS):
            self.good("run", "s.yaml", "--seed", str(seed), "--no-charts", "--quiet")
            for label in "time", "probabilistic":
                shutil.copy(os.path.join(self.folder, "first.db"), os.path.join(self.folder, "look.db"))
                self.sizes(label, seed)
                drifted += self.look(
                    "1",
                    "t.csv",
                    "--strategy",
                    label,
                    "--db",
                    "look.db",
                    "--tolerance",
                    "0%",
                    "--false-alarms",
                    "50%",
                )["drift"]
        print(f"{drifted} of {2 * SEEDS} looks at other seeds found drift")
        self.assertLessEqual(drifted, max(1, SEEDS // 10))

    def test_samples_are_stored_and_counted(self):
        self.predict()
        self.sizes("time")
        looks = [self.look("1", "t.csv", "--strategy", "time") for _ in range(3)]
        self.assertEqual([look["look"] for look in looks], [1, 2, 3])
        self.assertTrue(looks[0]["allowed"] < looks[1]["allowed"] < looks[2]["allowed"])
        self.sizes("hash", name="h.csv")
        self.assertEqual(self.look("1", "h.csv", "--strategy", "hash")["look"], 1)
        with self.database() as database:
            kept = database.execute(
                "SELECT run, value FROM strategy_metrics WHERE metric = 'drift.distance' AND label = 'time'"
            )
            self.assertEqual(kept.fetchall(), [(2, 0), (3, 0), (4, 0)])
        self.assertIn("sstablepartitions of t.csv", self.good("show", "2"))
        self.assertIn("same digest", self.good("replay", "2"))

    @unittest.skipUnless(os.path.isdir(NODE), "no ../shared with what a node printed")
    def test_a_real_node_is_as_predicted(self):
        def table(name):
            with gzip.open(os.path.join(NODE, f"{name}.sizes.csv.gz"), "rt") as file:
                rows = [line.strip().split(",") for line in file][1:]
            return self.write(
                f"{name}.csv",
                "key,size,rowCount\n" + "".join(f"{k}:{b},{size},{n}\n" for k, b, size, n in rows),
            ), len(rows)

        trace = shlex.quote(os.path.join(NODE, "mixed.trace.csv.gz"))
        self.predict(REAL.format(trace=trace))
        path, count = table("mixed_day")
        look = self.look("1", path)
        self.assertEqual((look["partitions"], look["drift"]), (count, False))
        self.assertLess(look["distance"], 0.02)
        percentiles = os.path.join(NODE, "mixed_day.tablehistograms.txt")
        self.assertFalse(self.look("1", percentiles, "--partitions", str(count))["drift"])
        self.assertTrue(self.look("1", table("mixed_count_2000")[0])["drift"])

    def test_a_command_is_read_on_a_schedule(self):
        self.predict()
        self.sizes("time")
        out = self.good(
            "watch",
            "1",
            "--strategy",
            "time",
            "--command",
            "cat t.csv",
            "--every",
            "2s",
            "--looks",
            "2",
            "--json",
        )
        self.assertEqual([json.loads(line)["look"] for line in out.splitlines()], [1, 2])
        self.assertIn("sstablepartitions of cat t.csv", self.good("show", "2"))

    def test_a_later_failed_sample_is_reported_and_counted(self):
        self.predict()
        self.sizes("time")
        self.write(
            "node.sh",
            "echo >> calls\ncase $(wc -l < calls) in 2) exit 7 ;; 3) sleep 60 ;; *) cat t.csv " ";; esac\n",
        )
        code, out, err = self.run_program(
            "watch",
            "1",
            "--strategy",
            "time",
            "--command",
            "sh node.sh",
            "--every",
            "2s",
            "--looks",
            "2",
            "--prometheus",
            "t.prom",
        )
        self.assertEqual((code, out.count("fits")), (0, 2), err)
        self.assertEqual(
            err,
            "look failed: 'sh node.sh' ended with exit code 7; run it by hand to see why\n"
            "look failed: the command still ran when the next look was due, and was killed; make it faster, "
            "or --every longer\n",
        )
        with open(os.path.join(self.folder, "t.prom"), encoding="utf-8") as file:
            self.assertIn('bucketlab_watch_failures_total{scenario="small",strategy="time"} 2\n', file.read())
        os.remove(os.path.join(self.folder, "calls"))
        self.write("calls", "\n")
        self.assertEqual(
            self.bad(3, "watch", "1", "--strategy", "time", "--command", "sh node.sh", "--every", "1h"),
            "'sh node.sh' ended with exit code 7; run it by hand to see why",
        )

    def shell(self):
        """The messages of a command's shell so far."""
        path = os.path.join(self.folder, "shell")
        if not os.path.exists(path):
            return ""
        with open(path, encoding="utf-8") as file:
            return file.read()

    def test_an_output_that_cannot_be_written_ends_the_watch(self):
        self.predict()
        self.sizes("time")
        for form in [], ["--json"]:
            with open("/dev/full", "w", encoding="utf-8") as full:
                code, _, err = self.run_program("watch", "1", "--strategy", "time", "--command", "cat t.csv", "--every",
                                                "1h", *form, stdout=full)
            self.assertRegex(err, r"\Astandard output: [^\n]+; [^\n]+\n\Z")
            self.assertEqual(code, 3)

    def test_a_signal_ends_the_watch_and_its_command(self):
        self.predict()
        self.sizes("time")
        for command in "cat t.csv", "echo $$ > shell; sleep 60":
            process = self.start("watch", "1", "--strategy", "time", "--command", command, "--every", "1h")
            if "sleep" in command:
                while not self.shell():
                    time.sleep(0.01)
            else:
                process.stdout.readline()
            process.send_signal(signal.SIGTERM)
            self.assertEqual((process.communicate(timeout=30)[0], process.returncode), (b"", 143))
        with self.assertRaises(ProcessLookupError):
            os.kill(int(self.shell()), 0)

    def test_the_text_for_prometheus_is_sound(self):
        self.predict(
            SMALL.replace("name: small", "name: 'sm\\al\"l'").replace(
                "  - time: {", "  - time: {label: 't\"\\x', "
            )
        )
        self.sizes("t\"\\x")
        self.look("1", "t.csv", "--strategy", "t\"\\x", "--prometheus", "t.prom")
        with open(os.path.join(self.folder, "t.prom"), encoding="utf-8") as file:
            text = file.read()
        values = re.findall(
            r'^(bucketlab_\w+)\{scenario="sm\\\\al\\"l",strategy="t\\"\\\\x"(?:,[a-z]+="[a-z0-9]+")*\} \S+$',
            text,
            re.M,
        )
        self.assertEqual(len(values) + 2 * len(set(values)), len(text.splitlines()), text)
        with open(os.path.join(SOURCE, "docs", "grafana.json"), encoding="utf-8") as file:
            asked = set(
                re.findall(
                    r"bucketlab_\w+", json.dumps([panel["targets"] for panel in json.load(file)["panels"]])
                )
            )
        self.assertLessEqual(asked, set(values))
        with open(os.path.join(SOURCE, "docs", "import-export.md"), encoding="utf-8") as file:
            self.assertLessEqual(set(values), set(re.findall(r"bucketlab_\w+", file.read())))
        sys.path.append("/usr/lib/python3/dist-packages")
        try:
            from prometheus_client.parser import text_string_to_metric_families

            samples = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
            self.assertEqual(
                {(sample.labels["scenario"], sample.labels["strategy"]) for sample in samples},
                {('sm\\al"l', 't"\\x')},
            )
            self.assertEqual(len(samples), len(values))
        except ImportError:
            print("prometheus_client is not installed")
        if shutil.which("promtool"):
            done = subprocess.run(
                ["promtool", "check", "metrics"], input=text, text=True, capture_output=True, check=False
            )
            self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""))

    def test_unwatchable_input_is_refused(self):
        self.predict()
        self.sizes("time")
        bare = self.write("bare.csv", "key,size\na,1\n")
        points = os.path.join(SOURCE, "scenarios", "observed", "messages.txt")
        self.look("1", "t.csv", "--strategy", "time")
        before = self.files()
        for arguments, words in [
                (["2", "t.csv"], "'time' of run 2 was observed, and predicts nothing; name a run of a scenario"),
                (["1", bare, "--strategy", "time", "--by", "rows"],
                 "the file has no row counts; leave out --by rows"),
                (["1", points, "--strategy", "time"],
                 "tablehistograms does not say how many partitions there are; add --partitions N")]:
            self.assertIn(words, self.bad(2, "watch", *arguments))
        self.assertEqual(self.files(), before)


if __name__ == "__main__":
    unittest.main()
