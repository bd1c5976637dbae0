# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: a reader who follows docs/tutorial.md sees the output that it shows. Method: its files are written,
its commands are run, and their output is compared, except for times; then a page with wrong figures, which
must be detected.
"""
import contextlib
import io
import os
import re
import sys
import tempfile
import unittest

PROGRAM = os.path.abspath(sys.argv.pop(1))
SOURCE = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
sys.path.insert(0, os.path.join(SOURCE, "docs"))

import tutorial  # noqa: E402

SMALL = """\
<!-- file one.yaml -->
```yaml
name: one
trace: {file: scenarios/traces/small.csv}
strategies: [{hash: {buckets: 4}}]
```

```
$ bucketlab run one.yaml --no-charts --quiet | grep -A1 '^  strategy'
  strategy      all closed  p50 p99 max     p99   max 1000
  hash             46      -
...
$ false
$ echo $?
1
```
"""


def page():
    with open(tutorial.PAGE, encoding="utf-8") as file:
        return file.read()


class Tutorial(unittest.TestCase):
    maxDiff = None

    def test_the_page_is_what_a_reader_sees(self):
        text = page()
        self.assertEqual(tutorial.remade(text, PROGRAM), text, "docs/tutorial.py writes it again")

    def test_the_page_has_its_parts(self):
        text = page()
        commands = re.findall(r"^\$ (.*)$", text, re.M)
        self.assertGreater(len(commands), 12)
        for command in ("run", "odds", "tune", "check", "diff", "import"):
            self.assertTrue(any(line.startswith(f"bucketlab {command} ") for line in commands), command)
        for name in re.findall(r"\]\(([\w./-]+?)(?:#[\w-]+)?\)", text):
            self.assertTrue(os.path.exists(os.path.join(SOURCE, "docs", name)), name)

    def test_outputs_are_regenerated(self):
        made = tutorial.remade(SMALL, PROGRAM)
        self.assertNotIn("46      -", made)
        self.assertRegex(made, r"\n\$ bucketlab run .*\n +strategy .*\n[ >] hash +\d+ .*\n\$ false\n"
                               r"\$ echo \$\?\n1\n```\n$")
        self.assertEqual(tutorial.remade(made, PROGRAM), made)

    def test_a_wrong_page_is_noticed(self):
        with tempfile.TemporaryDirectory() as folder:
            wrong = os.path.join(folder, "page.md")
            with open(wrong, "w", encoding="utf-8") as file:
                file.write(SMALL)
            told = io.StringIO()
            sys.argv[1:] = ["--check", "--page", wrong, PROGRAM]
            with contextlib.redirect_stderr(told):
                self.assertEqual(tutorial.main(), 1)
            self.assertIn("page.md:11: the page says\n    hash             46", told.getvalue())

    def test_a_command_that_fails_is_noticed(self):
        with self.assertRaisesRegex(tutorial.Failure, "exit code 2"):
            tutorial.remade(SMALL.replace("buckets: 4", "buckets: -4").replace(" | grep -A1 '^  strategy'", ""),
                            PROGRAM)

    def test_shortened_output_stays_shortened(self):
        self.assertEqual(tutorial.shortened(list("abcdef"), ["1", "...", "5", "6"]), ["a", "...", "e", "f"])
        self.assertEqual(tutorial.shortened(list("abcdef"), ["1", "..."]), ["a", "..."])
        self.assertEqual(tutorial.shortened(list("ab"), ["1", "...", "2"]), ["a", "b"])
        self.assertEqual(tutorial.shortened(list("ab"), ["1"]), ["a", "b"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
