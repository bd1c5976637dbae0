/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: rows in other common formats equal the rows of the plain format, and a file that cannot be read is
 * refused with the place and a remedy. Method: a table with one entry per file as a new user would bring it,
 * with the expected rows; one entry per malformed file, with its exact line of error; and rows in random
 * order, compared with qsort(). */
#define _DEFAULT_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <sys/stat.h>
#include <zstd.h>

#include "trace_file.h"
#include "trace_parts.h"
#include "workload/trace.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define NAME(text)   ((char *)(uintptr_t)(text))
/* Named columns: time, key, bytes. */
#define COLUMNS(t, k, b)                                                                                     \
    {                                                                                                        \
        .columns = {.time = NAME(t), .key = {NAME(k)}, .key_count = 1, .bytes = NAME(b) }                    \
    }

/* All rows as "time_ns key bytes|", or the line of error. */
static void read_rows(const char *path, const struct wl_trace_format *format, char *out, size_t size)
{
    struct wl_trace *trace;
    struct sim_error error = {.class = SIM_ERROR_NONE};
    struct wl_trace_batch batch;
    bool more = true;
    size_t used = 0;
    out[0] = '\0';
    if (!wl_trace_open_as(path, format, &trace, &error)) {
        assert_null(trace);
        snprintf(out, size, "%s", error.text + strlen(path));
        return;
    }
    while (more) {
        if (!wl_trace_next(trace, &batch, &more, &error)) {
            snprintf(out, size, "%s", error.text + strlen(path));
            break;
        }
        size_t key_size;
        const char *key = more ? wl_trace_key(trace, batch.key_index, &key_size) : "";
        for (uint64_t i = 0; more && i < batch.rows && used < size - 80; i++)
            used += (size_t)snprintf(out + used, size - used, "%" PRId64 " %.*s %" PRIu64 "|",
                                     wl_trace_row_time(&batch, i), (int)key_size, key, batch.bytes);
    }
    wl_trace_close(trace);
}

struct file_case {
    const char *text;
    struct wl_trace_format format;
    const char *rows;
};

static void check_cases(const struct file_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char rows[2048];
        struct trace_file file = trace_file_plain(cases[i].text, strlen(cases[i].text));
        read_rows(file.path, &cases[i].format, rows, sizeof rows);
        trace_file_remove(&file);
        if (strcmp(rows, cases[i].rows) != 0)
            fail_msg("case %zu, %.40s:\n  %s\nin place of\n  %s", i, cases[i].text, rows, cases[i].rows);
    }
}

/* The format is detected from the file. */
#define AS_IS                                                                                                \
    {                                                                                                        \
        .sort = false                                                                                        \
    }
#define T0 "1767225600000000000"

