/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: the output of sstablepartitions and tablehistograms is read with the meaning that the tools give it,
 * and everything else is refused with its line and a remedy. Method: texts in the format that the tools'
 * sources print, and malformed ones. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <sys/mman.h>

#include "trace_file.h"
#include "workload/observed.h"

#define HEADER                                                                                               \
    "key,keyBinary,live,offset,size,rowCount,cellCount,tombstoneCount,rowTombstoneCount,"                    \
    "rangeTombstoneCount,complexTombstoneCount,cellTombstoneCount,rowTtlExpired,cellTtlExpired,directory,"   \
    "keyspace,table,index,snapshot,backup,generation,format,version\n"
#define PIECE(key, hex, size, rows, keyspace, table, rest, generation)                                       \
    key "," hex ",true,0," size "," rows ",9,0,0,0,0,0,0,0,/d/nb-" generation "-big-Data.db," keyspace       \
        "," table "," rest "," generation ",big,nb\n"
#define MESSAGES(key, hex, size, rows, generation)                                                           \
    PIECE(key, hex, size, rows, "chat", "messages", ",,", generation)
#define FIGURES(p50, p75, p95, p98, p99, min, max)                                                           \
    "50%             1.00             29.52             35.43" p50                                           \
    "24\n75%             1.00             35.43             42.51" p75                                       \
    "24\n95%             1.00             51.01             73.46" p95                                       \
    "103\n98%             2.00             61.21             88.15" p98                                      \
    "103\n99%             2.00             73.46            105.78" p99                                      \
    "103\nMin             0.00              5.72              5.72" min                                      \
    "6\nMax             4.00            545.79           1131.75" max "4768\n\n"
#define HEADINGS                                                                                             \
    "Percentile  SSTables     Write Latency      Read Latency    Partition Size        Cell Count\n"         \
    "                              (micros)          (micros)           (bytes)                  \n"
#define SIZES FIGURES(" 446 ", " 924 ", " 88148 ", " 105778 ", " 89970660 ", " 311 ", " 186563160 ")

static struct wl_observed read_fine(const char *text, enum wl_observed_format format, const char *table)
{
    struct trace_file file = trace_file_plain(text, strlen(text));
    struct wl_observed seen;
    struct sim_error error = {0};
    if (!wl_observed_read(file.path, format, table, NULL, &seen, &error))
        fail_msg("%s", error.text);
    trace_file_remove(&file);
    return seen;
}

static void assert_partition(const struct wl_observed *seen, size_t index, uint64_t bytes, uint64_t rows)
{
    assert_in_range(index, 0, seen->partition_count - 1);
    assert_int_equal(seen->partitions[index].bytes, bytes);
    assert_int_equal(seen->partitions[index].rows, rows);
}

static void test_pieces_of_a_partition_add_up(void **state)
{
    (void)state;
    struct wl_observed seen = read_fine(HEADER MESSAGES("\"a:1\"", "6131", "1000", "10", "1")
                                            MESSAGES("\"b:1\"", "6231", "70", "0", "1")
                                                MESSAGES("\"a:1\"", "6131", "500", "5", "2"),
                                        WL_OBSERVED_AUTO, NULL);
    assert_int_equal(seen.format, WL_OBSERVED_PARTITIONS);
    assert_string_equal(seen.table, "chat.messages");
    assert_int_equal(seen.partition_count, 2);
    assert_int_equal(seen.pieces, 3);
    assert_true(seen.has_rows);
    assert_partition(&seen, 0, 1500, 15);
    assert_partition(&seen, 1, 70, 0);
    wl_observed_clear(&seen);
}

/* The tool does not escape characters in a key; it puts a key with a space into additional quotes. */
static void test_keys_of_any_kind_are_read(void **state)
{
    (void)state;
    struct wl_observed seen = read_fine(
        HEADER MESSAGES("\"\"two words\"\"", "01", "1", "1", "1") MESSAGES("\"a,b\"", "02", "2", "1", "1")
            MESSAGES("\"say \"hi\", you\"", "03", "3", "1", "1") MESSAGES("\"\"", "04", "4", "1", "1")
                MESSAGES("\"\",05,\"", "05", "5", "1", "1") MESSAGES("plain", "06", "6", "1", "1")
                    MESSAGES("\"\xC3\xA9\"", "0A", "7", "1", "1"),
        WL_OBSERVED_PARTITIONS, NULL);
    assert_int_equal(seen.partition_count, 7);
    for (size_t i = 0; i < 7; i++)
        assert_partition(&seen, i, i + 1, 1);
    wl_observed_clear(&seen);
}

