# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: a run of the stream engine that is stopped or killed, at any moment and any number of times, gives the
result that it would have given when the same command is repeated, and the keys that are done are not done
again; a run of a cluster starts again. Method: runs are killed at random moments until they are finished;
everything that the database holds of them, except for times, is compared with an undisturbed run.
"""
import os
import random
import re
import resource
import signal
import sqlite3
import sys
import unittest

HASTY = os.path.abspath(sys.argv.pop(2)) if len(sys.argv) > 2 else ""

from program import SMALL, ProgramTest, commands_s, without_progress  # noqa: E402
from share import in_full, part  # noqa: E402

# Partial results are stored every second of the program's clock.
FACTOR = 10 if HASTY else 1
HASTE = {"LD_PRELOAD": HASTY, "HASTY_FACTOR": str(FACTOR)} if HASTY else {}
# On a faster machine the run lasts longer, so that it takes this much processor time.
LONG_S = 2 / FACTOR
LONG = (SMALL.replace("name: small", "name: long\nengine: exact").replace("rate: 0.5/s", "rate: 24/s")
        .replace("duration: 2d", "duration: 7d").replace("0.01/s", "0.1/s"))
LONG = re.sub(r"(?m)^keys: .*$", "keys: {count: 2000}", LONG)
AGENTS = """\
name: agents
duration: 20m
keys: {count: 4}
arrivals: {rate: 40/s}
row: {bytes: 100}
reads: {latest: {rows: 20, rate: 2/s}}
agents: {count: 4, cache_ttl: 1s}
faults: [{random: {rate: 6/h, until: 15m}}]
strategies:
  - time: {window: 2m}
  - probabilistic: {bits: 4, threshold: 40, coordination: three-state, lead: 3s}
