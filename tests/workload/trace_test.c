/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: a trace returns the rows of its file, in constant memory, and an error in a malformed file names the
 * place and a remedy. Method: small files written here, with one entry per malformed case and its exact line
 * of error; counts compared with a computation over the whole file; synthetic files of many lines and keys;
 * and the real traces, whose row counts other programs found. */
#define _DEFAULT_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <inttypes.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "trace_file.h"
#include "workload/trace.h"

#define HEADER "timestamp_ms,key,bytes\n"
#define SAME   "; write the same between all columns"
#define COUNTS "timestamp_ms,key,count\n"
#define WHOLE  "write a whole number from 0 to 1099511627776"

/* The result of reading a trace to its end or its error. */
struct reading {
    bool fine;
    struct sim_error error;
    uint64_t lines, rows, bytes;
    uint64_t hash; /* over everything that the batches and keys contain, in order */
    uint32_t keys;
};

static void fold(struct reading *reading, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size; i++) {
        reading->hash = (reading->hash ^ bytes[i]) * UINT64_C(0x100000001B3);
    }
}

static struct reading read_all(const char *path)
{
    struct reading reading = {0};
    struct wl_trace *trace;
    if (!wl_trace_open_as(path, NULL, &trace, &reading.error)) {
        assert_null(trace);
        return reading;
    }
    struct wl_trace_batch batch;
    bool more = true;
    int64_t last_time_ns = INT64_MIN;
    while (more) {
        if (!wl_trace_next(trace, &batch, &more, &reading.error)) {
            wl_trace_close(trace);
            return reading;
        }
        if (more) {
            size_t size;
            const char *key = wl_trace_key(trace, batch.key_index, &size);
            reading.lines++;
            reading.rows += batch.rows;
            reading.bytes += batch.bytes;
            fold(&reading, key, size);
            fold(&reading, &batch.time_ns, sizeof batch.time_ns);
            fold(&reading, &batch.bytes, sizeof batch.bytes);
            fold(&reading, &batch.step_ms, sizeof batch.step_ms);
            assert_true(wl_trace_has_counts(trace) || batch.time_ns >= last_time_ns);
            last_time_ns = batch.time_ns;
        }
    }
    reading.keys = wl_trace_key_count(trace);
    reading.fine = true;
    uint64_t read_bytes, all_bytes;
    wl_trace_progress(trace, &read_bytes, &all_bytes);
    assert_int_equal(read_bytes, all_bytes);
    wl_trace_close(trace);
    return reading;
}

static void assert_fails(const char *path, enum sim_error_class class, const char *expected)
{
    struct reading reading = read_all(path);
    char line[256];
    (void)snprintf(line, sizeof line, "%s:%s", path, expected);
    assert_false(reading.fine);
    assert_string_equal(reading.error.text, line);
    assert_int_equal(reading.error.class, class);
}