/* The output of Cassandra 5.0.4's tools for a table of a million rows; only the first 40 partitions. */
static void test_texts_of_a_real_node_are_read(void **state)
{
    (void)state;
    static const uint64_t points[WL_OBSERVED_POINTS] = {1598, 8239, 14237, 61214, 126934, 219342, 785939};
    const char *folder = BUCKETLAB_SOURCE_DIR "/tests/cassandra5/tools";
    struct wl_observed seen;
    struct sim_error error = {0};
    char path[512];
    snprintf(path, sizeof path, "%s/tablehistograms.txt", folder);
    assert_true(wl_observed_read(path, WL_OBSERVED_AUTO, NULL, NULL, &seen, &error));
    assert_string_equal(seen.table, "million.rows_by_key");
    assert_memory_equal(seen.points, points, sizeof points);
    wl_observed_clear(&seen);
    snprintf(path, sizeof path, "%s/sstablepartitions.csv", folder);
    assert_true(wl_observed_read(path, WL_OBSERVED_AUTO, NULL, NULL, &seen, &error));
    assert_string_equal(seen.table, "million.rows_by_key");
    assert_int_equal(seen.partition_count, 40);
    assert_partition(&seen, 0, 20395, 138);
    assert_string_equal(seen.largest_bytes.key, "sensor-1:20458");
    assert_int_equal(seen.largest_bytes.size, 336445);
    assert_int_equal(seen.largest_rows.size, 2126);
    uint64_t bytes = 0, rows = 0;
    for (size_t i = 0; i < seen.partition_count; i++) {
        bytes += seen.partitions[i].bytes;
        rows += seen.partitions[i].rows;
    }
    assert_int_equal(bytes, 889523);
    assert_int_equal(rows, 5611);
    wl_observed_clear(&seen);
}

static void test_largest_partition_is_named(void **state)
{
    (void)state;
    struct wl_observed seen = read_fine(
        HEADER MESSAGES("\"a:1\"", "61", "1000", "3", "1") MESSAGES("\"gone\"", "62", "9000", "0", "1")
            MESSAGES("\"\"b \"\"\"\"c\"\"", "63", "800", "4", "1") MESSAGES("\"a:1\"", "61", "10", "1", "2")
                MESSAGES("\"\"b \"\"\"\"c\"\"", "63", "211", "0", "2"),
        WL_OBSERVED_AUTO, NULL);
    assert_string_equal(seen.largest_rows.key, "a:1");
    assert_int_equal(seen.largest_rows.size, 4);
    assert_string_equal(seen.largest_bytes.key, "b \"\"c");
    assert_int_equal(seen.largest_bytes.size, 1011);
    assert_int_equal(seen.largest_bytes.partition, 2);
    wl_observed_clear(&seen);
    static char text[1024];
    snprintf(text, sizeof text,
             "key,keyBinary,size\n\"\xFF\",ff,1\n\"%0300d\",61,2\n\"%0252d\xC3\xA9\xC3\xA9\",62,3\n", 0, 0);
    seen = read_fine(text, WL_OBSERVED_AUTO, NULL);
    assert_int_equal(seen.largest_rows.size, 0);
    assert_int_equal(seen.largest_bytes.size, 3);
    assert_int_equal(strlen(seen.largest_bytes.key), 254);
    wl_observed_clear(&seen);
    seen = read_fine("key,keyBinary,size\n\"\xFF\",ff01,1\n", WL_OBSERVED_AUTO, NULL);
    assert_string_equal(seen.largest_bytes.key, "0xff01");
    wl_observed_clear(&seen);
}

static void test_other_columns_and_line_ends_are_read(void **state)
{
    (void)state;
    struct wl_observed seen = read_fine("\xEF\xBB\xBFkey,keyBinary,new,size\r\n\"a\",61,\"x,\"\"y\",9\r\n"
                                        "\"b\",62,,9223372036854775807",
                                        WL_OBSERVED_AUTO, NULL);
    assert_string_equal(seen.table, "");
    assert_false(seen.has_rows);
    assert_int_equal(seen.partition_count, 2);
    assert_partition(&seen, 0, 9, 0);
    assert_partition(&seen, 1, INT64_MAX, 0);
    wl_observed_clear(&seen);
    seen = read_fine("\xEF\xBB\xBFkey,size\n\"a\",1\nb,2\n\"a\",3\n", WL_OBSERVED_AUTO, NULL);
    assert_int_equal(seen.partition_count, 2);
    assert_partition(&seen, 0, 4, 0);
    wl_observed_clear(&seen);
}

static void test_one_table_of_several_is_read(void **state)
{
    (void)state;
    static const char text[] = HEADER MESSAGES("\"a\"", "61", "1", "1", "1")
        PIECE("\"a\"", "61", "2", "1", "chat", "rooms", ",,", "1")
            PIECE("\"a\"", "61", "3", "1", "chat", "rooms", "by_name,,", "1");
    static const char *const tables[] = {"chat.messages", "chat.rooms", "chat.rooms.by_name"};
    for (size_t i = 0; i < 3; i++) {
        struct wl_observed seen = read_fine(text, WL_OBSERVED_AUTO, tables[i]);
        assert_string_equal(seen.table, tables[i]);
        assert_int_equal(seen.partition_count, 1);
        assert_partition(&seen, 0, i + 1, 1);
        wl_observed_clear(&seen);
    }
}