static void test_files_in_common_formats_give_their_rows(void **state)
{
    static const struct file_case cases[] = {
        /* The usual names, in any order, with further columns. */
        {"key,timestamp_ms,bytes\na,1767225600000,5\n", AS_IS, T0 " a 5|"},
        {"id,Key,x,Timestamp,Size\n1,a,,1767225600,5\n", AS_IS, T0 " a 5|"},
        {"timestamp_ms;key;bytes\n1767225600000;a,b;5\n", AS_IS, T0 " a,b 5|"},
        {"timestamp_ms\tkey\tbytes\n1767225600000\ta b\t5\n", AS_IS, T0 " a b 5|"},
        {"timestamp_ms, key, bytes\n1767225600000,a, 5\n", AS_IS, T0 " a 5|"},
        {"\xEF\xBB\xBFtime|key\r\n2026-01-01|a\r\n\r\n2026-01-01|a\r\n", AS_IS, T0 " a 0|" T0 " a 0|"},
        {"time,key,count\n1767225600,a,2\n1767225602,a,1\n", AS_IS,
         T0 " a 0|1767225601000000000 a 0|1767225602000000000 a 0|"},
        /* The plain form; quotes are removed, and signs and zeros before a number are allowed. */
        {"\xEF\xBB\xBFtimestamp_ms,key,bytes\r\n-1,a,0\r\n0,b c,1099511627776\r\n0,\xE2\x82\xAC,3", AS_IS,
         "-1000000 a 0|0 b c 1099511627776|0 \xE2\x82\xAC 3|"},
        {"timestamp_ms,key,bytes\n-01,\"a,\"\"b\"\"\",02\n-0,\"\"\"\",3\n1,\"x\",4\n1,x,5\n", AS_IS,
         "-1000000 a,\"b\" 2|0 \" 3|1000000 x 4|1000000 x 5|"},
        /* At the end, the last lines of keys come in the order of keys. */
        {"timestamp_ms,key,count\n0,b,1\n0,a,2\n10,b,3\n20,c,1\n", AS_IS,
         "0 b 0|10000000 b 0|13000000 b 0|16000000 b 0|0 a 0|0 a 0|20000000 c 0|"},
        /* Named columns; the formats of times are detected. */
        {"created_at,guild,channel,size\n2026-01-01T02:00:00+02:00,g,c,7\n",
         {.columns = {.time = NAME("created_at"),
                      .key = {NAME("guild"), NAME("channel")},
                      .key_count = 2,
                      .bytes = NAME("size")}},
         T0 " g/c 7|"},
        {"t,a,b\n2026-01-01 00:00:00,x/y,\\\n",
         {.columns = {.time = NAME("t"), .key = {NAME("a"), NAME("b")}, .key_count = 2}},
         T0 " x\\/y/\\\\ 0|"},
        {"t,u,s\n1767225600.25,a,1\n", COLUMNS("t", "u", "s"), "1767225600250000000 a 1|"},
        {"t,u,s\n1767225600000001,a,1.0\n", COLUMNS("t", "u", "s"), "1767225600000001000 a 1|"},
        {"t,u,s\n1767225600000000007,a,1\n", COLUMNS("t", "u", "s"), "1767225600000000007 a 1|"},
        {"t,u,s\n2026-01-01 00:00:00.5-0130,a,1\n", COLUMNS("t", "u", "s"), "1767231000500000000 a 1|"},
        /* Quotes: escaped by doubling or by backslashes, with line breaks inside. */
        {"at,key,note,bytes\n2026-01-01T00:00:00Z,\"a \"\"b\"\"\",\"x,\ny\",3\n", AS_IS, T0 " a \"b\" 3|"},
        {"at,key,note,bytes\n2026-01-01T00:00:00Z,\"a \\\"b\\\" c\",\"x,\ny\",3\n", AS_IS,
         T0 " a \"b\" c 3|"},
        {"at,key,path\n2026-01-01T00:00:00Z,\"C:\\\",x\n", AS_IS, T0 " C:\\ 0|"},
        /* Tables pasted from the terminals of cqlsh and mysql. */
        {"\n at                              | guild | "
         "body\n---------------------------------+-------+------\n "
         "2026-01-01 00:00:00.000000+0000 |     g | \"hi\n 2026-01-01 00:00:00.000000+0000 |     h | "
         "null\n\n(2 "
         "rows)\n",
         {.columns = {.time = NAME("at"),
                      .key = {NAME("guild")},
                      .key_count = 1,
                      .bytes_of = {NAME("body")},
                      .bytes_of_count = 1}},
         T0 " g 3|" T0 " h 0|"},
        {"+------------+-----+\n| time       | key |\n+------------+-----+\n| 2026-01-01 | a   "
         "|\n+------------+-----+\n",
         AS_IS, T0 " a 0|"},
        /* Lines that end in CR alone. */
        {"time,key,size\r2026-01-01,a,5\r2026-01-01,\"b\",6", AS_IS, T0 " a 5|" T0 " b 6|"},
        {"{\"time\": 1767225600, \"key\": \"a\"}\r{\"time\": 1767225600, \"key\": \"b\"}\r", AS_IS,
         T0 " a 0|" T0 " b 0|"},
        {"timestamp_ms,key,bytes\r1767225600000,a,5\r", AS_IS, T0 " a 5|"},
        /* Integers of any length; as keys they are texts. */
        {"{\"time\": 1767225600, \"key\": 13456789012345678901, \"x\": 0.12345678901234567890123}\n"
         "{\"time\": 1767225600, \"key\": 7, \"x\": \"\\\"13456789012345678901,\"}\n"
         "{\"time\": 1767225600, \"key\": -99999999999999999999, \"x\": [18446744073709551615]}\n",
         AS_IS, T0 " 13456789012345678901 0|" T0 " 7 0|" T0 " -99999999999999999999 0|"},
        {"{\"time\": 1767225600000000007, \"key\": \"13456789012345678901\", \"x\": 13456789012345678901}\n",
         AS_IS, "1767225600000000007 13456789012345678901 0|"},
        /* Without a header. */
        {"1767225600,a,5\n1767225600,b,6\n", COLUMNS("1", "2", "3"), T0 " a 5|" T0 " b 6|"},
        {"when,who,what\n1767225600,a,5\n", COLUMNS("1", "2", "3"), T0 " a 5|"},
        /* cqlsh COPY TO: token order, backslashes, and the length of a text as the size. */
        {"b,2026-01-01 00:00:01.000000+0000,\"x\\\"y\"\na,2026-01-01 "
         "00:00:00.000000+0000,\"1\n2\"\nb,2026-01-01 00:00:00.000000+0000,\n",
         {.columns = {.time = NAME("2"),
                      .key = {NAME("1")},
                      .key_count = 1,
                      .bytes_of = {NAME("3")},
                      .bytes_of_count = 1},
          .sort = true},
         T0 " a 3|" T0 " b 0|1767225601000000000 b 3|"},
        /* JSON Lines. */
        {"{\"at\": \"2026-01-01T00:00:00Z\", \"a\": {\"id\": 7}, \"n\": 12}\n\n{\"n\": 1, \"a\": {\"id\": "
         "\"x\"}, \"at\": \"2026-01-01T00:00:00Z\"}\n",
         COLUMNS("at", "a.id", "n"), T0 " 7 12|" T0 " x 1|"},
        {"{\"ts\": 1767225600.5, \"key\": \"\\u00e9\", \"body\": [1,2]}\n",
         {.columns = {.bytes_of = {NAME("body")}, .bytes_of_count = 1}},
         "1767225600500000000 \xC3\xA9 5|"},
        /* Times from ids: the examples in RFC 9562 for versions 1 and 7, and in ULID's specification. */
        {"id,u\nc232ab00-9414-11ec-b3c8-9f6bdeced846,a\n",
         {.columns = {.time = NAME("id"), .key = {NAME("u")}, .key_count = 1}},
         "1645557742000000000 a 0|"},
        {"id,u\n017f22e2-79b0-7cc3-98c4-dc0c0c07398f,a\n",
         {.columns = {.time = NAME("id"), .key = {NAME("u")}, .key_count = 1}},
         "1645557742000000000 a 0|"},
        {"id,u\n01ARZ3NDEKTSV4RRFFQ69G5FAV,a\n",
         {.columns = {.time = NAME("id"), .key = {NAME("u")}, .key_count = 1}},
         "1469922850259000000 a 0|"},
        /* Discord's documentation: 175928847299117063 is 2016-04-30 11:18:25.796 UTC. */
        {"id,u\n175928847299117063,a\n",
         {.columns = {.time = NAME("id"), .key = {NAME("u")}, .key_count = 1},
          .time = WL_TIME_SNOWFLAKE,
          .has_epoch = true,
          .epoch_ns = INT64_C(1420070400000000000)},
         "1462015105796000000 a 0|"},
        {"timestamp_ms,key,bytes\n1767225600,a,5\n", {.time = WL_TIME_S}, T0 " a 5|"},
        {"a#1767225600#9\n",
         {.columns = {.time = NAME("2"), .key = {NAME("1")}, .key_count = 1, .bytes = NAME("3")},
          .delimiter = '#'},
         T0 " a 9|"},
    };
    (void)state;
    check_cases(cases, COUNT(cases));
}

/* A format of times that is named. */
#define TIME(kind)                                                                                           \
    {                                                                                                        \
        .time = WL_TIME_##kind                                                                               \
    }
#define SORT                                                                                                 \
    {                                                                                                        \
        .sort = true                                                                                         \
    }

