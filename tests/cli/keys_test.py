# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: `token` and `bucket-of` give the same results as Cassandra and Guava. Method: the known answers in
tests/vectors/vectors.json that a command line can express, and wrong values.
"""
import json
import os
import unittest

from program import SOURCE, ProgramTest

with open(os.path.join(SOURCE, "tests", "vectors", "vectors.json"), encoding="utf-8") as file:
    VECTORS = json.load(file)


class TokenTest(ProgramTest):
    def test_token_of_blobs_is_cassandras(self):
        vectors = [v for v in VECTORS["cassandra_murmur3_token"] if v["input_hex"]]
        vectors += [v for v in VECTORS["token_normalisation"] if v["input_hex"]]
        for vector in vectors[::5] + [v for v in vectors if v.get("differs_from_canonical")][:10]:
            answer = self.good_json("token", "--type", "blob", "0x" + vector["input_hex"], "--json")
            self.assertEqual(answer, {"token": int(vector["token"]), "key_hex": vector["input_hex"]})

    def test_token_of_empty_text_is_the_minimum(self):
        self.assertEqual(self.good("token", ""), "-9223372036854775808\n")

    def test_token_of_composite_keys_is_cassandras(self):
        for vector in VECTORS["composite_partition_key"]["vectors"]:
            parts = vector["components"]
            if not vector.get("token") or any(not part.get("hex") for part in parts):
                continue
            answer = self.good_json("token", "--json", "--type", ",".join(["blob"] * len(parts)),
                                    *["0x" + part["hex"] for part in parts])
            self.assertEqual((answer["token"], answer["key_hex"]),
                             (int(vector["token"]), vector["serialized_hex"]))

    def test_token_of_types_is_that_of_their_bytes(self):
        pairs = [("int", "-5", "fffffffb"), ("bigint", "-1", "ffffffffffffffff"), ("text", "é", "c3a9"),
                 ("uuid", "d8775a70-6ea4-11e4-9fa7-0db22d2a6140", "d8775a706ea411e49fa70db22d2a6140"),
                 ("timeuuid", "d8775a70-6ea4-11e4-9fa7-0db22d2a6140", "d8775a706ea411e49fa70db22d2a6140")]
        for kind, value, raw in pairs:
            self.assertEqual(self.good("token", "--type", kind, value),
                             self.good("token", "--type", "blob", "0x" + raw))
        self.assertEqual(self.good("token", "--type", "int", "-5"),
                         self.good("token", "--type", "int", "--", "-5"))


class BucketOfTest(ProgramTest):
    def test_bucket_of_users_is_guavas(self):
        vectors = [v for v in VECTORS["guava_user_bucket256"]["vectors"] if "\0" not in v["user_id"]]
        answer = self.good_json("bucket-of", "--json", "--buckets", "256", "--",
                                *[bytes.fromhex(v["utf8_hex"]) for v in vectors])
        self.assertEqual(answer, [{"key": v["user_id"], "bucket": v["bucket256"],
                                   "hash": v["murmur3_128_hex"]} for v in vectors])

    def test_bucket_of_plain_is_a_line_a_key(self):
        self.assertEqual(self.good("bucket-of", "--buckets", "256", "user1", "user3"),
                         "       108  e06aff29ff5006e8ef0b2ffd54209cdc  user1\n"
                         "        38  a13599f8b59fb61095a102b67a04be33  user3\n")

    def test_bucket_of_wrong_input_is_refused(self):
        for arguments in [["x"], ["--buckets", "0", "x"], ["--buckets", "2147483648", "x"],
                          ["--buckets", "2", "--json", b"\xff"], ["--buckets", "2", b"\xed\xa0\x80"]]:
            with self.subTest(arguments):
                self.assertRegex(self.bad(2, "bucket-of", *arguments), r"\Abucketlab: .+")


if __name__ == "__main__":
    unittest.main()