static void test_many_partitions_of_a_gzip_file_are_read(void **state)
{
    (void)state;
    enum { COUNT = 5000 };
    static char text[COUNT * 200];
    size_t size = (size_t)snprintf(text, sizeof text, "%s", HEADER);
    for (int sstable = 1; sstable <= 2; sstable++) {
        for (int i = 0; i < COUNT / 2; i++)
            size +=
                (size_t)snprintf(text + size, sizeof text - size,
                                 "\"k%d\",%04x,true,0,%d,%d,1,0,0,0,0,0,0,0,/d,chat,messages,,,,%d,big,nb\n",
                                 i, i, i + sstable, i, sstable);
    }
    struct trace_file file = trace_file_gzip(text, size, 0, 0);
    struct wl_observed seen;
    struct sim_error error = {0};
    assert_true(wl_observed_read(file.path, WL_OBSERVED_AUTO, NULL, NULL, &seen, &error));
    assert_int_equal(seen.partition_count, COUNT / 2);
    for (size_t i = 0; i < COUNT / 2; i++)
        assert_partition(&seen, i, 2 * i + 3, 2 * i);
    wl_observed_clear(&seen);
    trace_file_remove(&file);
}

static void assert_points(const struct wl_observed *seen)
{
    static const uint64_t wanted[WL_OBSERVED_POINTS] = {311, 446, 924, 88148, 105778, 89970660, 186563160};
    assert_int_equal(seen->format, WL_OBSERVED_PERCENTILES);
    assert_memory_equal(seen->points, wanted, sizeof wanted);
    assert_null(seen->partitions);
}

static void test_percentiles_of_either_version_are_read(void **state)
{
    (void)state;
    struct wl_observed seen = read_fine("chat/messages histograms\n" HEADINGS SIZES, WL_OBSERVED_AUTO, NULL);
    assert_string_equal(seen.table, "chat.messages");
    assert_points(&seen);
    wl_observed_clear(&seen);
    seen =
        read_fine("\r\nchat/messages histograms\r\n"
                  "Percentile      Read Latency     Write Latency          SSTables    Partition Size        "
                  "Cell Count\r\n                    (micros)          (micros)                             "
                  "(bytes)                  \r\n" SIZES,
                  WL_OBSERVED_PERCENTILES, "chat.messages");
    assert_points(&seen);
    wl_observed_clear(&seen);
}

static void test_columns_are_found_by_their_headings(void **state)
{
    (void)state;
    struct wl_observed seen = read_fine("k/t histograms\nPercentile Partition Size SSTables Cell Count Write "
                                        "Latency Read Latency\n(bytes) (micros) "
                                        "(micros)\n50% 2 9,5 9 9 9\n75% 3 9 9 9 9\n95% 4 9 9 9 9\n98% 5 9 9 "
                                        "9 9\n99% 6 9 9 9 NaN\nMin 1 9 9 9 9\n"
                                        "Max 7 9 9 9 9\n",
                                        WL_OBSERVED_AUTO, NULL);
    for (size_t i = 0; i < WL_OBSERVED_POINTS; i++)
        assert_int_equal(seen.points[i], i + 1);
    wl_observed_clear(&seen);
}

static void test_percentiles_of_one_table_of_several_are_read(void **state)
{
    (void)state;
    static const char text[] =
        "No SSTables exists, unable to calculate 'Partition Size' and 'Cell Count' percentiles\n"
        "system/empty histograms\n" HEADINGS FIGURES(" NaN ", " NaN ", " NaN ", " NaN ", " NaN ", " NaN ",
                                                     " NaN ") "chat/messages histograms\n" HEADINGS SIZES
                                                              "chat/rooms histograms\n" HEADINGS FIGURES(
                                                                  " 1 ", " 1 ", " 1 ", " 1 ", " 1 ", " 1 ",
                                                                  " 1 ");
    struct wl_observed seen = read_fine(text, WL_OBSERVED_AUTO, "chat.messages");
    assert_points(&seen);
    wl_observed_clear(&seen);
}

