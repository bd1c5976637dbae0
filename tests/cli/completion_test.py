# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: bash, zsh and fish offer every command, every option and every value, and quote where it is necessary.
Method: the shells themselves, bash and zsh on a terminal where it matters, compared with `--help`. A
substitute for the program records the words that it gets from a completed line. Arguments: the program, the
share folder of the build.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import unittest

SHARE = os.path.abspath(sys.argv.pop(2))

from program import PROGRAM, SMALL, ProgramTest, program_environment  # noqa: E402
from share import part  # noqa: E402
from terminal import Terminal  # noqa: E402

BASH = os.path.join(SHARE, "bash-completion", "completions", "bucketlab")
ZSH = os.path.join(SHARE, "zsh", "site-functions")
FISH = os.path.join(SHARE, "fish", "vendor_completions.d", "bucketlab.fish")
HERE = os.path.dirname(os.path.abspath(__file__))
SPACED = "my own.yaml"
# The words that a value can be: (the line before it, all of the words).
VALUES = [(["report", "1", "--format"], {"png", "svg", "pdf", "html"}),
          (["import", "x", "--format"], {"sstablepartitions", "tablehistograms", "large_partitions"}),
          (["check", "--digest"], {"exact", "ignore"}),
          (["export", "1", "--state"], {"closed", "open", "read", "all"}),
          (["export", "1", "--unit"], {"rows", "bytes", "partitions"}),
          (["tune", "--probability"], {"any"}),
          (["token", "--type"], {"text", "blob", "int", "bigint", "uuid", "timeuuid", "boolean", "tinyint", "smallint",
                                "timestamp", "float", "double"})]


def plain_list(text, line):
    """The list below the typed line, without the terminal's escape sequences."""
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", " ", text).replace("\r", "")
    return plain.partition(line.strip())[2].partition("\n")[2]


class CompletionTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write(SPACED, SMALL)
        self.write("notes.txt", "")
        self.write("config", "")
        os.mkdir(os.path.join(self.folder, "shelf"))

    def need(self, shell):
        if shutil.which(shell) is None:
            self.skipTest(f"no {shell} here")

    def commands(self):
        text = self.good("--help").split("commands:\n")[1].split("\n\n")[0]
        return {line.split()[0] for line in text.splitlines()}

    def options_of(self, command):
        text = self.good(command, "--help").split("options:\n")[1].split("\n\n")[0]
        return set(re.findall(r"^  (--\S+)", text, re.M))

    def store_runs(self, name):
        for _ in range(2):
            self.good("run", SPACED, "--no-charts", "--quiet", "--db", name, "--set", "duration=1h")

    def stand_in(self):
        """A folder for PATH whose bucketlab records its words, except for `complete`."""
        folder = os.path.join(self.folder, "shelf", "bin")
        os.mkdir(folder)
        self.said = os.path.join(folder, "said")
        path = os.path.join(folder, "bucketlab")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"#!{sys.executable}\nimport json, os, sys\n"
                       f"if sys.argv[1:2] == ['complete']:\n    os.execv({PROGRAM!r}, sys.argv)\n"
                       f"with open({self.said!r} + '.new', 'w') as file:\n    json.dump(sys.argv[1:], file)\n"
                       f"os.rename({self.said!r} + '.new', {self.said!r})\n")
        os.chmod(path, 0o755)
        return {"PATH": folder + os.pathsep + os.environ["PATH"], "HOME": folder, "PS1": "> "}

    def words_of(self, terminal, line, wanted):
        """The words that the program gets from `line`, which contains a tab, once its completion is `wanted`.
        """
        terminal.type(line)
        terminal.read_until(lambda text: wanted in text)
        terminal.type("\n")
        terminal.read_until(lambda _: os.path.exists(self.said))
        with open(self.said, encoding="utf-8") as file:
            said = json.load(file)
        os.remove(self.said)
        return said

    # --- bash

    def bash(self, *words):
        out = subprocess.run(["bash", "--norc", os.path.join(HERE, "complete.bash"), BASH, PROGRAM, *words],
                             cwd=self.folder, env=program_environment({"LC_ALL": "C"}), capture_output=True, text=True,
                             check=False)  # Bash complains about a locale that is not installed
        self.assertEqual((out.returncode, out.stderr), (0, ""))
        return out.stdout.splitlines()

    def test_bash_offers_every_command_and_option(self):
        self.need("bash")
        self.assertEqual(set(self.bash("")), self.commands() | {"help", "--help", "--version"})
        self.assertEqual(set(self.bash("help", "")), self.commands())
        self.assertEqual(self.bash("help", "run", ""), [])
        for command in self.commands():
            self.assertEqual(set(self.bash(command, "--")), self.options_of(command), command)
        self.assertEqual(set(self.bash("run", "--tr")), {"--trace-events", "--trace-format"})
        self.assertEqual(self.bash("nonsense", "--"), [])
        self.assertEqual(self.bash("bucket-of", "--", "--"), [])

    def test_bash_offers_what_a_value_can_be(self):
        self.need("bash")
        for words, values in VALUES:
            self.assertEqual(set(self.bash(*words, "")), values)
            self.assertEqual(set(self.bash(*words, "=")), values)
            self.assertEqual(set(self.bash(*words, "=", "")), values)
        self.assertEqual(self.bash("report", "last", "--format", "png,s"), ["png,svg"])
        self.assertEqual(self.bash("run", "--seed", ""), [])
        self.assertIn("changes_at_once", self.bash("fuzz", "--hold", "ch"))
        for command in ["diff", "sweep"]:
            self.assertEqual(set(self.bash(command, "--metric", "latency.read.")),
                             {f"latency.read.{name}" for name in ["p50", "p99", "p999"]})
        for command in ["run", "sweep", "fuzz", "check", "cql", "tune"]:
            self.assertEqual(self.bash(command, "--set", "strategies.hash.b"), ["strategies.hash.buckets="])

    def test_bash_offers_files_that_fit(self):
        self.need("bash")
        self.assertEqual(set(self.bash("run", "")), {SPACED, "shelf"})
        self.assertEqual(set(self.bash("run", "--out", "")), {"shelf"})
        self.assertEqual(set(self.bash("run", "--trace-events", "")), {SPACED, "notes.txt", "config", "shelf"})
        self.assertEqual(set(self.bash("import", "n")), {"notes.txt"})
        self.assertEqual(self.bash("token", ""), [])

    def test_bash_offers_the_runs_of_the_database(self):
        self.need("bash")
        self.assertEqual(self.bash("show", ""), ["last"])
        self.store_runs("bucketlab.db")
        self.store_runs("a b.db")
        self.good("run", SPACED, "--no-charts", "--quiet", "--db", "a b.db", "--set", "duration=1h")
        for command in ["show", "report", "replay", "export", "diff"]:
            self.assertEqual(set(self.bash(command, "")), {"last", "1", "2"}, command)
        self.assertEqual(set(self.bash("diff", "1", "")), {"last", "1", "2"})
        self.assertEqual(self.bash("diff", "1", ":", ""), [])
        for database in [["--db", "a\\ b.db"], ["--db", "=", "'a b.db'"]]:
            self.assertEqual(set(self.bash("show", *database, "")), {"last", "1", "2", "3"})
        self.assertEqual(set(self.bash("cql", SPACED, "--stress", "--run", "")), {"last", "1", "2"})

    def test_bash_quotes_a_name_with_a_blank(self):
        self.need("bash")
        environment = self.stand_in()
        terminal = Terminal(["bash", "--norc", "--noprofile", "-i"], 200, 50, self.folder, environment)
        self.addCleanup(terminal.close)
        terminal.type(f". '{BASH}'; echo re''ady\n")
        terminal.read_until(lambda text: "ready" in text)
        self.assertEqual(self.words_of(terminal, "bucketlab run my\t", "own.yaml"), ["run", SPACED])
        self.assertEqual(self.words_of(terminal, "bucketlab run \"my\t", "own.yaml"), ["run", SPACED])
        self.assertEqual(self.words_of(terminal, "bucketlab run --out she\tx", "shelf/x"), ["run", "--out", "shelf/x"])

    # --- zsh

    def zsh(self):
        environment = self.stand_in()
        terminal = Terminal(["zsh", "-f", "-i"], 200, 100, self.folder, environment)
        self.addCleanup(terminal.close)
        terminal.type(f"fpath=('{ZSH}' $fpath); autoload -Uz compinit; compinit -u -D; LISTMAX=1000; "
                      "setopt no_auto_menu; unset zle_bracketed_paste; echo re''ady\n")
        terminal.read_until(lambda text: "ready" in text)
        return terminal

    def zsh_offers(self, terminal, line, wanted):
        """Types the line twice with a tab, so that a list appears, until the list contains everything wanted.
        """
        terminal.type("\x15" + line + "\t\t")
        words = [re.compile(r"(?<![\w-])" + re.escape(word) + r"(?![\w-])") for word in wanted]
        return plain_list(terminal.read_until(
            lambda text: all(word.search(plain_list(text, line)) for word in words)), line)

    def test_zsh_offers_every_command_option_and_value(self):
        self.need("zsh")
        self.store_runs("bucketlab.db")
        terminal = self.zsh()
        self.zsh_offers(terminal, "bucketlab ", self.commands() | {"help", "--help", "--version"})
        for command in part(sorted(self.commands())):
            options = self.options_of(command)
            text = self.zsh_offers(terminal, f"bucketlab {command} --", options)
            self.assertLessEqual(set(re.findall(r"^ *(--\S+) +-- ", text, re.M)), options)
        for words, values in part(VALUES):
            if len(values) > 1:
                self.zsh_offers(terminal, f"bucketlab {' '.join(words)} ", values)
        self.zsh_offers(terminal, "bucketlab run x --set strategies.time.", {"strategies.time.window="})
        self.zsh_offers(terminal, "bucketlab diff --metric latency.", {"latency.read.p99"})
        self.zsh_offers(terminal, "bucketlab show ", {"last", "1", "2"})
        self.zsh_offers(terminal, "bucketlab cql x --run ", {"last", "1", "2"})

    def test_zsh_quotes_a_name_with_a_blank(self):
        self.need("zsh")
        self.assertEqual(self.words_of(self.zsh(), "bucketlab run my\t", "own.yaml"), ["run", SPACED])

    # --- fish

    def fish(self, line):
        environment = program_environment({**self.environment, "XDG_CONFIG_HOME": self.environment["HOME"]})
        out = subprocess.run(["fish", "--no-config", "-c", f"source '{FISH}'; complete -C $argv[1]", line],
                             cwd=self.folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                             text=True, check=False)
        self.assertEqual((out.returncode, out.stderr), (0, ""))
        return {line.split("\t")[0] for line in out.stdout.splitlines()}

    def test_fish_offers_every_command_option_and_value(self):
        self.need("fish")
        self.environment = self.stand_in()
        self.store_runs("a b.db")
        self.assertEqual(self.fish("bucketlab "), self.commands() | {"help"})
        self.assertEqual(self.fish("bucketlab --"), {"--help", "--version"})
        for command in part(sorted(self.commands())):
            self.assertEqual(self.fish(f"bucketlab {command} --"), self.options_of(command), command)
        for words, values in part(VALUES):
            self.assertEqual(self.fish(f"bucketlab {' '.join(words)} "), values)
        self.assertEqual(self.fish("bucketlab run --set strategies.hash.b"), {"strategies.hash.buckets="})
        self.assertIn("latency.read.p99", self.fish("bucketlab diff --metric latency."))
        self.assertEqual(self.fish("bucketlab show "), {"last"})
        self.assertEqual(self.fish("bucketlab show --db 'a b.db' "), {"last", "1", "2"})
        self.assertEqual(self.fish("bucketlab show --db='a b.db' "), {"last", "1", "2"})
        self.assertIn("notes.txt", self.fish("bucketlab import "))
        self.assertEqual(self.fish("bucketlab token "), set())
        self.assertEqual({name for name in self.fish("bucketlab run --out ") if "." in name}, set())
        self.assertEqual(self.fish("bucketlab run my\\ "), {SPACED})


if __name__ == "__main__":
    unittest.main()
