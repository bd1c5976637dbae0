# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: the table of `run` and `show` is as readable as the page: it fits 80 columns with any labels, and
marks the chosen strategy and the limits that were exceeded, with colours and without. Method: the output
compared with the figures of --json; widths by Python's own Unicode tables; colours through a pseudo-terminal.
"""
import fcntl
import json
import os
import pty
import re
import struct
import termios
import unicodedata
import unittest

from program import SMALL, ProgramTest

COLOUR = re.compile(r"\033\[[\d;]*m")
# Labels with one kind of character each: Cyrillic, wide, with combining accents; and one too long for the
# column.
LABELS = ["без корзин", "六時間ごと", "e\u0301te\u0301", "вероятностная стратегия", "x" * 64]
STRATEGIES = ["unbucketed: {}", "time: {window: 6h}", "count: {rows: 1000, counter: external}",
              "probabilistic: {bits: 4, threshold: 40}", "hash: {buckets: 4}"]


def width(text):
    """The width of a text in terminal columns."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def labelled(labels):
    """SMALL with these labels, quoted as in JSON, which is valid in YAML too."""
    items = "".join(f"  - {{{STRATEGIES[i % len(STRATEGIES)]}, label: {json.dumps(label)}}}\n"
                    for i, label in enumerate(labels))
    return SMALL.split("strategies:")[0] + "strategies:\n" + items


def rows_of(out):
    """The lines of the first table below its heading."""
    return re.search(r"^  strategy .*?(?=\n\n)", out, re.M | re.S).group().splitlines()[1:]


def table_of(out):
    """The cells of the first table by label and column; "bytes p99" is the second column of that name."""
    names = re.search(r"^  strategy +(.*)", out, re.M)[1].split()
    names = [f"bytes {name}" if name in names[:i] and name in ("p99", "max") else name
             for i, name in enumerate(names)]
    return {row[2:15].strip(): dict(zip(names, row[15:].split(), strict=True)) for row in rows_of(out)}


