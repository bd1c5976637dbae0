/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads ids from a CSV file, their kind and their bytes; tests each bit of them for randomness. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cassandra/token.h"
#include "ids/ids.h"
#include "kernel/grow.h"
#include "lab/judgment.h"
#include "workload/csv.h"
#include "workload/trace.h"

#define UUID_TEXT       36u
#define SHOWN           40 /* characters of an invalid id that a message shows */
#define SAMPLE_ROWS     1000u
#define COLUMNS_MOST    16u /* among which that of the ids is found */
#define SNOWFLAKE_LEAST (INT64_C(1) << 41)

struct reader {
    const char *path;
    struct wl_csv *csv;
    struct wl_csv_record record;
    size_t field, capacity, bytes_capacity;
    char *text; /* the id of the record */
    size_t text_size, text_capacity;
    struct ids_sample *sample;
};

static bool read_number(const char *text, size_t size, int64_t *out)
{
    size_t digits = size - (size > 0 && text[0] == '-');
    if (digits == 0 || strspn(text + (size - digits), "0123456789") != digits)
        return false;
    errno = 0;
    *out = strtoll(text, NULL, 10);
    return errno == 0;
}

/* Ids of the kind BYTES that many programs make. ObjectIds also have the digits of a cuid2. */
static const struct {
    const char *text, *digits;
    size_t size;
} forms[] = {
    {"ObjectId: a time, 40 random bits of each process, a counter of 24 bits", "0123456789abcdefABCDEF", 24},
    {"cuid2: about 120 random bits", "0123456789abcdefghijklmnopqrstuvwxyz", 24},
    {"KSUID: a time, 128 random bits", "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", 27},
    {"nanoid: 126 random bits", "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-", 21},
    {"UUID v6: a time, a clock sequence and a node", "0123456789abcdefABCDEF-", UUID_TEXT},
};
#define FORMS (sizeof forms / sizeof *forms)

static size_t form_of(const char *text, size_t size)
{
    size_t i = 0;
    while (i < FORMS && (size != forms[i].size || strspn(text, forms[i].digits) != size ||
                         (size == UUID_TEXT && text[14] != '6')))
        i++;
    return i;
}

static enum bk_id_kind kind_of(const char *text, size_t size)
{
    uint8_t ulid[WL_ULID_BYTES];
    int64_t number;
    if (size == UUID_TEXT && text[8] == '-' && text[13] == '-') {
        switch (text[14]) {
        case '1':
            return BK_ID_TIMEUUID;
        case '4':
            return BK_ID_UUID4;
        case '7':
            return BK_ID_UUID7;
        default:
            return BK_ID_BYTES;
        }
    }
    if (wl_ulid_parse(text, size, ulid))
        return BK_ID_ULID;
    return read_number(text, size, &number) && number >= SNOWFLAKE_LEAST ? BK_ID_SNOWFLAKE : BK_ID_BYTES;
}

/* Converts an id to the bytes that a table stores: the 16 or 8 bytes of its kind, or the bytes of 0x..., of a
 * whole number or of the text. Returns false with SIM_ERROR_INPUT when the id is not of the kind. */
static bool bytes_of(enum bk_id_kind kind, const char *text, size_t size, uint8_t **out, size_t *out_size,
                     struct sim_error *error)
{
    enum cass_type type = CASS_TEXT;
    int64_t number;
    uint64_t bits;
    if (kind == BK_ID_ULID) {
        *out_size = WL_ULID_BYTES;
        *out = malloc(WL_ULID_BYTES);
        if (*out == NULL)
            return sim_fail_memory(error);
        return wl_ulid_parse(text, size, *out) || sim_fail(error, SIM_ERROR_INPUT, "no ULID");
    }
    if (kind != BK_ID_BYTES)
        type = kind == BK_ID_SNOWFLAKE ? CASS_BIGINT : CASS_UUID;
    else if (size == UUID_TEXT)
        type = CASS_UUID;
    else if (read_number(text, size, &number))
        type = CASS_BIGINT;
    else if (size > 2 && text[0] == '0' && text[1] == 'x')
        type = CASS_BLOB;
    struct sim_error fault = {.class = SIM_ERROR_NONE};
    if (!cass_value_parse(type, text, out, out_size, &fault) &&
        (kind != BK_ID_BYTES || fault.class != SIM_ERROR_INPUT ||
         !cass_value_parse(CASS_TEXT, text, out, out_size, &fault))) {
        *error = fault;
        return false;
    }
    return bk_id_bits(kind, *out, *out_size, &bits) == BK_OK ||
           sim_fail(error, SIM_ERROR_INPUT, "no such id");
}