/* One reading is plausible, or it is named. */
static void test_a_column_of_times_is_read_as_a_whole(void **state)
{
    static const struct file_case cases[] = {
        {"date,key\n20260101,a\n20260115,b\n", AS_IS, T0 " a 0|1768435200000000000 b 0|"},
        {"time,key\n202601010030,a\n", AS_IS, "1767227400000000000 a 0|"},
        {"time,key\n20260101000000,a\n20260101000001,a\n", AS_IS, T0 " a 0|1767225601000000000 a 0|"},
        {"time,key\n20260101000000500,a\n", AS_IS, "1767225600500000000 a 0|"},
        {"time,key\n260101000001,a\n", AS_IS, "1767225601000000000 a 0|"},
        {"date,key\n20260101.0,a\n", AS_IS, T0 " a 0|"},
        {"{\"date\": 20260101, \"key\": \"a\"}\n", AS_IS, T0 " a 0|"},
        {"{\"when\": \"2026-01-01T00:00:00Z\", \"device\": \"a\", \"size\": 5}\n", AS_IS, T0 " a 5|"},
        {"20260101,a\n20260101,b\n", COLUMNS("1", "2", NULL), T0 " a 0|" T0 " b 0|"},
        {"time,key\n260101,a\n", TIME(YYMMDD), T0 " a 0|"},
        {"time,key\n700101,a\n", TIME(YYMMDD), "0 a 0|"},
        {"time,key\n2026,a\n", TIME(YYYYMMDD), T0 " a 0|"},
        {"time,key\n2026010100,a\n", TIME(YYYYMMDD), T0 " a 0|"},
        {"time,key\n46023.5,a\n46023.500011574,a\n", TIME(EXCEL),
         "1767268800000000000 a 0|1767268801000000000 a 0|"},
        {"time,key\n639028224000000001,a\n", TIME(TICKS), "1767225600000000100 a 0|"},
        {"time,key\n134116992000000001,a\n", TIME(FILETIME), "1767225600000000100 a 0|"},
        {"time,key\n2026/1/1 0:00,a\n2026/01/01,a\n2026.01.01 00:00:00,a\n20260101T000000Z,a\n", AS_IS,
         T0 " a 0|" T0 " a 0|" T0 " a 0|" T0 " a 0|"},
        {"time;key\n2026-01-01 00:00:00,500;a\n2026/1/1 1:00:01,5+01:00;a\n", SORT,
         "1767225600500000000 a 0|1767225601500000000 a 0|"},
        {"time,key\n20260101T0005,a\n", AS_IS, "1767225900000000000 a 0|"},
        /* Of these, one value alone might be a time of day, a date, or a day of Excel's. */
        {"time,key\n10000,a\n10060,a\n10075,a\n10090,a\n", AS_IS,
         "10000000000000 a 0|10060000000000 a 0|10075000000000 a 0|10090000000000 a 0|"},
        {"time,key\n240115,a\n260115,a\n280175,a\n", AS_IS,
         "240115000000000 a 0|260115000000000 a 0|280175000000000 a 0|"},
        {"time,key\n0,a\n45000,a\n90080,a\n", AS_IS, "0 a 0|45000000000000 a 0|90080000000000 a 0|"},
        {" [{\"time\": 1767225600, \"key\": \"a\"}]", AS_IS, T0 " a 0|"},
        /* JSON objects in an array, on one line or several; braces and brackets within texts. */
        {"[{\"time\": 1767225600, \"key\": \"a]}\\\"\"}, {\"time\": 1767225601, \"key\": \"b\"}]", AS_IS,
         "1767225600000000000 a]}\" 0|1767225601000000000 b 0|"},
        {"{\n \"time\": 1767225600,\n \"key\": \"a\"\n}\n{\n \"time\": 1767225601,\n \"key\": \"b\"\n}\n",
         AS_IS, "1767225600000000000 a 0|1767225601000000000 b 0|"},
        /* A date that begins with the day or the month is decided by a day beyond the 12th. */
        {"time,key\n01/02/1970,a\n31/12/1980 9:05,b\n", SORT, "2678400000000000 a 0|347101500000000000 b 0|"},
        {"time,key\n1/2/26 11:59 PM,a\n1/31/26 12:00 AM,b\n", AS_IS,
         "1767398340000000000 a 0|1769817600000000000 b 0|"},
        {"time,key\n01/02/2026,a\n", TIME(DMY), "1769904000000000000 a 0|"},
        /* Words: logs of web servers, RFC 2822, asctime(), AM and PM. */
        {"time,key\n[17/May/2015:10:05:03 +0000],a\n[17/May/2015:10:05:03 -0130],b\n", AS_IS,
         "1431857103000000000 a 0|1431862503000000000 b 0|"},
        {"time,key\n\"Sun, 17 May 2015 10:05:03 GMT\",a\n", AS_IS, "1431857103000000000 a 0|"},
        {"time,key\nSun May 17 10:05:03 +0000 2015,a\n\"May 17, 2015 10:05:04.5 AM\",b\n", AS_IS,
         "1431857103000000000 a 0|1431857104500000000 b 0|"},
        {"time,key\n2015-05-17 12:05:03 AM,a\n2015-05-17 12:05:03 PM,b\n", AS_IS,
         "1431821103000000000 a 0|1431864303000000000 b 0|"},
        /* Rows from 1970 to now have times. */
        {"time,key\n2020-01-01,b\n1970-01-01,a\n1980-01-01,a\n1990-01-01,a\n2005-01-01,a\n", SORT,
         "0 a 0|315532800000000000 a 0|631152000000000000 a 0|1104537600000000000 a 0|1577836800000000000 b "
         "0|"},
    };
    (void)state;
    check_cases(cases, COUNT(cases));
}

#define SAY  "; say which with --set trace.time=NAME, or by 'time' under trace"
#define NEAR ": it is no time, or in another unit; correct it, or leave the row out"

