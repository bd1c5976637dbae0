# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: a run database of unknown origin does no harm: it is refused before anything is read or written unless its
schema is that of the program, and a run that is repeated reads no file elsewhere. Method: a good database is
changed by SQL as an attacker would, and the program must end soon, with one line, and leave it as it was.
"""
import os
import shutil
import sqlite3
import sys
import unittest

from program import PROGRAM, SMALL, ProgramTest
from terminal import Terminal

LAST = 2 ** 63 - 1
ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT "
SCHEMAS = [
    "CREATE TRIGGER t AFTER INSERT ON run BEGIN DELETE FROM strategy; END",
    "CREATE INDEX i ON metric (abs(value))",
    f"DROP TABLE largest; CREATE VIEW largest AS {ENDLESS} x AS strategy, 'rows' AS unit, '' AS key, 0 AS key_index, "
    "0 AS bucket, 0 AS size FROM c",
    "DROP VIEW strategy_metrics; CREATE VIEW strategy_metrics AS SELECT 1 AS run",
    "DROP TABLE slice",
    "ALTER TABLE metric ADD COLUMN more TEXT",
]
TRACE = "timestamp_ms,key,bytes\n" + "".join(f"{1767225600000 + 1000 * i},secret-{i % 3},9\n" for i in range(60))
TRACED = "name: traced\ntrace: {file: FILE}\nstrategies: [{time: {window: 1h}}]\n"


class OriginTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("small.yaml", SMALL)
        self.good("run", "small.yaml", "--no-charts", "--quiet", "--db", "good.db")

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def altered(self, statements, name="x.db"):
        shutil.copy(self.path("good.db"), self.path(name))
        database = sqlite3.connect(self.path(name), isolation_level=None)
        database.executescript(statements)
        database.execute("PRAGMA journal_mode = DELETE")
        database.close()
        with open(self.path(name), "rb") as file:
            return file.read()

    def test_schema_that_is_not_ours_is_refused_before_anything_is_read_or_written(self):
        for statements in SCHEMAS:
            before = self.altered(statements)
            for command in (["show", "1"], ["runs"], ["replay", "1"], ["export", "1"],
                            ["run", "small.yaml", "--no-charts"], ["merge", "good.db"]):
                with self.subTest(statements=statements, command=command):
                    line = self.bad(3, *command, "--db", "x.db")
                    self.assertRegex(line, r"\Ax\.db: (.* is not as bucketlab makes it|damaged \(a table is missing)")
                    with open(self.path("x.db"), "rb") as file:
                        self.assertEqual(file.read(), before)
        self.altered("CREATE VIEW mine AS SELECT scenario FROM run; CREATE TABLE notes (text TEXT); ANALYZE")
        self.good("show", "1", "--db", "x.db")
        self.good("run", "small.yaml", "--no-charts", "--quiet", "--db", "x.db")

    def test_value_of_any_size_is_refused(self):
        self.altered("UPDATE run SET about = CAST(zeroblob(200000000) AS TEXT)")
        self.assertIn("too big", self.bad(3, "show", "1", "--db", "x.db"))

    def test_impossible_figures_are_damage(self):
        for value in (LAST, -1, -LAST):
            self.altered(f"UPDATE run SET elapsed_ms = {value}")
            self.assertIn("damaged (a value that no run has)", self.bad(3, "show", "1", "--db", "x.db"))

    def test_full_sequence_is_not_a_full_disk(self):
        self.altered(f"UPDATE sqlite_sequence SET seq = {LAST} WHERE name = 'run'")
        line = self.bad(3, "run", "small.yaml", "--no-charts", "--quiet", "--db", "x.db")
        self.assertIn("its last number for a run", line)
        self.assertNotIn("disk", line)

    def test_run_that_is_repeated_reads_no_file_elsewhere(self):
        for folder in ("data", "scenarios", "elsewhere"):
            os.mkdir(self.path(folder))
        self.write("data/t.csv", TRACE)
        self.write("scenarios/near.csv", TRACE)
        os.symlink("../data/t.csv", self.path("scenarios", "link.csv"))
        for file, is_near in [("near.csv", True), ("../data/t.csv", False), ("link.csv", False),
                              (self.path("data", "t.csv"), False)]:
            self.write("scenarios/traced.yaml", TRACED.replace("FILE", file))
            database = self.path("elsewhere", "traced.db")
            self.good("run", "scenarios/traced.yaml", "--no-charts", "--quiet", "--db", database)
            with self.subTest(file=file):
                if is_near:
                    self.good("replay", "last", "--quiet", "--db", database)
                else:
                    line = self.bad(2, "replay", "last", "--quiet", "--db", database)
                    self.assertIn("name its folder with --files", line)
                    self.assertNotIn("secret", line)
                self.good("replay", "last", "--quiet", "--db", database, "--files", "data" if not is_near else ".")
                # The scenario is no longer there as it was stored, so its folder is any folder.
                self.write("scenarios/traced.yaml", TRACED.replace("FILE", file) + "# changed\n")
                self.bad(2, "replay", "last", "--quiet", "--db", database)
                # The folder of the database is.
                shutil.copy(database, self.path("data", "traced.db"))
                shutil.copy(database, self.path("scenarios", "traced.db"))
                self.good("replay", "last", "--quiet", "--db", "scenarios/traced.db" if is_near else "data/traced.db")
            os.unlink(database)

    @unittest.skipUnless(sys.platform == "linux", "the pseudo-terminal of Linux")
    def test_text_that_turns_the_direction_is_not_printed_on_a_terminal(self):
        self.write("turned.yaml", SMALL.replace("unbucketed: {}", 'unbucketed: {label: "a\\u202Eb"}'))
        self.good("run", "turned.yaml", "--no-charts", "--quiet", "--db", "t.db")
        for command in (["show", "1"], ["show", "1", "--json"], ["export", "1"], ["export", "1", "--metrics"]):
            terminal = Terminal([PROGRAM, *command, "--db", "t.db"], folder=self.folder)
            self.addCleanup(terminal.close)
            self.assertEqual(terminal.read_all(), 0)
            self.assertIn("a?b", terminal.text)
            self.assertNotIn("\u202e", terminal.text)
        self.assertIn("a\u202eb", self.good("export", "1", "--db", "t.db"))


if __name__ == "__main__":
    unittest.main()
