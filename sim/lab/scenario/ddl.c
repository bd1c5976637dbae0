/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads a table as its owner has it. In: `row.schema`, a file with CREATE TABLE and CREATE TYPE statements,
 * as DESCRIBE prints them. Kept: nothing. Out: the design of the scenario, its time to live, window
 * of compaction and gc_grace_seconds, the user types, and the statements with a column for the bucket. The
 * key is the first column of the partition key that is not named like a bucket, and the last clustering
 * column tells its rows apart. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/text.h"
#include "kernel/time.h"
#include "lab/fields.h"

#define SPACES       " \t\r\n\f\v"
#define TOKEN_SIZE   256u
#define GC_GRACE_MAX (20 * 365 * SIM_DAY)

struct ddl {
    struct lab_reader *reader;
    struct lab_design *design;
    const char *path, *text;
    /* The current token, a word, a quoted text or a sign, is [from, to) of the text; "" at the end. */
    const char *from, *to;
    char token[TOKEN_SIZE];
    bool is_quoted;
    const char *table;                       /* the name that the scenario gives; NULL: the only one */
    const char *key, *bucket;                /* columns that the scenario names, or NULL */
    const char *column_at, *key_at, *end_at; /* where the bucket's column, a bracket, and its name go */
    bool is_composite;
    const char *added; /* the column of the bucket; NULL: the table has one */
};

