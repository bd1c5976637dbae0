/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads ids from a CSV file: their kind and their bytes. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cassandra/token.h"
#include "ids/ids.h"
#include "kernel/grow.h"
#include "workload/csv.h"
#include "workload/ulid.h"

#define UUID_TEXT       36u
#define SHOWN           40 /* characters of an invalid id that a message shows */
#define SNOWFLAKE_LEAST (INT64_C(1) << 41)

struct reader {
    const char *path;
    struct wl_csv *csv;
    struct wl_csv_record record;
    size_t field, capacity, bytes_capacity;
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
    if (!cass_value_parse(type, text, out, out_size, error) &&
        (kind != BK_ID_BYTES || error->class != SIM_ERROR_INPUT ||
         !cass_value_parse(CASS_TEXT, text, out, out_size, error)))
        return false;
    return bk_id_bits(kind, *out, *out_size, &bits) == BK_OK ||
           sim_fail(error, SIM_ERROR_INPUT, "no such id");
}

static bool has_room(struct reader *reader, size_t used, size_t size)
{
    struct ids_sample *sample = reader->sample;
    return sim_grow(&sample->ends, &reader->capacity, sample->count + 1, sizeof *sample->ends) &&
           sim_grow(&sample->bytes, &reader->bytes_capacity, used + size, 1);
}

static bool take(struct reader *reader, struct sim_error *error)
{
    struct ids_sample *sample = reader->sample;
    const struct wl_csv_record *record = &reader->record;
    if (reader->field >= record->count)
        return sim_fail(error, SIM_ERROR_INPUT, "%s:%" PRIu64 ": %zu fields, and the id is field %zu",
                        reader->path, record->line, record->count, reader->field + 1);
    const char *text = record->fields[reader->field];
    size_t size = record->sizes[reader->field], bytes_size = 0;
    uint8_t *bytes = NULL;
    bool is_fine = size > 0 && strlen(text) == size
                       ? bytes_of(sample->kind, text, size, &bytes, &bytes_size, error)
                       : sim_fail(error, SIM_ERROR_INPUT, "no id");
    if (!is_fine) {
        free(bytes);
        if (error->class != SIM_ERROR_INPUT)
            return false;
        return sim_fail(error, SIM_ERROR_INPUT,
                        "%s:%" PRIu64 ": '%.*s' is not %s, as the ids before it are; leave it out, or test "
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
    for (size_t i = 0; i < reader->record.count; i++) {
        if (strcmp(reader->record.fields[i], column) == 0) {
            reader->field = i;
            return true;
        }
    }
    return sim_fail(error, SIM_ERROR_INPUT, "%s:%" PRIu64 ": no column '%s' in the header", reader->path,
                    reader->record.line, column);
}

/* Reads up to the first id. A first record without a digit is taken as a header, since nearly every id has a
 * digit, and hardly any name of a column has one. */
static bool skip_header(struct reader *reader, const char *column, struct sim_error *error)
{
    if (!wl_csv_next(reader->csv, &reader->record, error))
        return false;
    if (reader->record.count == 0)
        return true;
    if (column != NULL && !find_column(reader, column, error))
        return false;
    bool is_header = column != NULL || strpbrk(reader->record.fields[0], "0123456789") == NULL;
    return !is_header || wl_csv_next(reader->csv, &reader->record, error);
}

static bool read_all(struct reader *reader, const char *column, enum bk_id_kind kind, struct sim_error *error)
{
    struct ids_sample *sample = reader->sample;
    const struct wl_csv_record *record = &reader->record;
    if (!skip_header(reader, column, error))
        return false;
    sample->kind = kind;
    if (kind == BK_ID_KIND_COUNT && reader->field < record->count)
        sample->kind = kind_of(record->fields[reader->field], record->sizes[reader->field]);
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

bool ids_read(const char *path, const char *column, enum bk_id_kind kind, struct ids_sample *out,
              struct sim_error *error)
{
    struct reader reader = {.path = path, .sample = out};
    *out = (struct ids_sample){.kind = BK_ID_BYTES};
    if (!wl_csv_open(path, "ids", &reader.csv, error))
        return false;
    bool is_fine = read_all(&reader, column, kind, error);
    wl_csv_close(reader.csv);
    if (!is_fine)
        ids_free(out);
    return is_fine;
}

void ids_free(struct ids_sample *sample)
{
    free(sample->bytes);
    free(sample->ends);
    *sample = (struct ids_sample){.kind = BK_ID_BYTES};
}
