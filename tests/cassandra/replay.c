/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parses the lines of a recorded file into statements: one table lists the words of each operation in their
 * order. */
#include "replay.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/time.h"
#include "peek.h"

enum word {
    END,
    KEY,
    BUCKET,
    TIME,
    ORDER,
    FROM,
    UNTIL,
    LIMIT,
    DELTA,
};

struct shape {
    const char *name;
    enum cass_statement_kind kind;
    uint8_t words[6];
    bool sets, deletes; /* sets: columns with values; deletes: columns or names without values */
    const char *clause; /* the words before the conditions */
    bool is_insert, is_whole_row, if_absent, if_exists;
    bool in_names; /* of table nam */
};

static const struct shape shapes[] = {
    {.name = "UPD", .kind = CASS_WRITE_COLUMNS, .words = {KEY}, .sets = true},
    {.name = "INS", .kind = CASS_WRITE_COLUMNS, .words = {KEY}, .sets = true, .is_insert = true},
    {.name = "DEL", .kind = CASS_DELETE_COLUMNS, .words = {KEY}, .deletes = true},
    {.name = "DELROW", .kind = CASS_DELETE_COLUMNS, .words = {KEY}, .is_whole_row = true},
    {.name = "GET", .kind = CASS_READ_COLUMNS, .words = {KEY}},
    {.name = "NX", .kind = CASS_CAS_COLUMNS, .words = {KEY}, .sets = true, .if_absent = true},
    {.name = "CAS", .kind = CASS_CAS_COLUMNS, .words = {KEY}, .sets = true, .clause = "IF"},
    {.name = "CASIN", .kind = CASS_CAS_COLUMNS, .words = {KEY}, .sets = true, .clause = "IN"},
    {.name = "CASNE", .kind = CASS_CAS_COLUMNS, .words = {KEY}, .sets = true, .clause = "NE"},
    {.name = "IFEX", .kind = CASS_CAS_COLUMNS, .words = {KEY}, .sets = true, .if_exists = true},
    {.name = "DELIFEX", .kind = CASS_CAS_COLUMNS, .words = {KEY}, .is_whole_row = true, .if_exists = true},
    {.name = "DELIF", .kind = CASS_CAS_COLUMNS, .words = {KEY}, .is_whole_row = true, .clause = "IF"},
    {.name = "ADD", .kind = CASS_ADD_COUNTER, .words = {KEY, DELTA}},
    {.name = "CNT", .kind = CASS_READ_COUNTER, .words = {KEY}},
    {.name = "CDEL", .kind = CASS_DELETE_COUNTER, .words = {KEY}},
    {.name = "NW", .kind = CASS_WRITE_NAMED, .words = {KEY}, .sets = true, .in_names = true},
    {.name = "ND", .kind = CASS_DELETE_NAMED, .words = {KEY}, .deletes = true, .in_names = true},
    {.name = "NG", .kind = CASS_READ_NAMED, .words = {KEY}, .in_names = true},
    {.name = "SUPD", .kind = CASS_WRITE_COLUMNS, .words = {KEY}, .sets = true, .in_names = true},
    {.name = "SDEL", .kind = CASS_DELETE_COLUMNS, .words = {KEY}, .deletes = true, .in_names = true},
    {.name = "SGET", .kind = CASS_READ_COLUMNS, .words = {KEY}, .in_names = true},
    {.name = "SNX",
     .kind = CASS_CAS_COLUMNS,
     .words = {KEY},
     .sets = true,
     .if_absent = true,
     .in_names = true},
    {.name = "SIFEX",
     .kind = CASS_CAS_COLUMNS,
     .words = {KEY},
     .sets = true,
     .if_exists = true,
     .in_names = true},
    {.name = "SCAS",
     .kind = CASS_CAS_COLUMNS,
     .words = {KEY},
     .sets = true,
     .clause = "IF",
     .in_names = true},
    {.name = "ROW", .kind = CASS_WRITE_ROW, .words = {KEY, BUCKET, TIME, ORDER}},
    {.name = "DROW", .kind = CASS_DELETE_ROW, .words = {KEY, BUCKET, TIME, ORDER}},
    {.name = "DRANGE", .kind = CASS_DELETE_RANGE, .words = {KEY, BUCKET, FROM, UNTIL}},
    {.name = "DPART", .kind = CASS_DELETE_PARTITION, .words = {KEY, BUCKET}},
    {.name = "ROWS", .kind = CASS_READ_ROWS, .words = {KEY, BUCKET, LIMIT}},
    {.name = "SPAN", .kind = CASS_READ_ROWS, .words = {KEY, BUCKET, FROM, UNTIL, LIMIT}},
    {.name = "COUNT", .kind = CASS_COUNT_ROWS, .words = {KEY, BUCKET}},
    {.name = "AFTER", .kind = CASS_COUNT_ROWS, .words = {KEY, BUCKET, TIME, ORDER}},
};

