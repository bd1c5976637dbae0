/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The CQL types, one row of a table each. In: the name of a type, with its parameters, or a literal. Out: the
 * bytes that Cassandra stores of its values. */
#define _POSIX_C_SOURCE 200809L
#include <arpa/inet.h>
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cassandra/sstable.h"
#include "cassandra/token.h"
#include "kernel/text.h"
#include "kernel/time.h"

#define UUID_TEXT_SIZE 36u
#define UUID_SIZE      16u
#define DIGITS_MAX     4096u /* of a varint or decimal */
#define LITERAL_ROOM   16u   /* more than the text of an address or a decimal */
#define SHOWN_SIZE_MAX 60u   /* greatest number of bytes of a value that an error message quotes */

#define OR_BLOB ", or its bytes, as 0x00ff"

/* Writes the bytes of a literal; *size: how many the type has, or else the text; it may become less. False:
 * it is none of the type. */
typedef bool write_literal(const char *text, uint8_t *out, size_t *size);
static write_literal write_text, write_ascii, write_bytes, write_integer, write_boolean, write_number,
    write_uuid, write_timeuuid, write_timestamp, write_date, write_time, write_inet, write_varint,
    write_decimal;

struct type {
    const char *name;
    uint8_t bytes;    /* of each value; 0: it varies */
    bool is_fixed;    /* Cassandra's valueLengthIfFixed(): an sstable stores the value without its length */
    uint8_t usual;    /* bytes of a value of varying length, if nothing says how many */
    const char *form; /* of a literal */
    write_literal *write;
};
static const struct type types[CASS_TYPE_COUNT] = {
    [CASS_TEXT] = {"text", 0, false, 20, "give UTF-8, or other bytes as a blob, 0x...", write_text},
    [CASS_ASCII] = {"ascii", 0, false, 20, "give ASCII, or other bytes as a blob, 0x...", write_ascii},
    [CASS_VARCHAR] = {"varchar", 0, false, 20, "give UTF-8, or other bytes as a blob, 0x...", write_text},
    [CASS_BLOB] = {"blob", 0, false, 20, "give 0x and two hexadecimal digits per byte, such as 0x00ff",
                   write_bytes},
    [CASS_INT] = {"int", 4, true, 0, "give a whole number from -2147483648 to 2147483647", write_integer},
    [CASS_BIGINT] = {"bigint", 8, true, 0,
                     "give a whole number from -9223372036854775808 to 9223372036854775807", write_integer},
    [CASS_UUID] = {"uuid", UUID_SIZE, true, 0,
                   "give hexadecimal digits as 8-4-4-4-12, such as f6071e72-48ec-4fcb-bf3e-379c8a696488",
                   write_uuid},
    [CASS_TIMEUUID] = {"timeuuid", UUID_SIZE, true, 0,
                       "give a version 1 uuid, hexadecimal digits as 8-4-4-4-12, such as "
                       "b34b62d4-6a8d-11ea-8000-005000237906",
                       write_timeuuid},
    [CASS_BOOLEAN] = {"boolean", 1, true, 0, "give true or false", write_boolean},
    [CASS_TINYINT] = {"tinyint", 1, false, 0, "give a whole number from -128 to 127", write_integer},
    [CASS_SMALLINT] = {"smallint", 2, false, 0, "give a whole number from -32768 to 32767", write_integer},
    [CASS_TIMESTAMP] = {"timestamp", 8, true, 0,
                        "give whole milliseconds since 1970, such as 1767225600000, or a time with its zone, "
                        "such as 2026-01-01T00:00:00Z",
                        write_timestamp},
    [CASS_FLOAT] = {"float", 4, true, 0, "give a number, such as 0.5 or -1e-3", write_number},
    [CASS_DOUBLE] = {"double", 8, true, 0, "give a number, such as 0.5 or -1e-3", write_number},
    [CASS_DATE] = {"date", 4, false, 0, "give a day, such as 2026-01-31" OR_BLOB, write_date},
    [CASS_TIME] = {"time", 8, false, 0, "give a time of day, such as 23:59:59.5" OR_BLOB, write_time},
    [CASS_INET] = {"inet", 0, false, 4, "give an address, such as 127.0.0.1 or ::1" OR_BLOB, write_inet},
    [CASS_VARINT] = {"varint", 0, false, 4, "give a whole number" OR_BLOB, write_varint},
    [CASS_DECIMAL] = {"decimal", 0, false, 8, "give a number, such as 1.50 or 1e3" OR_BLOB, write_decimal},
    [CASS_DURATION] = {"duration", 0, false, 6,
                       "give its bytes, as 0x00ff; Cassandra allows no duration in a primary key",
                       write_bytes},
    [CASS_COUNTER] = {"counter", 0, false, 36, "a counter has no literal", NULL},
};

