#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Generates the files of scenarios/observed.yaml: the partitions of a table chat.messages on one node, one
partition per channel, in the formats of two tools of Cassandra: sstablepartitions (messages.csv) and, for the
same sstables, nodetool tablehistograms (messages.txt). Writes into its own folder, always the same bytes."""
import os
import random

CHANNELS = 120
ROWS = 400000
BYTES = 300
SSTABLES = 3
HEADER = ("key,keyBinary,live,offset,size,rowCount,cellCount,tombstoneCount,rowTombstoneCount,rangeTombstoneCount,"
          "complexTombstoneCount,cellTombstoneCount,rowTtlExpired,cellTtlExpired,directory,keyspace,table,index,"
          "snapshot,backup,generation,format,version")
FOLDER = "/var/lib/cassandra/data/chat/messages-5e2f1c80d7c411ef9f2ba9d1c4b7a001"


def pieces():
    """Yields (sstable, key, bytes, rows). Newer sstables are smaller, and may lack a channel."""
    draw = random.Random(20261122)
    harmonic = sum(1 / rank for rank in range(1, CHANNELS + 1))
    shares = [0.8, 0.15, 0.05]
    for sstable in range(SSTABLES):
        for rank in range(1, CHANNELS + 1):
            mean = ROWS / rank / harmonic * shares[sstable]
            rows = max(0, round(draw.gauss(mean, mean ** 0.5)))
            size = 40 + sum(round(draw.lognormvariate(0, 0.1) * BYTES * rows / 4) for _ in range(4))
            if rows > 0 and (sstable == 0 or draw.random() < 0.8):
                yield sstable + 1, f"channel-{rank}", size, rows


def offsets():
    """Cassandra's EstimatedHistogram."""
    at = 1
    while True:
        yield at
        at = max(at + 1, int(at * 1.2 + 0.5))


def bucket(size):
    """Returns the bounds (above, up to) of the bucket of a size."""
    above = 0
    for offset in offsets():
        if size <= offset:
            return above, offset
        above = offset


def percentile(sizes, hundredths):
    """Returns the end of the bucket that contains the percentile."""
    wanted = -(-len(sizes) * hundredths // 100)
    return bucket(sorted(sizes)[wanted - 1])[1]


def histogram(sizes):
    least = bucket(min(sizes))[0]
    return [percentile(sizes, p) for p in (50, 75, 95, 98, 99)] + [least + 1 if least else 0, bucket(max(sizes))[1]]


def main():
    all_pieces = list(pieces())
    folder = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(folder, "messages.csv"), "w", encoding="utf-8") as file:
        file.write(HEADER + "\n")
        offset, before = 0, 0
        for sstable, key, size, rows in all_pieces:
            offset = 0 if sstable != before else offset
            file.write(f"\"{key}\",{key.encode().hex()},true,{offset},{size},{rows},{rows * 6},0,0,0,0,0,0,0,"
                       f"{FOLDER}/nb-{sstable}-big-Data.db,chat,messages,,,,{sstable},big,nb\n")
            offset, before = offset + size, sstable
    sizes = histogram([piece[2] for piece in all_pieces])
    cells = histogram([piece[3] * 6 for piece in all_pieces])
    others = [("29.52", "35.43", "1.00"), ("35.43", "51.01", "2.00"), ("73.46", "105.78", "3.00"),
              ("88.15", "152.32", "3.00"), ("105.78", "219.34", "3.00"), ("5.72", "9.89", "0.00"),
              ("545.79", "1131.75", "3.00")]
    with open(os.path.join(folder, "messages.txt"), "w", encoding="utf-8") as file:
        file.write("chat/messages histograms\n")
        file.write(f"{'Percentile':<10}{'Read Latency':>18}{'Write Latency':>18}{'SSTables':>18}"
                   f"{'Partition Size':>18}{'Cell Count':>18}\n")
        file.write(f"{'':<10}{'(micros)':>18}{'(micros)':>18}{'':>18}{'(bytes)':>18}{'':>18}\n")
        for name, (write, read, sstables), size, cell in zip(
                ("50%", "75%", "95%", "98%", "99%", "Min", "Max"), others, sizes, cells):
            file.write(f"{name:<10}{read:>18}{write:>18}{sstables:>18}{size:>18}{cell:>18}\n")
        file.write("\n")


if __name__ == "__main__":
    main()
