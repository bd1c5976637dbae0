#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: a user with rows in any common format has a first answer after two commands, within two minutes:
`trace FILE --scenario x.yaml` describes the rows, and `tune x.yaml` recommends a strategy. Method: three
streams (messages, sensors, orders) in 22 files of nine formats, as exports, logs and databases write
them. The figures of `trace` equal those of the stream, and files of one stream get the same answer. With the
argument `slow` the files have some 200,000 rows each; without it 1,500, and `tune` runs fewer seeds and
kinds.
"""
import ctypes
import datetime
import gzip
import json
import os
import random
import sys
import unittest
import uuid

from program import ProgramTest, commands_s

IS_SLOW = "slow" in sys.argv
if IS_SLOW:
    sys.argv.remove("slow")
ROWS = 200_000 if IS_SLOW else 1500
FEWER = [] if IS_SLOW else ["--seeds", "2", "--set", "tune.strategies=[time, probabilistic, unbucketed]"]
SECONDS_MOST = 120
START = 1767225600000  # 2026-01-01
CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def drawn(seed, keys, step_ms, size):
    """(ms, key, second part of the key, bytes); the busiest key has a third of the rows."""
    draw, ms, rows = random.Random(seed), START, []
    for _ in range(ROWS):
        ms += draw.randint(1, 2 * step_ms)
        number = min(int(draw.paretovariate(0.6)), keys)
        rows.append((ms, f"k{number % 5}", f"n{number}", draw.randint(*size)))
    return rows


STEP_MS = 50 * 86_400_000 // ROWS  # some fifty days
CHAT, SENSORS, ORDERS = (drawn(1, 40, STEP_MS, (20, 900)), drawn(2, 12, STEP_MS, (64, 64)),
                         drawn(3, 25, STEP_MS, (200, 2000)))


def iso(ms, hours=0, between="T"):
    zone = datetime.timezone(datetime.timedelta(hours=hours))
    return datetime.datetime.fromtimestamp(ms / 1000, zone).isoformat(between, timespec="milliseconds")


def shuffled(rows):
    mixed = rows[:]
    random.Random(9).shuffle(mixed)
    return mixed


def timeuuid(ms, number):
    ticks = ms * 10_000 + 0x01B21DD213814000
    return uuid.UUID(fields=(ticks & 0xFFFFFFFF, ticks >> 32 & 0xFFFF, 0x1000 | ticks >> 48, 0x80 | number >> 8 & 0x3F,
                             number & 0xFF, 0x123456789ABC))


def uuid7(ms, number):
    return uuid.UUID(int=ms << 80 | 7 << 76 | (number & 0xFFF) << 64 | 2 << 62 | number * 0x9E3779B97F4A7 % (1 << 62))


def ulid(ms, number):
    value = ms << 80 | number
    return "".join(CROCKFORD[value >> 5 * i & 31] for i in reversed(range(26)))


def snowflake(ms, number):
    return ms - 1420070400000 << 22 | number & 0xFFF


def zstd(text):
    library = ctypes.CDLL("libzstd.so.1")
    library.ZSTD_compressBound.restype = library.ZSTD_compress.restype = ctypes.c_size_t
    library.ZSTD_compressBound.argtypes = [ctypes.c_size_t]
    library.ZSTD_compress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int]
    raw = text.encode()
    out = ctypes.create_string_buffer(library.ZSTD_compressBound(len(raw)))
    size = library.ZSTD_compress(out, len(out), raw, len(raw), 3)
    return out.raw[:size]


def lines(rows, head, form):
    """The file's text; form(ms, key, sub-key, bytes, number) gives one of its lines."""
    return head + "".join(form(*row, number) + "\n" for number, row in enumerate(rows))


def escaped(size):
    """A text with this number of bytes, the last of which cqlsh and DSBulk escape with a backslash."""
    return "x" * (size - 1) + '\\"'