static void test_a_time_of_several_readings_and_a_row_without_a_time_are_refused(void **state)
{
    static const struct file_case cases[] = {
        {"time,key\n010000,a\n012000,b\n", AS_IS,
         ":2: time '010000' may be s (1970-01-01T02:46:40Z), a time of day without its date" SAY},
        {"time,key\n115959,a\n", AS_IS,
         ":2: time '115959' may be s (1970-01-02T08:12:39Z), a time of day without its date" SAY},
        {"time,key\n,a\n240115,a\n240116,b\n", AS_IS,
         ":3: time '240115' may be s (1970-01-03T18:41:55Z), yymmdd (2024-01-15T00:00:00Z)" SAY},
        {"time,key\n2024011500,a\n", AS_IS,
         ":2: time '2024011500' may be s (2034-02-20T01:25:00Z), yyyymmdd (2024-01-15T00:00:00Z)" SAY},
        {"time,key\n45306.75,a\n", AS_IS,
         ":2: time '45306.75' may be s (1970-01-01T12:35:06.75Z), excel (2024-01-15T18:00:00Z)" SAY},
        {"time,key\n29539320,a\n", AS_IS, ":2: time '29539320' may be s (1970-12-08T21:22:00Z)" SAY},
        {"time,key\n638408736000000000,a\n", AS_IS,
         ":2: time '638408736000000000' may be ns (1990-03-25T23:45:36Z), ticks (2024-01-15T00:00:00Z), "
         "snowflake (2015-08-31T17:51:18.38Z)" SAY},
        {"time,key\n133497504000000000,a\n", AS_IS,
         ":2: time '133497504000000000' may be filetime (2024-01-15T00:00:00Z), snowflake "
         "(2011-11-07T10:54:19.874Z)" SAY},
        {"{\"time\": 240115, \"key\": \"a\"}\n", AS_IS,
         ":1: time '240115' may be s (1970-01-03T18:41:55Z), yymmdd (2024-01-15T00:00:00Z)" SAY},
        {"date,key\n20260101,a\n20260132,b\n20260103,a\n20260104,a\n", AS_IS,
         ":3: date '20260132' is not a time in yyyymmdd between the years 1677 and 2262, as most are; write "
         "all alike, or name the format, as in time: ms"},
        {"date,key\n0,a\n20260101,a\n", AS_IS,
         ":2: date '0' is not a time in yyyymmdd between the years 1677 and 2262, as most are; write all "
         "alike, or name the format, as in time: ms"},
        {"time,key\n1767225600000,a\n1767225600,a\n1767225601,a\n", AS_IS,
         ":2: time '1767225600000' is not a time in epoch seconds between the years 1677 and 2262, as most "
         "are; write all alike, or name the format, as in time: ms"},
        {"time,key\n2026/13/1,a\n", AS_IS,
         ":2: time '2026/13/1' is not a time in a known format; say its form by 'time_format', as in "
         "'%d.%m.%Y %H:%M', or write ISO 8601, as in 2026-01-31T12:30:00Z"},
        {"time,key\n1/2/2026,a\n3/4/2026,a\n", AS_IS,
         ":2: time '1/2/2026' may be dmy (2026-02-01T00:00:00Z), mdy (2026-01-02T00:00:00Z)" SAY},
        {"time,key\n13/13/2026,a\n", AS_IS,
         ":2: time '13/13/2026' is not a time in a known format; say its form by 'time_format', as in "
         "'%d.%m.%Y %H:%M', or write ISO 8601, as in 2026-01-31T12:30:00Z"},
        /* Without a year, it is 2000; one that is so much earlier is of the next year. */
        {"time,key\nDec 30 10:00:00,a\nJan 2 10:00:00,a\n", AS_IS,
         "978170400000000000 a 0|978429600000000000 a 0|"},
        {"time,key\nJan  1 00:00:00,a\n", {.year = 2026}, T0 " a 0|"},
        {"time,key\n2026-01-01 02:00,a\n", {.zone_ns = INT64_C(7200000000000)}, T0 " a 0|"},
        {"time,key\n2026-01-01 00:00Z,a\n", {.zone_ns = INT64_C(7200000000000)}, T0 " a 0|"},
        {"time,key\n01|01|26 12h00.000 AM,a\n", {.pattern = NAME("%d|%m|%y %Ih%M.%f %p")}, T0 " a 0|"},
        {"time,key\n01/Jan 00:00 -0100,a\n",
         {.pattern = NAME("%d/%b %H:%M %z"), .year = 2026},
         "1767229200000000000 a 0|"},
        {"time,key\n01.13.2026,a\n",
         {.pattern = NAME("%d.%m.%Y")},
         ":2: time '01.13.2026' is not a time of the form '%d.%m.%Y'; correct it, or change 'time_format'"},
        {"timestamp_ms,key\n20260101000000,a\n", AS_IS,
         ":2: timestamp_ms '20260101000000' is not a time in epoch milliseconds between the years 1677 and "
         "2262, as "
         "most are; write all alike, or name the format, as in time: yyyymmdd"},
        /* Digits of a date among seconds. */
        {"time,key\n1767225600,a\n1767225601,a\n20260101,a\n", SORT,
         ":4: the row's time 1970-08-23T11:48:21Z is near 1970, and another row's is "
         "2026-01-01T00:00:00Z" NEAR},
        /* Seconds among milliseconds, no time at all; sorted or not, in every form. */
        {"time,key\n1767225601000,a\n1767225600000,a\n1767225602,a\n1767225603,a\n", AS_IS,
         ":4: the row's time 1970-01-21T10:53:45.602Z is near 1970, and another row's is "
         "2026-01-01T00:00:01Z" NEAR},
        {"time,key\n1767225601000,a\n1767225600000,a\n1767225603,a\n1767225602,a\n", SORT,
         ":4: the row's time 1970-01-21T10:53:45.603Z is near 1970, and another row's is "
         "2026-01-01T00:00:00Z" NEAR},
        {"time,key\n1767225600000,a\n0,a\n1767225602000,a\n", TIME(MS),
         ":3: the row's time 1970-01-01T00:00:00Z is near 1970, and another row's is "
         "2026-01-01T00:00:00Z" NEAR},
        {"time,key\n0,a\n1767225600,a\n", AS_IS,
         ":2: the row's time 1970-01-01T00:00:00Z is near 1970, and another row's is "
         "2026-01-01T00:00:00Z" NEAR},
        {"time,key\n2026-01-01,a\n1970-01-01,a\n", SORT,
         ":3: the row's time 1970-01-01T00:00:00Z is near 1970, and another row's is "
         "2026-01-01T00:00:00Z" NEAR},
        {"timestamp_ms,key,bytes\n-1,a,1\n1767225600000,a,1\n", AS_IS,
         ":2: the row's time 1969-12-31T23:59:59.999Z is near 1970, and another row's is "
         "2026-01-01T00:00:00Z" NEAR},
        {"timestamp_ms,key,bytes\n1767225600000,a,1\n1767225500000,a,1\n1767225600,a,1\n", AS_IS,
         ":4: the row's time 1970-01-21T10:53:45.6Z is near 1970, and another row's is "
         "2026-01-01T00:00:00Z" NEAR},
        {"timestamp_ms,key,count\n1767225600000,a,1\n1767225500000,a,1\nx,a,1\n", AS_IS,
         ":3: the row's time 2025-12-31T23:58:20Z is before 2026-01-01T00:00:00Z of the row above; add sort: "
         "true under trace, or sort the file by time"},
    };
    (void)state;
    check_cases(cases, COUNT(cases));
}