static bool has_room(struct reader *reader, size_t used, size_t size)
{
    struct ids_sample *sample = reader->sample;
    return sim_grow(&sample->ends, &reader->capacity, sample->count + 1, sizeof *sample->ends) &&
           sim_grow(&sample->bytes, &reader->bytes_capacity, used + size, 1);
}

/* Sets reader->text to the record's id, without spaces around it, and without quotes, braces, or a type as in
 * ObjectId("..."), as programs write constants. */
static bool read_text(struct reader *reader, struct sim_error *error)
{
    static const char pairs[][2] = {{'"', '"'}, {'\'', '\''}, {'{', '}'}};
    const struct wl_csv_record *record = &reader->record;
    if (reader->field >= record->count)
        return sim_fail(error, SIM_ERROR_INPUT, "%s:%" PRIu64 ": %zu fields, and the id is field %zu",
                        reader->path, record->line, record->count, reader->field + 1);
    const char *text = record->fields[reader->field], *end = text + record->sizes[reader->field];
    for (; text < end && *text == ' '; text++)
        ;
    for (; end > text && end[-1] == ' '; end--)
        ;
    const char *bracket = end > text && end[-1] == ')' ? memchr(text, '(', (size_t)(end - text)) : NULL;
    text = bracket == NULL ? text : bracket + 1;
    end -= bracket != NULL;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        bool is_within = end - text > 2 && *text == pairs[i][0] && end[-1] == pairs[i][1];
        text += is_within;
        end -= is_within;
    }
    reader->text_size = (size_t)(end - text);
    if (!sim_grow(&reader->text, &reader->text_capacity, reader->text_size + 1, 1))
        return sim_fail_memory(error);
    memcpy(reader->text, text, reader->text_size);
    reader->text[reader->text_size] = '\0';
    return true;
}

static bool take(struct reader *reader, struct sim_error *error)
{
    struct ids_sample *sample = reader->sample;
    const struct wl_csv_record *record = &reader->record;
    if (sample->count == IDS_MOST)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "%s: more than %u ids; a few thousand are enough, so test a part of them",
                        reader->path, IDS_MOST);
    if (!read_text(reader, error))
        return false;
    const char *text = reader->text;
    size_t size = reader->text_size, bytes_size = 0;
    uint8_t *bytes = NULL;
    if (size > 0 && strspn(text, "0123456789.eE+") == size && strpbrk(text, "eE") != NULL &&
        strchr(text, '+') != NULL)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "%s:%" PRIu64 ": '%.*s' is a number that was rounded; export the ids as text",
                        reader->path, record->line, SHOWN, text);
    bool is_fine = size > 0 && strlen(text) == size
                       ? bytes_of(sample->kind, text, size, &bytes, &bytes_size, error)
                       : sim_fail(error, SIM_ERROR_INPUT, "no id");
    if (!is_fine) {
        free(bytes);
        if (error->class != SIM_ERROR_INPUT)
            return false;
        return sim_fail(error, SIM_ERROR_INPUT,
                        "%s:%" PRIu64 ": '%.*s' is not %s, as most ids are; leave it out, or test "
                        "ids of one kind at a time (--kind)",
                        reader->path, record->line, SHOWN, text,
                        sample->kind == BK_ID_BYTES ? "id" : bk_id_kind_name(sample->kind));
    }
    size_t used = sample->count == 0 ? 0 : sample->ends[sample->count - 1];
    is_fine = has_room(reader, used, bytes_size) || sim_fail_memory(error);
    if (is_fine) {
        memcpy(sample->bytes + used, bytes, bytes_size);
        sample->ends[sample->count++] = used + bytes_size;
    }
    free(bytes);
    return is_fine;
}

static bool find_column(struct reader *reader, const char *column, struct sim_error *error)
{
    size_t found = 0;
    for (size_t i = 0; i < reader->record.count; i++) {
        if (strcmp(reader->record.fields[i], column) == 0) {
            reader->field = i;
            found++;
        }
    }
    return found == 1 || sim_fail(error, SIM_ERROR_INPUT, "%s:%" PRIu64 ": %s column '%s' in the header%s",
                                  reader->path, reader->record.line, found == 0 ? "no" : "more than one",
                                  column, found == 0 ? "" : "; rename the others");
}