static void test_trace_malformed_is_reported_with_place_and_remedy(void **state)
{
    (void)state;
#define CASE(text, expected)                                                                                 \
    {                                                                                                        \
        text, sizeof(text) - 1, expected                                                                     \
    }
    static const struct {
        const char *text;
        size_t size;
        const char *expected;
    } cases[] = {
        CASE("", "1: the file is empty; write the header 'timestamp_ms,key,bytes' and rows below it"),
        CASE(HEADER, "1: no rows below the header; write at least one"),
        CASE("timestamp_ms,key,bytes", "1: no rows below the header; write at least one"),
        CASE(COUNTS, "1: no rows below the header; write at least one"),
        CASE("1,a,2\n", "1: no header, the first line is a row; say which columns are which, as in columns: "
                        "{time: 1, key: 2, bytes: 3}"),
        CASE("\n1,a,2\n",
             "2: no header, the first line is a row; say which columns are which, as in columns: "
             "{time: 1, key: 2, bytes: 3}"),
        CASE("a line that is longer than what a message shows of it\n",
             "1: one column, 'a line that is longer than what a messag...'; write the header "
             "'timestamp_ms,key,bytes' and rows below it, or name the delimiter, as in delimiter: tab"),
        CASE("t\0i\0", "1: NUL byte; save the trace as UTF-8 text"),
        CASE(HEADER "1,a\0b,2\n", "2: NUL byte; save the trace as UTF-8 text"),
        CASE(HEADER "1,a,2\n\0\n", "3: 1 column where the header has 3: one or more are missing; write an "
                                   "empty field for a missing value"),
        CASE(HEADER "1\n", "2: 1 column where the header has 3: one or more are missing; write an empty "
                           "field for a missing value"),
        CASE(HEADER "1\ta b\t2\n", "2: the first line has commas, line 2 has tabs" SAME),
        CASE(COUNTS "1,a,2\n\"1\";\"a\";\"2\"\n", "3: the first line has commas, line 3 has semicolons" SAME),
        CASE("timestamp_ms\tkey\tbytes\n1,a,2\n", "2: the first line has tabs, line 2 has commas" SAME),
        CASE(HEADER "1,a\n", "2: 2 columns where the header has 3: one or more are missing; write an empty "
                             "field for a missing value"),
        CASE(HEADER "1,\"a\"\n", "2: 2 columns where the header has 3: one or more are missing; write an "
                                 "empty field for a missing value"),
        CASE(COUNTS "1,a\n", "2: 2 columns where the header has 3: one or more are missing; write an empty "
                             "field for a missing value"),
        CASE(HEADER "1,a,2,3\n", "2: 4 columns where the header has 3: one or more too many; quote a field "
                                 "that holds the delimiter"),
        CASE(COUNTS "1,a,2,\n", "2: 4 columns where the header has 3: one or more too many; quote a field "
                                "that holds the delimiter"),
        CASE(HEADER "15,a,2\n12,a,2\n",
             "3: the row's time 1970-01-01T00:00:00.012Z is before 1970-01-01T00:00:00.015Z of the row "
             "above; add sort: true under trace, or sort the file by time"),
        CASE(COUNTS "-1,a,2\n-2,b,2\n",
             "3: the row's time 1969-12-31T23:59:59.998Z is before 1969-12-31T23:59:59.999Z of the row "
             "above; add sort: true under trace, or sort the file by time"),
        CASE(HEADER ",a,2\n", "2: timestamp_ms is empty; give each row a time"),
        CASE(HEADER "-,a,2\n",
             "2: timestamp_ms '-' is not a time in a known format; say its form by 'time_format', as in "
             "'%d.%m.%Y %H:%M', or write ISO 8601, as in 2026-01-31T12:30:00Z"),
        CASE(HEADER "9223372036855,a,2\n",
             "2: timestamp_ms '9223372036855' is not a time in epoch milliseconds between the years 1677 and "
             "2262, as most are; write all alike, or name the format, as in time: yyyymmdd"),
        CASE(HEADER "-99999999999999999999999999,a,2\n",
             "2: timestamp_ms '-99999999999999999999999999' is not a time in a known format; say its form by "
             "'time_format', as in '%d.%m.%Y %H:%M', or write ISO 8601, as in 2026-01-31T12:30:00Z"),
        CASE(HEADER "1,,2\n", "2: key is empty; give each row a key"),
        CASE(HEADER "1,\"\",2\n", "2: key is empty; give each row a key"),
        CASE(HEADER "1,\"a\"b,2\n", "2: text after a closing quote; double the quotes within a field"),
        CASE(HEADER "1,\"a\nb\",2\n", "2: line break in a key; leave it out"),
        CASE(HEADER "1,\"a,2", "2: a quote that is never closed; close it, or double it within a field"),
        CASE(HEADER "1,a\rb,2\n", "2: line break in a key; leave it out"),
        CASE(HEADER "1,caf\xE9,2\n", "2: byte 4 of the key is not UTF-8; save the trace as UTF-8"),
        CASE(HEADER "1,\xED\xA0\x80,2\n", "2: byte 1 of the key is not UTF-8; save the trace as UTF-8"),
        CASE(HEADER "1,a,\n", "2: bytes is empty; " WHOLE),
        CASE(COUNTS "1,a,\n", "2: count is empty; " WHOLE),
        CASE(HEADER "1,a,-5\n", "2: bytes -5 is negative; " WHOLE),
        CASE(COUNTS "1,a,-5\n", "2: count -5 is negative; " WHOLE),
        CASE(HEADER "1,a,+1\n", "2: bytes '+1' is not a whole number; " WHOLE),
        CASE(HEADER "1,a,-\n", "2: bytes '-' is not a whole number; " WHOLE),
        CASE(HEADER "1,a,1e3\n", "2: bytes '1e3' is not a whole number; " WHOLE),
        CASE(HEADER "1,a,\xC3\xA9\x1B\n", "2: bytes '\?\?\?' is not a whole number; " WHOLE),
        CASE(HEADER "1,a,1099511627777\n", "2: bytes 1099511627777 is too large; " WHOLE),
        CASE(HEADER "1,a,18446744073709551617\n", "2: bytes 18446744073709551617 is too large; " WHOLE),
        CASE(COUNTS "1,a,0\n2,b,0\n", "3: every count is 0; give the trace at least one row"),
        CASE(COUNTS "-9223372036852,a,1\n9223372036852,a,1\n9223372036852,a,1\n",
             "3: the line's rows would reach beyond the years 1677 to 2262; check timestamp_ms"),
        CASE(COUNTS "9223372036800,a,2\n9223372036852,a,2\n9223372036853,b,1\n",
             "3: the line's rows would reach beyond the years 1677 to 2262; check timestamp_ms"),
    };
#undef CASE
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct trace_file file = trace_file_plain(cases[i].text, cases[i].size);
        assert_fails(file.path, SIM_ERROR_INPUT, cases[i].expected);
        trace_file_remove(&file);
    }
}