/* Several times as long as the reader's buffer; each object also straddles its end somewhere. */
static void test_objects_on_a_line_of_any_length_are_read(void **state)
{
    enum { ROWS = 20000 };
    static char text[ROWS * 48] = " [";
    struct wl_trace_batch batch;
    struct wl_trace *trace;
    size_t size = 2, rows = 0;
    bool more = true;
    (void)state;
    for (int i = 0; i < ROWS; i++)
        size += (size_t)snprintf(text + size, sizeof text - size,
                                 "{\"time\": 17672256%05d, \"key\": \"%d\"}, ", i, i);
    struct trace_file file = trace_file_plain(text, size);
    assert_true(wl_trace_open_as(file.path, NULL, &trace, NULL));
    for (; wl_trace_next(trace, &batch, &more, NULL) && more; rows++)
        assert_true(batch.key_index == rows &&
                    batch.time_ns == (INT64_C(1767225600000) + (int64_t)rows) * 1000000);
    assert_false(more);
    assert_int_equal(rows, ROWS);
    wl_trace_close(trace);
    trace_file_remove(&file);
}

static void test_wide_characters_beyond_the_buffer_are_read(void **state)
{
    enum { ROWS = 30000, LINE = 20 };
    static char text[2 * LINE * (ROWS + 1)] = "\xff\xfe";
    struct wl_trace_batch batch;
    struct wl_trace *trace;
    size_t size = 2, rows = 0;
    bool more = true;
    (void)state;
    for (int i = 0; i <= ROWS; i++) {
        char line[LINE];
        snprintf(line, sizeof line, i == 0 ? "time,key\n" : "17672256%05d,~\n", i);
        for (const char *at = line; *at != '\0'; at++) { /* ~: the sign of the euro */
            text[size++] = (char)(*at == '~' ? '\xac' : *at);
            text[size++] = (char)(*at == '~' ? '\x20' : '\0');
        }
    }
    struct trace_file file = trace_file_plain(text, size);
    assert_true(wl_trace_open_as(file.path, NULL, &trace, NULL));
    while (wl_trace_next(trace, &batch, &more, NULL) && more)
        rows++;
    assert_false(more);
    assert_int_equal(rows, ROWS);
    wl_trace_close(trace);
    trace_file_remove(&file);
}

static void test_wrong_files_are_reported_with_place_and_remedy(void **state)
{
    static const struct file_case cases[] = {
        {" time | key\n------+-----\n 2026-01-01 | a|b\n", AS_IS,
         ":3: 3 columns where the table's header has 2; give only the table, with a row per line and no bars "
         "in "
         "its fields"},
        {"t,u\n2026-01-01,a,b\n", COLUMNS("t", "u", NULL),
         ":2: 3 columns where the header has 2: one or more too many; quote a field that holds the "
         "delimiter"},
        {"time,key,x\n2026-01-01,a\n", AS_IS,
         ":2: 2 columns where the header has 3: one or more are missing; write an empty field for a missing "
         "value"},
        {"time,key,x\n2026-01-01\ta\t1\n", AS_IS,
         ":2: the first line has commas, line 2 has tabs; write the same between all columns"},
        {"time,key,x\n\"2026-01-01\"\t\"a\"\t\"1\"\n", AS_IS,
         ":2: the first line has commas, line 2 has tabs; write the same between all columns"},
        {"time;key;x\n2026-01-01;a;1\n2026-01-01|b|1\n", AS_IS,
         ":3: the first line has semicolons, line 3 has pipes; write the same between all columns"},
        {"2026-01-01#a\n2026-01-01;b\n",
         {.columns = {.time = NAME("1"), .key = {NAME("2")}, .key_count = 1}, .delimiter = '#'},
         ":2: the first line has '#', line 2 has semicolons; write the same between all columns"},
        {"time,key,x\n2026-01-01,a,1\n",
         {.delimiter = '\t'},
         ":1: one column, 'time,key,x'; the line lacks the delimiter that the scenario names; change "
         "'delimiter', or "
         "leave it out"},
        {"time,key,x\n2026-01-01\n", AS_IS,
         ":2: 1 column where the header has 3: one or more are missing; write an empty field for a missing "
         "value"},
        {"t,u\n2026-01-01,a\n", COLUMNS("t", "user", NULL),
         ":1: no column 'user' in the header 't', 'u'; name one of these"},
        {"t,room,s\n2026-01-01,a,1\n", COLUMNS("t", "roomm", NULL),
         ":1: no column 'roomm' in the header 't', 'room', 's'; did you mean 'room'?"},
        {"x,key\n2026-01-01,a\n", AS_IS, T0 " a 0|"},
        /* The number of a name that occurs twice is taken; of names in another case, the exact one is meant.
         */
        {"ts,x,x\n2026-01-01,a,b\n", AS_IS, T0 " a 0|"},
        {"ts,ts\n2026-01-01,a\n", AS_IS,
         ":1: more than one column is named 'ts' in the header 'ts', 'ts'; give the number of one, such as "
         "2"},
        {"id,time,id\nu1,2026-01-01,room-1\n", COLUMNS("time", "id", NULL),
         ":1: more than one column is named 'id' in the header 'id', 'time', 'id'; give the number of one, "
         "such as 3"},
        {"ID,Id,time,size\na,b,2026-01-01,1\n", COLUMNS("time", "id", NULL),
         ":1: more than one column is named 'id' in the header 'ID', 'Id', 'time', 'size'; give the number "
         "of one, such as 2"},
        {"id,ID,time,size\na,b,2026-01-01,1\n", COLUMNS("time", "ID", NULL), T0 " b 1|"},
        {"id,time,id\nu1,2026-01-01,room-1\n", COLUMNS("time", "3", NULL), T0 " room-1 0|"},
        {"{\"at\": 1767225600, \"key\": \"a\", \"key\": \"b\"}\n", AS_IS,
         ":1: a field occurs twice in the object; rename one of them"},
        /* A column of counts is read too, unless it is the key, or rows have sizes. */
        {"date,host,user,Count\n2026-01-01,web-1,u,2\n", AS_IS, T0 " web-1 0|" T0 " web-1 0|"},
        {"date;count;host;size\n2026-01-01;7;a;1\n", AS_IS, T0 " a 1|"},
        {"{\"date\": \"2026-01-01\", \"count\": 2, \"room\": \"r\"}\n", AS_IS, T0 " r 0|" T0 " r 0|"},
        {"when,user,host\nsoon,a,b\n", AS_IS,
         ":1: no column 'time' in the header 'when', 'user', 'host', and none has times in a known form; "
         "name that of "
         "the times, and their form by 'time_format'"},
        {"17/06/09 20:10:40,a\n17/06/09 20:10:41,a\n", COLUMNS("1", "2", NULL),
         ":1: 1 '17/06/09 20:10:40' may be dmy (2009-06-17T20:10:40Z), ymd (2017-06-09T20:10:40Z)" SAY},
        {"17/06/09 20:10:40,a\n17/06/10 20:10:40,a\n", COLUMNS("1", "2", NULL),
         "1497039040000000000 a 0|1497125440000000000 a 0|"},
        {"day,room\n02/01/70,a\n31/12/99,a\n", AS_IS, "86400000000000 a 0|946598400000000000 a 0|"},
        {"Device ID;Measured At;Size\r\ndev-1;2026-01-01T00:00:00Z;10\r\n", AS_IS, T0 " dev-1 10|"},
        /* Numbers are times if they are in the range of times; a column of other texts is none. */
        {"Size,Last Time,wann,Raum\n10,,1767225600,a\n11,never,1767225601,b\n", AS_IS,
         T0 " a 10|1767225601000000000 b 11|"},
        {"Size,wann,Raum\n20261301,20260101,a\n", AS_IS, T0 " a 20261301|"},
        /* Of several times, not that of the arrival; a Snowflake is a key. */
        {"receivedAt,userId,eventTime\n2026-01-02,175928847299117063,2026-01-01\n", AS_IS,
         T0 " 175928847299117063 0|"},
        /* Of two times, the one of the begin; of two keys, the first. */
        {"start time,user,end time\n2026-01-01,a,2026-01-02\n", AS_IS, T0 " a 0|"},
        {"{\"made\": \"2026-01-01\", \"by\": {\"user\": \"a\", \"n\": [1]}}\n", AS_IS, T0 " a 0|"},
        {"{\"made\": \"2026-01-01\", \"user\": \"a\", \"host\": \"b\"}\n", AS_IS, T0 " a 0|"},
        /* Without rows, names decide. */
        {"a+b,\"Time, UTC\"\n", AS_IS, ":1: no rows below the header; write at least one"},
        {"id,ts\n1,2026-01-01\n2,\"2026-01-01\"x\n", AS_IS,
         ":3: text after a closing quote; double the quotes within a field"},
        {"2026-01-01,a\n", COLUMNS("1", "3", NULL), ":1: no column 3, the first line has 2; count from 1"},
        {"t,u,s\n1/32/2026 3:04 PM,a,1\n", COLUMNS("t", "u", "s"),
         ":2: t '1/32/2026 3:04 PM' is not a time in a known format; say its form by 'time_format', as in "
         "'%d.%m.%Y %H:%M', or write ISO 8601, as in 2026-01-31T12:30:00Z"},
        {"t,u,s\n1767225600,a,1\n2026-01-01,a,1\n", COLUMNS("t", "u", "s"),
         ":3: t '2026-01-01' is not a time in epoch seconds between the years 1677 and 2262, as most "
         "are; write all alike, or name the format, as in time: ms"},
        {"t,u,s\n,a,1\n", COLUMNS("t", "u", "s"), ":2: t is empty; give each row a time"},
        {"t,u,s\n1767225600,,1\n", COLUMNS("t", "u", "s"), ":2: key is empty; give each row a key"},
        {"t,u,s\n1767225600,\"a\nb\",1\n", COLUMNS("t", "u", "s"), ":2: line break in a key; leave it out"},
        {"t,u,s\n1767225600,\xFF,1\n", COLUMNS("t", "u", "s"),
         ":2: byte 1 of the key is not UTF-8; save the trace as UTF-8"},
        {"t,u,s\n1767225600,a,12 KB\n", COLUMNS("t", "u", "s"),
         ":2: bytes '12 KB' is not a whole number; write a whole number from 0 to 1099511627776"},
        {"t,u,s\n1767225600,a,1\n1767225599,a,1\n", COLUMNS("t", "u", "s"),
         ":3: the row's time 2025-12-31T23:59:59Z is before 2026-01-01T00:00:00Z of the row above; add sort: "
         "true under trace, or sort the file by time"},
        {"t,u,s\n1767225600,\"a,1\n", COLUMNS("t", "u", "s"),
         ":2: a quote that is never closed; close it, or double it within a field"},
        {"t,u,s\n", COLUMNS("t", "u", "s"), ":1: no rows below the header; write at least one"},
    };
    (void)state;
    check_cases(cases, COUNT(cases));
}

