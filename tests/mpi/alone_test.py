# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: a program without MPI does not repeat all the work in each process that mpirun starts. Method: the
variables that mpirun sets, set by hand.
"""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
from program import SMALL, ProgramTest  # noqa: E402


class AloneTest(ProgramTest):
    def test_program_without_mpi_says_so_once(self):
        self.write("s.yaml", SMALL)
        for rank in range(3):
            environment = {"OMPI_COMM_WORLD_SIZE": "3", "OMPI_COMM_WORLD_RANK": str(rank)}
            code, out, err = self.run_program("run", "s.yaml", environment=environment)
            self.assertEqual((code, out), (2, ""))
            self.assertEqual(err, "" if rank > 0 else
                             "bucketlab: mpirun started 3 of it, and this build does not know MPI; build it with "
                             "'cmake --preset mpi', or start it without mpirun\n")
        self.assertEqual(self.files(), ["s.yaml"])

    def test_one_process_may_be_started_by_mpirun(self):
        self.write("s.yaml", SMALL)
        environment = {"OMPI_COMM_WORLD_SIZE": "1", "OMPI_COMM_WORLD_RANK": "0"}
        self.good("run", "s.yaml", "--quiet", "--no-charts", environment=environment)


if __name__ == "__main__":
    unittest.main()
