# SPDX-License-Identifier: GPL-3.0-or-later
"""bucketlab-curves draws the contents of a text file, and names the line and the remedy when it cannot."""
import os
import unittest

from program import ProgramTest

GOOD = '''\
# a comment
title: Violations over lead
subtitle: 16 agents: 20 seeds a point
foot: made twice
x: lead | seconds | linear
y: violations per million rows | plain | log
rule: 6.2 | safe lead by the formula: 6.2 s

series,x,y,low,high
findable,0,310,290,330
findable,7,0,,
"newest, ""truly""",0,3e3,2900,3300
"newest, ""truly""",7,0,0,3.7
'''


class Curves(ProgramTest):
    def draw(self, text, chart="out.svg"):
        return self.good(self.write("in.txt", text), chart)

    def read(self, name):
        with open(os.path.join(self.folder, name), "rb") as file:
            return file.read()

    def refuse(self, text, expected):
        self.assertEqual(self.bad(2, "in.txt" if self.write("in.txt", text) else "", "out.svg"), expected)
        self.assertEqual(self.files(), ["in.txt"])

    def test_chart_of_each_format_is_the_same_twice(self):
        for name, magic in (("p.png", b"\x89PNG"), ("made/p.svg", b"<?xml"), ("p.pdf", b"%PDF")):
            charts = []
            for _ in range(2):
                self.assertEqual(self.draw(GOOD, name), "")
                charts.append(self.read(name))
            self.assertEqual(charts[0], charts[1])
            self.assertTrue(charts[0].startswith(magic))
        self.assertEqual(self.files(), ["in.txt", "made", "made/p.svg", "p.pdf", "p.png"])

    def test_input_may_have_a_bom_or_crlf_or_be_standard_input(self):
        self.draw(GOOD, "a.svg")
        self.draw("\ufeff" + GOOD.replace("\n", "\r\n").rstrip(), "b.svg")
        with open(self.write("in.txt", GOOD), "rb") as file:
            self.good("-", "c.svg", stdin=file)
        charts = {self.read(name) for name in ("a.svg", "b.svg", "c.svg")}
        self.assertEqual(len(charts), 1)

    def test_every_part_of_the_input_is_in_the_chart(self):
        self.draw(GOOD, "a.svg")
        plain = self.read("a.svg")
        for old, new in (("Violations over", "Breaks over"), ("16 agents", "17 agents"), ("made twice", "made"),
                         ("| linear", "| log"), ("seconds", "plain"), ("plain | log", "share | log"),
                         ("6.2 |", "6.4 |"), ("formula", "table"), ("310,290,330", "311,290,330"),
                         ("310,290,330", "310,290,390"), ("truly", "nearly"), ("findable,7,0", "findable,6,0")):
            self.assertIn(old, GOOD)
            self.draw(GOOD.replace(old, new), "b.svg")
            self.assertNotEqual(self.read("b.svg"), plain, old)

    def test_wrong_line_is_named_with_a_remedy(self):
        refuse = self.refuse
        refuse(GOOD.replace("title:", "titel:"),
               "in.txt:2: no heading is called titel; the headings are: title, subtitle, foot, x, y, rule")
        refuse(GOOD.replace("foot:", "title:"), "in.txt:4: a second title; leave one of them out")
        refuse(GOOD.replace("seconds", "hours"),
               "in.txt:5: no unit is called hours; the units are: plain, rows, seconds, share, bytes")
        refuse(GOOD.replace("| log", "| logarithmic"),
               "in.txt:6: no scale is called logarithmic; the scales are: linear, log")
        refuse(GOOD.replace("6.2 |", "6.2s |"),
               "in.txt:7: rule is no number: 6.2s; write one like 12, -0.5 or 3e6, up to 1e18")
        refuse(GOOD.replace("\n\n", "\nhello\n"),
               "in.txt:8: neither 'name: value' nor the table's head: hello; "
               "begin the table with 'series,x,y' or 'series,x,y,low,high'")
        refuse(GOOD.replace(",low,high", ",low"),
               "in.txt:9: the table's head has other columns; write 'series,x,y' or 'series,x,y,low,high'")
        refuse(GOOD.replace("0,310,", "0,"), "in.txt:10: the row has not as many fields as the table's head; "
               "write series, x, y, low, high")
        refuse(GOOD.replace("310,290", "310,320"),
               "in.txt:10: y does not lie between low and high; correct one of the three")
        refuse(GOOD.replace("7,0,,", "7,,,"),
               "in.txt:11: y is no number: ; write one like 12, -0.5 or 3e6, up to 1e18")
        for number in ("inf", "nan", "0x10", "1e19", "-1e19", "1,2,3", "1-2"):
            self.assertIn("in.txt:11: ", self.bad(2, self.write("in.txt", GOOD.replace("7,0,,", f"7,{number},,")),
                                                  "out.svg"))
        refuse(GOOD.replace("7,0,,", "7,-1,,"), "in.txt:11: y is below 0 on a log scale; make the scale linear")
        refuse(GOOD.replace("6.2 |", "-6 |").replace("linear", "log"),
               "in.txt:7: rule is below 0 on a log scale; make the scale linear")
        for end in ("truly,7,0", 'truly"" ,7,0', 'truly"" x,7,0'):
            refuse(GOOD.replace('truly""",7,0', end), "in.txt:13: a quoted field does not end with its quote; "
                   'close it with ", and write a quote inside as two')
        refuse(GOOD + "a,b,1,2,3,4\n",
               "in.txt:14: more than five fields; put a series' name that has commas into quotes")

    def test_truncated_or_excess_input_is_refused(self):
        refuse = self.refuse
        refuse("", "in.txt:0: the file ends without the heading title; "
               "add it above the table, as 'bucketlab-curves --help' shows")
        refuse("title: a\nx: b\n", "in.txt:2: the file ends without the heading y; "
               "add it above the table, as 'bucketlab-curves --help' shows")
        refuse("title: a\nx: b\ny: c\nseries,x,y\n",
               "in.txt:4: the file ends without a point; add 'series,x,y' and rows below it")
        nine = "".join(f"s{i},1,2,2,2\n" for i in range(7))
        self.draw(GOOD + nine)
        os.unlink(os.path.join(self.folder, "out.svg"))
        refuse(GOOD + nine + "x,1,2,2,2\n",
               "in.txt:21: a tenth series: x; a chart has room for nine; draw two")
        refuse(GOOD.replace("foot:", "rule: 1\n" * 6 + "foot:"),
               "in.txt:13: more rules than a chart has room for; keep six of them")

    def test_bytes_that_are_no_text_are_refused(self):
        for data, expected in ((b"title: \xff\n", "in.txt:1: is not UTF-8; save the file as UTF-8"),
                               (b"title: a\0b\n", "in.txt: holds a NUL byte; give a text file")):
            with open(os.path.join(self.folder, "in.txt"), "wb") as file:
                file.write(data)
            self.assertEqual(self.bad(2, "in.txt", "out.svg"), expected)

    def test_wrong_usage_is_refused_and_help_shows_an_example(self):
        usage = "bucketlab-curves: an input and a chart are needed; write 'bucketlab-curves INPUT CHART'"
        self.assertEqual(self.bad(2), usage)
        self.assertEqual(self.bad(2, "a", "b", "c"), usage)
        self.write("in.txt", GOOD)
        for name in ("out", "out.gif", ".svg.", "made.png/out"):
            self.assertEqual(self.bad(2, "in.txt", name),
                             f"{name}: the name tells no format; let it end in .png, .svg or .pdf")
        self.assertEqual(self.bad(2, "none.txt", "out.svg"),
                         "none.txt: cannot be opened: No such file or directory; give a file that can be read")
        self.assertEqual(self.bad(2, ".", "out.svg"), ".: cannot be read; give a file and no folder")
        self.assertIn("cannot make the folder", self.bad(3, "in.txt", "in.txt/out.svg"))
        shown = self.good("--help").split("example of an INPUT:\n")[1].split("\n\n")[0]
        self.draw("\n".join(line.strip() for line in shown.splitlines()))


if __name__ == "__main__":
    unittest.main()