#define PAIRS "t=2026-01-01T00:00:00Z x=1 user=u\n"

/* The key of a log is what names a program or a machine: in brackets, before a colon, or among the first
 * words. */
static void test_logs_and_lists_are_read_by_the_form_of_their_lines(void **state)
{
    static const struct file_case cases[] = {
        {"- 1117838570 2005.06.03 R02-M1 RAS\n", AS_IS, "1117838570000000000 R02-M1 0|"},
        {"081109 203518 143 INFO dfs.DataNode: x\n", AS_IS, "1226262918000000000 dfs.DataNode 0|"},
        {"2016-09-28 04:30:30, Info    CBS    a, b\n", AS_IS, "1475037030000000000 CBS 0|"},
        {"2015-10-18 18:01:47,978 INFO [main] x\n", AS_IS, "1445191307978000000 main 0|"},
        {"[Sun Mar 01 00:00:00 2026] [notice] first\n[Sun Mar 01 00:00:01 2026] [error] next one\n", AS_IS,
         "1772323200000000000 t 0|1772323201000000000 t 0|"},
        {"2026-01-01 00:00:00.5 PST [7] LOG:  x.y\n", AS_IS, "1767254400500000000 x.y 0|"},
        {"web-1  | 2026-01-01T00:00:00Z GET a\nweb-2  | 2026-01-01T00:00:00Z POST b\n", AS_IS,
         T0 " web-1 0|" T0 " web-2 0|"},
        {"I0101 00:00:00.25 12 a.cc:5] one two\n", AS_IS, "946684800250000000 a.cc:5 0|"},
        {"01-13 00:00:00.250  1702  2395 D Window: x\n", AS_IS, "947721600250000000 Window 0|"},
        /* A line without a time continues the one above; one that lacks fields has '-'; another form is none.
         */
        {"2026-01-01 00:00:00 [a] x\n  at y(1)\n2026-01-01 00:00:00 [b] z\n", AS_IS, T0 " a 0|" T0 " b 0|"},
        {"Jan  1 00:00:00 web sshd: x\nJan  1 00:00:01 --- repeated ---\n", AS_IS,
         "946684800000000000 web 0|946684801000000000 - 0|"},
        {"2026-01-01 00:00:00 [a] x\n[b] 2026-01-01 00:00:00 z\n", AS_IS,
         ":2: the line has not the form {time:2w} [{part}] {message}; remove it, or give another form by "
         "'line' under trace"},
        /* Fields that a comment names, name=value, InfluxDB's lines, and the rows in an object. */
        {"#Version: 1.0\n#Fields: date time c-ip sc-bytes\n2026-01-01 00:00:00 ::1 7\n#Date: x\n", AS_IS,
         T0 " ::1 0|"},
        {"#separator \\x09\n#fields\tts\tuser\tbytes\n1767225600.000000\ta b\t7\n", AS_IS, T0 " a b 7|"},
        {"# made by x\ntime,key\n2026-01-01,a\n# end\n", AS_IS, T0 " a 0|"},
        {"t=2026-01-01T00:00:00Z level=info msg=\"a \\\"b=c\" app=x user=u\nsay hello\n", AS_IS, T0 " u 0|"},
        {"t=2026-01-01T00:00:00Z user=u msg=\"a b\"\r\n", AS_IS, T0 " u 0|"},
        {PAIRS PAIRS PAIRS PAIRS "{\"a\": 1}\n", AS_IS,
         ":5: an object among lines of name=value; give them in two files"},
        {"web  | {\"at\": 1767225600, \"key\": \"a\"}\nweb  | {\"at\": 1767225600, \"key\": \"b\"}\n", AS_IS,
         T0 " a 0|" T0 " b 0|"},
        /* An object without a time is a message; the time is before it. */
        {"web-1 app 2026-01-01T00:00:00Z {\"user\": \"x\",\"n\":1}\n"
         "web-2 app 2026-01-01T00:00:00Z {\"user\": \"x\",\"n\":2}\n",
         AS_IS, T0 " web-1 0|" T0 " web-2 0|"},
        {"2026-01-01T09:00:00Z out {\"at\": 1767225600, \"key\": \"a\"}\n", AS_IS, T0 " a 0|"},
        {"time,key\n2026/01/01 1:00:00 AM GMT+1,a\n", AS_IS, T0 " a 0|"},
        {"Date,Time,room\n1/01/2026,12:00:00 AM,a\n1/13/2026,12:00:00 AM,a\n", AS_IS,
         T0 " a 0|1768262400000000000 a 0|"},
        {"date,hour,key\n2026-01-01,0,a\n2026-01-01,10,a\n",
         {.columns =
              {.time = NAME("date"), .time_of_day = NAME("hour"), .key = {NAME("key")}, .key_count = 1}},
         T0 " a 0|1767261600000000000 a 0|"},
        {"# HELP a b\nup,host=a value=1 1767225600000000000\n", AS_IS, T0 " up,host=a 0|"},
        {"{\"data\": {\"rows\": [{\"at\": 1767225600, \"key\": \"a\"}, {\"at\": 1767225600, \"key\": "
         "\"b\"}]}}",
         AS_IS, T0 " a 0|" T0 " b 0|"},
        /* Rows without a header; texts that repeat are keys, numbers are not. */
        {"7|2026-01-01|a|x\n8|2026-01-01|b|y\n", AS_IS, T0 " a 0|" T0 " b 0|"},
        {"2026-01-01\t{\"a\": 1, \"b\"}\tk\n2026-01-01\t{}\tk\n2026-01-01\t{}\tk\n", AS_IS,
         T0 " k 0|" T0 " k 0|" T0 " k 0|"},
        {"date,host,x\n2026-01-01,a,1\n2026-01-01,,1\n", AS_IS, T0 " a 0|" T0 " - 0|"},
    };
    (void)state;
    check_cases(cases, COUNT(cases));
}