# Format, name, stream, {file: text or bytes}, the options of `trace`.
def cases():
    in_json = [json.dumps({"ts": iso(ms), "in": {"guild": a, "channel": b}, "size": size}) + "\n"
               for ms, a, b, size in CHAT]
    copied = sorted(CHAT, key=lambda row: (row[1], row[2], row[0]))
    return [
        ("plain CSV", "a log of an application", CHAT,
         {"rows.csv": lines(CHAT, "timestamp_ms,key,bytes\n", lambda ms, a, b, size, _: f"{ms},{a}/{b},{size}")}, []),
        ("plain CSV", "counts of each row", SENSORS,
         {"rows.csv": lines(SENSORS, "timestamp_ms,key,count\n", lambda ms, a, b, *_: f"{ms},{a}/{b},1")}, []),
        ("plain CSV", "saved as Unicode text by Windows", CHAT,
         {"rows.csv": lines(CHAT, "timestamp_ms,key,bytes\r\n",
                            lambda ms, a, b, size, _: f"{ms},{a}/{b},{size}\r").encode("utf-16")}, []),
        ("JSON", "an array on one line", CHAT,
         {"rows.json": json.dumps([{"ts": iso(ms), "room": a + "/" + b, "size": size} for ms, a, b, size in CHAT])},
         ["--set", "trace.columns={time: ts, key: room, bytes: size}"]),
        ("compressed", "gzip", ORDERS,
         {"rows.csv.gz": gzip.compress(lines(ORDERS, "timestamp_ms,key,bytes\n",
                                             lambda ms, a, b, size, _: f"{ms},{a}/{b},{size}").encode())}, []),
        ("compressed", "zstd", CHAT,
         {"rows.csv.zst": zstd(lines(CHAT, "timestamp_ms,key,bytes\n",
                                     lambda ms, a, b, size, _: f"{ms},{a}/{b},{size}"))}, []),
        ("CSV by names", "a spreadsheet's export", CHAT,
         {"rows.csv": lines(CHAT, "Id;Created_At;Guild;Channel;Text;Size\n", lambda ms, a, b, size, i:
                            f'{i};{iso(ms, 2)};{a};"{b}";"a ""quoted"";\ntext";{size}')},
         ["--columns", "time=created_at,key=guild+channel,bytes=size"]),
        ("CSV by names", "seconds with a fraction", SENSORS,
         {"rows.csv": lines(SENSORS, "site,sensor,value,time\n", lambda ms, a, b, *_: f"{a},{b},21.5,{ms / 1000:.3f}")},
         ["--columns", "key=site+sensor"]),
        ("CSV by names", "microseconds, pipes", ORDERS,
         {"rows.csv": lines(ORDERS, "shop|customer|bytes|event_time\n",
                            lambda ms, a, b, size, _: f"{a}|{b}|{size}|{ms * 1000}")},
         ["--columns", "key=shop+customer,bytes=bytes,time=event_time"]),
        ("CSV by names", "nanoseconds of Influx", SENSORS,
         {"rows.csv": lines(SENSORS, "name,time,site,sensor,value\n",
                            lambda ms, a, b, *_: f"t,{ms * 1_000_000},{a},{b},1.25")},
         ["--columns", "key=site+sensor"]),
        ("CSV by names", "rows that arrive late", ORDERS,
         {"rows.csv": lines(ORDERS, "time,arrived,shop,customer,bytes\n", lambda ms, a, b, size, _:
                            f"{iso(ms - 1)},{iso(ms)},{a},{b},{size}")},
         ["--columns", "time=time,arrived=arrived,key=shop+customer,bytes=bytes"]),
        ("bare CSV", "no header", CHAT,
         {"rows.csv": lines(CHAT, "", lambda ms, a, b, size, _: f"{ms},{a},{b},{size}")},
         ["--columns", "time=1,key=2+3,bytes=4"]),
        ("bare CSV", "tabs of psql", ORDERS,
         {"rows.tsv": lines(ORDERS, "", lambda ms, a, b, size, _: f"{a}\t{iso(ms, between=' ')[:-6]}\t{b}\t{size}")},
         ["--columns", "time=2,key=1+3,bytes=4"]),
        ("JSON lines", "nested fields", CHAT, {"rows.jsonl": "".join(in_json)},
         ["--columns", "time=ts,key=in.guild+in.channel,bytes=size"]),
        ("JSON lines", "gzip, in no order", CHAT,
         {"rows.json.gz": gzip.compress("".join(shuffled(in_json)).encode())},
         ["--columns", "time=ts,key=in.guild+in.channel,bytes=size", "--sort"]),
        ("COPY TO", "cqlsh", CHAT,
         {"messages.csv": lines(copied, "", lambda ms, a, b, size, _:
                                f'{a},{b},{iso(ms, between=" ")[:-6]}+0000,"{escaped(size)}"')},
         ["--columns", "key=1+2,time=3,bytes_of=4", "--sort"]),
        ("COPY TO", "cqlsh, a timeuuid as the time", ORDERS,
         {"orders.csv": lines(sorted(ORDERS, key=lambda row: row[2]), "",
                              lambda ms, a, b, size, i: f"{a},{b},{timeuuid(ms, i)},{'x' * size}")},
         ["--columns", "key=1+2,time=3,bytes_of=4", "--sort", "--set", "trace.time=timeuuid"]),
        ("DSBulk", "a folder", CHAT,
         {f"unload/output-{part:06}.csv": lines(shuffled(CHAT)[part::3], "guild,channel,at,body\n",
                                                lambda ms, a, b, size, _: f'{a},{b},{iso(ms)[:-6]}Z,"{escaped(size)}"')
          for part in range(3)},
         ["--columns", "time=at,key=guild+channel,bytes_of=body", "--sort"]),
        ("DSBulk", "a folder, gzip", ORDERS,
         {f"orders/output-{part:06}.csv.gz": gzip.compress(lines(
             shuffled(ORDERS)[part::2], "shop,customer,at,bytes\n",
             lambda ms, a, b, size, _: f"{a},{b},{iso(ms)[:-6]}Z,{size}").encode()) for part in range(2)},
         ["--columns", "time=at,key=shop+customer,bytes=bytes", "--sort"]),
        ("ids with a time", "Snowflakes of Discord", CHAT,
         {"rows.csv": lines(CHAT, "id,guild,channel,size\n",
                            lambda ms, a, b, size, i: f"{snowflake(ms, i)},{a},{b},{size}")},
         ["--columns", "time=id,key=guild+channel,bytes=size", "--set", "trace.time=snowflake", "--set",
          "trace.epoch=2015-01-01T00:00:00Z"]),
        ("ids with a time", "ULIDs", ORDERS,
         {"rows.csv": lines(ORDERS, "order,shop,customer,bytes\n",
                            lambda ms, a, b, size, i: f"{ulid(ms, i)},{a},{b},{size}")},
         ["--columns", "time=order,key=shop+customer,bytes=bytes"]),
        ("ids with a time", "UUIDs v7", SENSORS,
         {"rows.csv": lines(SENSORS, "reading,site,sensor\n", lambda ms, a, b, _, i: f"{uuid7(ms, i)},{a},{b}")},
         ["--columns", "time=reading,key=site+sensor"]),
    ]