bool replay_number(const char *text, int64_t *out)
{
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    *out = value;
    bool begins = (*text >= '0' && *text <= '9') || ((*text == '-' || *text == '+') && text[1] != '\0');
    return begins && *end == '\0' && errno == 0;
}

static bool refuse(const char **problem, const char *text)
{
    *problem = text;
    return false;
}

/* The next word of a text, which is terminated in place; NULL at the end of the text. */
static char *next_word(char **text)
{
    *text += strspn(*text, " \t");
    char *word = *text;
    if (*word == '\0')
        return NULL;
    *text += strcspn(*text, " \t");
    if (**text != '\0')
        *(*text)++ = '\0';
    return word;
}

/* "n5=7@-2" or "n5@-2". */
static bool parse_name(char *word, bool has_value, struct cass_named *out, int64_t *out_name,
                       const char **problem)
{
    char *at = strchr(word, '@'), *equals = strchr(word, '=');
    *out = (struct cass_named){.timestamp_us = INT64_MIN};
    if (word[0] != 'n' || (equals != NULL) != has_value)
        return refuse(problem, has_value ? "a name has no value; write n1=5@-2" : "write a name as n1@-2");
    if (at != NULL) {
        *at = '\0';
        if (!replay_number(at + 1, &out->timestamp_us))
            return refuse(problem, "a timestamp is no whole number; write n1=5@-2");
    }
    if (equals != NULL) {
        *equals = '\0';
        if (!replay_number(equals + 1, &out->value))
            return refuse(problem, "a value is no whole number; write n1=5@-2");
    }
    if (!replay_number(word + 1, out_name))
        return refuse(problem, "a name is no whole number; write n1=5@-2");
    return true;
}