static void test_rows_of_large_partitions_are_read(void **state)
{
    (void)state;
    static const char *const texts[] = {
        " keyspace_name | table_name | sstable_name | partition_size | partition_key | rows\n"
        "---------------+------------+--------------+----------------+---------------+------\n"
        "          chat |      rooms |     me-1.db  |             30 |             a |    3\n"
        "---MORE---\n"
        "          chat |   messages |     me-1.db  |             50 |         a, b  |    5\n"
        "          chat |   messages |     me-2.db  |             20 |         a, b  |    2\n\n(3 "
        "rows)\ncqlsh>",
        "cqlsh> SELECT * FROM system.large_partitions;\n\n"
        "table_name|keyspace_name|rows|partition_key|partition_size|sstable_name\n"
        "messages|chat|5|a, b|50|me-1.db\nmessages|chat|2|a, b|20|me-2.db\n",
        ("keyspace_name,table_name,sstable_name,size,key,rowCount,compaction_time\n"
         "chat,messages,me-1.db,50,\"a, b\",5,2024\nchat,messages,me-2.db,20,\"a, b\",2,2024\n")};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct wl_observed seen = read_fine(texts[i], WL_OBSERVED_AUTO, "chat.messages");
        assert_int_equal(seen.format, WL_OBSERVED_LARGEST);
        assert_int_equal(seen.partition_count, 1);
        assert_partition(&seen, 0, 70, 7);
        assert_string_equal(seen.largest_rows.key, "a, b");
        wl_observed_clear(&seen);
    }
}

static void test_names_of_columns_may_be_written_otherwise(void **state)
{
    (void)state;
    static const char *const headers[] = {"key,size,rows", "Partition_Key,SIZE,row_count",
                                          "PartitionKey,size,ROWS"};
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        char text[128];
        snprintf(text, sizeof text, "%s\na,1200,250000\na,1300,40\n", headers[i]);
        struct wl_observed seen = read_fine(text, WL_OBSERVED_AUTO, NULL);
        assert_true(seen.has_rows && seen.format == WL_OBSERVED_PARTITIONS && seen.merged == 1);
        assert_partition(&seen, 0, 2500, 250040);
        wl_observed_clear(&seen);
    }
    struct wl_observed seen = read_fine("key,size,rowes\na,1,2\n", WL_OBSERVED_LARGEST, NULL);
    assert_true(!seen.has_rows && seen.format == WL_OBSERVED_LARGEST);
    wl_observed_clear(&seen);
}

static void test_prompts_around_percentiles_are_skipped(void **state)
{
    (void)state;
    struct wl_observed seen = read_fine("user@node:~$ nodetool tablehistograms chat messages\n\n"
                                        "   chat/messages histograms\n" HEADINGS SIZES "user@node:~$ \n",
                                        WL_OBSERVED_AUTO, NULL);
    assert_points(&seen);
    wl_observed_clear(&seen);
    seen = read_fine(
        "[root@node /]# nodetool tablehistograms chat messages\nchat/messages histograms\n" HEADINGS SIZES
        "$ nodetool tablehistograms chat rooms\nchat/rooms histograms\n" HEADINGS SIZES,
        WL_OBSERVED_AUTO, "chat.messages");
    assert_points(&seen);
    wl_observed_clear(&seen);
}

#define OF_FOLDER(folder, names, generation)                                                                 \
    "\"a\",61,true,0,1,1,9,0,0,0,0,0,0,0," folder "nb-" generation "-big-Data.db," names ",,,," generation   \
    ",big,nb\n"

struct broken {
    const char *text, *table, *error; /* after the file's name */
};

#define TABLESTATS                                                                                           \
    "Keyspace : chat\n\tRead Count: 0\n\t\tTable: a\n\t\tCompacted partition minimum bytes: 9\n"             \
    "\t\tCompacted partition maximum bytes: 545791\n\n\t\tTable: b\n"