bool cass_type_parse(const char *name, enum cass_type *out)
{
    for (int type = 0; type < CASS_TYPE_COUNT; type++) {
        if (strcmp(name, types[type].name) == 0) {
            *out = (enum cass_type)type;
            return true;
        }
    }
    return false;
}

const char *cass_type_name(enum cass_type type)
{
    assert(type < CASS_TYPE_COUNT);
    return types[type].name;
}

uint32_t cass_type_usual(enum cass_type type)
{
    return types[type < CASS_TYPE_COUNT ? type : CASS_TEXT].usual;
}

uint32_t cass_type_size(enum cass_type type)
{
    return type < CASS_TYPE_COUNT && types[type].is_fixed ? types[type].bytes : 0;
}

/* --- The weight of a type. */

#define TYPE_NAME_SIZE 64u
#define NESTED_MOST    16u
#define WEIGHT_MOST    (UINT64_C(1) << 40)

struct types_text {
    const char *at, *users;
    uint64_t bytes, elements;
    unsigned depth;
};

/* The values of one element: of a map the key and the value, of a tuple or user type the fields. Their
 * bytes; with the lengths of the native protocol, an int each; and with those of an sstable, a vint each. */
struct element {
    size_t count;
    uint64_t bytes, with_ints, with_vints, dimensions;
    bool is_fixed;
};

static bool is_next(struct types_text *in, char sign)
{
    in->at += strspn(in->at, " ");
    return *in->at == sign && in->at++ != NULL;
}

static bool weigh(struct types_text *in, struct element *out, struct cass_weight *complex);

/* Reads what is between angle brackets; a number is the dimension of a vector. */
static bool weigh_element(struct types_text *in, struct element *out)
{
    *out = (struct element){.is_fixed = true};
    if (!is_next(in, '<'))
        return false;
    do {
        struct element one;
        in->at += strspn(in->at, " ");
        if (*in->at >= '0' && *in->at <= '9') {
            char *end;
            out->dimensions = strtoull(in->at, &end, 10);
            in->at = end;
            continue;
        }
        if (!weigh(in, &one, NULL))
            return false;
        out->count++;
        out->bytes += one.bytes;
        out->with_ints += 4 + one.bytes;
        out->with_vints += cass_vint_size(one.bytes) + one.bytes;
        out->is_fixed = out->is_fixed && one.is_fixed;
    } while (is_next(in, ','));
    return is_next(in, '>');
}

/* The types with others in angle brackets. A user type is a tuple whose fields are elsewhere. */
static const struct nested {
    const char *name;
    uint8_t least, most; /* types in it */
    bool is_vector, is_frozen;
    bool is_collection;         /* of any number of elements */
    uint8_t cell, cell_of_each; /* is_complex: bytes of an element's cells that are not its values */
} nested[] = {
    {.name = "frozen", .least = 1, .most = 1, .is_frozen = true},
    {.name = "vector", .least = 1, .most = 1, .is_vector = true},
    {.name = "list", .least = 1, .most = 1, .is_collection = true, .cell = 18}, /* flags, timeuuid */
    {.name = "set", .least = 1, .most = 1, .is_collection = true, .cell = 1},
    {.name = "map", .least = 2, .most = 2, .is_collection = true, .cell = 1},
    {.name = "tuple", .least = 1, .most = UINT8_MAX},
    {.name = "", .least = 1, .most = UINT8_MAX, .cell_of_each = 4}}; /* flags, number of the field */

