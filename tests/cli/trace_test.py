#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: `trace` describes a file of rows, and writes it without the names of its keys; the same rows give the
same run in any format; a file of another kind is recognised and named. Method: drawn rows, written in nine
formats, whose figures are computed here; runs by their digests.
"""
import collections
import datetime
import gzip
import json
import os
import random
import re
import unittest

from program import ProgramTest

ROWS = 600
START = 1767225600000  # 2026-01-01
COLUMNS = "time=at,key=guild+channel,bytes=size"


def drawn():
    draw, time, rows = random.Random(5), START, []
    for _ in range(ROWS):
        time += draw.randint(1, 900_000)
        rows.append((time, f"g{draw.randint(0, 2)}", f"c{int(draw.paretovariate(1)) % 9}", draw.randint(2, 900)))
    return rows


def iso(time, hours=0):
    zone = datetime.timezone(datetime.timedelta(hours=hours))
    return datetime.datetime.fromtimestamp(time / 1000, zone).isoformat(timespec="milliseconds")


class TraceTest(ProgramTest):
    def write(self, name, text):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def digest(self, trace):
        self.write("x.yaml", f"trace: {{{trace}}}\nstrategies:\n"
                   "  [{count: {rows: 20, counter: external}}, {time: {window: 1d}},\n"
                             "  {probabilistic: {bits: 3, threshold: 4}}]\n")
        return json.loads(self.good("run", "x.yaml", "--no-charts", "--json", "--quiet"))["digest"]

    def test_rows_in_every_form_are_the_same_run(self):
        rows = drawn()
        mixed = rows[:]
        random.Random(1).shuffle(mixed)
        plain = "timestamp_ms,key,bytes\n" + "".join(f"{t},{g}/{c},{b}\n" for t, g, c, b in rows)
        self.write("plain.csv", plain)
        with gzip.open(os.path.join(self.folder, "plain.csv.gz"), "wt") as file:
            file.write(plain)
        self.write("quoted.csv", "at;guild;channel;size;note\n" + "".join(
            f'{iso(t, 2)};{g};"{c}";{b};"say ""{b}"";\nso"\n' for t, g, c, b in rows))
        self.write("tabs.tsv", "ts\tkey\tbytes\n" + "".join(f"{t / 1000:.3f}\t{g}/{c}\t{b}\n" for t, g, c, b in rows))
        self.write("bare.csv", "".join(f"{t * 1000},{g}/{c},{b}\n" for t, g, c, b in rows))
        self.write("rows.jsonl", "".join(json.dumps({"at": iso(t), "in": {"guild": g, "channel": c}, "size": b}) + "\n"
                                         for t, g, c, b in rows))
        self.write("copy.csv", "".join(f'{g},{c},{iso(t).replace("T", " ")[:-6]}+0000,"{"x" * (b - 2)}\\"\\\\"\n'
                                       for t, g, c, b in sorted(rows, key=lambda row: row[1:])))
        for part in range(3):
            self.write(f"unload/output-{part:06}.csv", "guild,channel,at,body\n" + "".join(
                f'{g},{c},{iso(t)[:-6]}Z,"{"x" * (b - 1)}\\""\n' for t, g, c, b in mixed[part::3]))
        names = "columns: {time: at, key: [guild, channel], bytes: size}"
        wanted = self.digest("file: plain.csv")
        for trace in ("file: plain.csv.gz", f"file: quoted.csv, {names}", "file: tabs.tsv",
                      "file: bare.csv, columns: {time: 1, key: 2, bytes: 3}",
                      "file: rows.jsonl, columns: {time: at, key: [in.guild, in.channel], bytes: size}",
                      "file: copy.csv, columns: {key: [1, 2], time: 3, bytes_of: 4}, sort: true",
                      "file: unload, columns: {key: [guild, channel], time: at, bytes_of: body}, sort: true"):
            self.assertEqual(self.digest(trace), wanted, trace)

    def test_summary_has_the_figures_of_the_rows(self):
        for seed, count, keys, step_s, late in ((5, 600, 9, 900, 0), (6, 5000, 400, 2, 0), (7, 900, 150, 700, 0.3)):
            draw, time, rows = random.Random(seed), START, []
            for _ in range(count):
                time += draw.randint(1, 1000 * step_s)
                delay = draw.randint(1, 90_000_000) if draw.random() < late else 0
                rows.append((time, time + delay, f"c{int(draw.paretovariate(0.7)) % keys}", draw.randint(2, 900)))
            rows.sort(key=lambda row: row[1])  # as they arrive
            self.write("rows.csv", "at,got,room,size\n" + "".join(
                f"{iso(own)},{iso(arrived)},{key},{size}\n" for own, arrived, key, size in rows))
            columns = ["--columns", "time=at,key=room,bytes=size" + (",arrived=got" if late else "")]
            told = self.good_json("trace", "rows.csv", *columns, "--json", "--quiet")
            text = self.good("trace", "rows.csv", *columns, "--quiet")
            self.check_summary(told, text, rows, late > 0)

    def check_summary(self, told, text, rows, has_late):
        """Each figure, by its definition from the list of rows."""
        def at(sizes):
            sizes = sorted(sizes)
            found = {f"p{p}": sizes[-(-len(sizes) * p // 100) - 1] for p in (50, 99)} if sizes else {}
            return {**found, "max": sizes[-1]} if sizes else None

        arrived = [row[1] for row in rows]
        first, last, count = min(arrived), max(arrived), len(rows)
        keys = sorted(collections.Counter(key for _, _, key, _ in rows).values(), reverse=True)
        gaps, before = [], {}
        for _, time, key, _ in rows:
            gaps += [time - before[key]] if key in before else []
            before[key] = time
        lates = [got - own for own, got, _, _ in rows if got > own]
        hours = collections.Counter(time // 3_600_000 % 24 for time in arrived)
        busiest, quietest = (min(range(24), key=lambda hour: (sign * hours[hour], hour)) for sign in (-1, 1))
        middle = (first + last) / 2
        wanted = {
            "rows": count, "keys": len(keys), "bytes": sum(row[3] for row in rows), "doubles_days": None, "fit": None,
            "top_key_share": keys[0] / count, "key_rows": at(keys), "row_bytes": at(row[3] for row in rows),
            "top_1_percent_share": sum(keys[:-(-len(keys) // 100)]) / count, "gaps_ms": at(gaps),
            "top_10_percent_share": sum(keys[:-(-len(keys) // 10)]) / count,
            "late_share": len(lates) / count if has_late else None, "late_ms": at(lates) if has_late else None,
            "second_half_over_first": sum(time > middle for time in arrived) / sum(time <= middle for time in arrived),
            "day": {"busiest_hour": busiest, "busiest_over_mean": hours[busiest] * 24 / count,
                    "quietest_hour": quietest, "quietest_over_mean": hours[quietest] * 24 / count}
                   if last - first >= 2 * 86_400_000 else None}
        for name, span in (("minute", 60_000), ("hour", 3_600_000)):
            slots = collections.Counter(time // span for time in arrived)
            peak = min(slots, key=lambda slot: (-slots[slot], slot))
            wanted[name] = {"begin": iso(peak * span)[:19] + "Z", "rows": slots[peak],
                            "over_mean": slots[peak] * max(1, (last - first) / span) / count,
                            "empty_share": 1 - len(slots) / (last // span - first // span + 1)}
        self.assertEqual(set(told), {*wanted, "file", "read_as", "first", "last"})
        for name, value in wanted.items():
            for figure, one in value.items() if isinstance(value, dict) else ((name, value),):
                seen = told[name][figure] if isinstance(value, dict) else told[name]
                self.assertTrue(seen == one or abs(seen / one - 1) < 1e-12, f"{name} {figure}: {seen}, and {one}")
        self.assertEqual([told[name][:19] for name in ("first", "last")], [iso(time)[:19] for time in (first, last)])
        shares = [f"{100 * wanted[f'top_{name}_share']:.3g}" for name in ("key", "1_percent", "10_percent")]
        for line in (f"{count:,} rows of {len(keys)} keys, 2026-01-01T",
                     f"busiest key {shares[0]}% of the rows, busiest 1% of keys {shares[1]}%, 10% {shares[2]}%",
                     f"peak hour    {wanted['hour']['rows']:,} rows, {wanted['hour']['over_mean']:.3g} times the mean",
                     f"the second half has {wanted['second_half_over_first']:.3g} times the rows of the first"):
            self.assertIn(line, text)

    def test_figures_are_counted_from_the_first_row_on(self):
        for begins, minutes in ((52, 20), (59, 3), (7, 400), (30, 60)):
            start = START + begins * 60_000 + 12_345
            step = minutes * 60_000 // 240
            times = [start + i * i * step // 240 for i in range(240)]
            self.write("rows.csv", "timestamp_ms,key,bytes\n" + "".join(f"{t},k,1\n" for t in times))
            answer = self.good_json("trace", "rows.csv", "--json", "--quiet")
            middle = (times[0] + times[-1]) / 2
            self.assertEqual(answer["second_half_over_first"],
                             sum(t > middle for t in times) / sum(t < middle for t in times))
            for name, span in (("minute", 60_000), ("hour", 3_600_000)):
                slots = collections.Counter(t // span for t in times)
                self.assertEqual(answer[name]["rows"], max(slots.values()))
                self.assertEqual(int(answer[name]["begin"][11:13]) * 60 + int(answer[name]["begin"][14:16]),
                                 min(slots, key=lambda slot: (-slots[slot], slot)) * span // 60_000 % 1440)
                self.assertAlmostEqual(answer[name]["empty_share"],
                                       1 - len(slots) / (times[-1] // span - times[0] // span + 1))

    def test_columns_that_are_not_used_are_said(self):
        self.write("rows.csv", "at,Count,host,note\n2026-01-01,5,a,x\n")
        self.write("rows.jsonl", '{"at": "2026-01-01", "Count": 5, "on": {"host": "a", "b": 1}, "note": "x"}\n')
        for file, host, other in (("rows.csv", "host", ""), ("rows.jsonl", "on.host", "'on.b', ")):
            for more, rows, unused in (("", 1, f"; not used: 'Count', {other}'note'"),
                                       (",count=Count", 5, f"; not used: {other}'note'"),
                                       (",bytes_of=Count+note+on.b", 1, "")):
                if file == "rows.csv":
                    more = more.replace("+on.b", "")
                told = self.good_json("trace", file, "--columns", f"time=at,key={host}{more}", "--json", "--quiet")
                self.assertEqual((told["rows"], re.search("(; not used.*)?$", told["read_as"])[0]), (rows, unused))

    def test_growth_is_reported_for_weeks_that_grow(self):
        for factor, doubles in ((14, 14), (1e9, None), (-14, None)):
            self.write("grow.csv", "timestamp_ms,key,count\n" +
                       "".join(f"{1767225600000 + day * 86_400_000},k,{round(1e5 * 2 ** (day / factor))}\n"
                               for day in range(60)))
            answer = self.good_json("trace", "grow.csv", "--json", "--quiet")
            text = self.good("trace", "grow.csv", "--quiet")
            if doubles:
                self.assertAlmostEqual(answer["doubles_days"], doubles, delta=0.01)
                self.assertIn("times the rows of the first; the rate doubles every 14.0 days\n", text)
            else:
                self.assertIsNone(answer["doubles_days"])
                self.assertIn("times the rows of the first\n", text)

    def test_anonymous_rows_keep_all_but_the_names(self):
        rows = drawn()
        self.write("rows.csv", "at,guild,channel,size\n" + "".join(f"{iso(t)},{g},{c},{b}\n"
                                                                   for t, g, c, b in rows[::-1]))
        self.good("trace", "rows.csv", "--columns", COLUMNS, "--sort", "--anonymise", "free.csv", "--quiet")
        numbers = {}
        for _, g, c, _ in rows:
            numbers.setdefault((g, c), len(numbers) + 1)
        with open(os.path.join(self.folder, "free.csv"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "timestamp_ms,key,bytes\n" + "".join(
                f"{t},{numbers[g, c]},{b}\n" for t, g, c, b in rows))
        self.write("count.csv", "timestamp_ms,key,count\n1000,b,2\n2000,a,1\n2000,b,0\n")
        self.assertEqual(self.good("trace", "count.csv", "--anonymise", "-"),
                         "timestamp_ms,key,count\n1000,1,2\n2000,2,1\n2000,1,0\n")
        self.assertIn("would overwrite the trace rows.csv", self.bad(2, "trace", "rows.csv", "--anonymise", "rows.csv"))

    def test_rows_that_arrived_late_are_in_the_windows_of_their_own_times(self):
        draw, rows = random.Random(6), []
        for _ in range(ROWS):
            own = START + draw.randrange(10 * 86_400_000)
            late = int(draw.expovariate(1 / 40_000_000)) if draw.random() < 0.4 else 0
            rows.append((own, own + late, f"k{draw.randrange(3)}"))
        rows.append((START + 9_000, START, "k0"))  # earlier than its own time: on time
        lines = [f"{iso(own)},{iso(arrived)},{key}\n" for own, arrived, key in rows]
        draw.shuffle(lines)
        self.write("rows.csv", "own,got,key\n" + "".join(lines))
        self.write("rows.jsonl", "".join(
            json.dumps(dict(zip(("own", "got", "key"), line.strip().split(",")))) + "\n" for line in lines))
        window = 6 * 3_600_000
        wanted = collections.Counter((key, min(own, arrived) // window) for own, arrived, key in rows)
        sizes = sorted(wanted.values())
        digests = set()
        for file in ("rows.csv", "rows.jsonl"):
            self.write("x.yaml", f"trace:\n  {{file: {file}, sort: true, columns: "
                       "{time: own, arrived: got, key: key}}\nrow: {bytes: 100}\nstrategies:\n"
                       "  [{time: {window: 6h}}, {count: {rows: 20, counter: external}}]\n")
            result = json.loads(self.good("run", "x.yaml", "--no-charts", "--no-store", "--json", "--quiet"))
            metrics = result["strategies"][0]["metrics"]
            self.assertEqual(metrics["partitions.total"], len(wanted))
            self.assertEqual(metrics["partitions.all.rows.max"], sizes[-1])
            self.assertEqual(metrics["partitions.all.rows.p50"], sizes[(len(sizes) - 1) // 2])
            self.assertEqual(metrics["writes.late"], sum(arrived > own for own, arrived, _ in rows))
            self.assertEqual(metrics["writes.into_closed"],
                             sum(arrived // window > own // window for own, arrived, _ in rows))
            digests.add(result["digest"])
        self.assertEqual(len(digests), 1)
        text = self.good("trace", "rows.csv", "--columns", "time=own,arrived=got,key=key", "--sort", "--quiet")
        self.assertIn("key 'key', arrived 'got'", text)
        self.assertIn("conflicts with arrived=", self.bad(2, "trace", "rows.csv", "--columns", "time=own,arrived=got",
                                                          "--sort", "--anonymise", "y.csv", "--quiet"))
        self.write("old.csv", f"own,got,key\n1990-01-01T00:00:00Z,{iso(START)},a\n")
        self.assertIn("old.csv:2: the row arrived more than 3650 days after its time",
                      self.bad(2, "trace", "old.csv", "--columns", "time=own,arrived=got", "--quiet"))

    def emit(self, status, *arguments):
        """The answer, and the figures of a run of the written scenario."""
        code, out, err = self.run_program("trace", *arguments, "--emit-scenario", "fit.yaml", "--json", "--quiet")
        self.assertEqual(code, status, err)
        answer = json.loads(out)["fit"]
        result = json.loads(self.good("run", "fit.yaml", "--no-charts", "--no-store", "--json", "--quiet"))
        found = {one["label"]: one["metrics"] for one in result["strategies"]}
        return answer, list(found.values()), err

    def test_a_fitted_scenario_of_real_rows_is_near_them_on_its_own_seed(self):
        traces = os.path.join(os.path.dirname(__file__), "..", "..", "scenarios", "traces")
        for name in ("tweets.csv.gz", "events.csv.gz"):
            answer, found, _ = self.emit(0, os.path.join(traces, name))
            self.assertTrue(answer["holds"])
            self.assertLessEqual(answer["off"], answer["within"])
            self.assertEqual(list(answer["strategies"]), ["unbucketed", "time", "count", "probabilistic", "hash"])
            for (label, figures), metrics in zip(answer["strategies"].items(), found):
                for figure, pair in figures.items():
                    kind, quantile = figure.split("_")
                    self.assertEqual(pair["fit"], metrics[f"partitions.all.{kind}.{quantile}"], label + figure)
                    self.assertLessEqual(abs(pair["fit"] / pair["trace"] - 1), 0.15, label + figure)
            text = self.good("trace", os.path.join(traces, name), "--emit-scenario", "fit.yaml", "--quiet")
            self.assertIn("the fit holds: every figure is within 15 % of the trace's", text)

    def test_figures_of_the_trace_in_a_fit_are_those_of_its_run(self):
        rows = drawn()
        self.write("rows.csv", "timestamp_ms,key,bytes\n" + "".join(f"{t},{g}{c},{b}\n" for t, g, c, b in rows))
        _, out, _ = self.run_program("trace", "rows.csv", "--emit-scenario", "fit.yaml", "--json", "--quiet")
        with open(os.path.join(self.folder, "fit.yaml"), encoding="utf-8") as file:
            strategies = [line for line in file if line.startswith("strategies:")][0]
        self.write("trace.yaml", "trace: {file: rows.csv}\n" + strategies)
        result = json.loads(self.good("run", "trace.yaml", "--no-charts", "--no-store", "--json", "--quiet"))
        fit = list(json.loads(out)["fit"]["strategies"].values())
        for one, strategy in zip(fit, result["strategies"]):
            self.assertEqual({name: pair["trace"] for name, pair in one.items()},
                             {f"{kind}_{q}": strategy["metrics"][f"partitions.all.{kind}.{q}"]
                              for kind in ("rows", "bytes") for q in ("p50", "p99")})

    def test_late_rows_are_counted_and_fitted_by_share_and_mean(self):
        draw, rows = random.Random(5), []
        for _ in range(6000):
            at = START + 1000 * draw.randrange(86_400)
            delay = draw.choice((0, 0, 0, 60_000, 300_000))
            rows.append((at, at - delay, draw.randrange(3), delay))
        rows.sort()
        self.write("late.csv", "own,got,key\n" +
                   "".join(f"{iso(own)},{iso(at)},k{key}\n" for at, own, key, _ in rows))
        options = ["late.csv", "--columns", "time=own,arrived=got,key=key"]
        delays = sorted(delay for *_, delay in rows if delay > 0)
        told = self.good_json("trace", *options, "--json", "--quiet")
        self.assertEqual(told["late_share"], len(delays) / len(rows))
        self.assertEqual(told["late_ms"], {"p50": delays[(len(delays) - 1) // 2], "p99": 300_000, "max": 300_000})
        _, found, _ = self.emit(0, *options)
        self.assertAlmostEqual(found[1]["writes.late"] / found[1]["writes.rows"], len(delays) / len(rows), delta=0.05)
        with open(os.path.join(self.folder, "fit.yaml"), encoding="utf-8") as file:
            by = re.search(r"late: \{share: [\d.]+%, by: (\d+)us\}", file.read())
        self.assertAlmostEqual(int(by[1]) / 1e3, sum(delays) / len(delays), delta=1)
        text = self.good("trace", *options, "--emit-scenario", "fit.yaml", "--quiet")
        self.assertIn(f"  late         {100 * len(delays) / len(rows):.3g}% of the rows arrive after their own time: "
                      "p50 ", text)
        self.assertIn("late rows have the share and the mean delay of the trace's; their delays are exponential, "
                      "and not compared", text)
        self.write("late.csv", "own,got,key\n2024-01-01,2026-01-01T00:00:00Z,a\n2026-01-01,2026-01-02,a\n")
        _, out, _ = self.run_program("trace", *options, "--emit-scenario", "fit.yaml", "--quiet")
        self.assertIn("\n  the scenario has no late rows, as those of the trace are too late", out)
        self.write("late.csv", "own,got,key\n2026-01-01,2026-01-01,a\n")
        self.assertTrue("  late         0% of the rows arrive after their own time\n"
                        in self.good("trace", *options, "--quiet"))
        self.assertEqual(self.good_json("trace", "late.csv", "--columns", "time=own", "--json",
                                        "--quiet")["late_share"], None)

    def test_a_fit_that_is_far_off_is_reported_as_failed(self):
        # Large keys have small rows and small keys large ones, which no scenario can express.
        draw = random.Random(2)
        rows = sorted((START + draw.randrange(86_400_000), key, 20 if key < 2 else 2000)
                      for key in range(20) for _ in range(4000 if key < 2 else 100))
        self.write("rows.csv", "timestamp_ms,key,bytes\n" + "".join(f"{t},k{k},{b}\n" for t, k, b in rows))
        answer, _, err = self.emit(1, "rows.csv")
        self.assertFalse(answer["holds"])
        self.assertGreater(answer["off"], 0.15)
        self.assertRegex(err, r"fit\.yaml: the fit failed: bytes p\d\d of \w+ is \d+, and \d+ in the trace, \d+ % off")
        with open(os.path.join(self.folder, "fit.yaml"), encoding="utf-8") as file:
            self.assertIn("# The fit failed: figures are more than 15 % off. Run the trace itself.", file.read())

    def test_a_fit_follows_keys_of_any_skew_and_a_rate_that_grows(self):
        draw, weights = random.Random(4), [900, 850, 800, 20, 19, 18] + [10] * 30
        rows = sorted((START + int(5 * 86_400_000 * draw.random() ** 0.5), key)
                      for key, weight in enumerate(weights) for _ in range(10 * weight))
        self.write("rows.csv", "timestamp_ms,key,count\n" + "".join(f"{t},k{k},1\n" for t, k in rows))
        answer, _, _ = self.emit(0, "rows.csv")
        self.assertEqual(list(answer["strategies"]["time"]), ["rows_p50", "rows_p99"])
        with open(os.path.join(self.folder, "fit.yaml"), encoding="utf-8") as file:
            text = file.read()
        self.assertIn("points: [", text)
        self.assertIn("# the rate over the span", text)
        self.assertIn("would overwrite the trace rows.csv",
                      self.bad(2, "trace", "rows.csv", "--emit-scenario", "rows.csv"))
        self.assertIn("--anonymise - conflicts with --emit-scenario",
                      self.bad(2, "trace", "rows.csv", "--anonymise", "-", "--emit-scenario", "x.yaml"))

    def test_a_scenario_of_the_rows_reads_them_as_the_options_say(self):
        rows = drawn()
        self.write("in/rows.csv", "at;guild;channel;size\n" +
                   "".join(f"{t};{g};{c};{b}\n" for t, g, c, b in rows[::-1]))
        options = ["--columns", COLUMNS, "--sort", "--set", "trace.delimiter=semicolon", "--quiet"]
        for name, path in (("x.yaml", "in/rows.csv"), ("out/x.yaml", os.path.join(self.folder, "in", "rows.csv"))):
            os.makedirs(os.path.join(self.folder, "out"), exist_ok=True)
            told = self.good("trace", "in/rows.csv", *options, "--scenario", name)
            self.assertTrue(told.endswith(f"\nwrote {name}; next: bucketlab tune {name}\n"))
            with open(os.path.join(self.folder, name), encoding="utf-8") as file:
                text = file.read()
            self.assertIn(f"\ntrace: {{file: '{path}', columns: {{time: 'at', key: ['guild', 'channel'], "
                          "bytes: 'size'}, delimiter: semicolon, sort: true}\nreads:", text)
            self.assertNotIn("counter: external}", text)
            run = self.good_json("run", name, "--json", "--no-charts", "--quiet")
            self.assertEqual(run["strategies"][0]["metrics"]["writes.payload_bytes"], sum(row[3] for row in rows))
        self.write("none.csv", "timestamp_ms,key,count\n1767225600000,a,1\n")
        self.good("trace", "none.csv", "--scenario", "x.yaml", "--quiet")
        self.assertIn("--scenario takes fields of trace",
                      self.bad(2, "trace", "none.csv", "--scenario", "x.yaml", "--set", "seed=3"))
        self.assertIn("would overwrite the trace", self.bad(2, "trace", "none.csv", "--scenario", "none.csv"))
        with open(os.path.join(self.folder, "x.yaml"), encoding="utf-8") as file:
            self.assertIn("\nrow: {bytes: 350, cells: 6} # a guess, as the trace has no sizes\n", file.read())
        self.assertEqual(self.good_json("run", "x.yaml", "--json", "--no-charts", "--quiet")["rows"], 1)

    def test_columns_are_guessed_and_the_note_says_which(self):
        self.write("days.csv", "date,host,user,count\n2026-03-01,web-1,u,500\n2026-03-01,web-2,u,9\n"
                   "2026-03-02,web-1,u,700\n")
        self.assertIn("\n1,209 rows of 2 keys", self.good("trace", "days.csv", "--quiet"))
        for header, time, key in (("Device ID;Measured At;Received At;User", "Measured At", "Device ID"),
                                  ("device;measured_at;received;user", "measured_at", "device"),
                                  ("user;Measured (UTC);Received At;User", "Measured (UTC)", "user")):
            self.write("iot.csv", header + "\r\n" + "".join(
                f"dev-{i % 3:04};2026-01-01T00:00:{i + 10}Z;2026-01-01T00:01:{i + 10}Z;{i}\r\n" for i in range(9)))
            told = self.good("trace", "iot.csv", "--quiet")
            self.assertIn(f"'{time}' (guessed) in ISO 8601, key '{key}' (guessed)", told)
            self.assertIn("9 rows of 3 keys, 2026-01-01T00:00:10Z to 2026-01-01T00:00:18Z", told)

    def test_lines_of_logs_are_read_and_columns_are_explained(self):
        line = '%s - - [17/May/2015:10:0%d:03 +0000] "GET /\\"a HTTP/1.1" 200 %s'
        self.write("access.log", "".join(line % row + ' "-" "x y"\n' for row in (("a", 5, "7"), ("b", 6, "-"))))
        self.write("common.log", "".join(line % row + "\n" for row in (("a", 5, "7"), ("b", 6, "-"))))
        for name in ("access.log", "common.log"):
            told = self.good_json("trace", name, "--json", "--quiet")
            self.assertEqual((told["rows"], told["keys"], told["bytes"]), (2, 2, 7))
            self.assertEqual(told["last"], "2015-05-17T10:06:03Z")
        self.write("sys.log", "May  7 10:05:03 web1 sshd[1]: in\nMay 17 10:05:03 web2 kernel: [1] x\n")
        self.assertIn("without a year, from 2000 on (say it by trace.year)", self.good("trace", "sys.log", "--quiet"))
        told = self.good_json("trace", "sys.log", "--json", "--quiet", "--set", "trace.year=2015")
        self.assertEqual((told["first"], told["keys"]), ("2015-05-07T10:05:03Z", 2))
        self.write("own.log", "2026-01-01 01:00 [a] x\n2026-01-01 02:00 [b] y\n")
        shown = self.good("trace", "own.log", "--set", "trace.line='{time:16} [{who}] {text}'", "--columns", "key=who",
                          "--set", "trace.timezone=+01:00", "--explain", "--quiet")
        for wanted in (r"who +a +key\n", r"text +x +not used\n",
                       r"columns: {time: time, key: who}, time: iso, line: '{time:16}",
                       "2 rows of 2 keys, 2026-01-01T00:00:00Z"):
            self.assertRegex(shown, wanted)
        self.write("own.log", "2026-01-01 01:00 [a] x\n\tat line\n")
        self.assertIn("own.log:2: the line has not the form ", self.bad(
            2, "trace", "own.log", "--set", "trace.line='{time:16} [{who}] {text}'", "--columns", "key=who", "--quiet"))
        self.write("wide.csv", "time,key\n2026-01-01,a,b\n")
        self.assertIn("wide.csv:2: 3 columns where the header has 2", self.bad(2, "trace", "wide.csv", "--explain"))
        os.mkdir(os.path.join(self.folder, "keys"))
        for key in ("a", "b"):
            self.write(f"keys/{key}.csv", "time,value\n2026-01-01,1\n")
        self.assertEqual(self.good_json("trace", "keys", "--json", "--quiet")["keys"], 2)

    def test_a_date_and_a_time_of_day_in_two_columns_are_one_time(self):
        minutes = (0, 5, 365)
        forms = {"iso": ("2026-03-01", lambda m: f"{10 + m // 60}:{m % 60:02}:00"),
                 "short": ("2026-03-01", lambda m: f"{10 + m // 60}:{m % 60:02}"),
                 "early": ("2026-03-01", lambda m: f"{m // 60}:{m % 60:02}:00.5"),
                 "digits": ("20260301", lambda m: f"{10 + m // 60}{m % 60:02}00"),
                 "mixed": ("20260301", lambda m: f"{m // 60}:{m % 60:02}:00"),
                 "dropped 0": ("20260301", lambda m: f"{7 + m // 300}{m // 300:02}{m % 60:02}")}
        for name, (day, text) in forms.items():
            rows = [(day, text(m), f"s{i % 2}") for i, m in enumerate(minutes)]
            self.write("rows.csv", "Date,Time,Sensor\n" + "".join(",".join(row) + "\n" for row in rows))
            self.write("rows.jsonl", "".join(json.dumps(dict(zip(("Date", "Time", "Sensor"), row))) + "\n"
                                             for row in rows))
            for file in ("rows.csv", "rows.jsonl"):
                with self.subTest(name + " " + file):
                    told = self.good_json("trace", file, "--columns", "time=Date+Time,key=Sensor", "--json", "--quiet")
                    hour, minute = {"early": (0, 0), "mixed": (0, 0), "dropped 0": (7, 0)}.get(name, (10, 0))
                    self.assertTrue(told["first"].startswith(f"2026-03-01T{hour:02}:{minute:02}:00"), told)
                    end = {"early": "06:05:00.5", "mixed": "06:05:00", "dropped 0": "08:01:05"}.get(name, "16:05:00")
                    self.assertEqual(told["last"], f"2026-03-01T{end}Z")
                    self.assertIn("time 'Date' + 'Time' in ", told["read_as"])
        self.write("rows.csv", "Date,Time,Sensor\n2026-03-01,10:00:00,s1\n2026-03-01,16:05:00,s2\n")
        self.assertIn("time 'Date' (guessed) + 'Time' in ISO", self.good("trace", "rows.csv", "--quiet"))
        self.assertTrue(self.bad(2, "trace", "rows.csv", "--columns", "time=Time,key=Sensor", "--quiet").endswith(
            "rows.csv:2: Time '10:00:00' is a time of day; name the column of its date too, "
            "with --columns time=date+Time"))
        self.assertIn("'time' names 3 columns; name 1 to 2",
                      self.bad(2, "trace", "rows.csv", "--columns", "time=Date+Time+Sensor,key=Sensor"))

    def test_messages_of_kcat_are_left_out_and_a_column_without_a_name_is_the_key(self):
        rows = "".join(f"{1767225600000 + 9999 * i},{'ab'[i % 2]},{i}\n" for i in range(20))
        as_json = "".join(f'{{"ts": {1767225600000 + 9999 * i}, "key": "{"ab"[i % 2]}"}}\n' for i in range(20))
        for text in (rows, as_json):
            self.write("rows.csv", "% Auto-selecting Consumer mode, {x}\n" + text + "% Reached end of topic t [0]\n")
            answer = self.good_json("trace", "rows.csv", "--quiet", "--json")
            self.assertEqual((answer["rows"], answer["keys"]), (20, 2))
            self.assertIn(", 2 other lines left out", answer["read_as"])
        self.write("one.csv", "time,label\n" + "".join(f"2026-01-01T00:00:{i:02d}Z,{'xy'[i % 2]}\n" for i in range(30)))
        self.assertIn("key 'file' (guessed; or 'label')", self.good("trace", "one.csv", "--quiet"))

    def test_impossible_options_are_named(self):
        self.write("rows.csv", "timestamp_ms,key,bytes\n1767225600,a,1\n")
        self.write("x.yaml", "trace: {file: rows.csv}\nstrategies: [{unbucketed: {}}]\n")
        self.assertIn("this is a trace, not a scenario", self.bad(2, "run", "rows.csv"))
        self.assertIn("this is a scenario, not a trace", self.bad(2, "trace", "x.yaml"))
        for rows in ("1767225600,a,1", "15012024,a,1", "2024015,a,1"):  # seconds, a day first, the day of the year
            self.write("rows.csv", f"timestamp_ms,key,bytes\n{rows}\n")
            self.assertIn("the first row is in the seventies", self.run_program("trace", "rows.csv")[2])
        self.write("rows.csv", "time,key,bytes\n1975-01-01T00:00:00Z,a,1\n")
        self.assertNotIn("warning", self.run_program("trace", "rows.csv")[2])
        self.write("rows.csv", "timestamp_ms,key,bytes\n1767225600,a,1\n")
        self.assertNotIn("warning", self.run_program("trace", "rows.csv", "--set", "trace.time=s")[2])
        self.assertIn("2026-01-01T00:00:00Z", self.good("trace", "rows.csv", "--set", "trace.time=s", "--quiet"))
        self.assertIn("'x' is not a column", self.bad(2, "trace", "rows.csv", "--columns", "x"))
        self.assertIn("no column 'user'", self.bad(2, "trace", "rows.csv", "--columns", "key=user", "--quiet"))
        self.assertTrue(self.bad(2, "trace", "nope.csv").startswith("nope.csv: trace cannot be opened (No such file "))
        self.write("rooms.csv", "ts,room,user\n1767225600,a,1\n")
        header = "rooms.csv:1: no column '%s' in the header 'ts', 'room', 'user'; "
        self.assertIn("key 'room' (guessed)", self.good("trace", "rooms.csv", "--quiet"))
        self.assertEqual(self.bad(2, "trace", "rooms.csv", "--columns", "time=ts,key=roomm"),
                         header % "roomm" + "did you mean 'room'?")


if __name__ == "__main__":
    unittest.main()