/* What the tools print for people: texts of partitions, lines of logs, histograms. */
static void test_texts_for_people_are_read(void **state)
{
    static const struct {
        const char *text, *table;
        enum wl_observed_format format;
        uint64_t count, bytes, rows; /* of the largest; of percentiles p50 and max */
    } cases[] = {
        {"Processing chat.a-1 #1 (big-nb) (1 KiB uncompressed)\n  Partition: '0' (00) live, size: 1.5 KiB, "
         "rows: 2, "
         "cells: 2, x\n  Partition: '1' (01) not live, size: 2 MiB, rows: 1, cells: 2, x\n  count    "
         "2\nProcessing "
         "chat.a-2 #2 (big-nb) (1 KiB uncompressed)\n  Partition: '0' (00) live, size: 500 B, rows: 1, "
         "cells: 2, x\n",
         NULL, WL_OBSERVED_PARTITIONS, 2, 2097152, 1},
        {"Processing chat.a-1 #1 (big-nb) (1 KiB uncompressed)\n  Partition: '0' (00) live, size: 3 KiB\n  "
         "count 9\n",
         NULL, WL_OBSERVED_LARGEST, 1, 3072, 0},
        {"x INFO started\nWARN 2021-03-02 10:00:01,001 B.java:2 - Writing large partition chat/a:r:1 (2KiB) "
         "to sstable /d/a\n"
         "WARN - Writing large partition chat/a:r:1 (1.5KiB) to sstable /d/b\nWARN - Writing large partition "
         "chat/a: q (9 bytes) "
         "to me-1\nWARN - Compacting large partition chat/a:p (8 bytes) incrementally\n",
         NULL, WL_OBSERVED_LARGEST, 3, 2048, 0},
        {"WARN NoSpamLogger - Guardrail partition_size violated: Partition chat.a:r:1 on sstable /d/a has "
         "size "
         "2.5KiB, this exceeds the warning threshold of 1.000KiB.\n",
         NULL, WL_OBSERVED_LARGEST, 1, 2560, 0},
        {"WARN - Compacting large partition chat/a:p (8192 bytes)\nWARN - Writing large partition chat/a:q "
         "(9 "
         "bytes) to sstable /d/b\n",
         NULL, WL_OBSERVED_LARGEST, 2, 8192, 0},
        {TABLESTATS, "chat.a", WL_OBSERVED_LARGEST, 1, 545791, 0},
        {"chat/a histograms\n\nSSTables per Read\n1 sstables: 10\n\nPartition Size (bytes)\n 149 bytes: 3\n "
         "4768 bytes: "
         "1\n\nCell Count per Partition\n 5 cells: 12\n",
         NULL, WL_OBSERVED_PERCENTILES, 0, 149, 4768},
        {"```\nchat/a histograms\nOffset SSTables Write Read Row Column\n     (micros)  (bytes)\n1 11 0 0 0 "
         "5\n149 0 0 1 1 0\n4768 0 0 1 "
         "9 0\n",
         NULL, WL_OBSERVED_PERCENTILES, 0, 4768, 4768},
        {"SSTable: /d/a\nCount   Row Size   Cell Count\n1 0 12\n35 3 0\n42 1 0\nEstimated cardinality: 11\n",
         NULL, WL_OBSERVED_PERCENTILES, 0, 35, 42},
        {"SSTable: /d/a\nPartition Size: \n  Size (bytes) | Count  (%)  Histogram \n  35 (35 B) |   9 ( 90)  "
         "OO.\n  42 (42 B) |  "
         "1 ( 10)  O\n  Percentiles\n  50th  35 (35 B)\nColumn Count: \n  60 | 1 (1) x\n",
         NULL, WL_OBSERVED_PERCENTILES, 0, 35, 42},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct wl_observed seen = read_fine(cases[i].text, WL_OBSERVED_AUTO, cases[i].table);
        assert_int_equal(seen.format, cases[i].format);
        assert_int_equal(seen.partition_count, cases[i].count);
        bool is_list = seen.format != WL_OBSERVED_PERCENTILES;
        assert_int_equal(is_list ? seen.largest_bytes.size : seen.points[WL_OBSERVED_P50], cases[i].bytes);
        assert_int_equal(is_list ? seen.partitions[seen.largest_bytes.partition].rows
                                 : seen.points[WL_OBSERVED_MAX],
                         cases[i].rows);
        wl_observed_clear(&seen);
    }
}