"""
OF_STRATEGY = ["metric", "histogram", "largest", "slice", "node", "setting", "event_log", "change", "belief"]
RESUMES = "the run resumes from its partial result in bucketlab.db\n"


def contents(path, run):
    """Everything stored of a run, except for its number, the wall clock, and the name of its scenario."""
    database = sqlite3.connect(path)
    found = [database.execute("SELECT scenario, about, source, seed, digest, rows, keys, start_ns, end_ns, "
                              "limit_partition_rows, limit_partition_bytes, limit_tiny_rows FROM run WHERE run = ?",
                              (run,)).fetchall(),
             database.execute("SELECT position, text, actual, ok FROM expectation WHERE run = ? ORDER BY 1",
                              (run,)).fetchall()]
    for table in OF_STRATEGY:
        columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})")
                   if row[1] not in ("strategy", "histogram")]
        rows = database.execute(f"SELECT label, {', '.join('t.' + column for column in columns)} FROM {table} AS t "
                                "JOIN strategy USING (strategy) WHERE run = ?", (run,)).fetchall()
        found.append((table, sorted(rows, key=repr)))
    found.append(database.execute(
        "SELECT label, kind, placement_digest, state, unit, size, bin.count, bin.weight FROM bin JOIN histogram "
        "USING (histogram) JOIN strategy USING (strategy) WHERE run = ? ORDER BY 1, 4, 5, 6", (run,)).fetchall())
    database.close()
    return found


def without_look(err):
    """The text without warnings about the scenario."""
    return "".join(line for line in without_progress(err).splitlines(True) if ".yaml:" not in line)


class ResumeTest(ProgramTest):
    references = {}  # for all tests: scenario and arguments -> the result of the run, and its processor time
    lasting = {}  # for all tests: scenario -> the same with a longer duration

    def start(self, *arguments, **options):
        return super().start(*arguments, environment=HASTE, **options)

    def path(self, name="bucketlab.db"):
        return os.path.join(self.folder, name)

    def execute(self, sql, *values):
        with sqlite3.connect(self.path()) as database:
            return database.execute(sql, values).fetchall()

    def reference(self, *arguments):
        """The undisturbed run, in a separate database: its contents and its processor time."""
        with open(self.path(arguments[0]), encoding="utf-8") as file:
            text = file.read()
        key = (text, *arguments)
        if key not in self.references or "file: rows.csv" in text:
            before_s = commands_s()
            self.run_quietly("run", *arguments, "--db", "whole.db")
            used_s = commands_s() - before_s
            with sqlite3.connect(self.path("whole.db")) as database:
                newest = database.execute("SELECT max(run) FROM run").fetchone()[0]
            self.references[key] = contents(self.path("whole.db"), newest), used_s
        return self.references[key]

    def write_lasting(self, name, text, seconds, number=r"(?<=^duration: )\d+"):
        """Writes the scenario, with a number so large that a run takes this much processor time on any
        machine; returns the contents of the undisturbed run, and its processor time."""
        while True:
            self.write(name, self.lasting.get(text, text))
            whole, used_s = self.reference(name)
            if used_s >= seconds:
                return whole, used_s
            self.lasting[text] = re.sub(number, lambda found: str(2 * int(found[0])),
                                        self.lasting.get(text, text), flags=re.MULTILINE)

    def write_long(self):
        return self.write_lasting("long.yaml", LONG, LONG_S)[0]

    def run_quietly(self, *arguments):
        code, out, err = self.run_program(*arguments, "--quiet", "--no-charts")
        self.assertIn(code, [0, 1], err)
        return out

    def start_with_partial(self, *arguments, **options):
        """Starts a run, and waits for its partial result."""
        process = self.start("run", *arguments, "--no-charts", "--jobs", "1", **options)
        self.wait_until(lambda: self.stored("outcome") > 0, process)
        return process

    def killed_with_partial(self, *arguments):
        process = self.start_with_partial(*arguments)
        process.kill()
        process.communicate()
        self.assertEqual(process.returncode, -signal.SIGKILL)

    def newest(self):
        return self.execute("SELECT max(run) FROM run")[0][0]

    def assert_finished(self, whole):
        self.assertEqual(contents(self.path(), self.newest()), whole)
        self.assertEqual(self.execute("SELECT count(*) FROM outcome")[0][0], 0)

    def test_run_killed_often_equals_an_undisturbed_run(self):
        draws = random.Random(9)
        whole = self.write_long()
        kills, code = 0, -signal.SIGKILL
        while code == -signal.SIGKILL:
            code, err = self.stop_after(LONG_S * draws.uniform(0.3, 0.9), signal.SIGKILL, "run", "long.yaml",
                                        "--no-charts", "--jobs", str(draws.randint(1, 3)))
            kills += code == -signal.SIGKILL
        self.assertEqual(code, 0, err)
        self.assertGreater(kills, 0)
        self.assertEqual(without_look(err.decode()), RESUMES)
        self.assert_finished(whole)

    def test_interrupted_run_resumes_with_the_same_command(self):
        whole = self.write_long()
        process = self.start_with_partial("long.yaml", "--quiet")
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, err.decode()),
                         (130, "interrupted; the keys that are done are in bucketlab.db, and the same command "
                               "resumes with the others\n"))
        code, _, err = self.run_program("run", "long.yaml", "--resume", "--no-charts", "--jobs", "2")
        self.assertEqual((code, without_look(err)), (0, RESUMES))
        self.assert_finished(whole)

    def test_resume_without_a_partial_result_is_refused(self):
        self.write("small.yaml", SMALL)
        self.write("agents.yaml", AGENTS)
        self.assertEqual(self.bad(2, "run", "small.yaml", "--resume", "--quiet"),
                         "small.yaml: bucketlab.db has no partial result of this run; remove --resume to run it from "
                         "the start")
        self.assertEqual(self.bad(2, "run", "agents.yaml", "--resume", "--quiet"),
                         "agents.yaml: a run of a cluster has no partial result, and starts again; remove --resume")

    def test_partial_result_of_another_run_is_not_used(self):
        whole = self.write_long()
        self.killed_with_partial("long.yaml")
        other = ["long.yaml", "--seed", "8", "--set", "duration=1d"]
        code, _, err = self.run_program("run", *other, "--no-charts")
        self.assertEqual((code, without_look(err)), (0, ""))
        for damage in part(["zeroblob(length(outcome))", "substr(outcome, 1, length(outcome) / 2)", "x''"]):
            self.execute(f"UPDATE outcome SET outcome = CAST({damage} AS BLOB)")
            code, _, err = self.run_program("run", "long.yaml", "--no-charts")
            self.assertEqual((code, without_look(err)), (0, ""))
            self.assertEqual(contents(self.path(), self.newest()), whole)

    def test_trace_that_has_changed_begins_again(self):
        lines = "".join(f"{1767225600000 + i * 1000},key-{i % 700},{100 + i % 50}\n" for i in range(400000 // FACTOR))
        self.write("rows.csv", "timestamp_ms,key,bytes\n" + lines)
        text = ("name: trace\ntrace: {file: rows.csv}\nstrategies: [unbucketed: {}, hash: {buckets: 16}]\n"
                "reads: {limit: 1000, latest: {rows: 20, rate: 400/s}}\n")
        whole, _ = self.write_lasting("trace.yaml", text, LONG_S, r"(?<=rate: )\d+")
        self.killed_with_partial("trace.yaml")
        code, _, err = self.run_program("run", "trace.yaml", "--no-charts")
        self.assertEqual((code, without_look(err)), (0, RESUMES))
        self.assert_finished(whole)
        self.killed_with_partial("trace.yaml")
        self.write("rows.csv", "timestamp_ms,key,bytes\n" + lines.replace(",149\n", ",150\n"))
        process = self.start("run", "trace.yaml", "--no-charts")
        err = ""
        while without_look(err) == "" and process.poll() is None:
            err += process.stderr.readline().decode()
        process.kill()
        process.communicate()
        self.assertRegex(without_look(err), r"\Awarning: \S*rows\.csv has changed since the run was stopped; the run "
                         r"begins again\n\Z")

    @in_full
    def test_full_disk_while_a_partial_result_is_stored_loses_nothing(self):
        whole = self.write_long()
        self.run_quietly("run", "long.yaml", "--set", "duration=1d", "--set", "keys.count=1")

        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            room = os.path.getsize(self.path()) + 8192
            resource.setrlimit(resource.RLIMIT_FSIZE, (room, resource.RLIM_INFINITY))

        process = self.start("run", "long.yaml", "--no-charts", "--jobs", "1", preexec_fn=limit)
        line = process.stderr.readline().decode()
        while line != "" and without_look(line) == "":
            line = process.stderr.readline().decode()
        self.assertRegex(line, r"\Awarning: the run continues, but its partial result could not be stored: ")
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        _, err = process.communicate(timeout=120)
        self.assertEqual((process.returncode, b"could not" in err), (0, False), err)
        self.assert_finished(whole)

    def test_trace_cannot_be_extended_in_time(self):
        self.write("rows.csv", "timestamp_ms,key,bytes\n1000,one,10\n")
        self.write("trace.yaml", "name: trace\ntrace: {file: rows.csv}\nstrategies: [unbucketed: {}]\n")
        self.run_quietly("run", "trace.yaml")
        self.assertRegex(self.bad(2, "run", "--continue", "1", "--for", "1d"),
                         r"no rows come after it; run .*trace\.yaml with a longer trace instead\Z")

    def test_run_of_60_days_equals_two_of_30(self):
        self.write("long.yaml", LONG.replace("duration: 7d", "duration: 1d"))
        self.write("agents.yaml", AGENTS)
        for run, name, longer, whole_of in part([(1, "long.yaml", "1d", "2d"), (3, "agents.yaml", "10m", "30m")]):
            whole, _ = self.reference(name, "--set", f"duration={whole_of}")
            self.run_quietly("run", name)
            self.run_quietly("run", "--continue", str(run), "--for", longer)
            self.assertEqual(contents(self.path(), run + 1), whole)

    def test_several_scenarios_keep_those_that_were_finished(self):
        self.write("small.yaml", SMALL)
        self.write("long.yaml", LONG.replace("duration: 7d", "duration: 40000d"))
        process = self.start("run", "small.yaml", "long.yaml", "--quiet", "--no-charts")
        before_s = commands_s()
        self.run_quietly("run", "small.yaml", "--db", "whole.db")
        self.wait_for_work(process, 0.1 + 5 * (commands_s() - before_s))
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, err)
        self.assertEqual([run["scenario"] for run in self.good_json("runs", "--json")], ["small"])


if __name__ == "__main__":
    unittest.main()
