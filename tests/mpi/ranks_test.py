# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: messages between ranks arrive complete; work for rank 0 only is done once; an error on any rank is one
line. Method: the probe, which checks itself; and commands under mpirun that cannot be distributed.
"""
import os
import unittest

from mpirun import MPIRUN, PROBE, MpiTest, steady
import program
from program import SMALL
from share import part


class RanksTest(MpiTest):
    def setUp(self):
        super().setUp()
        self.write("s.yaml", SMALL)

    def test_orders_numbers_and_results_arrive_whole(self):
        for ranks in part((3, 2, 5)):
            code, out, err = self.run_ranks(ranks, command=[PROBE])
            self.assertEqual((out, err), ("fine\n", ""))
            self.assertNotEqual(code, 0, "at the end rank 0 has left the others behind")

    def test_other_program_on_a_rank_is_refused(self):
        code, out, err = self.run_ranks(3, "2", command=[PROBE])
        self.assertEqual((code, err), (0, ""))
        self.assertRegex(out, r"\Abucketlab: rank 2 on \S+ runs probe 2, and rank 0 on \S+ probe 1; install the same "
                              r"everywhere\n\Z")

    def test_wrong_usage_is_reported_once(self):
        for words, line in part([(["run", "s.yaml", "--bogus"], "'run' has no option '--bogus'"),
                                 (["run", "none.yaml"], "none.yaml:1:1: cannot be opened"),
                                 (["sweep", "s.yaml"], "sweep"),
                                 ([], "usage")]):
            code, out, err = self.run_ranks(2, *words)
            self.assertEqual((code, out), (2, ""), err)
            self.assertEqual(err.count(line) > 0, True, err)
            if words:
                self.assertEqual(err.count("\n"), 1, err)
            else:
                self.assertEqual(err.count("usage:"), 1, err)

    def test_work_for_one_rank_is_done_once(self):
        trace = "".join(f"{t},k{t % 7},10\n" for t in range(1000))
        self.write("t.csv", "timestamp_ms,key,bytes\n" + trace)
        self.write("t.yaml", "trace: {file: t.csv}\nstrategies:\n  - hash: {buckets: 3}\n  - time: {window: 1s}\n")
        commands = [["run", "t.yaml", "--json", "--quiet", "--no-charts"], ["replay", "last", "--quiet"], ["runs"],
                    ["show", "last", "--json"], ["check", "s.yaml", "--json", "--quiet"],
                    ["odds", "--bits", "4", "--threshold", "9"], ["--version"], ["sweep", "--help"]]
        for words in part(commands):
            has_database = words[0] in ("run", "replay", "runs", "show", "check")
            alone = self.run_program(*words, *(["--db", "one.db"] if has_database else []))
            several = self.run_ranks(2, *words, *(["--db", "many.db"] if has_database else []))
            self.assertEqual((alone[0], steady(alone[1]), alone[2]), (several[0], steady(several[1]), several[2]))
            self.assertEqual(alone[0], 0, words)

    def test_error_on_another_rank_ends_the_job_with_its_line(self):
        """Rank 1 lacks the trace that the scenario names."""
        # One thread each, and long enough for rank 1 to get a job before rank 0 has done all of them.
        lines = "".join(f"{t},k{t % 97},10\n" for t in range(100000))
        self.write("t.csv", "timestamp_ms,key,bytes\n" + lines)
        text = ("trace: {file: t.csv}\nstrategies:\n  - hash: {buckets: 3}\nsweep:\n  grid:\n"
                "    strategies.hash.buckets: [" + ", ".join(map(str, range(2, 42))) + "]\n")
        self.write("t.yaml", text)
        os.mkdir(os.path.join(self.folder, "empty"))
        # Each rank resolves relative names in the folder where it was started.
        words = [program.PROGRAM, "sweep", "t.yaml", "--quiet", "--jobs", "1"]
        line = [*MPIRUN, "-n", "1", *words, ":", "-wdir", os.path.join(self.folder, "empty"), "-n", "1", *words]
        kept, program.PROGRAM = program.PROGRAM, line[0]
        try:
            code, out, err = self.run_program(*line[1:])
        finally:
            program.PROGRAM = kept
        self.assertEqual((code, out), (2, ""), err)
        self.assertRegex(err, r"\At\.csv: trace cannot be opened[^\n]* "
                              r"\(job \d+ of the sweep: [^\n]*\) \(on rank 1, \S+\)\n\Z")

    def test_each_rank_runs_jobs(self):
        self.write("w.yaml", SMALL + "sweep: {seeds: 9}\n")
        alone = self.run_program("sweep", "w.yaml", "--json", "--quiet", "--db", "one.db")
        several = self.run_ranks(2, "sweep", "w.yaml", "--json", "--quiet", "--db", "two.db", "--jobs", "3")
        self.assertEqual(alone, several)

    def test_program_that_is_started_alone_does_not_start_mpi(self):
        """Initialising MPI takes a tenth of a second, and prints a message when it cannot be initialised."""
        environment = {"OMPI_MCA_btl": "none", "PMIX_MCA_gds": "none"}
        self.good("run", "s.yaml", "--quiet", "--no-charts", environment=environment)


if __name__ == "__main__":
    unittest.main()