static void test_trace_not_a_file_is_reported_with_place_and_remedy(void **state)
{
    (void)state;
    struct trace_file file = trace_file_name("t.csv");
    assert_fails(file.folder, SIM_ERROR_INPUT, " a folder without files of rows; name a CSV file");
    assert_fails(file.path, SIM_ERROR_INPUT,
                 " trace cannot be opened (No such file or directory); check the file's name");
    trace_file_remove(&file);
    /* Root may read every file, so the case only fails for other users. */
    if (geteuid() != 0) {
        file = trace_file_plain(HEADER, sizeof HEADER - 1);
        assert_int_equal(chmod(file.path, 0), 0);
        assert_fails(file.path, SIM_ERROR_INPUT,
                     " trace cannot be opened (Permission denied); check the file's permissions");
        trace_file_remove(&file);
    }
}

/* /proc/self/mem is a file whose first page cannot be read: reading it fails with EIO. */
static void test_trace_read_error_is_the_environment(void **state)
{
    (void)state;
    int probe = open("/proc/self/mem", O_RDONLY);
    if (probe < 0) {
        print_message("skipped: /proc/self/mem cannot be opened here\n");
        skip();
    }
    (void)close(probe);
    assert_fails("/proc/self/mem", SIM_ERROR_ENVIRONMENT,
                 " trace cannot be read (Input/output error); check the disk and the system's limits");
}

static void test_trace_gzip_cut_or_damaged_is_refused(void **state)
{
    (void)state;
    const char text[] = HEADER "1,a,2\n2,b,3\n";
    size_t size = sizeof text - 1;
    struct trace_file file = trace_file_gzip(text, size, 0, 1);
    assert_fails(file.path, SIM_ERROR_INPUT, "1: gzip file is damaged; copy or make it again");
    trace_file_remove(&file);
    struct stat status;
    file = trace_file_gzip(text, size, 0, 0);
    assert_int_equal(stat(file.path, &status), 0);
    trace_file_remove(&file);
    /* Every truncation except that to one byte, which is not a gzip file, and the empty file. */
    for (size_t cut = 1; cut + 2 <= (size_t)status.st_size; cut++) {
        file = trace_file_gzip(text, size, cut, 0);
        struct reading reading = read_all(file.path);
        assert_false(reading.fine);
        assert_int_equal(reading.error.class, SIM_ERROR_INPUT);
        assert_non_null(strstr(reading.error.text, ": gzip file is truncated; copy or make it again"));
        trace_file_remove(&file);
    }
    /* Only the checksum is missing: the truncation is at the end of a line. */
    file = trace_file_gzip(text, size, 8, 0);
    assert_fails(file.path, SIM_ERROR_INPUT, "4: gzip file is truncated; copy or make it again");
    trace_file_remove(&file);
}