static uint32_t place_of(const struct replay_names *names, int64_t name)
{
    uint32_t low = 0, high = names->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (names->items[middle] < name)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool replay_names_add(struct replay_names *names, const char *line, size_t length, const char **problem)
{
    for (size_t i = 1; i + 1 < length; i++) {
        char *end, number[24] = {0};
        if (line[i - 1] != ' ' || line[i] != 'n' ||
            (line[i + 1] != '-' && (line[i + 1] < '0' || line[i + 1] > '9')))
            continue;
        memcpy(number, line + i + 1, length - i - 1 < 23 ? length - i - 1 : 23);
        int64_t name = strtoll(number, &end, 10);
        uint32_t at = place_of(names, name);
        if (at < names->count && names->items[at] == name)
            continue;
        if (names->count == CASS_NAMED_COLUMNS_MAX)
            return refuse(problem, "there are more than 65536 names; use fewer");
        if (names->count == names->capacity) {
            uint32_t capacity = names->capacity * 2 + 8;
            int64_t *items = realloc(names->items, capacity * sizeof *items);
            if (items == NULL)
                return refuse(problem, "there is not enough memory for the names; free some");
            names->items = items;
            names->capacity = capacity;
        }
        memmove(&names->items[at + 1], &names->items[at], (names->count - at) * sizeof *names->items);
        names->items[at] = name;
        names->count++;
    }
    return true;
}

void replay_names_clear(struct replay_names *names)
{
    free(names->items);
    *names = (struct replay_names){0};
}

bool replay_sequence(const char *line, int64_t *base_s, const char **problem)
{
    if (strncmp(line, "S ", 2) != 0)
        return false;
    const char *base = strstr(line, " base=");
    char number[24] = {0};
    if (base == NULL)
        return refuse(problem, "a sequence has no base; write 'S 1 plain base=SECONDS'");
    base += strlen(" base=");
    size_t length = strcspn(base, " \t");
    memcpy(number, base, length < sizeof number - 1 ? length : sizeof number - 1);
    if (!replay_number(number, base_s) || *base_s < 0 || *base_s > INT64_C(8000000000))
        return refuse(problem, "a sequence's base is no time; give whole seconds since 1970");
    return true;
}

static bool add_column(struct cass_statement *statement, char *word, const char **problem)
{
    char *equals = strchr(word, '=');
    if (equals == NULL)
        return refuse(problem, "a column has no value; write c0=1 or c0=null");
    *equals = '\0';
    int64_t column;
    if (!replay_number(word + 1, &column) || column < 0 || column >= CASS_COLUMNS)
        return refuse(problem, "there is no such column; write c0 to c5");
    uint32_t bit = UINT32_C(1) << column;
    if (strcmp(equals + 1, "null") == 0)
        statement->null_mask |= bit;
    else if (!replay_number(equals + 1, &statement->set[column]))
        return refuse(problem, "a column's value is no whole number; write c0=1 or c0=null");
    if (statement->set_mask & bit)
        return refuse(problem, "a column is set twice; leave one out");
    statement->set_mask |= bit;
    return true;
}

static bool add_condition(struct cass_statement *statement, const char *clause, char *word,
                          const char **problem)
{
    struct cass_statement set = {0};
    if (!add_column(&set, word, problem))
        return false;
    if (statement->if_mask & set.set_mask)
        return refuse(problem, "a column has two conditions; leave one out");
    statement->if_mask |= set.set_mask;
    statement->if_null_mask |= set.null_mask;
    for (uint32_t i = 0; i < CASS_COLUMNS; i++)
        statement->equal[i] = set.set_mask >> i & 1 ? set.set[i] : statement->equal[i];
    if (strcmp(clause, "NE") == 0)
        statement->if_not_mask |= set.set_mask;
    if (strcmp(clause, "IN") == 0) { /* IN (0, 1), whatever the values */
        statement->if_in_mask |= set.set_mask;
        statement->in_count = 2;
        statement->in[1] = 1;
    }
    return true;
}

static bool add_word(struct cass_statement *statement, enum word word, int64_t number)
{
    switch (word) {
    case KEY:
        statement->key = (uint64_t)number;
        break;
    case BUCKET:
        statement->bucket = number;
        break;
    case TIME:
        statement->row_time_ns = statement->after_time_ns = number;
        break;
    case ORDER:
        statement->row_order = statement->after_order = number;
        statement->has_after = statement->kind == CASS_COUNT_ROWS;
        break;
    case FROM:
        statement->from_ns = number;
        break;
    case UNTIL:
        statement->until_ns = number;
        statement->has_span = true;
        break;
    case LIMIT:
        statement->limit = (uint64_t)number;
        return number >= 0;
    default:
        statement->delta = number;
    }
    return true;
}

/* Parses "ts=", "ttl=", "cl=" and "scl="; *is_option says whether the word is one of them. */
static bool add_option(struct replay_operation *operation, const char *word, bool *is_option,
                       const char **problem)
{
    struct cass_statement *statement = &operation->statement;
    *is_option = true;
    int64_t seconds;
    if (strncmp(word, "ts=", 3) == 0)
        return replay_number(word + 3, &statement->timestamp_us) ||
               refuse(problem, "ts is no whole number; give microseconds after the base");
    if (strncmp(word, "ttl=", 4) == 0) {
        if (!replay_number(word + 4, &seconds))
            return refuse(problem, "ttl is no whole number; give seconds");
        bool deletes = statement->kind == CASS_DELETE_COLUMNS || statement->kind == CASS_DELETE_NAMED ||
                       statement->kind == CASS_DELETE_ROW || statement->kind == CASS_DELETE_RANGE ||
                       statement->kind == CASS_DELETE_PARTITION || statement->is_whole_row;
        operation->is_invalid = operation->is_invalid || seconds < 0 || seconds > 630720000 || deletes;
        statement->ttl_ns = seconds == 0 ? CASS_NO_TTL : seconds * SIM_SECOND;
        return true;
    }
    if (strncmp(word, "cl=", 3) == 0)
        return cass_consistency_parse(word + 3, &statement->consistency) ||
               refuse(problem, "cl is no consistency level; write one as cl=QUORUM");
    if (strcmp(word, "dead") == 0)
        return operation->has_dead = true;
    if (strncmp(word, "scl=", 4) == 0)
        return cass_consistency_parse(word + 4, &statement->serial_consistency) ||
               refuse(problem, "scl is no consistency level; write scl=SERIAL or scl=LOCAL_SERIAL");
    *is_option = false;
    return true;
}

static bool add_named(struct replay_operation *operation, const struct replay_names *names, char *word,
                      const char **problem)
{
    int64_t name;
    if (operation->named_count == REPLAY_NAMED_MAX)
        return refuse(problem, "a batch has more than 256 rows; split it");
    struct cass_named *named = &operation->named[operation->named_count++];
    bool has_value = operation->statement.kind == CASS_WRITE_NAMED;
    if (!parse_name(word, has_value, named, &name, problem))
        return false;
    named->name = place_of(names, name);
    return true;
}

static bool add_rest(struct replay_operation *operation, const struct shape *shape,
                     const struct replay_names *names, char *rest, const char **problem)
{
    struct cass_statement *statement = &operation->statement;
    bool in_clause = false, is_option,
         is_named = statement->kind == CASS_WRITE_NAMED || statement->kind == CASS_DELETE_NAMED;
    for (char *word; (word = next_word(&rest)) != NULL;) {
        if (!add_option(operation, word, &is_option, problem))
            return false;
        if (is_option)
            continue;
        if (shape->clause != NULL && strcmp(word, shape->clause) == 0)
            in_clause = true;
        else if (in_clause) {
            if (!add_condition(statement, shape->clause, word, problem))
                return false;
        } else if (is_named && word[0] != 'c') {
            if (!add_named(operation, names, word, problem))
                return false;
        } else if (shape->sets && word[0] == 'c') {
            if (!add_column(statement, word, problem))
                return false;
        } else if (shape->deletes && word[0] == 'c') {
            int64_t column;
            if (!replay_number(word + 1, &column) || column < 0 || column >= CASS_COLUMNS)
                return refuse(problem, "there is no such column; write c0 to c5");
            statement->set_mask |= UINT32_C(1) << column;
        } else {
            return refuse(problem,
                          "an operation has a word too many, or an unknown option; the README of the "
                          "recordings lists what each one takes");
        }
    }
    if (shape->clause != NULL && statement->if_mask == 0)
        return refuse(problem, "a condition is missing; write it at the end, as IF c0=1");
    if (shape->sets && !is_named && !statement->is_insert && !shape->if_absent && statement->set_mask == 0)
        return refuse(problem, "no column is set; write c0=1");
    if (is_named && operation->named_count == 0)
        return refuse(problem, "no row is named; write n1=5@-2");
    if (statement->kind == CASS_DELETE_COLUMNS && statement->set_mask == 0)
        statement->is_whole_row = true;
    return true;
}

bool replay_parse(char *text, const struct replay_names *names, struct replay_operation *out,
                  const char **problem)
{
    const struct shape *shape = NULL;
    memset(out, 0, sizeof *out);
    char *time = next_word(&text), *name = next_word(&text);
    if (time == NULL || !replay_number(time, &out->offset_us) || out->offset_us < 0 ||
        out->offset_us > INT64_C(1) << 50)
        return refuse(problem,
                      "a line begins with no time; give whole microseconds after the sequence's base");
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        shape = name != NULL && strcmp(shapes[i].name, name) == 0 ? &shapes[i] : shape;
    if (shape == NULL)
        return refuse(problem, "an operation is unknown; the README of the recordings lists them");
    out->in_names = shape->in_names;
    out->statement = (struct cass_statement){.kind = shape->kind,
                                             .consistency = CASS_QUORUM,
                                             .serial_consistency = CASS_SERIAL,
                                             .timestamp_us = INT64_MIN,
                                             .is_insert = shape->is_insert,
                                             .is_whole_row = shape->is_whole_row,
                                             .if_absent = shape->if_absent,
                                             .if_exists = shape->if_exists};
    for (size_t i = 0; shape->words[i] != END; i++) {
        int64_t number;
        char *word = next_word(&text);
        if (word == NULL || !replay_number(word, &number) ||
            !add_word(&out->statement, (enum word)shape->words[i], number))
            return refuse(problem,
                          "an operation lacks a number; the README of the recordings lists what each "
                          "one takes");
    }
    return add_rest(out, shape, names, text, problem);
}
