/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Converts CQL literals to the bytes that Cassandra stores. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cassandra/token.h"
#include "kernel/text.h"

#define UUID_TEXT_SIZE 36u
#define UUID_SIZE      16u
#define SHOWN_SIZE_MAX 60u /* greatest number of bytes of a value that an error message quotes */

static const char *const type_names[CASS_TYPE_COUNT] = {
    [CASS_TEXT] = "text",           [CASS_BLOB] = "blob",       [CASS_INT] = "int",
    [CASS_BIGINT] = "bigint",       [CASS_UUID] = "uuid",       [CASS_TIMEUUID] = "timeuuid",
    [CASS_BOOLEAN] = "boolean",     [CASS_TINYINT] = "tinyint", [CASS_SMALLINT] = "smallint",
    [CASS_TIMESTAMP] = "timestamp", [CASS_FLOAT] = "float",     [CASS_DOUBLE] = "double",
    [CASS_COUNTER] = "counter",
};

/* The size of a value in bytes; 0: the size varies. */
static const uint8_t value_sizes[CASS_TYPE_COUNT] = {
    [CASS_INT] = 4,     [CASS_BIGINT] = 8,  [CASS_UUID] = UUID_SIZE, [CASS_TIMEUUID] = UUID_SIZE,
    [CASS_BOOLEAN] = 1, [CASS_TINYINT] = 1, [CASS_SMALLINT] = 2,     [CASS_TIMESTAMP] = 8,
    [CASS_FLOAT] = 4,   [CASS_DOUBLE] = 8,
};

static const char *const wanted_forms[CASS_TYPE_COUNT] = {
    [CASS_TEXT] = "give UTF-8, or other bytes as a blob, 0x...",
    [CASS_BLOB] = "give 0x and two hexadecimal digits per byte, such as 0x00ff",
    [CASS_INT] = "give a whole number from -2147483648 to 2147483647",
    [CASS_BIGINT] = "give a whole number from -9223372036854775808 to 9223372036854775807",
    [CASS_UUID] = "give hexadecimal digits as 8-4-4-4-12, such as f6071e72-48ec-4fcb-bf3e-379c8a696488",
    [CASS_TIMEUUID] = ("give a version 1 uuid, hexadecimal digits as 8-4-4-4-12, such as "
                       "b34b62d4-6a8d-11ea-8000-005000237906"),
    [CASS_BOOLEAN] = "give true or false",
    [CASS_TINYINT] = "give a whole number from -128 to 127",
    [CASS_SMALLINT] = "give a whole number from -32768 to 32767",
    [CASS_TIMESTAMP] = "give whole milliseconds since 1970, such as 1767225600000",
    [CASS_FLOAT] = "give a number, such as 0.5 or -1e-3",
    [CASS_DOUBLE] = "give a number, such as 0.5 or -1e-3",
    [CASS_COUNTER] = "a counter has no literal",
};

bool cass_type_parse(const char *name, enum cass_type *out)
{
    for (int type = 0; type < CASS_TYPE_COUNT; type++) {
        if (strcmp(name, type_names[type]) == 0) {
            *out = (enum cass_type)type;
            return true;
        }
    }
    return false;
}

const char *cass_type_name(enum cass_type type)
{
    assert(type < CASS_TYPE_COUNT);
    return type_names[type];
}

/* Cassandra's valueLengthIfFixed(): it returns no length for tinyint and smallint. */
uint32_t cass_type_size(enum cass_type type)
{
    assert(type < CASS_TYPE_COUNT);
    return type == CASS_TINYINT || type == CASS_SMALLINT ? 0 : value_sizes[type];
}

/* The error message quotes the value, truncated and with a '?' for each byte that is not UTF-8, so that there
 * is always room for the expected form. */
static bool fail_value(struct sim_error *error, enum cass_type type, const char *text, const char *why)
{
    char shown[SHOWN_SIZE_MAX + 4];
    size_t used = 0;
    const char *c = text;
    while (*c != '\0') {
        size_t length = sim_utf8(c, SIM_UTF8_SIZE_MAX, NULL);
        size_t step = length == 0 ? 1 : length;
        if (used + step > SHOWN_SIZE_MAX) {
            memcpy(shown + used, "...", 3);
            used += 3;
            break;
        }
        if (length == 0)
            shown[used] = '?';
        else
            memcpy(shown + used, c, length);
        used += step;
        c += step;
    }
    shown[used] = '\0';
    return sim_fail(error, SIM_ERROR_INPUT, "'%s' is not %s %s%s; %s", shown, type == CASS_INT ? "an" : "a",
                    type_names[type], why, wanted_forms[type]);
}

/* Determines the size of the value from the length of its text alone. */
static bool value_size(enum cass_type type, const char *text, size_t *size, struct sim_error *error)
{
    size_t length = strlen(text);
    switch (type) {
    case CASS_TEXT:
        *size = length;
        break;
    case CASS_BLOB:
        if (length < 2 || length % 2 != 0)
            return fail_value(error, type, text, "");
        *size = length / 2 - 1;
        break;
    default:
        *size = value_sizes[type];
        break;
    }
    if (*size > CASS_COMPONENT_SIZE_MAX)
        return fail_value(error, type, text, " of at most 65535 bytes, the most that a partition key holds");
    return true;
}

