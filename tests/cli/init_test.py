# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: `init` writes a scenario that runs unchanged, completely or not at all, and never overwrites a file.
Method: the test inspects the files that it leaves, and runs the scenario.
"""
import os
import unittest

from program import SOURCE, ProgramTest


class InitTest(ProgramTest):
    def test_init_writes_the_starter_whole(self):
        self.assertEqual(self.good("init"), "wrote scenario.yaml; try it: bucketlab run scenario.yaml\n")
        self.assertEqual(self.files(), ["scenario.yaml"])
        with open(os.path.join(SOURCE, "sim", "cli", "commands", "run", "starter.yaml"), "rb") as file:
            starter = file.read()
        with open(os.path.join(self.folder, "scenario.yaml"), "rb") as file:
            self.assertEqual(file.read(), starter)

    def test_init_of_a_name_adds_the_ending_once(self):
        self.good("init", "chat")
        self.good("init", "tweets.yaml")
        self.assertEqual(self.files(), ["chat.yaml", "tweets.yaml"])

    def test_init_without_room_leaves_nothing(self):
        self.assertIn("scenario.yaml: ", self.bad(3, "init", **self.small_files(100)))
        self.assertEqual(self.files(), [])

    def test_starter_runs_and_its_expectations_hold(self):
        self.good("init")
        result = self.good_json("run", "scenario.yaml", "--json", "--quiet", "--no-charts")
        self.assertEqual([s["label"] for s in result["strategies"]],
                         ["unbucketed", "time", "count", "probabilistic", "hash"])
        self.assertEqual(result["scenario"], "scenario")  # named after its file
        self.assertTrue(result["expect"] and all(expect["ok"] for expect in result["expect"]))


if __name__ == "__main__":
    unittest.main()
