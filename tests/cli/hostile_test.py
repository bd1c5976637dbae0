# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: a run ends soon after SIGTERM whatever it is doing; a database that is locked or read-only when a run
ends loses nothing. Method: scenarios with hours of work between two rows or within one line of a trace; another
connection that locks the database; a process without the right to write.
"""
import os
import signal
import sqlite3
import subprocess
import unittest

from program import PROGRAM, SMALL, ProgramTest, commands_s, without_warnings
from share import part

HEAD = "name: hostile\nseed: 1\n"
MADE = HEAD + "keys: {count: 1}\nrow: {bytes: 100}\n"
TRACE = HEAD + "trace: {file: t.csv}\nrow: {bytes: 100}\n"
WINDOWS = "strategies: [unbucketed: {}, time: {window: 1h}]\n"
OFTEN = "reads: {limit: 100000, latest: {rows: 5, rate: 1000000/s}}\n"

# Name: the scenario, and the trace below its header.
SCENARIOS = {
    "rows of one line": (TRACE + OFTEN + WINDOWS, "1767225600000,a,99999999999\n"),
    "reads between two lines": (TRACE + OFTEN + WINDOWS, "86400000000,a,1\n1767225600000,a,2\n"),
    "reads after the last line": (TRACE + OFTEN + WINDOWS + "start: 2026-01-01T00:00:00Z\nduration: 3650d\n",
                                  "1767225600000,a,2\n"),
    "reads between two rows": (MADE + "duration: 3650d\narrivals: {rate: 1/d}\n" + OFTEN + WINDOWS, ""),
    "reads in a burst's pause": (MADE + "duration: 3650d\narrivals: {rate: 100/s, bursts: {on: 1s, off: 100d, "
                                 "factor: 1000}}\n" + OFTEN + WINDOWS, ""),
    "windows of a long read": (MADE + "duration: 3650d\narrivals: {rate: 1/d}\nreads: {limit: 100000000, latest: "
                               "{rows: 1000, rate: 1/s}}\nstrategies: [time: {window: 4s}]\n", ""),
    "idle agents": (MADE + "duration: 36500d\narrivals: {rate: 0.0001/d}\nreads: {latest: {rows: 5, rate: 100/s}}\n"
                    "agents: {count: 2}\n" + WINDOWS, ""),
    "thinned rows": (MADE + "duration: 30d\narrivals: {rate: 1000000000/s}\nengine: thinned\nstrategies: "
                     "[time: {window: 1us}]\n", ""),
}
# Within 1 s on an idle machine, but this one may be busy; all of the work would take hours.
SOON_S = 60


def as_nobody():
    if os.getuid() == 0:
        os.setgid(65534)
        os.setuid(65534)


class HostileTest(ProgramTest):
    def stop(self, *arguments):
        process = self.start(*arguments)
        self.wait_for_work(process, 0.15)
        process.terminate()
        _, err = process.communicate(timeout=SOON_S)
        self.assertEqual(process.returncode, 128 + signal.SIGTERM, err)
        return err.decode()

    def test_sigterm_ends_a_long_stretch_of_one_thing(self):
        for name, (text, lines) in part(SCENARIOS.items()):
            with self.subTest(name):
                for old in self.files():
                    os.unlink(os.path.join(self.folder, old))
                self.write("s.yaml", text)
                self.write("t.csv", "timestamp_ms,key,count\n" + lines)
                self.assertIn("interrupted; nothing was stored",
                              self.stop("run", "s.yaml", "--quiet", "--no-charts"))

    def test_time_grows_with_the_number_of_random_faults_and_not_faster(self):
        """Some 170 and some 1,350 network partitions are in force at once."""
        used = []
        for rate in (20000, 160000):
            self.write("faults.yaml", "duration: 10m\nkeys: {count: 4}\narrivals: {rate: 1/s}\nrow: {bytes: 100}\n"
                       "agents: {count: 4}\nstrategies: [probabilistic: {bits: 4, threshold: 10}]\nfaults: [random: "
                       f"{{rate: {rate}/h, kinds: [network_partition, node_down, slow_node, lost_message]}}]\n")
            before = commands_s()
            self.good("run", "faults.yaml", "--no-charts", "--quiet", "--no-store")
            used.append(commands_s() - before)
        self.assertLess(used[1], 24 * used[0] + 0.2)  # three times as much per fault; it was 60 times

    def test_sigterm_ends_commands_without_a_state(self):
        self.write("s.yaml", SCENARIOS["reads between two rows"][0] + "limits: {partition_rows: 1000}\n"
                   "sweep: {seeds: 3}\nexpect: [unbucketed.partitions.total == 1]\n")
        for command in ["tune", "sweep", "check"]:
            with self.subTest(command):
                self.stop(command, "s.yaml", "--quiet")

    def test_trace_that_the_cluster_engine_cannot_hold_is_refused_with_its_line(self):
        self.write("s.yaml", TRACE + "agents: {count: 2}\n" + WINDOWS)
        self.write("t.csv", "timestamp_ms,key,count\n86400000000,b,1\n1767225600000,a,99999999999\n")
        self.assertRegex(self.bad(2, "run", "s.yaml"), r"t\.csv:3: with this line the trace has more than "
                         r"1073741824 rows, .*; shorten 'duration', or remove 'agents'$")

    def test_rows_at_either_end_of_the_range_of_times(self):
        """The first second of the range began before it; reads reach back beyond it."""
        self.write("s.yaml", HEAD + "trace: {file: t.csv}\nreads: {range: {span: 36500d, age: 36500d, rate: 1/d}}\n"
                   + WINDOWS)
        for times, most in [([-9223372036854, -9223372036853, -9223372035999, 86400000000], 2),
                            ([-86400000001, -86400000000, 9223372036000, 9223372036853, 9223372036854], 3)]:
            self.write("t.csv", "timestamp_ms,key,bytes\n" + "".join(f"{time},k,10\n" for time in times))
            metrics = self.good_json("run", "s.yaml", "--json", "--no-charts")["strategies"][0]["metrics"]
            self.assertEqual(metrics["peak.rows_per_second_one_partition"], most)
            self.assertIn("a run with agents has to lie between the years 1688 and 2252; change the times of the "
                          "trace", self.bad(2, "run", "s.yaml", "--set", "agents.count=2"))

    def test_database_that_is_locked_at_the_end_costs_no_run(self):
        self.write("small.yaml", SMALL)
        days, used_s = 1, 0
        while used_s < 0.15:
            days, before_s = 2 * days, commands_s()
            command = ["run", "small.yaml", "--no-charts", "--quiet", "--set", "arrivals.rate=50/s", "--set",
                       f"duration={days}d"]
            digest = self.good_json(*command, "--json", "--db", "other.db")["digest"]
            used_s = commands_s() - before_s
        self.good_json(*command, "--json")  # makes the database
        process = self.start(*command, "--jobs", "1")
        self.wait_for_work(process, used_s / 4)
        database = sqlite3.connect(os.path.join(self.folder, "bucketlab.db"), isolation_level=None, timeout=10)
        database.execute("BEGIN IMMEDIATE")
        _, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 3, err)
        self.assertRegex(without_warnings(err.decode()), r"(\A|\n)bucketlab\.db: locked by another program; .*\n\Z")
        database.close()
        self.assertEqual(self.good_json(*command, "--json")["digest"], digest)
        self.assertEqual(self.good_json("show", "1", "--json")["digest"], digest)

    def test_database_that_may_only_be_read_is_read(self):
        self.write("small.yaml", SMALL)
        os.chmod(self.folder, 0o755)
        self.good("run", "small.yaml", "--no-charts", "--quiet")
        self.good("run", "small.yaml", "--no-charts", "--quiet", "--seed", "8")
        database = os.path.join(self.folder, "bucketlab.db")
        elsewhere = os.path.join(self.folder, "out")
        os.mkdir(elsewhere)
        os.chmod(elsewhere, 0o777)
        commands = [("runs", "--json"), ("show", "1", "--json"), ("diff", "1", "2", "--json"),
                    ("export", "1", "--metrics"), ("replay", "1")]
        try:
            reads = subprocess.run([PROGRAM, "--version"], preexec_fn=as_nobody, check=False,
                                   stdout=subprocess.DEVNULL).returncode == 0
        except PermissionError:
            reads = False
        if not reads:
            self.skipTest("another user cannot run the program here")
        before = {command: self.run_program(*command)[1] for command in commands}
        for folder_mode, mode in [(0o555, 0o444), (0o777, 0o444), (0o555, 0o666)]:
            os.chmod(database, mode)
            os.chmod(self.folder, folder_mode)
            for command in commands:
                code, out, err = self.run_program(*command, preexec_fn=as_nobody)
                self.assertEqual((code, out), (0, before[command]), (command, oct(folder_mode), oct(mode), err))
            code, _, err = self.run_program("report", "1", "--db", database, "--out", elsewhere, "--format", "svg",
                                            preexec_fn=as_nobody, environment={"XDG_CACHE_HOME": elsewhere})
            self.assertEqual(code, 0, err)
            self.assertEqual([name for name in self.files() if name.startswith("bucketlab.db-")], [])
            os.chmod(self.folder, 0o755)
        with open(database, "rb") as file:
            self.assertEqual(file.read(15), b"SQLite format 3")


if __name__ == "__main__":
    unittest.main()