static bool fail(const struct ddl *in, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool fail(const struct ddl *in, const char *format, ...)
{
    char text[512];
    unsigned line = 1;
    for (const char *at = in->text; at < in->from; at++)
        line += *at == '\n';
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return sim_fail(in->reader->tree.error, SIM_ERROR_INPUT, "%s:%u: %s", in->path, line, text);
}

/* Names in ASCII, in any locale. */
static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static char to_lower(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

static bool is_of_word(char c)
{
    return (to_lower(c) >= 'a' && to_lower(c) <= 'z') || is_digit(c) || c == '_';
}

static bool is_space(char c)
{
    return c != '\0' && strchr(SPACES, c) != NULL;
}

static void next(struct ddl *in)
{
    const char *at = in->to;
    for (const char *end = at; end != NULL;) {
        at = end + strspn(end, SPACES);
        end = strncmp(at, "/*", 2) == 0 ? strstr(at + 2, "*/") : NULL;
        if (end != NULL)
            end += 2;
        else if (strncmp(at, "--", 2) == 0 || strncmp(at, "//", 2) == 0)
            end = at + strcspn(at, "\n");
    }
    in->from = in->to = at;
    in->is_quoted = *at == '"' || *at == '\'';
    if (in->is_quoted) {
        for (in->to++; *in->to != '\0' && (*in->to != *at || in->to[1] == *at);)
            in->to += *in->to == *at ? 2 : 1;
        in->to += *in->to != '\0';
    } else {
        while (is_of_word(*in->to))
            in->to++;
        in->to += in->to == at && *at != '\0';
    }
    size_t size = (size_t)(in->to - at), quotes = size < 2 || !in->is_quoted ? 0 : 1;
    size -= 2 * quotes;
    size = size < TOKEN_SIZE ? size : TOKEN_SIZE - 1;
    memcpy(in->token, at + quotes, size);
    in->token[size] = '\0';
}

static bool is_end(const struct ddl *in)
{
    return *in->from == '\0';
}

static bool is_next(const struct ddl *in, const char *word)
{
    size_t i = 0;
    while (word[i] != '\0' && to_lower(in->token[i]) == to_lower(word[i]))
        i++;
    return !in->is_quoted && in->token[i] == word[i];
}

static bool take(struct ddl *in, const char *word)
{
    const bool is_taken = is_next(in, word);
    if (is_taken)
        next(in);
    return is_taken;
}

static bool expect(struct ddl *in, const char *word)
{
    return take(in, word) ||
           fail(in, "'%s' where '%s' should be; give the statement as DESCRIBE prints it", in->token, word);
}

/* Takes a name; names without quotes are in lower case. */
static bool take_name(struct ddl *in, char *out, size_t room)
{
    size_t size = strlen(in->token);
    if (size == 0 || size >= room || strpbrk(in->token, "\"\n") != NULL)
        return fail(in, "'%s' where a name of at most %zu bytes should be", in->token, room - 1);
    for (size_t i = 0; i <= size; i++)
        out[i] = in->is_quoted ? in->token[i] : to_lower(in->token[i]);
    next(in);
    return true;
}

/* Takes the name of a table or a user type, and leaves out its keyspace, which a template may fill in. */
static bool take_full_name(struct ddl *in, char *out, size_t room)
{
    if (take(in, "IF") && (!expect(in, "NOT") || !expect(in, "EXISTS")))
        return false;
    for (struct ddl ahead = *in; !is_end(&ahead) && !is_next(&ahead, "(") && !is_next(&ahead, ";");
         next(&ahead)) {
        if (is_next(&ahead, ".")) {
            *in = ahead;
            next(in);
        }
    }
    return take_name(in, out, room);
}

/* Takes a type with its parameters: "map<text, frozen<list<int>>>". The keyspace of a user type is left
 * out. */
static bool take_type(struct ddl *in, char *out, size_t room)
{
    size_t size = 0, begin = 0;
    int depth = 0;
    bool goes_on = true;
    while (goes_on && !is_end(in)) {
        char part[TOKEN_SIZE];
        const bool is_comma = is_next(in, ","), is_dot = is_next(in, ".");
        depth += is_next(in, "<") - is_next(in, ">");
        const bool is_name = !is_next(in, "<") && !is_next(in, ">") && !is_comma;
        if (!take_name(in, part, sizeof part))
            return false;
        if (size + strlen(part) + 2 > room)
            return fail(in, "a type of more than %zu bytes", room - 2);
        size = is_dot ? begin
                      : size + (size_t)snprintf(out + size, room - size, "%s%s", part, is_comma ? " " : "");
        out[size] = '\0';
        begin = is_name ? begin : size;
        goes_on = depth > 0 || is_next(in, "<") || is_next(in, ".") || is_dot;
    }
    return true;
}

static bool take_user_type(struct ddl *in, struct lab_writer *users)
{
    char name[LAB_COLUMN_NAME_MAX + 1], type[LAB_TYPE_SIZE];
    if (!take_full_name(in, name, sizeof name) || !expect(in, "("))
        return false;
    lab_writer_add(users, "\n%s", name);
    char sign = '<';
    do {
        if (!take_name(in, name, sizeof name) || !take_type(in, type, sizeof type))
            return false;
        lab_writer_add(users, "%c%s", sign, type);
        sign = ',';
    } while (take(in, ",") && !is_next(in, ")"));
    lab_writer_add(users, ">");
    return is_next(in, ")") || expect(in, ")");
}

static int position_of(const struct lab_design *design, const char *name)
{
    for (size_t i = 0; name != NULL && i < design->column_count; i++) {
        if (strcmp(design->columns[i].name, name) == 0)
            return (int)i;
    }
    return -1;
}

/* Takes a column's name in the primary key. */
static bool take_key_part(struct ddl *in, uint8_t *positions, size_t *count)
{
    char name[LAB_COLUMN_NAME_MAX + 1];
    const struct ddl before = *in;
    if (!take_name(in, name, sizeof name))
        return false;
    int position = position_of(in->design, name);
    if (position < 0)
        return fail(&before, "the primary key names '%s', which is not a column before it; check the name",
                    name);
    if (lab_design_is_in_key(in->design, (size_t)position))
        return fail(&before, "the primary key names '%s' twice; check the name", name);
    positions[(*count)++] = (uint8_t)position;
    return true;
}

static bool take_primary_key(struct ddl *in)
{
    struct lab_design *design = in->design;
    if (!expect(in, "("))
        return false;
    in->is_composite = take(in, "(");
    in->key_at = in->from;
    do {
        in->end_at = in->to;
        if (!take_key_part(in, design->partition, &design->partition_count))
            return false;
    } while (in->is_composite && take(in, ","));
    if (in->is_composite && !expect(in, ")"))
        return false;
    while (take(in, ",")) {
        if (!take_key_part(in, design->clustering, &design->clustering_count))
            return false;
    }
    return expect(in, ")");
}

static bool take_column(struct ddl *in)
{
    struct lab_design *design = in->design;
    const struct ddl before = *in;
    if (take(in, "PRIMARY")) {
        in->column_at = before.from;
        return expect(in, "KEY") && take_primary_key(in);
    }
    if (design->column_count == LAB_COLUMNS_MAX - 1) /* and the bucket */
        return fail(in, "more than %u columns; leave some out in a copy", LAB_COLUMNS_MAX - 1);
    struct lab_column *column = &design->columns[design->column_count];
    struct cass_weight weight;
    *column = (struct lab_column){.feed = LAB_FEED_DATA};
    if (!take_name(in, column->name, sizeof column->name) ||
        !take_type(in, column->type_text, sizeof column->type_text))
        return false;
    if (!cass_type_weigh(column->type_text, in->reader->user_types, 0, 0, &weight))
        return fail(&before,
                    "column %s has the type %s, which is not known; give the CREATE TYPE too, or write "
                    "another type",
                    column->name, column->type_text);
    column->is_static = take(in, "STATIC");
    if (take(in, "PRIMARY")) {
        if (!expect(in, "KEY"))
            return false;
        design->partition[design->partition_count++] = (uint8_t)design->column_count;
    }
    int depth = 0; /* MASKED WITH mask_inner(1, 1) */
    for (bool is_masked = take(in, "MASKED");
         is_masked && !is_end(in) && (depth > 0 || (!is_next(in, ",") && !is_next(in, ")"))); next(in))
        depth += is_next(in, "(") - is_next(in, ")");
    design->column_count++;
    return true;
}

/* Skips the value of an option, up to the next one. */
static void skip_value(struct ddl *in)
{
    for (int depth = 0; !is_end(in) && (depth > 0 || (!is_next(in, "AND") && !is_next(in, ";"))); next(in))
        depth += is_next(in, "{") - is_next(in, "}");
}

/* Takes the window of a table with time windows; in their absence, the lab chooses one. */
static void take_compaction(struct ddl *in, int64_t *window_ns)
{
    struct ddl ahead = *in;
    int64_t unit_ns = SIM_DAY, size = 1;
    bool has_windows = false;
    char name[TOKEN_SIZE] = "";
    for (; !is_end(&ahead) && !is_next(&ahead, "}"); next(&ahead)) {
        if (is_next(&ahead, ":") || is_next(&ahead, ","))
            continue;
        if (strcmp(name, "class") == 0)
            has_windows = strstr(ahead.token, "TimeWindowCompactionStrategy") != NULL;
        else if (strcmp(name, "compaction_window_unit") == 0)
            unit_ns = ahead.token[0] == 'H' ? SIM_HOUR : ahead.token[0] == 'M' ? SIM_MINUTE : SIM_DAY;
        else if (strcmp(name, "compaction_window_size") == 0)
            size = strtoll(ahead.token, NULL, 10);
        memcpy(name, ahead.token, sizeof name);
    }
    if (has_windows && size >= 1 && size <= 365)
        *window_ns = size * unit_ns;
}

static bool take_order(struct ddl *in)
{
    struct lab_design *design = in->design;
    if (!expect(in, "ORDER") || !expect(in, "BY") || !expect(in, "("))
        return false;
    do {
        char name[LAB_COLUMN_NAME_MAX + 1];
        if (!take_name(in, name, sizeof name))
            return false;
        bool is_descending = take(in, "DESC");
        if (!is_descending)
            take(in, "ASC");
        for (size_t i = 0; i < design->clustering_count; i++)
            design->is_descending[i] = design->is_descending[i] ||
                                       (is_descending && design->clustering[i] == position_of(design, name));
    } while (take(in, ","));
    return expect(in, ")");
}

static bool take_seconds(struct ddl *in, int64_t most_ns, int64_t *out_ns)
{
    char *end;
    uint64_t value = strtoull(in->token, &end, 10);
    if (!is_digit(in->token[0]) || *end != '\0' || value > (uint64_t)(most_ns / SIM_SECOND))
        return fail(in, "'%s' where a number of seconds should be", in->token);
    *out_ns = (int64_t)value * SIM_SECOND;
    return true;
}

static bool take_options(struct ddl *in)
{
    struct lab_scenario *scenario = in->reader->scenario;
    do {
        if (take(in, "CLUSTERING")) {
            if (!take_order(in))
                return false;
            continue;
        }
        if (take(in, "COMPACT")) {
            if (!expect(in, "STORAGE"))
                return false;
            continue;
        }
        const bool is_compaction = is_next(in, "compaction");
        const bool is_ttl = is_next(in, "default_time_to_live"), is_grace = is_next(in, "gc_grace_seconds");
        next(in);
        if (!expect(in, "=") || (is_ttl && !take_seconds(in, GC_GRACE_MAX, &scenario->row_ttl_ns)) ||
            (is_grace && !take_seconds(in, GC_GRACE_MAX, &scenario->gc_grace_ns)))
            return false;
        if (is_compaction)
            take_compaction(in, &scenario->compaction_window_ns);
        skip_value(in);
    } while (take(in, "AND"));
    return true;
}

/* Finds the table: the one that the scenario names, or that has the scenario's name, or the only one; and
 * takes the user types. `in` is then at the table's CREATE. */
static bool find_table(struct ddl *in, struct lab_writer *users, struct lab_writer *types)
{
    struct ddl chosen = *in;
    struct lab_writer others = {0};
    size_t count = 0;
    bool is_found = false, is_read = true;
    const char *wanted = in->table != NULL ? in->table : in->reader->scenario->name;
    for (; is_read && !is_end(in); next(in)) {
        const struct ddl begin = *in;
        if (!take(in, "CREATE"))
            continue;
        if (take(in, "TYPE")) {
            is_read = take_user_type(in, users);
            lab_writer_add(types, "%s%.*s", types->size == 0 ? "" : ";\n", (int)(in->to - begin.from),
                           begin.from);
        } else if (take(in, "TABLE") || take(in, "COLUMNFAMILY")) {
            char name[LAB_COLUMN_NAME_MAX + 1];
            is_read = take_full_name(in, name, sizeof name);
            const bool is_wanted = is_read && wanted != NULL && strcmp(name, wanted) == 0;
            lab_writer_add(&others, "%s%s", count++ == 0 ? "" : ", ", is_read ? name : "");
            chosen = is_wanted || count == 1 ? begin : chosen;
            is_found = is_found || is_wanted;
        }
    }
    *in = chosen;
    bool is_fine = is_read && (is_found || (in->table == NULL && count == 1));
    if (is_read && count == 0)
        fail(in, "no CREATE TABLE in it; give the output of DESCRIBE TABLE");
    else if (is_read && !is_fine)
        fail(in, "%zu tables, %.400s; name the one that you want, as in schema: {file: %s, table: TABLE}",
             count, others.text, in->path);
    free(others.text);
    return is_fine;
}

static bool is_like_a_bucket(const char *name)
{
    static const char *const words[] = {"bucket", "day",  "hour",  "date",   "month",    "week",     "year",
                                        "window", "slot", "shard", "period", "interval", "partition"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strstr(name, words[i]) != NULL)
            return true;
    }
    return false;
}

/* Finds a column of the partition key that the scenario names; -1 unless it names one. */
static bool find_part(struct ddl *in, const char *name, int *out)
{
    *out = position_of(in->design, name);
    return name == NULL ||
           (*out >= 0 && memchr(in->design->partition, *out, in->design->partition_count) != NULL) ||
           fail(in, "'%s' is not in the partition key of table %s; name one of its columns", name,
                in->design->name);
}

/* Says what feeds each column of the primary key. A partition key of several columns is one key: the others
 * have one value for each. */
static bool feed_columns(struct ddl *in)
{
    struct lab_design *design = in->design;
    int key, bucket;
    if (!find_part(in, in->key, &key) || !find_part(in, in->bucket, &bucket))
        return false;
    for (size_t i = 0; i < design->partition_count; i++) {
        struct lab_column *column = &design->columns[design->partition[i]];
        const int position = design->partition[i];
        column->feed = LAB_FEED_VALUES;
        column->values = 1;
        if (bucket < 0 && position != key && design->partition_count > 1 && is_like_a_bucket(column->name))
            bucket = position;
        else if (key < 0 && position != bucket)
            key = position;
    }
    if (key < 0 || key == bucket)
        return fail(in, "the partition key of table %s has no column for the key besides '%s'", design->name,
                    design->columns[bucket].name);
    design->columns[key].feed = LAB_FEED_KEY;
    for (size_t i = 0; i < design->clustering_count; i++) {
        struct lab_column *column = &design->columns[design->clustering[i]];
        const bool is_time =
            strcmp(column->type_text, "timestamp") == 0 && lab_design_column(design, LAB_FEED_TIME) == NULL;
        column->feed = i + 1 == design->clustering_count ? LAB_FEED_ID
                       : is_time                         ? LAB_FEED_TIME
                                                         : LAB_FEED_VALUES;
        column->values = 10;
    }
    if (bucket < 0) {
        in->added = position_of(design, "bucket") < 0 ? "bucket" : "bucketlab_bucket";
        bucket = (int)design->column_count++;
        design->columns[bucket] = (struct lab_column){.type_text = "bigint"};
        memcpy(design->columns[bucket].name, in->added, strlen(in->added) + 1);
        design->partition[design->partition_count++] = (uint8_t)bucket;
    }
    design->columns[bucket].feed = LAB_FEED_BUCKET;
    return true;
}

/* Writes the statement from `begin` to the current token, with the bucket unless it has one. */
static void write_table(const struct ddl *in, const char *begin, struct lab_writer *out)
{
    const char *end = in->from, *at = in->added == NULL ? NULL : in->column_at;
    while (end > begin && is_space(end[-1]))
        end--;
    if (at == NULL) {
        lab_writer_add(out, "%.*s", (int)(end - begin), begin);
        return;
    }
    const char *blank = at;
    while (blank > begin && is_space(blank[-1]))
        blank--;
    const int blanks = (int)(at - blank);
    lab_writer_add(out, "%.*s%s bigint,%.*s", (int)(at - begin), begin, in->added, blanks > 0 ? blanks : 1,
                   blanks > 0 ? blank : " ");
    lab_writer_add(out, "%.*s%s%.*s, %s%s%.*s", (int)(in->key_at - at), at, in->is_composite ? "" : "(",
                   (int)(in->end_at - in->key_at), in->key_at, in->added, in->is_composite ? "" : ")",
                   (int)(end - in->end_at), in->end_at);
}

/* Reads the table at the current token, CREATE. */
static bool read_table(struct ddl *in, struct lab_writer *out)
{
    static const char signs[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    struct lab_design *design = in->design;
    const char *begin = in->from;
    next(in); /* CREATE */
    next(in); /* TABLE */
    const struct ddl named = *in;
    if (!take_full_name(in, design->name, sizeof design->name) || !expect(in, "("))
        return false;
    if (design->name[strspn(design->name, signs)] != '\0')
        return fail(&named,
                    "the table's name '%s' has other signs than letters, digits and _; rename it in a copy",
                    design->name);
    do {
        if (!take_column(in))
            return false;
    } while (take(in, ","));
    if (!expect(in, ")") || (take(in, "WITH") && !take_options(in)) ||
        (!is_end(in) && !is_next(in, ";") && !expect(in, ";")))
        return false;
    if (design->partition_count == 0)
        return fail(&named, "table %s has no primary key; give the whole statement", design->name);
    if (design->clustering_count == 0)
        return fail(&named,
                    "table %s has no clustering columns, so a partition is one row, and there is nothing to "
                    "bucket; give a table whose partitions have many rows",
                    design->name);
    if (!feed_columns(in))
        return false;
    design->is_given = true;
    write_table(in, begin, out);
    return true;
}

static bool read_name(struct lab_reader *reader, const struct lab_field *field, const struct lab_node *node,
                      void *out)
{
    (void)field;
    return (*(const char **)out = lab_scalar(reader, node)) != NULL;
}

/* The target is a struct ddl. */
static const struct lab_table schema_table = {
    LAB_FIELDS({"file", read_name, LAB_AT(struct ddl, path), LAB_REQUIRED},
               {"table", read_name, LAB_AT(struct ddl, table)}, {"key", read_name, LAB_AT(struct ddl, key)},
               {"bucket", read_name, LAB_AT(struct ddl, bucket)})};

bool lab_schema_read(struct lab_reader *reader, const struct lab_node *root)
{
    struct lab_scenario *scenario = reader->scenario;
    const struct lab_node *node = lab_node_at(root, "row.schema");
    struct ddl in = {.reader = reader, .design = &scenario->design};
    struct lab_writer users = {0}, types = {0}, table = {0};
    char *text = NULL, *path = NULL;
    size_t size = 0;
    const int64_t ttl_ns = scenario->row_ttl_ns, grace_ns = scenario->gc_grace_ns,
                  window_ns = scenario->compaction_window_ns;
    if (node == NULL)
        return true;
    if (scenario->design.is_given)
        return lab_fail_at(&reader->tree, &node->name_place,
                           "'schema' conflicts with 'table', which says the same; remove one of them");
    if (node->kind == LAB_NODE_MAPPING ? !lab_table_read(reader, &schema_table, node, &in)
                                       : !read_name(reader, NULL, node, &in.path))
        return false;
    path = sim_text_copy(in.path);
    if (path == NULL)
        return sim_fail_memory(reader->tree.error);
    bool is_fine = lab_resolve(reader, &path) && lab_text_read(path, &text, &size, reader->tree.error);
    if (is_fine) {
        in.path = path;
        in.text = in.to = text;
        next(&in);
        is_fine = find_table(&in, &users, &types) &&
                  (!(users.out_of_memory || types.out_of_memory) || sim_fail_memory(reader->tree.error));
    }
    if (is_fine && users.text != NULL)
        is_fine = (reader->user_types = lab_tree_text(&reader->tree, users.text, users.size)) != NULL;
    is_fine = is_fine && read_table(&in, &table);
    if (is_fine) {
        scenario->schema_types = types.size == 0 ? NULL : lab_writer_take(&types);
        scenario->schema_table = lab_writer_take(&table);
        is_fine = scenario->schema_table != NULL || sim_fail_memory(reader->tree.error);
    }
    /* What the scenario says goes before. */
    scenario->row_ttl_ns = lab_node_at(root, "row.ttl") != NULL ? ttl_ns : scenario->row_ttl_ns;
    scenario->gc_grace_ns = lab_node_at(root, "row.gc_grace") != NULL ? grace_ns : scenario->gc_grace_ns;
    scenario->compaction_window_ns = window_ns > 0 ? window_ns : scenario->compaction_window_ns;
    free(users.text);
    free(types.text);
    free(table.text);
    free(text);
    free(path);
    return is_fine;
}