static void test_files_of_another_kind_are_named(void **state)
{
    static const struct file_case cases[] = {
        {"[[1767225600, \"a\"]]\n", AS_IS,
         ":1: this is a JSON array without objects; write an object per row"},
        {" [\n  \"a\"]\n", AS_IS, ":1: this is a JSON array without objects; write an object per row"},
        {"[{\"time\": 1767225600, \"key\": \"a\"},\n {\"time\": 1,\n  \"key\": x}]\n", AS_IS,
         ":2: not JSON; write one object per line"},
        {"Defaulted container \"x\" out of: x, y\n\n{\"at\": 1767225600, \"key\": \"a\"}\n", AS_IS,
         ":1: no JSON object, but a message such as kcat and kubectl print; remove it"},
        {"{\"at\": 1767225600, \"key\": \"a\"}\n{\"at\": 17672", AS_IS,
         ":2: not JSON; write one object per line"},
        {"{\"at\": 1767225600, \"key\": \"a\"}\n{\"at\": 1767225600}\n", AS_IS,
         ":2: key is empty; give each row a key"},
        {"name: x\nstrategies:\n", AS_IS, ":1: this is a scenario, not a trace; name a file of rows"},
        {"{}\n{\"a\": 1}\n", AS_IS, ":1: the first object has no fields; remove it"},
        {"PAR1xxxx", AS_IS,
         ":1: this is a Parquet file; convert it, by duckdb -c \"COPY (FROM 'IN.parquet') TO 'OUT.csv'\""},
    };
    (void)state;
    check_cases(cases, COUNT(cases));
}

static void test_zstd_is_read_and_a_cut_or_damage_is_refused(void **state)
{
    static const char text[] =
        "timestamp_ms,key,bytes\n1767225600000,a,5\n1767225600000,bbbbbbbbbbbbbbbbbbbbbbbb,6\n";
    char packed[512], rows[512];
    ZSTD_CCtx *context = ZSTD_createCCtx();
    (void)state;
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    size_t size = ZSTD_compress2(context, packed, sizeof packed, text, sizeof text - 1);
    ZSTD_freeCCtx(context);
    assert_false(ZSTD_isError(size));
    const struct wl_trace_format plain = {0};
    struct trace_file file = trace_file_plain(packed, size);
    read_rows(file.path, &plain, rows, sizeof rows);
    assert_string_equal(rows, T0 " a 5|" T0 " bbbbbbbbbbbbbbbbbbbbbbbb 6|");
    trace_file_remove(&file);
    for (size_t cut = 4; cut < size; cut++) {
        file = trace_file_plain(packed, cut);
        read_rows(file.path, &plain, rows, sizeof rows);
        assert_non_null(strstr(rows, ": zstd file is truncated; copy or make it again"));
        trace_file_remove(&file);
    }
    packed[size - 1] ^= 1;
    file = trace_file_plain(packed, size);
    read_rows(file.path, &plain, rows, sizeof rows);
    assert_non_null(strstr(rows, ": zstd file is damaged; copy or make it again"));
    trace_file_remove(&file);
    packed[size - 1] ^= 1;
    memcpy(packed + size, "tail", 4);
    file = trace_file_plain(packed, size + 4);
    read_rows(file.path, &plain, rows, sizeof rows);
    assert_non_null(strstr(rows, ", and what follows is not zstd"));
    trace_file_remove(&file);
}

