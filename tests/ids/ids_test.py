#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: `ids` calls the lowest bits of real ids biased where their generators make them so, and the bits that
the library takes random; it detects bias of a bit, a pair, a sequence and a process; random bits are not
called biased; wrong input is refused with its place. Method: ids of real generators (make.py), and random ids
with one flaw each.
"""
import os
import pathlib
import random
import sys
import uuid

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, os.fspath(HERE.parent / "cli"))
import unittest  # noqa: E402

from program import ProgramTest  # noqa: E402

# For each generator: the kind, and whether the nine lowest bits are random.
MAKERS = {
    "cassandra-driver-java": ("timeuuid", False), "cassandra-driver-java4": ("timeuuid", False),
    "cassandra-driver-nodejs": ("timeuuid", True), "cassandra-driver-python": ("timeuuid", True),
    "cassandra-now": ("timeuuid", False),
    "npm-ulid-monotonic": ("ulid", False), "npm-uuid7": ("uuid7", True), "python-ulid": ("ulid", False),
    "python-uuid1": ("timeuuid", False), "python-uuid4": ("uuid4", True), "python-uuid7": ("uuid7", True),
}
LEAST = 64


def hexed(numbers):
    return [f"0x{number:016x}" for number in numbers]


class IdsTest(ProgramTest):
    def judge(self, ids, *options, code=0):
        self.write("ids.csv", "".join(f"{one}\n" for one in ids))
        actual, out, err = self.run_program("ids", "ids.csv", "--json", *options)
        self.assertEqual((actual, err), (code, ""), out)
        import json
        return json.loads(out)

    def test_real_ids_are_judged_by_their_generators(self):
        self.assertEqual({path.stem for path in HERE.glob("*.txt")}, set(MAKERS))
        for name, (kind, is_random) in MAKERS.items():
            with self.subTest(name):
                answer = self.good_json("ids", os.fspath(HERE / f"{name}.txt"), "--json")
                self.assertEqual((answer["kind"], answer["ids"], answer["lowest"]["random"], answer["taken"]["random"]),
                                 (kind, 500, is_random, True))

    def test_one_process_leaves_all_low_bits_of_timeuuids_constant(self):
        for name in ("python-uuid1", "cassandra-now", "cassandra-driver-java4"):
            answer = self.good_json("ids", os.fspath(HERE / f"{name}.txt"), "--json")
            self.assertEqual((answer["processes"], answer["lowest"]["constant_bits"]), (1, 9))
        text = self.good("ids", os.fspath(HERE / "python-uuid1.txt"))
        self.assertIn("all of its rows would count, or none", " ".join(text.split()))
        self.assertIn("bk_id_bits(BK_ID_TIMEUUID, ...)", " ".join(text.split()))

    def test_many_processes_are_checked_one_by_one(self):
        draw, ids = random.Random(1), []
        for _ in range(40):
            node, sequence = draw.getrandbits(48), draw.getrandbits(14)
            ids += [uuid.UUID(fields=(draw.getrandbits(32), 1, 0x11ee, 0x80 | sequence >> 8, sequence & 0xff, node))
                    for _ in range(LEAST)]
        answer = self.judge(ids)
        self.assertEqual((answer["processes"], answer["lowest"]["random"], answer["taken"]["random"]),
                         (40, False, True))

    def test_snowflakes_of_a_quiet_worker_have_a_constant_sequence(self):
        draw = random.Random(2)
        ids = [(1_000_000_000 + 17 * i + draw.randint(0, 9)) << 22 | draw.choice([3, 9]) << 12 for i in range(900)]
        answer = self.judge(ids)
        self.assertEqual((answer["kind"], answer["processes"], answer["lowest"]["constant_bits"],
                          answer["lowest"]["all_ones_share"], answer["taken"]["random"]), ("snowflake", 2, 9, 0, True))

    def test_each_flaw_is_seen(self):
        draw = random.Random(3)
        plain = [draw.getrandbits(64) for _ in range(4000)]
        pairs = [number & ~2 | (number & 1) << 1 if draw.random() < 0.2 else number for number in plain]
        serial = list(plain)
        for i in range(1, len(serial)):
            if draw.random() < 0.2:
                serial[i] = serial[i] & ~16 | serial[i - 1] & 16
        ones = [number | 511 if draw.random() < 0.01 else number for number in plain]
        for ids, word in ([[number | (8 if draw.random() < 0.2 else 0) for number in plain], "bit 3 is 1"],
                          [pairs, "bits 0 and 1 are equal"], [serial, "bit 4 equals that of the previous id"],
                          [ones, "all bits are 1"]):
            answer = self.judge(hexed(ids))
            self.assertIn(word, answer["lowest"]["furthest"])
            self.assertEqual((answer["lowest"]["random"], answer["taken"]["random"]), (False, True))

    def test_random_bits_are_not_called_biased(self):
        for seed in range(40):
            draw = random.Random(seed)
            answer = self.judge(hexed(draw.getrandbits(64) for _ in range(draw.randint(LEAST, 3000))), "--bits",
                                str(draw.randint(1, 32)))
            self.assertTrue(answer["lowest"]["random"] and answer["taken"]["random"])

    def test_few_repeated_ids_are_not_row_ids(self):
        answer = self.judge([f"user-{i % 5}" for i in range(1000)], code=1)
        self.assertEqual((answer["repeated"], answer["taken"]["random"]), (995, False))

    def test_columns_and_headers(self):
        ids = [uuid.UUID(int=random.Random(i).getrandbits(128), version=4) for i in range(LEAST)]
        self.write("two.csv", "author,message_id\n" + "".join(f"a{i % 3},{one}\n" for i, one in enumerate(ids)))
        answer = self.good_json("ids", "two.csv", "--column", "message_id", "--json")
        self.assertEqual((answer["kind"], answer["ids"]), ("uuid4", LEAST))
        self.assertEqual(self.good_json("ids", "two.csv", "--json")["kind"], "uuid4")  # the column that has ids
        self.write("mongo.txt", "".join(f'ObjectId("{one.hex[:24]}")\n' for one in ids))
        self.assertIn("ObjectId: a time", self.run_program("ids", "mongo.txt")[1])
        self.write("x.jsonl", '{"id": "a"}\n')
        self.assertIn("this is JSON; give an id per line", self.bad(2, "ids", "x.jsonl"))
        self.write("sheet.csv", "id\n" + "1.77235920000000E+18\n" * LEAST)
        self.assertIn("sheet.csv:2: '1.77235920000000E+18' is a number that was rounded",
                      self.bad(2, "ids", "sheet.csv"))
        self.write("one.csv", "message_id\n" + "".join(f"{one}\n" for one in ids))
        self.assertEqual(self.good_json("ids", "one.csv", "--json")["ids"], LEAST)

    def test_ids_as_programs_write_them_and_terminals_show_them(self):
        ids = [str(uuid.UUID(int=random.Random(i).getrandbits(128), version=4)) for i in range(LEAST)]
        rows = [f"{one} | {i}" for i, one in enumerate(ids)]
        end = f"\n({LEAST} rows)\n"
        forms = {
            "mark": "\ufeff" + "\n".join(ids), "mark and header": "\ufeffid\r\n" + "\r\n".join(ids),
            "quotes": '"id"\r\n' + "".join(f'"{one}"\r\n' for one in ids),
            "spaces": ' "id"\n' + "".join(f' "{one}" \n' for one in ids),
            "constants": "".join(f"'{one}'\n" for one in ids), "braces": "".join(f"{{{one}}}\n" for one in ids),
            "semicolons": "id;x\n" + "".join(f"{one};1\n" for one in ids),
            "header with a digit": "id2\n" + "\n".join(ids),
            "cqlsh, one column": "\n id\n" + "-" * 38 + "\n" + "".join(f" {one}\n" for one in ids) + end,
            "cqlsh, pages": "cqlsh:k> SELECT id, n FROM t;\n\n id | n\n----+---\n " + "\n ".join(rows[:9]) +
                            "\n\n---MORE---\n " + "\r\n ".join(rows[9:]) + "\n" + end + "cqlsh:k> \n",
            "psql": " id | n \n----+---\n " + "\n ".join(rows) + end,
            "mysql": "mysql> SELECT id, n FROM t;\n+----+---+\n| id | n |\n+----+---+\n" +
                     "".join(f"| {row} |\n" for row in rows) + f"+----+---+\n{LEAST} rows in set (0.01 sec)\n",
            "Markdown": "| id | n |\n|:---|--:|\n" + "".join(f"| {row} |\n" for row in rows)}
        for name, text in forms.items():
            with self.subTest(name):
                self.write("ids.txt", text)
                answer = self.good_json("ids", "ids.txt", "--json")
                self.assertEqual((answer["kind"], answer["ids"]), ("uuid4", LEAST))
        self.write("ids.txt", f"@ Row 1\n----+---\n id | {ids[0]}\n")
        self.assertIn("ids.txt:3: 2 columns where the table's header has 1", self.bad(2, "ids", "ids.txt"))
        self.write("ids.txt", "\n".join([*ids, "", " id", "--", *ids]) + "\n")
        self.assertIn(f"ids.txt:{LEAST + 2}: 'id' is not UUID v4", self.bad(2, "ids", "ids.txt"))

    def test_other_known_forms_are_named(self):
        draw = random.Random(3)
        digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-"
        for name, made in (("ObjectId", lambda i: "%08xa1b2c3d4e5%06x" % (1700000000 + i // 3, 0x123400 + i)),
                           ("KSUID", lambda i: "2" + "".join(draw.choices(digits[:62], k=26))),
                           ("nanoid", lambda i: "0x" + "".join(draw.choices(digits, k=19))),
                           ("cuid2", lambda i: "t" + "".join(draw.choices(digits[:36], k=23))),
                           ("UUID v6", lambda i: "1ec9414c-232a-6b00-b3c8-%012x" % draw.randrange(1 << 48))):
            self.write("ids.csv", "id\n" + "".join(made(i) + "\n" for i in range(400)))
            told = self.good_json("ids", "ids.csv", "--json")
            self.assertEqual(told["kind"], "bytes")
            self.assertTrue(told["form"].startswith(name + ":"), told)

    def test_timeuuids_pasted_from_cqlsh_are_of_one_process(self):
        self.write("ids.txt", "\n id\n" + "-" * 38 + "\n" + "".join(
            f" 3a2b{977 * i:04x}-1c{i % 7:02x}-11f1-8a10-02fc0000ab01\n" for i in range(LEAST)) + f"\n({LEAST} rows)\n")
        answer = self.good_json("ids", "ids.txt", "--json")
        self.assertEqual((answer["kind"], answer["ids"], answer["processes"], answer["lowest"]["random"]),
                         ("timeuuid", LEAST, 1, False))

    def test_wrong_input_is_refused_with_its_place(self):
        ids = [str(uuid.UUID(int=random.Random(i).getrandbits(128), version=4)) for i in range(LEAST)]
        self.write("mixed.csv", "\n".join([*ids[:16], "01ARZ3NDEKTSV4RRFFQ69G5FAV", *ids[16:]]) + "\n")
        self.assertIn("mixed.csv:17: '01ARZ3NDEKTSV4RRFFQ69G5FAV' is not UUID v4", self.bad(2, "ids", "mixed.csv"))
        self.write("few.csv", "\n".join(ids[1:]) + "\n")
        self.assertIn(f"few.csv: {LEAST - 1} ids; {LEAST} at least", self.bad(2, "ids", "few.csv"))
        self.assertIn("no column 'id'", self.bad(2, "ids", "few.csv", "--column", "id"))
        self.write("twice.csv", "id,x,id\n" + "".join(f"{one},1,{one}\n" for one in ids))
        self.assertIn("twice.csv:1: more than one column 'id' in", self.bad(2, "ids", "twice.csv", "--column", "id"))
        self.assertIn("--kind guid: choose timeuuid, ", self.bad(2, "ids", "few.csv", "--kind", "guid"))
        self.assertIn("--bits", self.bad(2, "ids", "few.csv", "--bits", "33"))
        self.assertIn("nowhere.csv", self.bad(2, "ids", "nowhere.csv"))


if __name__ == "__main__":
    unittest.main()
