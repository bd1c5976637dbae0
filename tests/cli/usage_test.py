# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: commands, options and exit codes agree with the reference, and each error is one line with a remedy.
Method: correct and wrong calls of the program, without any scenario.
"""
import os
import subprocess
import unittest

from program import PROGRAM, ProgramTest

COMMANDS = ["init", "run", "why", "sweep", "merge", "cql", "fuzz", "explore", "judge", "odds", "tune", "check", "runs",
            "show",
            "diff", "report", "import", "watch", "export", "replay", "ids", "trace", "token", "bucket-of"]


class UsageTest(ProgramTest):
    def test_program_without_arguments_prints_help_to_stderr(self):
        code, out, err = self.run_program()
        self.assertEqual((code, out), (2, ""))
        self.assertEqual(err, self.good("--help"))

    def test_help_names_every_command_and_no_other(self):
        lines = self.good("--help").split("commands:\n")[1].split("\n\n")[0].splitlines()
        self.assertEqual([line.split()[0] for line in lines], COMMANDS)

    def test_help_of_each_command_fits_and_has_an_example(self):
        self.assertLessEqual(max(map(len, self.good("--help").splitlines())), 80)
        for command in COMMANDS:
            text = self.good(command, "--help")
            self.assertEqual(text, self.good("help", command))
            self.assertIn("example:\n  bucketlab " + command, text)
            for line in text.splitlines():
                self.assertLessEqual(len(line), 80, line)

    def test_version_is_printed(self):
        for spelling in ["--version", "version", "-v"]:
            self.assertRegex(self.good(spelling), r"\Abucketlab \d+\.\d+\.\d+\n\Z")

    def test_unknown_command_has_a_suggestion(self):
        self.assertEqual(self.bad(2, "rnu"), "bucketlab: no command 'rnu'; did you mean 'run'?")
        self.assertIn("the commands are: init, run, why, sweep, merge, cql,", self.bad(2, "zzzzzz"))
        self.assertIn("did you mean 'odds'?", self.bad(2, "help", "ods"))
        self.assertIn("did you mean 'help'?", self.bad(2, "hepl"))
        self.assertIn("did you mean '--version'?", self.bad(2, "--verison"))

    def test_help_has_the_usual_options(self):
        for words in [["-h"], ["help"], ["help", "--help"], ["help", "help"]]:
            self.assertEqual(self.good(*words), self.good("--help"))
        for words in [["run", "-h"], ["run", "x.yaml", "--help"], ["run", "--help", "--jobs", "1"], ["help", "run"]]:
            self.assertEqual(self.good(*words), self.good("run", "--help"))

    def test_columns_of_the_help_are_below_each_other(self):
        for command in COMMANDS:
            text = self.good(command, "--help").split("options:\n")[1].split("\n\n")[0]
            for line in text.splitlines():
                self.assertRegex(line, r"\A(  --.{17}  \S.*|  --.{18,}| {23}\S.*)\Z")

    def test_unknown_option_has_a_suggestion(self):
        self.assertEqual(self.bad(2, "odds", "--thresold", "4"),
                         "bucketlab: 'odds' has no option '--thresold'; did you mean '--threshold'?")
        self.assertIn("did you mean '--seed'?", self.bad(2, "run", "--sed=3", "x.yaml"))
        self.assertIn("did you mean '--help'?", self.bad(2, "run", "--hepl"))
        self.assertIn("'-x'", self.bad(2, "run", "-x"))
        self.assertIn("before the command", self.bad(2, "--json", "odds"))

    def test_ambiguous_option_names_the_candidates(self):
        self.assertEqual(self.bad(2, "run", "--se", "3"),
                         "bucketlab: '--se' may be '--seed' or '--set'; write it out")

    def test_option_without_its_value_is_refused(self):
        self.assertIn("--bits needs a value", self.bad(2, "odds", "--bits"))
        self.assertIn("--json takes no value", self.bad(2, "odds", "--json=yes"))

    def test_number_of_arguments_is_checked(self):
        self.assertIn("lacks an argument", self.bad(2, "run"))
        self.assertIn("'b' is one too many", self.bad(2, "show", "a", "b"))
        self.assertIn("takes only options, and 'x' is not one", self.bad(2, "runs", "x"))
        self.assertIn("not a run", self.bad(2, "show", "newest"))
        self.assertIn("not a run", self.bad(2, "show", "-1"))

    def test_options_are_before_and_after_arguments(self):
        first = self.good("bucket-of", "--buckets", "9", "a", "b")
        for environment in [{}, {"POSIXLY_CORRECT": "1"}]:
            self.assertEqual(first, self.good("bucket-of", "a", "b", "--buckets=9", environment=environment))
            self.assertEqual(first, self.good("bucket-of", "a", "--buckets", "9", "--", "b",
                                              environment=environment))

    def test_arguments_after_two_dashes_are_no_options(self):
        self.assertTrue(self.good("bucket-of", "--buckets", "9", "--", "--json").endswith("  --json\n"))

    def test_stdout_that_cannot_be_written_exits_3(self):
        if os.path.exists("/dev/full"):
            with open("/dev/full", "w") as full:
                code, _, err = self.run_program("--help", stdout=full)
            self.assertEqual(code, 3)
            self.assertRegex(err, r"\Astandard output: [^\n]+; [^\n]+\n\Z")
        code = subprocess.call(["sh", "-c", 'exec "$0" --version >&- 2>&-', PROGRAM])
        self.assertEqual(code, 3)


if __name__ == "__main__":
    unittest.main()