/* Opens the file and reads its first record, in which a column is searched. */
static bool begin(struct reader *reader, const char *column, struct sim_error *error)
{
    wl_csv_close(reader->csv);
    if (!wl_csv_open(reader->path, "ids", &reader->csv, error) ||
        !wl_csv_next(reader->csv, &reader->record, error))
        return false;
    if (reader->record.count > 0 && strchr("{[", reader->record.fields[0][0]) != NULL &&
        reader->record.fields[0][0] != '\0' && reader->record.fields[0][1] == '"')
        return sim_fail(error, SIM_ERROR_INPUT,
                        "%s:1: this is JSON; give an id per line, as jq -r .id prints them", reader->path);
    return (column == NULL || reader->record.count == 0 || find_column(reader, column, error));
}

/* Sets the kind of most ids, and the kind of the first record. Without a column's name, the column that has
 * the most ids of a known form; the first of them. */
static bool judge_kind(struct reader *reader, bool is_named, enum bk_id_kind *most, enum bk_id_kind *first,
                       struct sim_error *error)
{
    struct {
        size_t counts[BK_ID_KINDS], forms[FORMS + 1], known;
        enum bk_id_kind first;
    } columns[COLUMNS_MOST] = {0}, *best = columns;
    const size_t only = reader->field;
    for (unsigned row = 0; row < SAMPLE_ROWS && reader->record.count > 0; row++) {
        for (size_t i = 0; i < COLUMNS_MOST && (is_named ? i == 0 : i == 0 || i < reader->record.count);
             i++) {
            reader->field = is_named ? only : i;
            if (!read_text(reader, error))
                return false;
            const enum bk_id_kind kind = kind_of(reader->text, reader->text_size);
            const size_t form = form_of(reader->text, reader->text_size);
            columns[i].first = row == 0 ? kind : columns[i].first;
            columns[i].counts[kind]++;
            columns[i].forms[form]++;
            columns[i].known += kind != BK_ID_BYTES || form < FORMS;
        }
        if (!wl_csv_next(reader->csv, &reader->record, error))
            return false;
    }
    for (size_t i = 1; i < COLUMNS_MOST; i++)
        best = columns[i].known > best->known ? &columns[i] : best;
    reader->field = is_named ? only : (size_t)(best - columns);
    *first = best->first;
    *most = BK_ID_TIMEUUID;
    for (enum bk_id_kind kind = *most; kind < BK_ID_KINDS; kind++)
        *most = best->counts[kind] > best->counts[*most] ? kind : *most;
    for (size_t i = 0; i < FORMS; i++) {
        if (*most == BK_ID_BYTES && best->forms[i] > best->counts[BK_ID_BYTES] / 2)
            reader->sample->form = forms[i].text;
    }
    return true;
}

/* A first record that is no id, where others are, is the header. Of ids of no known kind, one without a digit
 * is, since nearly every id has a digit, and hardly any name of a column has one. */
static bool read_all(struct reader *reader, const char *column, enum bk_id_kind kind, struct sim_error *error)
{
    struct ids_sample *sample = reader->sample;
    const struct wl_csv_record *record = &reader->record;
    enum bk_id_kind most = BK_ID_BYTES, first = BK_ID_BYTES;
    if (!begin(reader, column, error) || !judge_kind(reader, column != NULL, &most, &first, error) ||
        !begin(reader, column, error))
        return false;
    sample->kind = kind == BK_ID_KINDS ? most : kind;
    bool is_header =
        column != NULL ||
        (first == BK_ID_BYTES && record->count > 0 &&
         (sample->kind != BK_ID_BYTES || strpbrk(record->fields[reader->field], "0123456789") == NULL));
    if (is_header && record->count > 0 && !wl_csv_next(reader->csv, &reader->record, error))
        return false;
    while (record->count > 0) {
        if (!take(reader, error) || !wl_csv_next(reader->csv, &reader->record, error))
            return false;
    }
    if (sample->count < IDS_LEAST)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "%s: %zu ids; %u at least are needed, and a few thousand show more", reader->path,
                        sample->count, IDS_LEAST);
    return true;
}