/* A file with one line whose key has `key_size` bytes and is quoted, so that the line is `line_size` long. */
static struct trace_file file_of_long_line(size_t key_size, size_t zeros)
{
    size_t capacity = key_size + zeros + 64;
    char *text = malloc(capacity);
    assert_non_null(text);
    size_t size = (size_t)snprintf(text, capacity, "%s", HEADER);
    memset(text + size, '0', zeros);
    size += zeros;
    text[size++] = ',';
    memset(text + size, 'k', key_size);
    size += key_size;
    memcpy(text + size, ",7\n", 3);
    struct trace_file file = trace_file_plain(text, size + 3);
    free(text);
    return file;
}

static void test_trace_long_lines_and_keys_have_limits(void **state)
{
    (void)state;
    struct trace_file file = file_of_long_line(4096, 1);
    assert_true(read_all(file.path).fine);
    trace_file_remove(&file);
    file = file_of_long_line(4097, 1);
    assert_fails(file.path, SIM_ERROR_INPUT, "2: key of 4097 bytes is too long; shorten it to 4096");
    trace_file_remove(&file);
    file = file_of_long_line(10, (16 << 20) - 13);
    assert_true(read_all(file.path).fine);
    trace_file_remove(&file);
    file = file_of_long_line(10, (16 << 20) - 12);
    assert_fails(file.path, SIM_ERROR_INPUT,
                 "2: line is longer than 16777216 bytes; put each row on its own line");
    trace_file_remove(&file);
}

struct count_line {
    int64_t time_ms;
    int key;
    uint64_t count;
};

/* The contract's rule, applied to the whole file: the times, in ms, of the rows of one key. */
static size_t times_of_key(const struct count_line *lines, size_t line_count, int key, int64_t *times)
{
    size_t rows = 0;
    int64_t step = 0;
    for (size_t i = 0; i < line_count; i++) {
        if (lines[i].key != key) {
            continue;
        }
        for (size_t next = i + 1; next < line_count; next++) {
            if (lines[next].key == key) {
                step = lines[next].time_ms - lines[i].time_ms;
                break;
            }
        }
        for (uint64_t row = 0; row < lines[i].count; row++) {
            times[rows++] = lines[i].time_ms + (int64_t)row * step / (int64_t)lines[i].count;
        }
    }
    return rows;
}

static void test_trace_counts_spread_rows_to_the_next_line(void **state)
{
    (void)state;
    enum { KEYS = 5, LINES = 400, ROWS_MAX = LINES * 12 };
    static struct count_line lines[LINES];
    static int64_t expected[ROWS_MAX], actual[KEYS][ROWS_MAX];
    static char text[LINES * 40];
    size_t actual_rows[KEYS] = {0};
    uint32_t dice = 12345;
    size_t size = (size_t)snprintf(text, sizeof text, "%s", COUNTS);
    int64_t time_ms = -5000;
    for (size_t i = 0; i < LINES; i++) {
        dice = dice * 1664525U + 1013904223U;
        time_ms += (dice >> 8) % 70; /* equal times are allowed, even for one key */
        /* Key 4 occurs only once, key 3 seldom. */
        int key = i == 200 ? 4 : (dice >> 20) % 40 == 0 ? 3 : (int)(i < 3 ? i : (dice >> 16) % 3);
        lines[i] = (struct count_line){.time_ms = time_ms, .key = key, .count = (dice >> 24) % 12};
        size += (size_t)snprintf(text + size, sizeof text - size, "%" PRId64 ",k%d,%" PRIu64 "\n", time_ms,
                                 key, lines[i].count);
    }
    struct trace_file file = trace_file_plain(text, size);
    struct wl_trace *trace;
    struct wl_trace_batch batch;
    bool more = true;
    assert_true(wl_trace_open_as(file.path, NULL, &trace, NULL));
    assert_true(wl_trace_has_counts(trace));
    size_t batches = 0;
    while (wl_trace_next(trace, &batch, &more, NULL) && more) {
        size_t key_size;
        int key = wl_trace_key(trace, batch.key_index, &key_size)[1] - '0';
        for (uint64_t i = 0; i < batch.rows; i++) {
            actual[key][actual_rows[key]++] = wl_trace_row_time(&batch, i);
        }
        batches++;
    }
    assert_false(more);
    assert_int_equal(batches, LINES);
    for (int key = 0; key < KEYS; key++) {
        size_t rows = times_of_key(lines, LINES, key, expected);
        assert_true(rows > 0);
        assert_int_equal(actual_rows[key], rows);
        for (size_t i = 0; i < rows; i++) {
            assert_int_equal(actual[key][i], expected[i] * 1000000);
            assert_true(i == 0 || actual[key][i] >= actual[key][i - 1]);
        }
    }
    wl_trace_close(trace);
    trace_file_remove(&file);
}

