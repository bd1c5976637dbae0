# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: a run with agents has its second table and its event trace, and replay names the first event that
differs. Method: a few hundred rows through four agents. Event traces are compared with each other, and a
stored log of events, or the stored settings of its run, are altered in the database, so that the place of the
difference is known.
"""
import json
import os
import re
import signal
import sqlite3
import struct
import unittest

from program import SMALL, ProgramTest

AGENTS = """\
name: agents
seed: 3
duration: 30s
keys: {count: 3}
arrivals: {rate: 20/s}
row: {bytes: 100}
reads: {latest: {rows: 10, rate: 1/s}}
cluster: {nodes: 3, replication_factor: 3}
agents: {count: 4, cache_ttl: 1s}
strategies:
  - probabilistic: {bits: 3, threshold: 5, coordination: three-state, lead: 2s, label: careful}
  - probabilistic: {bits: 3, threshold: 5, counter: lwt, label: lwt}
  - count: {rows: 100, counter: external}
"""
LABELS = ["careful", "lwt", "count"]
QUIET = ["agents.yaml", "--quiet", "--no-charts"]
EVENT = r" at \d+\.\d{9} s: [a-z][^;]*(; [^;]+)? \(as it is now\); "


class ClusterTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("agents.yaml", AGENTS)

    def read(self, name):
        with open(os.path.join(self.folder, name), encoding="utf-8") as file:
            return file.read()

    def database(self, sql, *values):
        database = sqlite3.connect(os.path.join(self.folder, "bucketlab.db"))
        rows = database.execute(sql, values).fetchall()
        database.commit()
        database.close()
        return rows

    def events(self, *arguments):
        self.good("run", *QUIET, "--trace-events", "events.txt", *arguments)
        return self.read("events.txt").splitlines()

    # --- the second table

    def test_run_with_agents_prints_a_second_table_that_fits(self):
        out = self.good("run", *QUIET)
        self.assertLessEqual(max(map(len, out.splitlines())), 80)
        head, *table = out.split("node load\n")[1].split("\n\n")[0].splitlines()
        self.assertEqual([line.split()[0] for line in table], LABELS)
        self.assertEqual({len(line) for line in table}, {len(head)})
        self.assertEqual(head.split(), ["p50", "p99", "p999", "p99", "p99", "max", "min"])
        strategies = self.good_json("show", "last", "--json")["strategies"]
        metrics = strategies[1]["metrics"]
        cells = table[1].split()
        self.assertAlmostEqual(float(cells[1]), metrics["latency.write.p50"], delta=0.01)
        self.assertAlmostEqual(float(cells[5]), metrics["latency.lwt.p99"], delta=0.05)
        self.assertAlmostEqual(float(cells[6][:-1]) / 100, metrics["nodes.load_share_max"], delta=0.001)
        self.assertEqual(table[2].split()[5], "-")
        # What went wrong has a column in the first table, unless it is zero for all.
        self.assertEqual(" wrong" in out.split("\n\n")[4] + out.split("\n\n")[3],
                         any(of["metrics"]["writes.misrouted"] > 0 for of in strategies))

    def test_show_of_a_run_with_agents_has_the_table_and_the_coordination(self):
        run = self.good("run", *QUIET)
        show = self.good("show", "last")
        self.assertTrue(show.startswith(run.split("\nrun 1 in")[0]), show)
        self.assertIn("coordination: three-state, lead: 2s", " ".join(show.split()))
        self.assertIn("count          count: {rows: 100, counter: external}\n", show)

    def test_run_without_agents_has_no_second_table(self):
        self.write("small.yaml", SMALL)
        self.assertNotIn("node load", self.good("run", "small.yaml", "--quiet", "--no-charts"))
        self.assertNotIn("rmw", self.good("show", "last"))

    # --- the event trace

    def test_event_trace_is_a_line_an_event_in_order_of_time(self):
        lines = self.events()
        self.assertGreater(len(lines), 1000)
        begun, last = [], 0.0
        for line in lines:
            match = re.match(r" *(\d+\.\d{9}) s  (?:strategy (\w+) begins\Z)?(.*)\Z", line)
            self.assertTrue(match, line)
            if match[2]:
                begun.append(match[2])
                last = 0.0
            self.assertGreaterEqual(float(match[1]), last)
            last = float(match[1])
        self.assertEqual(begun, LABELS)
        self.assertEqual(self.files(), ["agents.yaml", "bucketlab.db", "events.txt"])

    def test_event_trace_of_a_key_is_that_of_all_without_the_others(self):
        whole = self.events()
        of_one = self.events("--key", "key-1")
        self.assertEqual(of_one, [line for line in whole if not re.search(r" s  key-[02]: ", line)])
        self.assertLess(10, len(of_one))
        self.assertLess(len(of_one), len(whole))

    def test_guarded_is_named_in_the_table_and_reported_by_its_own_columns(self):
        whole = AGENTS.split("strategies:")[0].replace("agents: {count: 4", "agents: {count: 4, clock: {offset: 20s}")
        self.write("agents.yaml", whole + "strategies:\n  - probabilistic: {bits: 2, threshold: 3, "
                   "coordination: guarded, grant: 1500ms, label: guarded}\n")
        events = "\n".join(self.events())
        told = " ".join(self.good("show", "last").split())
        self.assertIn("coordination: guarded, counter: counter, grant: 1500ms}", told)
        self.assertRegex(events, r"agent \d sets bucket = 0, before = the beginning, start = the beginning, "
                         r"until = -?\d+\.\d{6} s if there is no state\n")
        self.assertRegex(events, r"agent \d sets bucket = 3, before = \S+ s, start = (\S+) s, until = \S+ s "
                         r"if bucket = 2, before = \S+ s, start = \S+ s, until = \1 s\n")
        self.assertRegex(events, r"agent \d writes the start of bucket 1\n")
        # The clocks differ by more than the time for which a key stays in a bucket.
        self.assertRegex(events, r"agent \d reads the start of bucket 1\n")
        self.assertRegex(events, r"agent \d reads start = -?\d+\.\d{6} s\n")

    def test_event_trace_is_cut_to_what_is_requested(self):
        def seconds(line):
            return float(line.split(" s  ")[0])
        whole = self.events()
        begins = [line for line in whole if ": " not in line and "strategy " in line]
        part = self.events("--from", "2s", "--until", "5s")
        self.assertEqual(part, [line for line in whole if 2 <= seconds(line) < 5 or line in begins])
        self.assertGreater(len(part), len(begins))
        of_agent = self.events("--agent", "1")
        self.assertEqual([line for line in of_agent if re.search(r"  key-\d: agent 1 ", line)],
                         [line for line in whole if re.search(r"  key-\d: agent 1 ", line)])
        self.assertFalse(any(re.search(r"  key-\d: agent 0 ", line) for line in of_agent))
        kinds = {kind: self.events("--kinds", kind)
                 for kind in ["rows", "reads", "requests", "state", "faults", "violations"]}
        self.assertEqual(sorted(line for lines in kinds.values() for line in lines if line not in begins),
                         sorted(line for line in whole if line not in begins))
        self.assertTrue(all("the key rolls" in line or "goes back" in line
                            for line in kinds["state"] if line not in begins))
        both = self.events("--kinds", "rows,state", "--key", "key-1")
        self.assertEqual(both, [line for line in whole if line in begins or "  key-1: " in line
                                and (line in kinds["rows"] or line in kinds["state"])])

    def test_event_trace_for_perfetto_is_sound(self):
        """Each beginning has its end, in order, within its process; times and texts equal those of the lines.
        """
        fault = ["--set", "faults=[{node_down: {node: 1, at: 2s, lasts: 3s}}, {agent_crash: {agent: 1, at: 4s}}]"]
        lines = self.events(*fault)
        self.good("run", *QUIET, *fault, "--trace-events", "events.json")
        events = json.loads(self.read("events.json"))
        self.good("run", *QUIET, *fault, "--trace-events", "events.txt", "--trace-format", "chrome")
        self.assertEqual(self.read("events.txt"), self.read("events.json"))
        names = {event["pid"]: event["args"]["name"] for event in events if event["name"] == "process_name"}
        self.assertLessEqual({"agent 0", "agent 1", "node 1"}, set(names.values()))
        opened, spans = {}, 0
        for event in events:
            self.assertIn(event["pid"], names)
            stack = opened.setdefault((event["pid"], event.get("cat"), event.get("id")), [])
            if event["ph"] == "b":
                stack.append(event)
                self.assertLessEqual(len(stack), 2)
            elif event["ph"] == "e":
                begin = stack.pop()
                self.assertEqual(begin["name"], event["name"])
                self.assertLessEqual(begin["ts"], event["ts"])
                spans += 1
            else:
                self.assertIn(event["ph"], "iM")
        self.assertEqual([stack for stack in opened.values() if stack], [])
        self.assertGreater(spans, 100)
        down = [event for event in events if event["name"] == "fault: node_down at node 1"]
        count = sum(name.startswith("strategy ") for name in names.values())
        self.assertEqual([(event["ph"], event["ts"], names[event["pid"]]) for event in down],
                         [("b", 2e6, "node 1"), ("e", 5e6, "node 1")] * count)
        texts = [event["args"]["text"] for event in events if event["ph"] != "M" and event["args"].get("text")]
        self.assertEqual(sorted(texts), sorted(re.sub(r"^key-\d+: ", "", line.split(" s  ")[1]) for line in lines
                                               if "strategy " not in line))

    def test_event_trace_for_perfetto_of_a_part_is_sound_too(self):
        for cut in [["--from", "3s"], ["--until", "3s"], ["--kinds", "requests"], ["--agent", "0"],
                    ["--from", "900d"], ["--kinds", "state"]]:
            self.good("run", *QUIET, "--trace-events", "events.json", *cut)
            events = json.loads(self.read("events.json"))
            self.assertEqual(sum(event["ph"] == "b" for event in events), sum(event["ph"] == "e" for event in events))

    def test_event_trace_changes_no_digest(self):
        digests = [self.good_json("run", *QUIET, "--json", *more)["digest"]
                   for more in [[], ["--trace-events", "events.txt"], ["--jobs", "3"]]]
        self.assertEqual(len(set(digests)), 1)

    def test_event_trace_on_stdout_is_before_the_table(self):
        events = self.events()
        out = self.good("run", *QUIET, "--trace-events", "-")
        self.assertEqual(out.splitlines()[:len(events)], events)
        self.assertEqual(out.splitlines()[len(events)], self.good("run", *QUIET).splitlines()[0])

    def test_event_trace_to_a_device_is_written_there(self):
        events = self.events()
        code, _, err = self.run_program("run", *QUIET, "--trace-events", "/dev/stderr")
        self.assertEqual((code, err.splitlines()), (0, events))

    def test_event_trace_takes_the_place_of_an_older_one_through_a_link(self):
        os.mkdir(os.path.join(self.folder, "events"))
        self.write("events/real.txt", "old\n")
        os.symlink("events/real.txt", os.path.join(self.folder, "events.txt"))
        events = self.events()
        self.assertEqual(self.read("events/real.txt").splitlines(), events)
        self.assertTrue(os.path.islink(os.path.join(self.folder, "events.txt")))
        self.assertEqual(os.listdir(os.path.join(self.folder, "events")), ["real.txt"])

    def test_impossible_event_trace_is_refused_before_the_run(self):
        self.write("events.txt", "old\n")
        os.mkdir(os.path.join(self.folder, "folder"))
        before = self.files()
        for word, arguments in [
                ("both want stdout", ["agents.yaml", "--trace-events", "-", "--json"]),
                ("not after --from", ["agents.yaml", "--trace-events", "e", "--from", "2s", "--until", "2s"]),
                ("--agent 99: ", ["agents.yaml", "--trace-events", "events.txt", "--agent", "99"]),
                ("no key is named 'key-3'", ["agents.yaml", "--trace-events", "events.txt", "--key", "key-3"]),
                ("folder: Is a directory", ["agents.yaml", "--trace-events", "folder"]),
                ("none/x: No such file", ["agents.yaml", "--trace-events", "none/x"]),
                ("none/: ", ["agents.yaml", "--trace-events", "none/"]),
                ("would overwrite the scenario", ["agents.yaml", "--trace-events", "folder/../agents.yaml"]),
                ("would overwrite the database", ["agents.yaml", "--trace-events", "./x.db", "--db", "x.db"])]:
            self.assertIn(word, self.bad(2, "run", "--quiet", "--no-charts", *arguments))
            self.assertEqual(self.files(), before)
        self.assertEqual(self.read("events.txt"), "old\n")

    def test_failed_event_trace_ends_the_run_and_leaves_nothing(self):
        line = self.bad(3, "run", *QUIET, "--trace-events", "events.txt", **self.small_files(100000))
        self.assertRegex(line, r"\Aevents\.txt: File too large; ")
        if os.path.exists("/dev/full"):
            # Far too long to run to its end.
            line = self.bad(3, "run", *QUIET, "--trace-events", "/dev/full", "--set", "duration=900d")
            self.assertRegex(line, r"\A/dev/full: No space left on device; ")
        self.assertEqual(self.files(), ["agents.yaml"])

    def test_interrupted_run_leaves_no_event_trace(self):
        process = self.start("run", *QUIET, "--set", "duration=300d", "--trace-events", "events.txt")
        self.wait_until(lambda: any(name.endswith(".partial") for name in self.files()), process)
        self.assertEqual([name[:12] for name in self.files() if "events" in name], [".events.txt."])
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=120)
        self.assertEqual((process.returncode, err), (130, b"interrupted; nothing was stored\n"))
        self.assertEqual(self.files(), ["agents.yaml"])

    # --- replay

    def marks(self, label):
        events, stride, marks = self.database("SELECT events, stride, marks FROM event_log JOIN strategy USING "
                                              "(strategy) WHERE label = ? ORDER BY run DESC", label)[0]
        self.assertEqual(len(marks), 2 * (events // stride))
        return events, stride, list(struct.unpack(f"<{len(marks) // 2}H", marks))

    def keep_marks(self, label, events, stride, marks):
        self.database("UPDATE event_log SET events = ?, stride = ?, marks = ? WHERE strategy = (SELECT strategy FROM "
                      "strategy WHERE label = ?)", events, stride, struct.pack(f"<{len(marks)}H", *marks), label)

    def test_replay_of_altered_marks_names_the_first_event(self):
        self.good("run", *QUIET)
        self.assertIn("same digest", self.good("replay", "1", "--quiet"))
        events, stride, marks = self.marks("lwt")
        self.assertEqual(stride, 1)
        for place in [700, 99]:
            marks[place] ^= 0x8000
            self.keep_marks("lwt", events, 1, marks)
            self.assertRegex(self.bad(1, "replay", "1", "--quiet"),
                             rf"\Arun 1: strategy 'lwt': the first event that differs is number {place + 1}" + EVENT)
        # The same with a mark only every four events, one of which agrees.
        self.keep_marks("lwt", events, 4, marks[3::4])
        self.assertRegex(self.bad(1, "replay", "1", "--quiet"),
                         r"differs is between 97 and 100, the first of these" + EVENT)

    def test_replay_shows_the_event_as_the_event_trace_does(self):
        lines = self.events()
        events, _, marks = self.marks("careful")
        marks[0] ^= 1
        self.keep_marks("careful", events, 1, marks)
        told = self.bad(1, "replay", "1", "--quiet")
        first = next(line for line in lines if ": agent" in line).split(" s  ")
        self.assertIn(f" is number 1 at {first[0].strip()} s: a row arrives, for ", told)
        self.assertIn(f"; {first[1]} (as it is now)", told)

    def test_replay_of_fewer_or_more_events_names_the_end(self):
        self.good("run", *QUIET)
        events, _, marks = self.marks("count")
        self.keep_marks("count", events - 1, 1, marks[:-1])
        self.assertRegex(self.bad(1, "replay", "1", "--quiet"), rf"differs is number {events} at ")
        self.keep_marks("count", events + 1, 1, marks + [0])
        self.assertIn(f"differs is number {events + 1}, and now there are {events}; ",
                      self.bad(1, "replay", "1", "--quiet"))

    def test_replay_of_an_altered_digest_says_that_no_mark_shows_where(self):
        self.good("run", *QUIET)
        self.database("UPDATE event_log SET digest = '00000000deadbeef'")
        self.assertIn("strategy 'careful': the events differ, digest 00000000deadbeef of ",
                      self.bad(1, "replay", "1", "--quiet"))

    def test_replay_of_other_settings_finds_where_the_runs_part(self):
        self.good("run", *QUIET)
        was = self.marks("careful")[2]
        self.good("run", *QUIET, "--set", "agents.cache_ttl=2s")
        now = self.marks("careful")[2]
        first = next(i for i in range(len(was)) if was[i] != now[i]) + 1
        self.assertGreater(first, 10)
        self.database("UPDATE run SET overrides = 'agents.cache_ttl=2s\n' WHERE run = 1")
        self.assertRegex(self.bad(1, "replay", "1", "--quiet"),
                         rf"\Arun 1: strategy 'careful': the first event that differs is number {first}" + EVENT)


if __name__ == "__main__":
    unittest.main()