static bool weigh_nested(const struct nested *kind, struct types_text *in, struct element *out,
                         struct cass_weight *complex)
{
    struct element one;
    const uint64_t elements = in->elements > 0 ? in->elements : CASS_ELEMENTS_USUAL;
    if (!weigh_element(in, &one) || one.count < kind->least || one.count > kind->most ||
        kind->is_vector != (one.dimensions > 0) || one.with_ints > WEIGHT_MOST / (elements + one.dimensions))
        return false;
    *out = (struct element){.bytes = one.with_ints}; /* a tuple */
    if (kind->is_frozen)
        *out = one;
    else if (kind->is_collection)
        out->bytes = 4 + elements * one.with_ints;
    else if (kind->is_vector)
        *out = (struct element){.bytes = one.dimensions * (one.is_fixed ? one.bytes : one.with_vints),
                                .is_fixed = one.is_fixed};
    if (complex == NULL || kind->cell + kind->cell_of_each == 0)
        return true;
    *complex =
        (struct cass_weight){.is_complex = true,
                             .element = one.bytes,
                             .element_cells = kind->cell + kind->cell_of_each * one.count + one.with_vints};
    const uint64_t times = kind->is_collection ? elements : 1;
    complex->count = kind->is_collection ? elements : one.count;
    complex->value = times * complex->element;
    complex->cells = cass_vint_size(complex->count) + times * complex->element_cells;
    return true;
}

/* Weighs one type, as a value in one piece; complex: also as a column, if it is one of several cells. */
static bool weigh(struct types_text *in, struct element *out, struct cass_weight *complex)
{
    char name[TYPE_NAME_SIZE + 3] = "\n";
    const char *begin = in->at + strspn(in->at, " ");
    const size_t size = strcspn(begin, "<>, ");
    enum cass_type type;
    in->at = begin;
    if (size == 0 || size > TYPE_NAME_SIZE || in->depth == NESTED_MOST)
        return false;
    memcpy(name + 1, begin, size);
    if (cass_type_parse(name + 1, &type)) {
        const struct type *known = &types[type];
        in->at += size;
        *out = (struct element){.is_fixed = known->is_fixed, .bytes = known->bytes};
        if (known->bytes == 0)
            out->bytes = in->bytes > 0 ? in->bytes : known->usual;
        return true;
    }
    in->depth++;
    size_t kind = 0;
    while (*nested[kind].name != '\0' && strcmp(nested[kind].name, name + 1) != 0)
        kind++;
    bool is_known = false;
    if (*nested[kind].name != '\0') {
        in->at += size;
        is_known = weigh_nested(&nested[kind], in, out, complex);
    } else {
        name[size + 1] = '<';
        const char *user = in->users == NULL ? NULL : strstr(in->users, name);
        if (user != NULL) {
            in->at = user + size + 1;
            is_known = weigh_nested(&nested[kind], in, out, complex);
        }
        in->at = is_known ? begin + size : in->at;
    }
    in->depth--;
    return is_known;
}

bool cass_type_weigh(const char *text, const char *users, uint64_t bytes, uint64_t elements,
                     struct cass_weight *out)
{
    struct types_text in = {text, users, bytes, elements, 0};
    struct element one;
    *out = (struct cass_weight){0};
    if (!weigh(&in, &one, out) || in.at[strspn(in.at, " ")] != '\0')
        return false;
    if (!out->is_complex)
        *out = (struct cass_weight){.count = 1,
                                    .value = one.bytes,
                                    .cells = 1 + (one.is_fixed ? 0 : cass_vint_size(one.bytes)) + one.bytes};
    return true;
}