/* Lines of many sizes across many buffers: a line that a buffer's end splits must be read correctly. */
static void test_trace_gzip_equals_plain(void **state)
{
    (void)state;
    enum { LINES = 60000 };
    size_t capacity = (size_t)LINES * 60, size = 0;
    char *text = malloc(capacity);
    assert_non_null(text);
    size += (size_t)snprintf(text, capacity, "%s", HEADER);
    uint64_t bytes = 0;
    for (int i = 0; i < LINES; i++) {
        bytes += (uint64_t)i;
        size += (size_t)snprintf(text + size, capacity - size, "%d,key-%.*s.%d,%d\n", i, i % 23,
                                 "0123456789abcdefghijklmn", i % 701, i);
    }
    struct trace_file plain = trace_file_plain(text, size), zipped = trace_file_gzip(text, size, 0, 0);
    struct reading from_plain = read_all(plain.path), from_zipped = read_all(zipped.path);
    assert_true(from_plain.fine && from_zipped.fine);
    assert_int_equal(from_plain.rows, LINES);
    assert_int_equal(from_plain.bytes, bytes);
    assert_int_equal(from_plain.keys, 701 * 23);
    assert_int_equal(from_zipped.rows, LINES);
    assert_int_equal(from_zipped.hash, from_plain.hash);
    trace_file_remove(&plain);
    trace_file_remove(&zipped);
    free(text);
}

static void test_trace_many_keys_are_numbered_by_appearance(void **state)
{
    (void)state;
    enum { KEYS = 300000 };
    struct trace_file file = trace_file_name("t.csv.gz");
    gzFile zipped = gzopen(file.path, "wb1");
    assert_non_null(zipped);
    (void)gzputs(zipped, HEADER);
    for (unsigned i = 0; i < KEYS * 2; i++) {
        (void)gzprintf(zipped, "%u,%x,1\n", i, (i % KEYS) * 2654435761U);
    }
    assert_int_equal(gzclose(zipped), Z_OK);
    struct wl_trace *trace;
    struct wl_trace_batch batch;
    bool more;
    assert_true(wl_trace_open_as(file.path, NULL, &trace, NULL));
    for (unsigned i = 0; i < KEYS * 2; i++) {
        assert_true(wl_trace_next(trace, &batch, &more, NULL) && more);
        assert_int_equal(batch.key_index, i % KEYS);
    }
    assert_int_equal(wl_trace_key_count(trace), KEYS);
    for (unsigned i = 0; i < KEYS; i++) {
        char expected[16];
        size_t size;
        int expected_size = snprintf(expected, sizeof expected, "%x", i * 2654435761U);
        const char *key = wl_trace_key(trace, i, &size);
        assert_int_equal(size, expected_size);
        assert_memory_equal(key, expected, size);
    }
    wl_trace_close(trace);
    trace_file_remove(&file);
}

/* A pipe has no size and cannot seek: it is read as a stream, in the same amount of memory. */
static void test_trace_of_a_pipe_needs_no_more_memory(void **state)
{
    (void)state;
    enum { BLOCKS = 1200, BLOCK_LINES = 1000 };
    int ends[2];
    char path[32];
    assert_int_equal(pipe(ends), 0);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    pid_t writer = fork();
    if (writer == 0) {
        static char block[BLOCK_LINES * 32];
        size_t size = 0;
        for (int i = 0; i < BLOCK_LINES; i++) {
            size += (size_t)snprintf(block + size, sizeof block - size, "1424986986636,key-%03d,140\n", i);
        }
        close(ends[0]);
        bool fine = write(ends[1], HEADER, sizeof HEADER - 1) > 0;
        for (int i = 0; fine && i < BLOCKS; i++) {
            for (size_t done = 0; fine && done < size;) {
                ssize_t wrote = write(ends[1], block + done, size - done);
                fine = wrote > 0;
                done += fine ? (size_t)wrote : 0;
            }
        }
        _exit(fine ? 0 : 1);
    }
    struct wl_trace *trace;
    struct wl_trace_batch batch;
    bool more = true;
    uint64_t rows = 0, read_bytes, all_bytes;
    struct rusage before, after;
    close(ends[1]);
    assert_true(wl_trace_open_as(path, NULL, &trace, NULL));
    while (wl_trace_next(trace, &batch, &more, NULL) && more) {
        if (++rows == 2 * BLOCK_LINES) {
            (void)getrusage(RUSAGE_SELF, &before);
        }
    }
    (void)getrusage(RUSAGE_SELF, &after);
    assert_false(more);
    assert_int_equal(rows, BLOCKS * BLOCK_LINES);
    assert_true(after.ru_maxrss - before.ru_maxrss < 1024); /* KiB, while reading 31 MB */
    wl_trace_progress(trace, &read_bytes, &all_bytes);
    assert_int_equal(all_bytes, 0);
    wl_trace_close(trace);
    int status;
    assert_int_equal(waitpid(writer, &status, 0), writer);
    assert_int_equal(status, 0);
    close(ends[0]);
}