void ids_free(struct ids_sample *sample)
{
    free(sample->bytes);
    free(sample->ends);
    *sample = (struct ids_sample){.kind = BK_ID_BYTES};
}

bool ids_read(const char *path, const char *column, enum bk_id_kind kind, struct ids_sample *out,
              struct sim_error *error)
{
    struct reader reader = {.path = path, .sample = out};
    *out = (struct ids_sample){.kind = BK_ID_BYTES};
    bool is_fine = read_all(&reader, column, kind, error);
    wl_csv_close(reader.csv);
    free(reader.text);
    if (!is_fine)
        ids_free(out);
    return is_fine;
}

/* Compares the bits of ids with random bits: each bit, pairs of bits, bits of consecutive ids, and all bits
 * together. */

#define SNOWFLAKE_PROCESS_SHIFT 12u
#define SNOWFLAKE_PROCESS_MASK  0x3ffu

/* The parts of an id that the tests use. */
struct place {
    uint64_t process, bits[2]; /* the lowest bits of the id, and those of bk_id_bits() */
    size_t index;
};

/* A set of bits under test, over all ids or those of one process. */
struct series {
    const struct place *places;
    size_t count;
    int set;
    uint32_t bits;
    bool is_of_process;
};

static const uint8_t *bytes_at(const struct ids_sample *sample, size_t i, size_t *size)
{
    size_t begin = i == 0 ? 0 : sample->ends[i - 1];
    *size = sample->ends[i] - begin;
    return sample->bytes + begin;
}

static uint64_t lowest_bits(const uint8_t *bytes, size_t size)
{
    uint64_t value = 0;
    for (size_t i = size < 8 ? 0 : size - 8; i < size; i++)
        value = value << 8 | bytes[i];
    return value;
}

/* The process that made an id: the clock sequence and node of a timeuuid, the ten bits above the sequence of
 * a Snowflake. */
static uint64_t process_of(enum bk_id_kind kind, uint64_t lowest)
{
    if (kind == BK_ID_TIMEUUID)
        return lowest;
    return kind == BK_ID_SNOWFLAKE ? lowest >> SNOWFLAKE_PROCESS_SHIFT & SNOWFLAKE_PROCESS_MASK : 0;
}

static int by_process(const void *a, const void *b)
{
    const struct place *one = a, *other = b;
    if (one->process != other->process)
        return one->process < other->process ? -1 : 1;
    return one->index < other->index ? -1 : one->index > other->index;
}

static int by_bits(const void *a, const void *b)
{
    uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;
    return one < other ? -1 : one > other;
}

/* The two-sided p-value: twice the smaller tail. */
static double chance_of(size_t hits, size_t count, double share)
{
    return fmin(1, 2 * fmin(lab_binomial_lower(count, hits, share), lab_binomial_upper(count, hits, share)));
}

static void test(const struct series *series, enum ids_test kind, uint32_t bit, uint32_t other, size_t hits,
                 size_t count, double expected, struct ids_bits *out, size_t *tests)
{
    double chance = chance_of(hits, count, expected);
    ++*tests;
    if (*tests > 1 && chance >= out->chance)
        return;
    out->test = kind;
    out->bit = bit;
    out->other = other;
    out->is_of_process = series->is_of_process;
    out->share = (double)hits / (double)count;
    out->chance = chance;
}

static uint32_t constant_bits(const struct series *series)
{
    uint64_t changed = 0, mask = (UINT64_C(1) << series->bits) - 1;
    for (size_t i = 1; i < series->count; i++)
        changed |= series->places[i].bits[series->set] ^ series->places[0].bits[series->set];
    return series->bits - (uint32_t)__builtin_popcountll(changed & mask);
}