static bool write_text(const char *text, uint8_t *out, size_t size)
{
    if (sim_utf8_valid(text, size) < size)
        return false;
    memcpy(out, text, size);
    return true;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

/* Reads two digits per byte. The digits end at the end of the text or at the first character that is not a
 * digit. */
static bool write_hex(const char *text, uint8_t *out, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        int high = hex_digit(text[2 * i]);
        int low = high < 0 ? -1 : hex_digit(text[2 * i + 1]);
        if (low < 0)
            return false;
        out[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

/* Converts an integer literal of CQL: an optional minus and digits, nothing else. */
static bool write_integer(const char *text, uint8_t *out, size_t size)
{
    bool negative = text[0] == '-';
    const char *digits = text + (negative ? 1 : 0);
    uint64_t limit = (UINT64_C(1) << (8 * size - 1)) - (negative ? 0 : 1);
    uint64_t magnitude = 0;
    if (*digits == '\0')
        return false;
    for (const char *c = digits; *c != '\0'; c++) {
        if (*c < '0' || *c > '9')
            return false;
        uint64_t digit = (uint64_t)(*c - '0');
        if (magnitude > (limit - digit) / 10)
            return false;
        magnitude = magnitude * 10 + digit;
    }
    uint64_t value = negative ? 0 - magnitude : magnitude;
    for (size_t i = 0; i < size; i++)
        out[i] = (uint8_t)(value >> (8 * (size - 1 - i)));
    return true;
}

/* Accepts digits with an optional point and exponent, but neither infinity nor hexadecimal. The program does
 * not set a locale. */
static bool write_number(const char *text, uint8_t *out, size_t size)
{
    size_t length = strspn(text, "+-.0123456789eE");
    char *end;
    /* Converting a float via a double would round it twice. */
    bool is_float = size == sizeof(float);
    float narrow = is_float ? strtof(text, &end) : 0;
    double value = is_float ? (double)narrow : strtod(text, &end);
    if (length == 0 || text[length] != '\0' || *end != '\0' || end == text || !isfinite(value))
        return false;
    uint64_t bits = 0;
    if (is_float) {
        uint32_t half;
        memcpy(&half, &narrow, sizeof half);
        bits = half;
    } else {
        memcpy(&bits, &value, sizeof bits);
    }
    for (size_t i = 0; i < size; i++)
        out[i] = (uint8_t)(bits >> (8 * (size - 1 - i)));
    return true;
}

static bool write_uuid(const char *text, uint8_t *out)
{
    static const size_t group_bytes[] = {4, 2, 2, 2, 6};
    if (strlen(text) != UUID_TEXT_SIZE)
        return false;
    for (size_t group = 0; group < sizeof(group_bytes) / sizeof(group_bytes[0]); group++) {
        if (group > 0 && *text++ != '-')
            return false;
        if (!write_hex(text, out, group_bytes[group]))
            return false;
        text += 2 * group_bytes[group];
        out += group_bytes[group];
    }
    return true;
}

static bool write_value(enum cass_type type, const char *text, uint8_t *out, size_t size)
{
    switch (type) {
    case CASS_TEXT:
        return write_text(text, out, size);
    case CASS_BLOB:
        return text[0] == '0' && (text[1] == 'x' || text[1] == 'X') && write_hex(text + 2, out, size);
    case CASS_INT:
    case CASS_BIGINT:
    case CASS_TINYINT:
    case CASS_SMALLINT:
    case CASS_TIMESTAMP:
        return write_integer(text, out, size);
    case CASS_BOOLEAN:
        out[0] = strcmp(text, "true") == 0;
        return out[0] == 1 || strcmp(text, "false") == 0;
    case CASS_FLOAT:
    case CASS_DOUBLE:
        return write_number(text, out, size);
    case CASS_COUNTER:
        return false;
    case CASS_UUID:
        return write_uuid(text, out);
    default:
        return write_uuid(text, out) && out[6] >> 4 == 1;
    }
}

bool cass_value_parse(enum cass_type type, const char *text, uint8_t **out, size_t *out_size,
                      struct sim_error *error)
{
    assert(type < CASS_TYPE_COUNT);
    *out = NULL;
    *out_size = 0;
    size_t size = 0;
    if (!value_size(type, text, &size, error))
        return false;
    /* An empty value also gets a pointer, so that NULL always means failure. */
    uint8_t *bytes = malloc(size > 0 ? size : 1);
    if (bytes == NULL)
        return sim_fail_memory(error);
    if (!write_value(type, text, bytes, size)) {
        free(bytes);
        return fail_value(error, type, text, "");
    }
    *out = bytes;
    *out_size = size;
    return true;
}