static const struct broken broken[] = {
    {"", NULL,
     ":1: nothing in it; save the output of 'sstablepartitions --csv --min-size 0', or of 'nodetool "
     "tablehistograms', into it"},
    {"\n\n", NULL,
     ":1: nothing in it; save the output of 'sstablepartitions --csv --min-size 0', or of 'nodetool "
     "tablehistograms', into it"},
    {HEADER, NULL,
     ":1: no partition below the header; sstablepartitions prints only partitions above a threshold, so give "
     "it --min-size 0"},
    {"timestamp_ms,key,bytes\n1,a,2\n", NULL,
     ":1: this is a trace of rows, which goes under 'trace'; give the output of 'sstablepartitions --csv "
     "--min-size 0', or of 'nodetool tablehistograms'"},
    {"\nProcessing chat.messages-1 #1 (big-nb) (1 KiB uncompressed)\n", NULL,
     ":2: no partition below the header; sstablepartitions prints only partitions above a threshold, so give "
     "it --min-size 0"},
    {TABLESTATS, NULL,
     ":7: a second table, chat.b; name the one that you want, as in table: chat.a, or --table of import"},
    {TABLESTATS, "chat.b",
     ":7: no sizes of partitions in it, as of a table without sstables; run 'nodetool flush' first"},
    {TABLESTATS, "chat.c", ":7: the file ends without table 'chat.c'; it holds chat.a, chat.b"},
    {"Writing large partition chat/a:k (x) to sstable y\n", NULL,
     ":1: 'x' is not a size in bytes; save the output again"},
    {"{\"a\": 1}\n", NULL,
     ":1: this is JSON; give the output of 'sstablepartitions --csv --min-size 0', or of 'nodetool "
     "tablehistograms'"},
    {"a,b\n", NULL,
     ":1: unknown header 'a,b'; give the output of 'sstablepartitions --csv --min-size 0', which begins with "
     "key,keyBinary,live,offset,size"},
    {"key,size,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,\na,1\n", NULL,
     ":1: 65 columns in the header, where the tool has 23; give the output of 'sstablepartitions --csv "
     "--min-size 0'"},
    {"key,size,size\na,1,1\n", NULL, ":1: column 'size' appears twice in the header; remove one of them"},
    {"key,size\n\na,1\n", NULL, ":2: empty line; remove it"},
    {"key,size\na\n", NULL, ":2: 1 column where the header has 2; check the line, or save the output again"},
    {"key,size\na,1,2\n", NULL,
     ":2: 3 columns where the header has 2; check the line, or save the output again"},
    {"key,size\na,\n", NULL, ":2: size is empty; write a whole number"},
    {"key,size\na,1.5\n", NULL,
     ":2: size '1.5' is not a whole number; write digits alone, without separators"},
    {"key,size\na,\"1,024\"\n", NULL,
     ":2: size '1,024' is not a whole number; write digits alone, without separators"},
    {"key,size\na,1_024\n", NULL,
     ":2: size '1_024' is not a whole number; write digits alone, without separators"},
    {"key,size\na,-1\n", NULL, ":2: size '-1' is not a whole number; write digits alone, without separators"},
    {"key,size\na,0\n", NULL, ":2: size is 0, and a partition takes at least a byte; check the line"},
    {"key,size\na,9223372036854775809\n", NULL,
     ":2: size 9223372036854775809 is above 2^63, which no Cassandra counts to; check the line"},
    {"key,size\na,9223372036854775807\na,2\n", NULL,
     ":3: the pieces of this partition add up to more than 2^63; check the line"},
    {"key,size,rowCount\na,1,x\n", NULL,
     ":2: rowCount 'x' is not a whole number; write digits alone, without separators"},
    {"key,keyBinary,size\n\"a\",6x,1\n", NULL,
     ":2: keyBinary '6x' is not hexadecimal; save the output again"},
    {"key,keyBinary,size\n\"a\nb\",61,1\n", NULL,
     ":2: the key is not followed by 2 columns as in the header; leave out a key with a line break by "
     "sstablepartitions -x"},
    {"key,size\na,1\nkey,size\n", NULL,
     ":3: a second header; remove it when joining outputs, and join only those of one node, because replicas "
     "hold the same partitions"},
    {HEADER MESSAGES("\"a\"", "61", "1", "1", "1") PIECE("\"a\"", "61", "2", "1", "chat", "rooms", ",,", "1"),
     NULL,
     ":3: a second table, chat.rooms; name the one that you want, as in table: chat.messages, or "
     "--table of import"},
    {HEADER MESSAGES("\"a\"", "61", "1", "1", "1") PIECE("\"a\"", "61", "2", "1", "chat", "rooms", ",,", "1"),
     "chat.room", ":3: the file ends without table 'chat.room'; it holds chat.messages, chat.rooms"},
    {"key,size\na,1\n", "chat.room",
     ":2: the file ends without table 'chat.room'; it holds one without a name"},
    {HEADER MESSAGES("\"a\"", "61", "1", "1", "1")
         PIECE("\"a\"", "61", "2", "1", "chat", "messages", ",daily,", "1"),
     NULL,
     ":3: sstables of a snapshot or backup are copies of others in this input; give only one of the two"},
    {HEADER PIECE("\"a\"", "61", "2", "1", "chat", "messages", ",x,", "1")
         PIECE("\"a\"", "61", "2", "1", "chat", "messages", ",,x", "1"),
     NULL,
     ":3: sstables of a snapshot or backup are copies of others in this input; give only one of the two"},
    {HEADER MESSAGES("\"a\"", "61", "1", "1", "1") MESSAGES("\"a\"", "61", "1", "1", "1"), NULL,
     ":3: this partition was in the same sstable before; give each sstable once, and only those of one "
     "node, because replicas hold the same partitions"},
    {HEADER OF_FOLDER("/copy/orders/", ",", "1") OF_FOLDER("/copy/users/", ",", "1"), NULL,
     ":3: an sstable of /copy/users, after those of /copy/orders: these may be two tables; give the sstables "
     "of one "
     "folder"},
    {HEADER OF_FOLDER("/d/chat/rooms-0a/", "chat,rooms", "1")
         OF_FOLDER("/d/chat/rooms-0b/", "chat,rooms", "2"),
     NULL,
     ":3: an sstable of rooms-0b, after those of rooms-0a: these may be two tables; give the sstables of one "
     "folder"},
    {HEADER OF_FOLDER("/node1/chat/rooms-0a/", "chat,rooms", "1")
         OF_FOLDER("/node2/chat/rooms-0a/", "chat,rooms", "1"),
     NULL,
     ":3: this partition was in the same sstable before; give each sstable once, and only those of one "
     "node, because replicas hold the same partitions"},
    {"ks,cf,key,size\nchat,rooms,a,1\nchat,rooms,a,1\nchat,users,a,1\n", NULL,
     ":4: the key of a line before, but another 'ks', which has no meaning here; name this column 'table' or "
     "'generation' (the sstable), or remove it to add the sizes up"},
    {"key,rows,rowCount,size\na,1,1,1\n", NULL,
     ":1: column 'rowCount' appears twice in the header; remove one of them"},
    {"partition_key|partition_size\na|1|2\n", NULL,
     ":2: 3 columns where the header has 2; check the line, or save the output again"},
    {"chat/messages histograms\n\nSSTables per Read\n1 sstables: 10\n", NULL,
     ":4: no sizes of partitions in it, as of a table without sstables; run 'nodetool flush' first"},
    {"Percentile SSTables\n", NULL,
     ":1: 'Percentile SSTables' where a table should begin; give the output of 'nodetool tablehistograms', "
     "in "
     "which this line is 'KEYSPACE/TABLE histograms', or of 'sstablepartitions --csv', with commas between "
     "columns"},
    {"chat/messages histograms\n", NULL,
     ":1: no sizes of partitions in it, as of a table without sstables; run 'nodetool flush' first"},
    {"chat/messages histograms\nPercentile SSTables Write Latency Read Latency Row Size Cell Count\n", NULL,
     ":2: 'Percentile SSTables Write Latency Read L...' where the headings should be: Percentile, SSTables, "
     "Write "
     "Latency, Read Latency, Partition Size, Cell Count; save the output again"},
    {"chat/messages histograms\n" HEADINGS "75% 1 1 1 1 1\n", NULL,
     ":4: the line of Min is missing; save the output again"},
    {"chat/messages histograms\n" HEADINGS "70% 1 1 1 1 1\n", NULL,
     ":4: '70% 1 1 1 1 1' where a table should begin; give the output of 'nodetool tablehistograms', in "
     "which "
     "this line is 'KEYSPACE/TABLE histograms'"},
    {"chat/messages histograms\n" HEADINGS "50% 1 1 1 1\n", NULL,
     ":4: 4 figures after 50%, but 5 are needed; save the output again"},
    {"chat/messages histograms\n" HEADINGS "50% 1 1 1 1 1 1\n", NULL,
     ":4: 6 figures after 50%, but 5 are needed; save the output again"},
    {"chat/messages histograms\n" HEADINGS "50% 1 1 1 1.5 1\n", NULL,
     ":4: Partition Size '1.5' is not a whole number; write digits alone, without separators"},
    {"chat/messages histograms\n" HEADINGS FIGURES(" NaN ", " NaN ", " NaN ", " NaN ", " NaN ", " 1 ",
                                                   " 9223372036854775807 "),
     NULL,
     ":4: the percentiles of the partition size are NaN: the table has no sstable, or a partition too large "
     "for Cassandra's buckets; use sstablepartitions"},
    {"chat/messages histograms\n" HEADINGS FIGURES(" 9 ", " 8 ", " 9 ", " 9 ", " 9 ", " 1 ", " 9 "), NULL,
     ":10: the partition sizes do not rise from Min over 50% to Max; check the figures"},
    {"chat/messages histograms\n" HEADINGS FIGURES(" 0 ", " 8 ", " 9 ", " 9 ", " 9 ", " 0 ", " 9 "), NULL,
     ":10: a median partition size of 0, which is printed for a table without sstables; run 'nodetool flush' "
     "first"},
    {"chat/messages histograms\n" HEADINGS SIZES "chat/messages histograms\n" HEADINGS SIZES, NULL,
     ":15: the table appears twice; give the output of one node, once"},
    {"chat/messages histograms\n" HEADINGS SIZES "chat/rooms histograms\n" HEADINGS SIZES, NULL,
     ":12: a second table, chat.rooms; name the one that you want, as in table: chat.messages, or "
     "--table of import"},
    {"chat/messages histograms\n" HEADINGS SIZES, "chat.rooms",
     ":11: the file ends without table 'chat.rooms'; it holds chat.messages"},
    {"Row sizes are larger than 1, unable to calculate percentiles\n", NULL,
     ":1: no table in it; give the output of 'nodetool tablehistograms'"},
};