class TableTest(ProgramTest):
    def run_text(self, text, *arguments):
        self.write("x.yaml", text)
        return self.good("run", "x.yaml", "--quiet", "--no-charts", *arguments)

    def metrics(self):
        shown = self.good_json("show", "last", "--json")
        return {strategy["label"]: strategy["metrics"] for strategy in shown["strategies"]}

    def test_the_chosen_is_marked_and_reported(self):
        out = self.run_text(SMALL)
        metrics = self.metrics()
        # An external sequence number is assumed only if nothing else is within the limits.
        within = [label for label, figures in metrics.items()
                  if figures["partitions.over_limit"] == 0 and label not in ("unbucketed", "hash", "count")]
        self.assertGreater(len(within), 1)
        loads = {label: 1000 + metrics[label]["writes.extra_ops_per_1000_rows"] + 1000 *
                 metrics[label]["reads.count"] * metrics[label]["reads.partitions_per_read.mean"] /
                 metrics[label]["writes.rows"] for label in within}
        cheapest = min(loads, key=loads.get)
        self.assertGreater(min(load for label, load in loads.items() if label != cheapest), 1.005 * loads[cheapest])
        self.assertEqual([row[2:].split()[0] for row in rows_of(out) if row.startswith("> ")], [cheapest])
        self.assertEqual({row[:2] for row in rows_of(out)}, {"> ", "  "})
        self.assertRegex(out, rf"\AUse {cheapest} with ")
        self.assertIn("\n> the choice", out)

    def test_a_limit_that_was_exceeded_is_named_with_its_count_and_share(self):
        out = self.run_text(SMALL, "--set", "limits.partition_bytes=90KB")
        metrics = self.metrics()
        said = " ".join(out.replace("\u202f", " ").split("\n\n")[1].split())
        counts = {label: figures["partitions.over_limit"] for label, figures in metrics.items()}
        exceeding = [label for label, count in counts.items() if count > 0]
        self.assertGreater(len(exceeding), 1)
        for label in exceeding:
            over, total = counts[label], metrics[label]["partitions.total"]
            found = re.search(rf" {label}: ([\d,]+) of ([\d,]+) partitions \(([\d.]+)%\) (?:is|are) above "
                              r"(.*?)(?:, the first after|;|$)", said)
            self.assertEqual((found[1], found[2]), (f"{over:,}", f"{total:,}"))
            self.assertAlmostEqual(float(found[3]), 100 * over / total, delta=0.05 * float(found[3]))
            self.assertEqual("90 KB" in found[4], metrics[label]["partitions.over_limit_bytes"] > 0)
        self.assertEqual({label: cells["over"] for label, cells in table_of(out).items()},
                         {label: f"!{count}" if count else "0" for label, count in counts.items()})
        self.assertIn("! exceeds a limit", out)

    def test_without_limits_nothing_is_marked(self):
        out = self.run_text(SMALL.replace("limits: {partition_rows: 3000, tiny_rows: 24}\n", ""))
        self.assertNotIn("!", out)
        self.assertNotIn("\n> ", out)
        for cells in table_of(out).values():
            self.assertFalse({"tiny", "over"} & set(cells))
        self.assertIn("Set limits to get a recommendation", out)

    def test_columns_and_legend_are_those_that_occur(self):
        out = self.run_text(SMALL, "--set", "limits.tiny_rows=1", "--set", "reads={latest: {rows: 9, rate: 9/h}, all: "
                            "{rate: 9/h}}", "--set", "strategies=[{count: {rows: 1000, counter: external}}]")
        cells = table_of(out)["count"]
        self.assertNotIn("tiny", out)  # none is
        self.assertNotIn("failed", out)
        self.assertNotIn("* none has closed", out)
        self.assertNotIn("! exceeds", out)
        figures = self.metrics()["count"]
        self.assertNotIn("read", cells)  # each kind of reads has its own column
        for kind in ("latest", "all"):
            mean = figures[f"reads.{kind}.partitions_per_read.mean"]
            self.assertIn(cells[kind], (f"{mean:.2f}", f"{mean:.1f}", f"{mean:g}"))

    def test_tiny_share_is_rounded_neither_to_0_nor_to_100(self):
        for rows in (1, 30, 60, 100000):
            out = self.run_text(SMALL, "--set", f"limits.tiny_rows={rows}", "--set", "strategies[1].time.window=10m")
            for label, figures in self.metrics().items():
                cell = table_of(out)[label].get("tiny", "0")
                if figures["partitions.closed"] == 0:
                    self.assertIn(cell, "-0")
                    continue
                share = figures["partitions.tiny"] / figures["partitions.closed"]
                self.assertEqual((cell == "0", cell == "100%"), (share == 0, share == 1), (label, share))
                if cell not in ("0", "<.1%"):
                    self.assertAlmostEqual(float(cell[:-1]), 100 * share, delta=1 if share > 0.99 else 0.51)

    def test_labels_of_any_script_keep_the_columns(self):
        out = self.run_text(labelled(LABELS))
        rows = rows_of(out)
        self.assertEqual(len(rows), len(LABELS) + 2)  # two of them on separate lines
        wide = width(rows[0])
        self.assertEqual([width(row) for row in rows], [wide, wide, wide, 2 + width(LABELS[3]), wide, 66, wide])
        self.assertLessEqual(max(width(line) for line in out.splitlines()), 80)
        shown = self.good("show", "last").split("\nsettings\n")[1].splitlines()
        self.assertEqual(width(shown[1].split("time:")[0]), width(shown[0].split("unbucketed:")[0]))

    def test_control_characters_in_a_label_never_reach_the_terminal(self):
        out = self.run_text(labelled(["a\u202eb", "c\u2069d"]))
        self.assertEqual([row[2:5] for row in rows_of(out)], ["a?b", "c?d"])
        self.assertFalse(set(out) & set("\u202e\u2069"))

    def test_one_strategy_and_sixty_four_fit(self):
        out = self.run_text(labelled(["only"]))
        self.assertEqual(len(rows_of(out)), 1)
        out = self.run_text(labelled([f"strategy {i}" for i in range(64)]), "--set", "limits.partition_rows=50")
        self.assertEqual(len(rows_of(out)), 64)
        self.assertLessEqual(max(map(len, out.splitlines())), 80)
        one = r"strategy \d+: [\d,]+ of [\d,]+ partitions \([\d.>]+%\) are above 50 rows[^;]*; "
        self.assertRegex(" ".join(out.split()), rf" not ({one}){{4}}and \d+ more ")

    def test_colours_say_nothing_that_marks_do_not(self):
        self.write("x.yaml", SMALL)
        plain = self.good("run", "x.yaml", "--quiet", "--no-charts")
        coloured = self.on_a_terminal()
        cut = plain.index("\nrun 1 in")
        self.assertEqual(COLOUR.sub("", coloured)[:cut], plain[:cut])
        self.assertRegex(coloured, r"\n\033\[1;32m> \w+ +\033\[0m")
        self.assertEqual(len(re.findall(r"\033\[31m +!\d+\033\[0m", coloured)), plain.split("\n\n")[3].count("!"))
        self.assertRegex(coloured, r"unbucketed .*!\d+\033\[0m.*\033\[31m +\d+\033\[0m")
        self.assertEqual(self.on_a_terminal(NO_COLOR="1")[:cut], plain[:cut])
        self.assertEqual(self.on_a_terminal(TERM="dumb")[:cut], plain[:cut])

    def test_wide_terminals_are_used_up_to_120_columns(self):
        self.write("x.yaml", labelled([f"strategy {i}" for i in range(9)]))
        for columns, least, most in ((80, 70, 80), (100, 81, 100), (200, 101, 120)):
            lines = COLOUR.sub("", self.on_a_terminal(columns)).splitlines()
            widest = max(map(width, lines))
            self.assertTrue(least <= widest <= most, (columns, widest))

    def on_a_terminal(self, columns=0, **environment):
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        process = self.start("run", "x.yaml", "--quiet", "--no-charts", stdout=theirs,
                             environment={"NO_COLOR": "", "TERM": "xterm", **environment})
        os.close(theirs)
        text = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # EIO: the end of a pseudo-terminal on Linux
                part = b""
            if not part:
                break
            text += part
        os.close(ours)
        self.assertEqual(process.wait(), 0)
        process.stderr.close()
        return text.decode().replace("\r\n", "\n")

    def test_show_says_how_settings_change_and_how_readers_read(self):
        self.run_text(SMALL.split("strategies:")[0] + """\
strategies:
  - count: {rows: 500, counter: external, then: [{at: 6h, rows: 700}, {at: 1d, rows: 900, keep_old: false}]}
  - time: {window: 6h, read: {plan: parallel, at_once: 4, remember_empty: true, late: 5m}}
  - hash: {buckets: 4}
""")
        told = self.good("show", "last").split("\nsettings\n")[1]
        self.assertTrue(told.startswith("""\
  count          count: {rows: 500, counter: external, then: [{rows: 700, at:
                 6h}, {rows: 900, at: 1d, keep_old: false}]}
  time           time: {window: 6h, read: {plan: parallel, at_once: 4,
                 remember_empty: true, late: 5m}}
  hash           hash: {buckets: 4}
"""), told)


if __name__ == "__main__":
    unittest.main()
