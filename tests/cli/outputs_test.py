# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: no output of a command overwrites one of its inputs, or a file of a database that it uses. Method: a
table of commands with the option of each output and the files that each reads. Every output is directed at
every input: by its name, by another spelling, through a symbolic link, a hard link and a linked folder. Each
command must end with exit code 2 and one line that names the remedy; afterwards every file has its bytes, and
there is no new file.
"""
import fcntl
import os
import shutil
import signal
import sqlite3
import stat
import time
import unittest

from program import ProgramTest
from share import SHARE, part

TRACE = "timestamp_ms,key,bytes\n" + "".join(f"{1767225600000 + 1000 * i},key-{i % 3},{100 + i}\n" for i in range(60))
SCENARIO = """\
name: chat
seed: 7
trace: {file: t.csv}
row: {cells: 3}
limits: {partition_rows: 3000}
strategies:
  - time: {window: 1h}
"""
AGENTS = SCENARIO.replace("strategies", "agents: {count: 2}\nstrategies")
LONG = """\
duration: 2h
keys: {count: 4}
arrivals: {rate: 20/s}
row: {bytes: 100}
cluster: {nodes: 3, replication_factor: 3}
agents: {count: 4}
strategies: [probabilistic: {bits: 4, threshold: 10}]
"""
SWEEP = SCENARIO + "  - probabilistic: {bits: 2, threshold: 4}\n" \
    "sweep: {seeds: 2, grid: {strategies.probabilistic.bits: [2, 3]}}\n"
SIDES = ["bucketlab.db", "bucketlab.db-wal", "bucketlab.db-shm", "bucketlab.db-journal"]
BASE = ["base.db", "base.db-wal", "base.db-journal"]

# The command, its option that names a file, and the inputs that it must not name.
FILES = [
    (["export", "last"], "--out", SIDES),
    (["export", "last", "--metrics"], "--out", SIDES),
    (["check", "s.yaml"], "--junit", SIDES + ["s.yaml", "t.csv"]),
    (["check", "s.yaml", "--no-store", "--baseline", "base.db"], "--junit", BASE + ["s.yaml", "t.csv"]),
    (["check", "s.yaml", "--baseline", "base.db", "--update-baseline"], "--junit", SIDES + BASE + ["s.yaml", "t.csv"]),
    (["check", "s.yaml"], "--db", ["s.yaml", "t.csv"]),
    (["check", "s.yaml", "--no-store", "--update-baseline"], "--baseline", ["s.yaml", "t.csv"]),
    (["run", "agents.yaml", "--no-charts"], "--trace-events", SIDES + ["agents.yaml", "t.csv"]),
    (["run", "s.yaml", "--no-charts"], "--db", ["s.yaml", "t.csv"]),
    (["sweep", "sweep.yaml"], "--csv", SIDES + ["sweep.yaml", "t.csv"]),
    (["sweep", "sweep.yaml"], "--db", ["sweep.yaml", "t.csv"]),
    (["tune", "s.yaml", "--no-charts"], "--db", ["s.yaml", "t.csv"]),
    (["import", "sizes.csv"], "--db", ["sizes.csv"]),
    (["watch", "last", "sizes.csv"], "--prometheus", SIDES + ["sizes.csv"]),
    (["watch", "last", "sizes.csv"], "--db", ["sizes.csv"]),
]
# The same for a folder, with the extension of the file that would be created in it.
FOLDERS = [
    (["run", "s.yaml"], "svg", ["s.yaml", "t.csv", "bucketlab.db"]),
    (["run", "s.yaml"], "html", ["s.yaml", "t.csv", "bucketlab.db"]),
    (["report", "last"], "pdf", ["bucketlab.db"]),
    (["report", "last"], "html", ["bucketlab.db"]),
    (["tune", "s.yaml"], "png", ["s.yaml", "t.csv", "bucketlab.db"]),
]
# Every command and option that writes a file.
WRITERS = [
    (["export", "1"], "--out"),
    (["check", "s.yaml", "--no-store", "--quiet"], "--junit"),
    (["run", "agents.yaml", "--no-charts", "--quiet"], "--trace-events"),
    (["sweep", "sweep.yaml", "--quiet"], "--csv"),
    (["watch", "1", "sizes.csv"], "--prometheus"),
    (["trace", "t.csv"], "--anonymise"),
    (["trace", "t.csv"], "--scenario"),
    (["tune", "s.yaml", "--no-charts", "--quiet"], "--emit"),
]


class OutputsTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("t.csv", TRACE)
        self.write("s.yaml", SCENARIO)
        self.write("agents.yaml", AGENTS)
        self.write("sweep.yaml", SWEEP)
        shutil.copy(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scenarios", "observed",
                                 "messages.csv"), os.path.join(self.folder, "sizes.csv"))
        self.good("run", "s.yaml", "--no-charts", "--quiet")
        self.good("check", "s.yaml", "--no-store", "--baseline", "base.db", "--update-baseline", "--quiet")

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def contents(self):
        """Every file with its bytes; for a database its contents, as a reader may checkpoint its log."""
        found = {}
        for name in self.files():
            path = self.path(name)
            if os.path.islink(path):
                found[name] = os.readlink(path)
            elif os.path.isdir(path):
                found[name] = None
            elif name in ("bucketlab.db", "base.db"):
                with sqlite3.connect(path) as base:
                    found[name] = list(base.iterdump())
                base.close()
            elif not name.endswith(("-shm", "-wal")):
                with open(path, "rb") as file:
                    found[name] = file.read()
        return found

    def spellings(self, name):
        """Names of one file: a way to make each, and the name."""
        yield name
        yield f"./{name}"
        yield f"d/../{name}"
        yield self.path(name)
        yield f"l/{name}"
        yield f"s/{name}"
        if os.path.exists(self.path(name)):
            yield f"h/{name}"

    def make_links(self, names):
        for folder in ("d", "s", "h"):
            os.mkdir(self.path(folder))
        os.symlink(".", self.path("l"))
        for name in names:
            os.symlink(self.path(name), self.path("s", name))
            if os.path.exists(self.path(name)):
                os.link(self.path(name), self.path("h", name))

    def test_each_output_is_compared_with_each_input(self):
        self.make_links(sorted({name for _, _, names in FILES for name in names}))
        before, count = self.contents(), 0
        for command, option, names in FILES:
            for at, name in enumerate(names):
                spellings = list(self.spellings(name))
                for spelling in part(spellings[at % len(spellings):] + spellings[:at % len(spellings)]):
                    with self.subTest(command=command, option=option, output=spelling):
                        line = self.bad(2, *command, option, spelling, "--quiet")
                        self.assertRegex(line, rf"\Abucketlab: {option} .*: would overwrite .*; name another file\Z")
                        count += 1
        self.assertEqual(self.contents(), before)
        self.assertGreater(count, 300 / SHARE)

    def test_charts_are_compared_with_each_input(self):
        """The chart's name is a link to the input."""
        before = self.contents()
        for command, ending, names in FOLDERS:
            for name in names:
                chart = "chat.html" if ending == "html" else f"chat-costs.{ending}"
                for link in (os.link, os.symlink):
                    with self.subTest(command=command, ending=ending, name=name, link=link.__name__):
                        os.mkdir(self.path("pics"))
                        link(self.path(name), self.path("pics", chart))
                        line = self.bad(2, *command, "--quiet", "--out", "pics", "--format", ending)
                        self.assertRegex(line, r"\Abucketlab: --out pics: a file there would overwrite .*"
                                               r"; name another folder\Z")
                        self.assertEqual(os.listdir(self.path("pics")), [chart])
                        shutil.rmtree(self.path("pics"))
                        self.assertEqual(self.contents(), before)

    def test_input_that_has_a_charts_name_is_kept(self):
        os.mkdir(self.path("pics"))
        shutil.move(self.path("t.csv"), self.path("pics", "chat-t.png"))
        self.write("s.yaml", SCENARIO.replace("t.csv", "pics/chat-t.png"))
        self.assertIn("would overwrite the trace ", self.bad(2, "run", "s.yaml", "--quiet", "--out", "./pics/"))
        self.good("run", "s.yaml", "--quiet", "--out", "pics", "--format", "svg")
        with open(self.path("pics", "chat-t.png"), encoding="utf-8") as file:
            self.assertEqual(file.read(), TRACE)

    def test_finding_is_compared_with_each_input(self):
        os.mkdir(self.path("found"))
        for name in ("agents.yaml", "t.csv"):
            os.link(self.path(name), self.path("found", "agents-17-findable.yaml"))
            self.assertIn("--out found: a file there would overwrite ",
                          self.bad(2, "fuzz", "agents.yaml", "--seeds", "1..2", "--out", "found", "--quiet"))
            os.unlink(self.path("found", "agents-17-findable.yaml"))
        self.good("fuzz", "agents.yaml", "--seeds", "1..2", "--out", "found", "--quiet")

    def test_missing_database_is_not_another_file(self):
        before = self.contents()
        os.symlink("new.db", self.path("to-new.db"))
        for arguments in [["check", "s.yaml", "--db", "new.db", "--junit", "new.db"],
                          ["check", "s.yaml", "--db", "new.db", "--junit", "to-new.db"],
                          ["check", "s.yaml", "--db", "to-new.db", "--junit", "none/../new.db-wal"],
                          ["run", "agents.yaml", "--no-charts", "--db", "new.db", "--trace-events", "to-new.db"],
                          ["sweep", "sweep.yaml", "--db", "to-new.db", "--csv", "./new.db-journal"],
                          ["merge", "bucketlab.db", "base.db-wal", "--db", "base.db"]]:
            with self.subTest(arguments=arguments):
                self.assertIn(": would overwrite ", self.bad(2, *arguments, "--quiet"))
        os.unlink(self.path("to-new.db"))
        self.assertEqual(self.contents(), before)

    def test_separate_output_is_written(self):
        """A neighbour of the same name, a pipe, a device: none of them is an input."""
        os.mkdir(self.path("d"))
        for name in ("d/t.csv", "bucketlab.db.csv", "bucketlab.db-wal2", "t.csv.old", "/dev/null"):
            self.good("export", "last", "--out", name)
            self.good("sweep", "sweep.yaml", "--csv", name, "--quiet")
        self.good("check", "s.yaml", "--db", "base.db", "--baseline", "base.db", "--junit", "d/s.yaml", "--quiet")
        self.good("run", "agents.yaml", "--trace-events", "d/t.csv", "--quiet", "--no-charts")

    def test_existing_partial_file_is_not_followed(self):
        """A link under the name of a future partial file: the file that it points to stays unchanged."""
        victim = self.write("victim", "mine\n")
        for command, name in [(["export", "last", "--out", "o.csv"], ".o.csv.{pid}.0.partial"),
                              (["check", "s.yaml", "--quiet", "--junit", "o.xml"], ".o.xml.{pid}.0.partial"),
                              (["report", "last", "--out", ".", "--format", "svg"],
                               ".chat-costs.svg.{pid}.0.partial"),
                              (["run", "agents.yaml", "--quiet", "--no-charts", "--trace-events", "o.txt"],
                               ".o.txt.{pid}.0.partial"),
                              (["init", "mine"], ".mine.yaml.{pid}.0.partial")]:
            def link(name=name):
                os.symlink("victim", self.path(name.format(pid=os.getpid())))
            with self.subTest(command=command):
                self.good(*command, preexec_fn=link)
                with open(victim, encoding="utf-8") as file:
                    self.assertEqual(file.read(), "mine\n")

    def write_to(self, command, option, name):
        code, _, err = self.run_program(*command, option, name)
        self.assertIn(code, [0, 1], err)  # 1: an alarm of watch

    def test_every_output_is_opened_in_one_way(self):
        """Devices and FIFOs are written to, links followed, names may have 254 bytes, and what a killed process
        left is removed, unless it is alive."""
        os.mkfifo(self.path("fifo"))
        long = "ü" * 127
        mine = open(self.path(".mine.txt.1.0.partial"), "w", encoding="utf-8")
        self.addCleanup(mine.close)
        fcntl.flock(mine, fcntl.LOCK_EX)
        for command, option in WRITERS:
            with self.subTest(command=command, option=option):
                self.write_to(command, option, "plain")
                with open(self.path("plain"), "rb") as file:
                    self.assertGreater(len(file.read()), 10)
                self.write_to(command, option, "/dev/null")
                self.assertTrue(stat.S_ISCHR(os.stat("/dev/null").st_mode))
                reader = os.open(self.path("fifo"), os.O_RDONLY | os.O_NONBLOCK)
                self.write_to(command, option, "fifo")
                self.assertGreater(len(os.read(reader, 65536)), 10)
                os.close(reader)
                self.assertTrue(stat.S_ISFIFO(os.stat(self.path("fifo")).st_mode))
                os.symlink("target", self.path("link"))
                self.write(".other.csv.99.0.partial", "left")
                self.write(f".{long[:100]}.99.12.partial", "left")
                self.write(".notes.partial", "mine")
                for name in ("link", "link", long):
                    self.write_to(command, option, name)
                self.assertTrue(os.path.islink(self.path("link")) and os.path.isfile(self.path("target")))
                self.assertEqual([name for name in self.files() if name.endswith(".partial")],
                                 [".mine.txt.1.0.partial", ".notes.partial"])
                for name in ("plain", "link", "target", long):
                    os.unlink(self.path(name))
        self.write(".chat-costs.svg.99.0.partial", "left")
        os.symlink("target", self.path("chat-costs.svg"))
        self.good("report", "1", "--out", ".", "--format", "svg")
        self.assertTrue(os.path.islink(self.path("chat-costs.svg")) and os.path.isfile(self.path("target")))
        self.assertNotIn(".chat-costs.svg.99.0.partial", self.files())

    def test_output_in_a_folder_that_is_replaced_meanwhile_is_refused(self):
        os.mkdir(self.path("d"))
        self.write("long.yaml", LONG)
        process = self.start("run", "long.yaml", "--no-charts", "--quiet", "--trace-events", "d/e.txt", "--kinds",
                             "faults")
        self.wait_until(lambda: os.listdir(self.path("d")), process)
        os.rename(self.path("d"), self.path("old"))
        os.mkdir(self.path("d"))
        _, err = process.communicate(timeout=self.patience_s)
        self.assertEqual(process.returncode, 3, err)
        self.assertIn(b"d/e.txt: ", err)
        self.assertEqual(os.listdir(self.path("d")), [])

    def test_output_to_a_fifo_without_a_reader_hears_signals(self):
        os.mkfifo(self.path("fifo"))
        for command, option in WRITERS:
            with self.subTest(command=command, option=option):
                process = self.start(*command, option, "fifo")
                used, before = self.used_s(process.pid), -1.0
                while used - before > 0.02 or used < 0.005:  # until it works no more
                    time.sleep(0.3)
                    used, before = self.used_s(process.pid), used
                process.send_signal(signal.SIGTERM)
                process.communicate(timeout=self.patience_s)
                self.assertIn(process.returncode, [-signal.SIGTERM, 128 + signal.SIGTERM])


if __name__ == "__main__":
    unittest.main()