static void test_broken_files_are_refused_with_line_and_remedy(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        struct trace_file file = trace_file_plain(broken[i].text, strlen(broken[i].text));
        struct wl_observed seen = {.partition_count = 1};
        struct sim_error error = {0};
        if (wl_observed_read(file.path, WL_OBSERVED_AUTO, broken[i].table, NULL, &seen, &error))
            fail_msg("case %zu is taken", i);
        assert_int_equal(error.class, SIM_ERROR_INPUT);
        assert_string_equal(error.text + strlen(file.path), broken[i].error);
        assert_int_equal(seen.partition_count, 0);
        assert_null(seen.partitions);
        trace_file_remove(&file);
    }
}

static void assert_refused(struct trace_file file, const char *text)
{
    struct wl_observed seen;
    struct sim_error error = {0};
    assert_false(wl_observed_read(file.path, WL_OBSERVED_AUTO, NULL, NULL, &seen, &error));
    if (strstr(error.text, text) == NULL)
        fail_msg("'%s' is not in: %s", text, error.text);
    trace_file_remove(&file);
}

static void test_damaged_files_are_refused(void **state)
{
    (void)state;
    static const char text[] = HEADER MESSAGES("\"a\"", "61", "1", "1", "1"), nul[] = "key,size\na,\0";
    assert_refused(trace_file_gzip(text, sizeof text - 1, 12, 0), "gzip file is truncated");
    assert_refused(trace_file_gzip(text, sizeof text - 1, 0, 1), "gzip file is damaged");
    assert_refused(trace_file_plain(nul, sizeof nul), ":2: NUL byte; save the file as UTF-8 text");
    static const char database[] = "SQLite format 3\0\x10";
    assert_refused(trace_file_plain(database, sizeof database), ":1: this is a database; ");
    static char line[(16 << 20) + 10];
    memset(line, 'a', sizeof line);
    assert_refused(trace_file_plain(line, sizeof line), ":1: line is longer than 16777216 bytes");
    struct trace_file none = trace_file_name("t.csv");
    assert_refused(none, ": file cannot be opened (No such file or directory); check the file's name");
}