/* pzstd writes a frame of other data first; zstd --long=28 a window of 256 MiB. */
static void test_zstd_with_other_frames_is_read_and_a_large_window_is_refused(void **state)
{
    static const char text[] = "time,key\n2026-01-01,a\n2026-01-01,b\n";
    static const char skippable[] = {0x5e, 0x2a, 0x4d, 0x18, 4, 0, 0, 0, 1, 2, 3, 4};
    char packed[512], rows[512];
    const struct wl_trace_format plain = {0};
    (void)state;
    memcpy(packed, skippable, sizeof skippable);
    for (int window = 27; window <= 28; window++) {
        ZSTD_CCtx *context = ZSTD_createCCtx();
        ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0);
        ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, window);
        ZSTD_outBuffer out = {packed, sizeof packed, sizeof skippable};
        ZSTD_inBuffer in = {text, sizeof text - 1, 0};
        assert_int_equal(ZSTD_compressStream2(context, &out, &in, ZSTD_e_flush), 0);
        assert_int_equal(ZSTD_compressStream2(context, &out, &in, ZSTD_e_end), 0);
        ZSTD_freeCCtx(context);
        struct trace_file file = trace_file_plain(packed, out.pos);
        read_rows(file.path, &plain, rows, sizeof rows);
        assert_string_equal(rows, window == 27 ? T0 " a 0|" T0 " b 0|"
                                               : ":1: zstd file with a window above 128 MiB; pack it again "
                                                 "without --long=N");
        trace_file_remove(&file);
    }
}

static void put_file(const char *folder, const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *stream = fopen(path, "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(text, 1, strlen(text), stream), strlen(text));
    assert_int_equal(fclose(stream), 0);
}

/* The output of DSBulk: a header in each file, and rows in token order. */
static void test_folder_is_read_in_order_of_names(void **state)
{
    static const char *const names[] = {"output-000002.csv", "output-000001.csv", "output-000003.csv",
                                        "notes.md"};
    static const char *const texts[] = {"u,at,body\nb,2026-01-01T00:00:00Z,\"\\\"\"\n",
                                        "u,at,body\nb,2026-01-01T00:00:01Z,xx\na,2026-01-01T00:00:00Z,\n",
                                        "u,at,body\n", "#"};
    char rows[512];
    (void)state;
    struct trace_file file = trace_file_name("x");
    for (size_t i = 0; i < COUNT(names); i++)
        put_file(file.folder, names[i], texts[i]);
    struct wl_trace_format format = {.columns = {.time = NAME("at"),
                                                 .key = {NAME("u")},
                                                 .key_count = 1,
                                                 .bytes_of = {NAME("body")},
                                                 .bytes_of_count = 1}};
    read_rows(file.folder, &format, rows, sizeof rows);
    assert_non_null(strstr(rows, "/output-000001.csv:3: the row's time 2026-01-01T00:00:00Z is before"));
    format.sort = true;
    read_rows(file.folder, &format, rows, sizeof rows);
    assert_string_equal(rows, T0 " a 0|" T0 " b 1|1767225601000000000 b 2|");
    for (size_t i = 0; i < COUNT(names); i++) {
        char path[128];
        snprintf(path, sizeof path, "%s/%s", file.folder, names[i]);
        assert_int_equal(remove(path), 0);
    }
    trace_file_remove(&file);
}

/* 20,000 rows in 64 KiB give about 25 runs; many rows have the same time. Read twice, as a simulation run
 * does. */
static void test_sort_gives_time_order_and_keeps_ties(void **state)
{
    enum { ROWS = 20000 };
    struct wl_trace_lines *sort;
    struct sim_error error = {.class = SIM_ERROR_NONE};
    uint32_t dice = 7;
    char key[64];
    (void)state;
    assert_true(trace_sort_create("t.csv", 64 << 10, &sort, &error));
    for (uint64_t i = 0; i < ROWS; i++) {
        dice = dice * 1664525U + 1013904223U;
        int size = snprintf(key, sizeof key, "%.*s%u", (int)(dice >> 28), "kkkkkkkkkkkkkkkkkkkk", dice);
        const struct trace_row row = {
            (int64_t)(dice >> 20) - 2048, (int64_t)(i % 5), key, (size_t)size, i, 0};
        assert_true(trace_sort_put(sort, &row, i + 2, &error));
    }
    for (int pass = 0; pass < 2; pass++) {
        struct trace_row row;
        uint64_t line, before = 0, sum = 0;
        int64_t time_ns = INT64_MIN;
        bool more;
        assert_true(wl_trace_lines_turn(sort, &error));
        for (uint64_t i = 0; i < ROWS; i++) {
            assert_true(trace_sort_next(sort, &row, &line, &more, &error) && more);
            assert_true(row.time_ns > time_ns || (row.time_ns == time_ns && row.value > before));
            assert_true(row.late_ns == (int64_t)(row.value % 5));
            assert_true(line == row.value + 2 && row.key_size > 0 && row.key_size < sizeof key);
            time_ns = row.time_ns;
            before = row.value;
            sum += row.value;
        }
        assert_true(sum == (uint64_t)ROWS * (ROWS - 1) / 2);
        assert_true(trace_sort_next(sort, &row, &line, &more, &error) && !more);
    }
    wl_trace_lines_destroy(sort);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files_in_common_formats_give_their_rows),
        cmocka_unit_test(test_a_column_of_times_is_read_as_a_whole),
        cmocka_unit_test(test_a_time_of_several_readings_and_a_row_without_a_time_are_refused),
        cmocka_unit_test(test_objects_on_a_line_of_any_length_are_read),
        cmocka_unit_test(test_wide_characters_beyond_the_buffer_are_read),
        cmocka_unit_test(test_wrong_files_are_reported_with_place_and_remedy),
        cmocka_unit_test(test_logs_and_lists_are_read_by_the_form_of_their_lines),
        cmocka_unit_test(test_files_of_another_kind_are_named),
        cmocka_unit_test(test_zstd_is_read_and_a_cut_or_damage_is_refused),
        cmocka_unit_test(test_zstd_with_other_frames_is_read_and_a_large_window_is_refused),
        cmocka_unit_test(test_folder_is_read_in_order_of_names),
        cmocka_unit_test(test_sort_gives_time_order_and_keeps_ties),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
