# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: a run that is stopped or killed, at any moment and any number of times, resumes and gives the result
that it would have given; every obstacle is reported in one line, and no finished work is lost. Method: runs
are killed at random moments and resumed until they are finished; everything that the database holds of them,
except for times, is compared with an undisturbed run. With the argument `slow`: 200 kills over the shipped
scenarios.
"""
import glob
import json
import os
import random
import re
import resource
import signal
import sqlite3
import sys
import unittest

from program import SMALL, SOURCE, ProgramTest, commands_s, without_progress
from share import SHARE, in_full, part

IS_SLOW = "slow" in sys.argv
if IS_SLOW:
    sys.argv.remove("slow")

# On a faster machine a run of either lasts longer, so that it takes this much processor time.
LONG_S, AGENTS_S = 0.4, 0.15
LONG = (SMALL.replace("name: small", "name: long\nengine: exact").replace("rate: 0.5/s", "rate: 24/s")
        .replace("duration: 2d", "duration: 7d").replace("0.01/s", "0.1/s"))
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
    """The text without warnings about the scenario, and about a disk that is slow to write a state."""
    return "".join(line for line in without_progress(err).splitlines(True)
                   if ".yaml:" not in line and not line.startswith("warning: a state of the run takes "))


def has_trace(path):
    """The traces of some scenarios are not shipped with them."""
    with open(path, encoding="utf-8") as file:
        found = re.search(r"^trace:.*?file: ([^,}\s]+)", file.read(), re.MULTILINE | re.DOTALL)
    return found is None or os.path.exists(os.path.join(os.path.dirname(path), found[1]))


class ResumeTest(ProgramTest):
    references = {}  # for all tests: scenario and arguments -> the result of the run, and its processor time
    lasting = {}  # for all tests: scenario -> the same with a longer duration

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
        return self.write_lasting("long.yaml", LONG, LONG_S)

    def run_quietly(self, *arguments):
        code, out, err = self.run_program(*arguments, "--quiet", "--no-charts")
        self.assertIn(code, [0, 1], err)
        return out

    def kill_after(self, seconds, *arguments):
        """True when the program was killed, after this much processor time, before it had finished."""
        return self.stop_after(seconds, signal.SIGKILL, *arguments, "--quiet", "--no-charts")[0] == -signal.SIGKILL

    def start_with_state(self, *arguments):
        # However many processors there are, most of the work is still to do when the first state is seen.
        process = self.start("run", *arguments, "--snapshot-every", "50ms", "--no-charts", "--jobs", "1")
        self.wait_until(lambda: self.stored("snapshot") > 0, process)
        return process

    def killed_with_state(self, *arguments):
        process = self.start_with_state(*arguments)
        process.kill()
        process.communicate()
        self.assertEqual(process.returncode, -signal.SIGKILL)

    def kill_until_finished(self, draws, seconds, *arguments):
        """Returns the number of kills. Later ones may come later, so that the last one comes too late even
        where states take long to write."""
        kills = 0
        if not self.kill_after(seconds * draws.uniform(0.02, 1), "run", *arguments, "--snapshot-every", "50ms"):
            return kills
        while True:
            kills += 1
            seconds *= 1.1
            code, out, err = self.run_program("runs", "--json") if os.path.exists(self.path()) else (0, "[]", "")
            runs = json.loads(out) if code == 0 else []
            if code != 0:  # killed between the file and its first table
                self.assertIn("an empty database", err)
            if not any("state" in run for run in runs):  # before it had a number
                again = ["run", *arguments]
            else:
                again = ["run", "--resume", "last"]
            jobs = str(draws.randint(1, 3))
            if not self.kill_after(seconds * draws.uniform(0.1, 1), *again, "--jobs", jobs, "--snapshot-every",
                                   "50ms"):
                return kills

    def newest(self):
        return self.execute("SELECT max(run) FROM run")[0][0]

    def test_run_killed_often_equals_an_undisturbed_run(self):
        draws = random.Random(9)
        kills = 0
        for name, text, seconds in [("long.yaml", LONG, LONG_S), ("agents.yaml", AGENTS, AGENTS_S)]:
            whole, used_s = self.write_lasting(name, text, seconds)
            for _ in range(1 if SHARE > 1 else 2):
                kills += self.kill_until_finished(draws, used_s * 0.8, name)
                self.assertEqual(contents(self.path(), self.newest()), whole)
        self.assertGreater(kills, 1 if SHARE > 1 else 3)
        self.assertEqual(self.execute("SELECT count(*) FROM unfinished")[0][0], 0)
        self.assertEqual(self.execute("SELECT count(*) FROM snapshot")[0][0], 0)

    def test_stopped_run_keeps_its_number_and_can_be_stopped_again(self):
        whole, used_s = self.write_long()
        for arguments in [["long.yaml"], ["--resume", "1"], ["--resume", "last"]]:
            process = self.start("run", *arguments, "--quiet", "--no-charts")
            self.wait_for_work(process, used_s / 10)
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=60)
            self.assertEqual((process.returncode, err.decode()),
                             (130, "interrupted; bucketlab run --resume 1 --db bucketlab.db resumes from here\n"))
            state, = self.good_json("runs", "--json")
            self.assertEqual((state["run"], state["state"], state["snapshot_parts"] > 0), (1, "stopped", True))
            self.assertIn("stopped, begun ", self.good("runs"))
        self.good("run", "--resume", "1", "--no-charts")
        self.assertEqual(contents(self.path(), 1), whole)
        self.assertEqual(self.good("run", "--resume", "1"), "run 1 is finished; `bucketlab show 1` prints it\n")
        self.assertEqual(self.good_json("run", "--resume", "1", "--json"), {"run": 1, "finished": True})
        self.assertIn("no run is unfinished", self.bad(2, "run", "--resume", "last"))

    def test_run_killed_before_its_first_state_begins_anew(self):
        whole, _ = self.write_long()
        process = self.start("run", "long.yaml", "--snapshot-every", "1h", "--no-charts", "--quiet", "--jobs",
                             "1")
        self.wait_until(lambda: self.stored("unfinished") > 0, process)
        process.kill()
        process.communicate()
        self.execute("DELETE FROM snapshot")  # each part's first state may be there
        self.assertEqual(self.good_json("runs", "--json")[0]["snapshot_parts"], 0)
        self.good("run", "--resume", "last", "--no-charts")
        self.assertEqual(contents(self.path(), 1), whole)

    def test_damaged_state_costs_its_part_only(self):
        whole, _ = self.write_long()
        for damage in part(["substr(bytes, 1, 500) || x'00ff00' || substr(bytes, 504)", "zeroblob(length(bytes))",
                            "substr(bytes, 1, length(bytes) / 2)", "x''"]):
            self.killed_with_state("long.yaml")
            self.execute(f"UPDATE snapshot SET bytes = CAST({damage} AS BLOB) WHERE part = (SELECT min(part) FROM "
                         "snapshot)")
            code, _, err = self.run_program("run", "--resume", "last", "--no-charts")
            self.assertEqual(code, 0, err)
            self.assertRegex(without_look(err),
                             r"\Awarning: a part of the run starts again: the snapshot was cut short[^\n]*\n\Z")
            self.assertEqual(contents(self.path(), self.newest()), whole)

    def test_run_that_cannot_resume_is_refused_with_a_remedy(self):
        self.write_long()
        self.killed_with_state("long.yaml")
        self.execute("UPDATE unfinished SET version = '0.0.1'")
        self.assertRegex(self.bad(2, "run", "--resume", "1"),
                         r"\Arun 1 was begun by bucketlab 0\.0\.1, and this is .*; resume with that version, or run .*"
                         r"long\.yaml again\Z")
        version = self.good("--version").split()[1]
        self.execute("UPDATE unfinished SET version = ?", version)
        swapped = bytes(reversed(self.execute("SELECT substr(bytes, 17, 8) FROM snapshot LIMIT 1")[0][0]))
        self.execute("UPDATE snapshot SET bytes = CAST(substr(bytes, 1, 16) || ? || substr(bytes, 25) AS BLOB)",
                     swapped)
        self.assertEqual(self.bad(2, "run", "--resume", "1"),
                         "run 1: the snapshot comes from a machine of another byte order; resume there, or run again")
        self.execute("DELETE FROM snapshot")
        self.good("run", "--resume", "1", "--no-charts")

    @in_full
    def test_scenario_that_has_changed_continues_as_it_began_and_a_trace_does_not(self):
        whole, _ = self.write_long()
        self.killed_with_state("long.yaml")
        self.write("long.yaml", self.lasting.get(LONG, LONG).replace("seed: 7", "seed: 8"))
        code, _, err = self.run_program("run", "--resume", "1", "--no-charts")
        self.assertEqual(code, 0)
        self.assertIn("long.yaml has changed since run 1 began; the run continues with the old one\n", err)
        self.assertEqual(contents(self.path(), 1), whole)
        lines = "".join(f"{i * 1000},key-{i % 7},{100 + i % 50}\n" for i in range(400000))
        self.write("rows.csv", "timestamp_ms,key,bytes\n" + lines)
        text = ("name: trace\ntrace: {file: rows.csv}\nstrategies: [unbucketed: {}, hash: {buckets: 16}]\n"
                "reads: {latest: {rows: 20, rate: 400/s}}\n")
        whole, _ = self.write_lasting("trace.yaml", text, LONG_S, r"(?<=rate: )\d+")
        self.killed_with_state("trace.yaml")
        self.write("rows.csv", "timestamp_ms,key,bytes\n" + lines.replace(",149\n", ",150\n"))
        self.assertRegex(self.bad(2, "run", "--resume", "last"),
                         r"rows\.csv has changed since the run began; restore it")
        os.remove(self.path("rows.csv"))
        self.assertRegex(self.bad(2, "run", "--resume", "last"),
                         r"rows\.csv: cannot be opened \(.*\); put it where the scenario names it")
        self.write("rows.csv", "timestamp_ms,key,bytes\n" + lines)
        self.good("run", "--resume", "last", "--no-charts")
        self.assertEqual(contents(self.path(), 2), whole)

    @in_full
    def test_later_of_two_programs_takes_over_a_run(self):
        whole, _ = self.write_long()
        first = self.start_with_state("long.yaml")
        second = self.start("run", "--resume", "1", "--snapshot-every", "50ms", "--no-charts")
        # A third program has another run in the same database.
        self.run_quietly("run", "long.yaml", "--set", "duration=1d")
        _, err = first.communicate(timeout=120)
        self.assertEqual((first.returncode, without_look(err.decode())),
                         (3, "bucketlab.db: another program resumed run 1, or has finished it; see it with "
                             "`bucketlab runs`\n"))
        _, err = second.communicate(timeout=120)
        self.assertEqual(second.returncode, 0, err)
        self.assertEqual(contents(self.path(), 1), whole)
        self.assertEqual(self.execute("SELECT count(*) FROM run")[0][0], 2)

    def test_program_that_loses_a_run_is_notified_at_any_moment(self):
        whole, _ = self.write_long()
        self.killed_with_state("long.yaml")
        for change in part(["UPDATE", "DELETE"]):  # the first is read at the beginning, the second at the end
            self.execute(f"CREATE TRIGGER taken BEFORE {change} ON unfinished BEGIN SELECT RAISE(IGNORE); END")
            self.assertRegex(self.bad(3, "run", "--resume", "1", "--quiet", "--no-charts"),
                             r"\Abucketlab\.db: another program resumed run 1")
            self.execute("DROP TRIGGER taken")
        self.good("run", "--resume", "1", "--no-charts")
        self.assertEqual(contents(self.path(), 1), whole)

    def test_unfinished_run_is_named_where_a_finished_one_is_needed(self):
        self.write_long()
        self.killed_with_state("long.yaml")
        for arguments in [["show", "last"], ["show", "1"], ["run", "--continue", "1", "--for", "1d"]]:
            self.assertEqual(self.bad(2, *arguments),
                             "bucketlab.db: run 1 is not finished; `bucketlab run --resume 1` resumes it")

    def test_trace_cannot_be_extended_in_time(self):
        self.write("rows.csv", "timestamp_ms,key,bytes\n1000,one,10\n")
        self.write("trace.yaml", "name: trace\ntrace: {file: rows.csv}\nstrategies: [unbucketed: {}]\n")
        self.run_quietly("run", "trace.yaml")
        self.assertRegex(self.bad(2, "run", "--continue", "1", "--for", "1d"),
                         r"no rows come after it; run .*trace\.yaml with a longer trace instead\Z")

    @in_full
    def test_full_disk_while_a_state_is_written_loses_nothing(self):
        whole, _ = self.write_long()
        self.run_quietly("run", "long.yaml", "--set", "duration=1d", "--set", "keys.count=1")

        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            room = os.path.getsize(self.path()) + 8192
            resource.setrlimit(resource.RLIMIT_FSIZE, (room, resource.RLIM_INFINITY))

        process = self.start("run", "long.yaml", "--snapshot-every", "50ms", "--no-charts", "--jobs", "1",
                             preexec_fn=limit)
        line = process.stderr.readline().decode()
        while line != "" and without_look(line) == "":
            line = process.stderr.readline().decode()
        self.assertRegex(line, r"\Awarning: the run continues, but its state could not be stored: bucketlab\.db: ")
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        _, err = process.communicate(timeout=120)
        self.assertEqual((process.returncode, b"could not" in err), (0, False), err)
        self.assertEqual(contents(self.path(), 2), whole)

    def test_failed_run_is_not_listed_as_unfinished(self):
        self.write("rows.csv", "timestamp_ms,key,bytes\n1000,one,10\nnot a row\n")
        self.write("trace.yaml", "name: trace\ntrace: {file: rows.csv}\nstrategies: [unbucketed: {}]\n")
        self.assertIn("rows.csv:3", self.bad(2, "run", "trace.yaml", "--snapshot-every", "1h", "--no-charts"))
        self.assertEqual(self.good_json("runs", "--json"), [])
        whole, _ = self.write_long()
        process = self.start_with_state("long.yaml")
        room = os.path.getsize(self.path()) + 8192
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (room, room))
        _, err = process.communicate(timeout=120)
        if process.returncode != 0:  # it may have been about to end
            self.assertIn(b"\nbucketlab.db: ", b"\n" + err)
            run, = self.good_json("runs", "--json")
            self.assertIn(run["state"], ("stopped", "running"))  # not even the mark "stopped" may have room
            self.assertGreater(run["snapshot_parts"], 0)
            self.good("run", "--resume", str(run["run"]), "--no-charts")
        self.assertEqual(contents(self.path(), self.newest()), whole)

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
        runs = self.good_json("runs", "--json")
        self.assertEqual(sorted((run["scenario"], run.get("state", "finished")) for run in runs),
                         [("long", "stopped"), ("small", "finished")])

    def test_options_that_do_not_go_together_are_refused(self):
        self.write("small.yaml", SMALL)
        self.run_quietly("run", "small.yaml")
        for arguments, says in [
                ([], "'run' lacks an argument"),
                (["--resume", "1", "small.yaml"], "takes its scenario from the database; remove 'small.yaml'"),
                (["--resume", "1", "--seed", "3"], "remove --seed"),
                (["--continue", "1", "--for", "1d", "--set", "seed=3"], "remove --set"),
                (["--continue", "1"], "--continue and --for go together"),
                (["--for", "1d", "small.yaml"], "--continue and --for go together"),
                (["--for", "1d"], "--continue and --for go together"),
                (["--resume", "1", "--continue", "1", "--for", "1d"], "exclude each other"),
                (["--resume", "x"], "x"),
                (["--resume", "77"], "77"),
                (["--continue", "1", "--for", "3"], "--for 3: "),
                (["small.yaml", "--snapshot-every", "10us"], "too short; give at least 1ms"),
                (["small.yaml", "--snapshot-every", "1s", "--trace-events", "-"], "cannot be resumed")]:
            self.assertIn(says, self.bad(2, "run", *arguments), arguments)


class SlowTest(ResumeTest):
    def test_200_kills_over_the_shipped_scenarios(self):
        draws = random.Random(4)
        paths = sorted(glob.glob(os.path.join(SOURCE, "scenarios", "*.yaml")))
        paths = [path for path in paths if os.path.basename(path) not in ("sweep.yaml", "tune-sensors.yaml")
                 and has_trace(path)]
        whole, kills = {}, 0
        while kills < 200:
            for path in paths:
                if path not in whole:
                    whole[path] = self.reference(path)
                found, used_s = whole[path]
                kills += self.kill_until_finished(draws, max(0.15, used_s * 0.7), path)
                self.assertEqual(contents(self.path(), self.newest()), found, path)


if __name__ == "__main__":
    names = [name for name in dir(SlowTest) if name.startswith("test_200")] if IS_SLOW else None
    if IS_SLOW:
        unittest.main(argv=[sys.argv[0]] + [f"SlowTest.{name}" for name in names])
    else:
        del SlowTest
        unittest.main()