static void judge_series(const struct series *series, struct ids_bits *out, size_t *tests)
{
    size_t ones[IDS_BITS_MAX] = {0}, again[IDS_BITS_MAX] = {0}, fired = 0;
    size_t equal[IDS_BITS_MAX][IDS_BITS_MAX] = {{0}};
    uint64_t mask = (UINT64_C(1) << series->bits) - 1;
    for (size_t i = 0; i < series->count; i++) {
        uint64_t bits = series->places[i].bits[series->set];
        uint64_t same = i == 0 ? 0 : ~(bits ^ series->places[i - 1].bits[series->set]);
        fired += (bits & mask) == mask;
        for (uint32_t bit = 0; bit < series->bits; bit++) {
            ones[bit] += bits >> bit & 1;
            again[bit] += same >> bit & 1;
            for (uint32_t other = 0; other < bit; other++)
                equal[bit][other] += (~(bits >> bit ^ bits >> other)) & 1;
        }
    }
    for (uint32_t bit = 0; bit < series->bits; bit++) {
        test(series, IDS_TEST_BIT, bit, 0, ones[bit], series->count, 0.5, out, tests);
        test(series, IDS_TEST_SERIAL, bit, 0, again[bit], series->count - 1, 0.5, out, tests);
        for (uint32_t other = 0; other < bit; other++)
            test(series, IDS_TEST_PAIR, bit, other, equal[bit][other], series->count, 0.5, out, tests);
    }
    test(series, IDS_TEST_FIRE, 0, 0, fired, series->count, ldexp(1, -(int)series->bits), out, tests);
    uint32_t constant = constant_bits(series);
    if (!series->is_of_process)
        out->fires = (double)fired / (double)series->count;
    if (constant > out->constant)
        out->constant = constant;
}

/* Tests all ids in the order of the file, and then the ids of each process, for which the ids are sorted. */
static void judge_all(struct place *places, size_t count, uint32_t bits, bool has_processes,
                      struct ids_verdict *out)
{
    struct ids_bits *const sets[] = {&out->lowest, &out->taken};
    size_t tests[2] = {0, 0};
    for (int set = 0; set < 2; set++)
        judge_series(&(struct series){places, count, set, bits, false}, sets[set], &tests[set]);
    if (has_processes)
        qsort(places, count, sizeof *places, by_process);
    for (size_t begin = 0, end; has_processes && begin < count; begin = end) {
        for (end = begin + 1; end < count && places[end].process == places[begin].process;)
            end++;
        out->processes++;
        for (int set = 0; set < 2 && end - begin >= IDS_LEAST && end - begin < count; set++)
            judge_series(&(struct series){places + begin, end - begin, set, bits, true}, sets[set],
                         &tests[set]);
    }
    for (int set = 0; set < 2; set++) {
        sets[set]->chance = fmin(1, sets[set]->chance * (double)tests[set]);
        sets[set]->is_random = sets[set]->chance >= IDS_CHANCE;
    }
}

bool ids_judge(const struct ids_sample *sample, uint32_t bits, struct ids_verdict *out,
               struct sim_error *error)
{
    struct place *places = calloc(sample->count, sizeof *places);
    uint64_t *all = calloc(sample->count, sizeof *all);
    *out = (struct ids_verdict){.count = sample->count};
    if (places == NULL || all == NULL) {
        free(places);
        free(all);
        return sim_fail_memory(error);
    }
    for (size_t i = 0; i < sample->count; i++) {
        size_t size;
        const uint8_t *bytes = bytes_at(sample, i, &size);
        uint64_t lowest = lowest_bits(bytes, size), taken;
        (void)bk_id_bits(sample->kind, bytes, size,
                         &taken); /* cannot fail, since ids_read() checked the id */
        places[i] = (struct place){process_of(sample->kind, lowest), {lowest, taken}, i};
        all[i] = taken;
    }
    qsort(all, sample->count, sizeof *all, by_bits);
    for (size_t i = 1; i < sample->count; i++)
        out->repeated += all[i] == all[i - 1];
    free(all);
    judge_all(places, sample->count, bits, sample->kind == BK_ID_TIMEUUID || sample->kind == BK_ID_SNOWFLAKE,
              out);
    free(places);
    return true;
}

const char *ids_trap(enum bk_id_kind kind)
{
    static const char *const traps[BK_ID_KINDS] = {
        [BK_ID_TIMEUUID] = "The low half of a timeuuid is the clock sequence and the node, which one process "
                           "never changes: all of its rows would count, or none.",
        [BK_ID_UUID7] = "Generators of UUIDs v7 may add 1 to the lowest bits within a millisecond, so rows "
                        "that come together would count together.",
        [BK_ID_ULID] = "Generators of ULIDs may add 1 to the lowest bits within a millisecond, so rows that "
                       "come together would count together.",
        [BK_ID_SNOWFLAKE] = "The low 12 bits of a Snowflake are a sequence that starts at 0 in each "
                            "millisecond: hardly any row would count.",
        [BK_ID_BYTES] = "Nothing says that the last bits of such ids are random."};
    return traps[kind];
}