class NewcomerTest(ProgramTest):
    def bring(self, files):
        for name, content in files.items():
            path = os.path.join(self.folder, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(content if isinstance(content, bytes) else content.encode())
        return next(iter(files)).split("/")[0]

    def test_files_have_a_first_answer_after_two_commands(self):
        answers, all_cases = {}, cases()
        self.assertEqual((len(all_cases), len({case[0] for case in all_cases})), (22, 9))
        for form, name, stream, files, options in all_cases:
            with self.subTest(f"{form}: {name}"):
                file = self.bring(files)
                begin_s = commands_s()
                told = self.good_json("trace", file, *options, "--scenario", "x.yaml", "--json", "--quiet")
                answer = self.good_json("tune", "x.yaml", "--set", f"limits.partition_rows={ROWS // 30}", "--json",
                                        "--quiet", "--no-charts", *FEWER)
                took = commands_s() - begin_s  # on two processors the wall time is not longer
                self.assertLess(took, SECONDS_MOST)
                self.assertEqual((told["rows"], told["keys"]), (len(stream), len({row[1:3] for row in stream})))
                if stream is not SENSORS:
                    self.assertEqual(told["bytes"], sum(row[3] for row in stream))
                best = answers.setdefault(id(stream), answer["recommended"]["label"])
                self.assertEqual(answer["recommended"]["label"], best)
                if IS_SLOW:
                    print(f"{form}, {name}: {len(stream)} rows, {took:.1f} s: {best}")

    def test_rows_given_as_a_scenario_are_explained(self):
        file = self.bring(cases()[0][3])
        self.assertIn("'bucketlab trace rows.csv --scenario FILE'", self.bad(2, "tune", file))


if __name__ == "__main__":
    unittest.main()