/* --- Literals. */

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
    return sim_fail(error, SIM_ERROR_INPUT, "'%s' is not %s %s%s; %s", shown,
                    strchr("ai", types[type].name[0]) != NULL ? "an" : "a", types[type].name, why,
                    types[type].form);
}

/* From 0x...: a blob, or a value of a type that need not have a literal. */
static bool is_in_bytes(enum cass_type type, const char *text)
{
    return types[type].write == write_bytes ||
           (type >= CASS_DATE && text[0] == '0' && (text[1] == 'x' || text[1] == 'X'));
}

/* Determines the most that the value needs from the length of its text alone. */
static bool value_size(enum cass_type type, const char *text, size_t *size, struct sim_error *error)
{
    const size_t length = strlen(text), bytes = types[type].bytes;
    const bool as_bytes = is_in_bytes(type, text);
    if (types[type].write == NULL || (as_bytes && (length < 2 || length % 2 != 0)))
        return fail_value(error, type, text, "");
    *size = as_bytes ? length / 2 - 1 : bytes > 0 ? bytes : length;
    if (bytes > 0 && *size != bytes)
        return fail_value(error, type, text, "");
    if (*size > CASS_COMPONENT_SIZE_MAX)
        return fail_value(error, type, text, " of at most 65535 bytes, the most that a partition key holds");
    return true;
}

static bool write_text(const char *text, uint8_t *out, size_t *size)
{
    if (sim_utf8_valid(text, *size) < *size)
        return false;
    memcpy(out, text, *size);
    return true;
}

