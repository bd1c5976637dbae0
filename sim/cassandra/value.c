/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The CQL types, one row of a table each. In: the name of a type, with its parameters, or a literal. Out: the
 * bytes that Cassandra stores of its values. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cassandra/sstable.h"
#include "cassandra/token.h"
#include "kernel/text.h"

#define UUID_TEXT_SIZE 36u
#define UUID_SIZE      16u
#define SHOWN_SIZE_MAX 60u /* greatest number of bytes of a value that an error message quotes */

#define AS_BLOB "give the bytes of the value, as 0x00ff"

/* Writes the bytes of a literal: as many as the type has, or the text. False: it is none of the type. */
typedef bool write_literal(const char *text, uint8_t *out, size_t size);
static write_literal write_text, write_ascii, write_bytes, write_integer, write_boolean, write_number,
    write_uuid, write_timeuuid;

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
    [CASS_TIMESTAMP] = {"timestamp", 8, true, 0, "give whole milliseconds since 1970, such as 1767225600000",
                        write_integer},
    [CASS_FLOAT] = {"float", 4, true, 0, "give a number, such as 0.5 or -1e-3", write_number},
    [CASS_DOUBLE] = {"double", 8, true, 0, "give a number, such as 0.5 or -1e-3", write_number},
    [CASS_DATE] = {"date", 4, false, 0, AS_BLOB, write_bytes},
    [CASS_TIME] = {"time", 8, false, 0, AS_BLOB, write_bytes},
    [CASS_INET] = {"inet", 0, false, 4, AS_BLOB, write_bytes}, /* IPv6: 16 */
    [CASS_VARINT] = {"varint", 0, false, 4, AS_BLOB, write_bytes},
    [CASS_DECIMAL] = {"decimal", 0, false, 8, AS_BLOB, write_bytes},
    [CASS_DURATION] = {"duration", 0, false, 6, AS_BLOB, write_bytes},
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

/* Determines the size of the value from the length of its text alone. */
static bool value_size(enum cass_type type, const char *text, size_t *size, struct sim_error *error)
{
    const size_t length = strlen(text), bytes = types[type].bytes;
    write_literal *write = types[type].write;
    if (write == NULL || (write == write_bytes && (length < 2 || length % 2 != 0)))
        return fail_value(error, type, text, "");
    *size = write == write_bytes ? length / 2 - 1 : bytes > 0 ? bytes : length;
    if (bytes > 0 && *size != bytes)
        return fail_value(error, type, text, "");
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

static bool write_ascii(const char *text, uint8_t *out, size_t size)
{
    for (size_t i = 0; i < size; i++) {
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

static bool write_bytes(const char *text, uint8_t *out, size_t size)
{
    return text[0] == '0' && (text[1] == 'x' || text[1] == 'X') && write_hex(text + 2, out, size);
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

static bool write_boolean(const char *text, uint8_t *out, size_t size)
{
    (void)size;
    out[0] = strcmp(text, "true") == 0;
    return out[0] == 1 || strcmp(text, "false") == 0;
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

static bool write_uuid(const char *text, uint8_t *out, size_t size)
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

static bool write_timeuuid(const char *text, uint8_t *out, size_t size)
{
    return write_uuid(text, out, size) && out[6] >> 4 == 1;
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
    if (!types[type].write(text, bytes, size)) {
        free(bytes);
        return fail_value(error, type, text, "");
    }
    *out = bytes;
    *out_size = size;
    return true;
}