/* A FIFO in the file system, without a writer. */
static void test_trace_that_is_a_fifo_is_refused_at_once(void **state)
{
    (void)state;
    struct trace_file file = trace_file_name("t.csv");
    assert_int_equal(mkfifo(file.path, 0600), 0);
    struct wl_trace *trace;
    struct sim_error error;
    alarm(60);
    assert_false(wl_trace_open_as(file.path, NULL, &trace, &error));
    alarm(0);
    assert_int_equal(error.class, SIM_ERROR_INPUT);
    assert_string_equal(error.text + strlen(file.path),
                        ": trace cannot be opened (not a regular file); name a CSV file");
    trace_file_remove(&file);
}

/* The shipped small trace and its hourly counts, which were made from the same rows. */
static void test_trace_shipped_ones_agree(void **state)
{
    (void)state;
    struct reading rows = read_all(BUCKETLAB_SOURCE_DIR "/scenarios/traces/small.csv");
    struct reading counts = read_all(BUCKETLAB_SOURCE_DIR "/scenarios/traces/small-counts.csv.gz");
    assert_true(rows.fine && counts.fine);
    assert_int_equal(rows.rows, 5243);
    assert_int_equal(counts.rows, 5243);
    assert_int_equal(rows.keys, 12);
    assert_int_equal(counts.keys, 12);
}

static void test_trace_real_ones_have_their_rows(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint64_t rows;
    } traces[] = {
        {"nab_tweets_events.csv", 409706}, {"nab_tweets_5min.csv", 3224439}, {"azure_llm_2023.csv", 28185},
        {"helium_lorawan.csv", 38537},     {"git_tigerbeetle.csv", 26412},
    };
    if (access(BUCKETLAB_SHARED_DIR "/traces", R_OK) != 0) {
        print_message("skipped: the real traces are not beside this checkout (%s/traces)\n",
                      BUCKETLAB_SHARED_DIR);
        skip();
    }
    for (size_t i = 0; i < sizeof traces / sizeof traces[0]; i++) {
        char path[4096];
        (void)snprintf(path, sizeof path, "%s/traces/%s", BUCKETLAB_SHARED_DIR, traces[i].name);
        struct reading reading = read_all(path);
        assert_string_equal(reading.error.text, "");
        assert_true(reading.fine);
        assert_int_equal(reading.rows, traces[i].rows);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trace_malformed_is_reported_with_place_and_remedy),
        cmocka_unit_test(test_trace_not_a_file_is_reported_with_place_and_remedy),
        cmocka_unit_test(test_trace_read_error_is_the_environment),
        cmocka_unit_test(test_trace_gzip_cut_or_damaged_is_refused),
        cmocka_unit_test(test_trace_long_lines_and_keys_have_limits),
        cmocka_unit_test(test_trace_counts_spread_rows_to_the_next_line),
        cmocka_unit_test(test_trace_gzip_equals_plain),
        cmocka_unit_test(test_trace_many_keys_are_numbered_by_appearance),
        cmocka_unit_test(test_trace_of_a_pipe_needs_no_more_memory),
        cmocka_unit_test(test_trace_that_is_a_fifo_is_refused_at_once),
        cmocka_unit_test(test_trace_shipped_ones_agree),
        cmocka_unit_test(test_trace_real_ones_have_their_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