static bool write_ascii(const char *text, uint8_t *out, size_t *size)
{
    for (size_t i = 0; i < *size; i++) {
        if ((text[i] & 0x80) != 0)
            return false;
    }
    return write_text(text, out, size);
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

static bool write_bytes(const char *text, uint8_t *out, size_t *size)
{
    return text[0] == '0' && (text[1] == 'x' || text[1] == 'X') && write_hex(text + 2, out, *size);
}

static void put(uint64_t value, uint8_t *out, size_t size)
{
    for (size_t i = 0; i < size; i++)
        out[i] = (uint8_t)(value >> (8 * (size - 1 - i)));
}

/* Converts an integer literal of CQL: an optional minus and digits, nothing else. */
static bool write_integer(const char *text, uint8_t *out, size_t *size)
{
    bool negative = text[0] == '-';
    const char *digits = text + (negative ? 1 : 0);
    uint64_t limit = (UINT64_C(1) << (8 * *size - 1)) - (negative ? 0 : 1);
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
    put(negative ? 0 - magnitude : magnitude, out, *size);
    return true;
}

static bool write_boolean(const char *text, uint8_t *out, size_t *size)
{
    (void)size;
    out[0] = strcmp(text, "true") == 0;
    return out[0] == 1 || strcmp(text, "false") == 0;
}

/* Accepts digits with an optional point and exponent, but neither infinity nor hexadecimal. The program does
 * not set a locale. */
static bool write_number(const char *text, uint8_t *out, size_t *size)
{
    size_t length = strspn(text, "+-.0123456789eE");
    char *end;
    /* Converting a float via a double would round it twice. */
    bool is_float = *size == sizeof(float);
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
    put(bits, out, *size);
    return true;
}

static bool write_uuid(const char *text, uint8_t *out, size_t *size)
{
    static const size_t group_bytes[] = {4, 2, 2, 2, 6};
    (void)size;
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

static bool write_timeuuid(const char *text, uint8_t *out, size_t *size)
{
    return write_uuid(text, out, size) && out[6] >> 4 == 1;
}

static bool write_timestamp(const char *text, uint8_t *out, size_t *size)
{
    int64_t ns;
    bool has_zone;
    if (sim_time_parse_zoned(text, strlen(text), &ns, &has_zone) != 0 || !has_zone)
        return write_integer(text, out, size);
    put((uint64_t)(ns / SIM_MS - (ns % SIM_MS < 0)), out, *size);
    return true;
}

static bool write_date(const char *text, uint8_t *out, size_t *size)
{
    int64_t ns;
    if (strchr(text, 'T') != NULL || sim_time_parse(text, &ns) != 0)
        return false;
    put((uint64_t)(ns / SIM_DAY + (INT64_C(1) << 31)), out, *size); /* as unsigned, 1970 in the middle */
    return true;
}

static bool write_time(const char *text, uint8_t *out, size_t *size)
{
    char whole[SIM_TIME_TEXT_SIZE];
    int64_t ns;
    const int length = snprintf(whole, sizeof whole, "1970-01-01T%sZ", text);
    if (length >= (int)sizeof whole || sim_time_parse(whole, &ns) != 0)
        return false;
    put((uint64_t)ns, out, *size);
    return true;
}

/* An IPv4 address in the form of IPv6 has four bytes, as in Java. */
static bool write_inet(const char *text, uint8_t *out, size_t *size)
{
    static const uint8_t mapped[12] = {[10] = 0xff, 0xff};
    uint8_t address[16];
    *size = 4;
    if (inet_pton(AF_INET, text, out) == 1)
        return true;
    if (inet_pton(AF_INET6, text, address) != 1)
        return false;
    const bool is_mapped = memcmp(address, mapped, sizeof mapped) == 0;
    *size = is_mapped ? 4 : sizeof address;
    memcpy(out, address + sizeof address - *size, *size);
    return true;
}

/* The digits up to `end`, without a point in them, as the shortest two's complement. */
static bool write_digits(const char *text, const char *end, uint8_t *out, size_t *size)
{
    const bool is_negative = *text == '-';
    const size_t room = (size_t)(end - text) / 2 + 2;
    bool has_digit = false;
    memset(out, 0, room);
    for (const char *c = text + is_negative; c < end; c++) {
        if (*c == '.')
            continue;
        if (*c < '0' || *c > '9')
            return false;
        has_digit = true;
        for (unsigned i = (unsigned)room, carry = (unsigned)(*c - '0'); i-- > 0; carry >>= 8) {
            carry += 10u * out[i];
            out[i] = (uint8_t)carry;
        }
    }
    for (unsigned i = (unsigned)room, carry = 1; is_negative && i-- > 0; carry >>= 8) {
        carry += (uint8_t)~out[i];
        out[i] = (uint8_t)carry;
    }
    size_t spare = 0; /* bytes that only repeat the sign */
    while (spare + 1 < room && out[spare] == (out[spare + 1] >= 0x80 ? 0xff : 0))
        spare++;
    *size = room - spare;
    memmove(out, out + spare, *size);
    return has_digit;
}

static bool write_varint(const char *text, uint8_t *out, size_t *size)
{
    const size_t length = strlen(text);
    return length <= DIGITS_MAX && strchr(text, '.') == NULL && write_digits(text, text + length, out, size);
}

/* An int with the scale, then the number without its point as a varint. */
static bool write_decimal(const char *text, uint8_t *out, size_t *size)
{
    const size_t length = strcspn(text, "eE");
    const char *point = memchr(text, '.', length), *rest = text + length;
    char *end = NULL;
    const long exponent = *rest == '\0' ? 0 : strtol(rest + 1, &end, 10);
    if (length > DIGITS_MAX ||
        (point != NULL && memchr(point + 1, '.', (size_t)(rest - point - 1)) != NULL) ||
        (end != NULL && (end == rest + 1 || *end != '\0' || rest[1] == ' ')) ||
        labs(exponent) > INT32_MAX / 2 || !write_digits(text, rest, out + 4, size))
        return false;
    put((uint64_t)((point == NULL ? 0 : rest - point - 1) - exponent), out, 4);
    *size += 4;
    return true;
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
    uint8_t *bytes = malloc(size + LITERAL_ROOM);
    if (bytes == NULL)
        return sim_fail_memory(error);
    if (!(is_in_bytes(type, text) ? write_bytes : types[type].write)(text, bytes, &size)) {
        free(bytes);
        return fail_value(error, type, text, "");
    }
    *out = bytes;
    *out_size = size;
    return true;
}