/* The text with one byte replaced, or truncated after it, is either read or refused. */
static void read_or_refuse(int descriptor, const char *text, size_t size, size_t *fine, size_t *refused)
{
    struct wl_observed seen;
    struct sim_error error = {0};
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    assert_int_equal(ftruncate(descriptor, 0), 0);
    assert_int_equal(pwrite(descriptor, text, size, 0), size);
    if (wl_observed_read(path, WL_OBSERVED_AUTO, NULL, NULL, &seen, &error)) {
        assert_int_equal(error.class, SIM_ERROR_NONE);
        (*fine)++;
    } else {
        assert_int_equal(error.class, SIM_ERROR_INPUT);
        assert_int_equal(strncmp(error.text, path, strlen(path)), 0);
        assert_null(strchr(error.text, '\n'));
        (*refused)++;
    }
    wl_observed_clear(&seen);
}

static void test_texts_truncated_or_altered_anywhere_are_read_or_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {HEADER MESSAGES("\"a:1\"", "6131", "1000", "10", "1")
                                            MESSAGES("\"\"b c\"\"", "62", "70", "0", "1"),
                                        "chat/messages histograms\n" HEADINGS SIZES};
    static const char others[] = {'"', ',', '\n', ' ', '9', 'x', '\0', (char)0xff};
    int descriptor = memfd_create("observed", 0); /* thousands of files would be slow on a disk */
    assert_true(descriptor >= 0);
    size_t fine = 0, refused = 0;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char text[2048];
        size_t size = strlen(texts[i]);
        assert_in_range(size, 1, sizeof text);
        for (size_t at = 0; at < size; at++) {
            read_or_refuse(descriptor, texts[i], at, &fine, &refused);
            for (size_t k = 0; k < sizeof others; k++) {
                memcpy(text, texts[i], size);
                text[at] = others[k];
                read_or_refuse(descriptor, text, size, &fine, &refused);
            }
        }
    }
    assert_true(fine > 1000 && refused > 1000);
    close(descriptor);
}

static void test_reading_stops_on_request(void **state)
{
    (void)state;
    static const char text[] = HEADER MESSAGES("\"a\"", "61", "1", "1", "1");
    struct trace_file file = trace_file_plain(text, sizeof text - 1);
    struct wl_observed seen;
    struct sim_error error = {0};
    const _Atomic bool stop = true;
    assert_false(wl_observed_read(file.path, WL_OBSERVED_AUTO, NULL, &stop, &seen, &error));
    assert_int_equal(error.class, SIM_ERROR_CHECK);
    trace_file_remove(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces_of_a_partition_add_up),
        cmocka_unit_test(test_keys_of_any_kind_are_read),
        cmocka_unit_test(test_texts_of_a_real_node_are_read),
        cmocka_unit_test(test_largest_partition_is_named),
        cmocka_unit_test(test_other_columns_and_line_ends_are_read),
        cmocka_unit_test(test_one_table_of_several_is_read),
        cmocka_unit_test(test_many_partitions_of_a_gzip_file_are_read),
        cmocka_unit_test(test_percentiles_of_either_version_are_read),
        cmocka_unit_test(test_columns_are_found_by_their_headings),
        cmocka_unit_test(test_percentiles_of_one_table_of_several_are_read),
        cmocka_unit_test(test_rows_of_large_partitions_are_read),
        cmocka_unit_test(test_names_of_columns_may_be_written_otherwise),
        cmocka_unit_test(test_prompts_around_percentiles_are_skipped),
        cmocka_unit_test(test_texts_for_people_are_read),
        cmocka_unit_test(test_broken_files_are_refused_with_line_and_remedy),
        cmocka_unit_test(test_damaged_files_are_refused),
        cmocka_unit_test(test_texts_truncated_or_altered_anywhere_are_read_or_refused),
        cmocka_unit_test(test_reading_stops_on_request),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
