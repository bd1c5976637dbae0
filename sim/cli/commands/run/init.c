/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bucketlab init: a name comes in, and with --table the CREATE TABLE and CREATE TYPE statements of a schema,
 * as DESCRIBE prints them; out goes a scenario, the starter or one with this table. The table's key is the
 * first column of its partition key that is not named like a bucket, and the last clustering column tells its
 * rows apart. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cassandra/token.h"
#include "cli/base.h"
#include "starter.h"

struct token {
    const char *text;
    guint line;
    bool is_quoted;
};

struct column {
    const char *name, *type; /* the type as it is written, without spaces */
    guint line;
    bool is_static, is_in_key;
};

struct schema {
    const char *path;
    GArray *tokens; /* struct token */
    guint at;
    GPtrArray *types, *texts; /* names of user types; all texts */
    const char *name;
    GArray *columns;                                /* struct column */
    GPtrArray *partition, *clustering, *descending; /* names */
    guint64 ttl;
    const char *compaction;
    struct sim_error *error;
};

static const struct token *token_at(const struct schema *schema, guint at)
{
    return &g_array_index(schema->tokens, struct token, MIN(at, schema->tokens->len - 1));
}

#define FAIL(schema, ...) fail_at(schema, token_at(schema, (schema)->at)->line, g_strdup_printf(__VA_ARGS__))

static bool fail_at(const struct schema *schema, guint line, char *text)
{
    sim_fail(schema->error, SIM_ERROR_INPUT, "%s:%u: %s", schema->path, line, text);
    g_free(text);
    return false;
}

static const char *keep(struct schema *schema, char *text)
{
    g_ptr_array_add(schema->texts, text);
    return text;
}

static void add_name(GPtrArray *names, const char *name)
{
    g_ptr_array_add(names, (gpointer)(uintptr_t)name);
}

/* Splits the text into words, quoted texts and signs; comments are skipped. The last token is empty. */
static void split(struct schema *schema, const char *text)
{
    guint line = 1;
    for (const char *at = text; *at != '\0';) {
        const char *end = at + 1, *comment = strncmp(at, "/*", 2) == 0 ? strstr(at + 2, "*/") : NULL;
        const bool is_quoted = *at == '"' || *at == '\'';
        bool is_token = !isspace((unsigned char)*at);
        if (strncmp(at, "--", 2) == 0 || strncmp(at, "//", 2) == 0 || comment != NULL) {
            end = comment != NULL ? comment + 2 : at + strcspn(at, "\n");
            is_token = false;
        } else if (is_quoted) {
            while (*end != '\0' && (*end != *at || end[1] == *at))
                end += *end == *at ? 2 : 1;
            end += *end != '\0';
        } else {
            while (isalnum((unsigned char)*at) != 0 && (isalnum((unsigned char)*end) != 0 || *end == '_'))
                end++;
        }
        const gsize size = (gsize)(end - at),
                    quotes = MIN(size, 2U * is_quoted); /* the text may end in a quote */
        if (is_token) {
            struct token token = {keep(schema, g_strndup(at + is_quoted, size - quotes)), line, is_quoted};
            g_array_append_val(schema->tokens, token);
        }
        for (; at < end; at++)
            line += *at == '\n';
    }
    struct token last = {"", line, true};
    g_array_append_val(schema->tokens, last);
}

static bool is_end(const struct schema *schema)
{
    return schema->at + 1 >= schema->tokens->len;
}

/* Takes a word or a sign, in any case, if it is next. */
static bool take(struct schema *schema, const char *word)
{
    const struct token *token = token_at(schema, schema->at);
    const bool is_next = !token->is_quoted && g_ascii_strcasecmp(token->text, word) == 0;
    schema->at += is_next;
    return is_next;
}

static bool expect(struct schema *schema, const char *word)
{
    return take(schema, word) ||
           FAIL(schema, "'%s' where '%s' should be; give the statement as DESCRIBE prints it",
                token_at(schema, schema->at)->text, word);
}

/* Takes a name; names without quotes are in lower case. */
static const char *take_name(struct schema *schema)
{
    const struct token *token = token_at(schema, schema->at);
    if (is_end(schema))
        return "";
    schema->at++;
    g_auto(GStrv) parts = g_strsplit(token->text, "'", -1); /* as YAML has it between single quotes */
    return keep(schema, token->is_quoted ? g_strjoinv("''", parts) : g_ascii_strdown(token->text, -1));
}

static const char *take_full_name(struct schema *schema)
{
    if (take(schema, "IF")) /* NOT EXISTS */
        schema->at += 2;
    const char *name = take_name(schema);
    return take(schema, ".") ? take_name(schema) : name;
}

/* Takes a type with its parameters, as one text. */
static const char *take_type(struct schema *schema)
{
    GString *type = g_string_new(take_name(schema));
    if (take(schema, ".")) /* a user type of a keyspace */
        g_string_assign(type, take_name(schema));
    int depth = strcmp(token_at(schema, schema->at)->text, "<") == 0;
    while (depth > 0 && !is_end(schema)) {
        const char *part = take_name(schema);
        g_string_append(type, part);
        if (strcmp(part, ",") == 0)
            g_string_append_c(type, ' ');
        const char *next = token_at(schema, schema->at)->text;
        depth += (strcmp(next, "<") == 0) - (strcmp(part, ">") == 0);
    }
    return keep(schema, g_string_free(type, FALSE));
}

static struct column *column_of(const struct schema *schema, const char *name)
{
    for (guint i = 0; i < schema->columns->len; i++) {
        struct column *column = &g_array_index(schema->columns, struct column, i);
        if (strcmp(column->name, name) == 0)
            return column;
    }
    return NULL;
}

static bool take_key_part(struct schema *schema, GPtrArray *part)
{
    const char *name = take_name(schema);
    struct column *column = column_of(schema, name);
    if (column == NULL) {
        schema->at--;
        return FAIL(schema, "the primary key names '%s', which is not a column; check the name", name);
    }
    column->is_in_key = true;
    add_name(part, column->name);
    return true;
}

static bool take_primary_key(struct schema *schema)
{
    if (!expect(schema, "("))
        return false;
    const bool is_composite = take(schema, "(");
    do {
        if (!take_key_part(schema, schema->partition))
            return false;
    } while (is_composite && take(schema, ","));
    if (is_composite && !expect(schema, ")"))
        return false;
    while (take(schema, ",")) {
        if (!take_key_part(schema, schema->clustering))
            return false;
    }
    return expect(schema, ")");
}

static bool take_column(struct schema *schema)
{
    struct column column = {.line = token_at(schema, schema->at)->line};
    if (take(schema, "PRIMARY"))
        return expect(schema, "KEY") && take_primary_key(schema);
    column.name = take_name(schema);
    column.type = take_type(schema);
    column.is_static = take(schema, "STATIC");
    column.is_in_key = take(schema, "PRIMARY") && take(schema, "KEY");
    g_array_append_val(schema->columns, column);
    if (column.is_in_key)
        add_name(schema->partition, column.name);
    return true;
}

/* Skips the value of an option, up to the next one. */
static void skip_value(struct schema *schema, bool is_compaction)
{
    int depth = 0;
    for (; !is_end(schema); schema->at++) {
        const struct token *token = token_at(schema, schema->at);
        if (depth == 0 && !token->is_quoted &&
            (g_ascii_strcasecmp(token->text, "AND") == 0 || *token->text == ';'))
            break;
        if (is_compaction && strcmp(token->text, "class") == 0)
            schema->compaction = token_at(schema, schema->at + 2)->text;
        depth += token->is_quoted ? 0 : (*token->text == '{') - (*token->text == '}');
    }
}

static bool take_options(struct schema *schema)
{
    do {
        if (take(schema, "CLUSTERING")) {
            schema->at += 3; /* ORDER BY ( */
            do {
                const char *name = take_name(schema);
                if (take(schema, "DESC"))
                    add_name(schema->descending, name);
                else
                    take(schema, "ASC");
            } while (take(schema, ","));
            if (!expect(schema, ")"))
                return false;
            continue;
        }
        const char *name = take_name(schema);
        if (!take(schema, "=")) { /* COMPACT STORAGE */
            schema->at++;
            continue;
        }
        if (strcmp(name, "default_time_to_live") == 0)
            schema->ttl = g_ascii_strtoull(token_at(schema, schema->at)->text, NULL, 10);
        skip_value(schema, strcmp(name, "compaction") == 0);
    } while (take(schema, "AND"));
    return true;
}

/* Reads all statements; the table is the only one, or that of the given name. */
static bool read_schema(struct schema *schema, const char *wanted)
{
    g_autoptr(GString) others = g_string_new("");
    guint count = 0, chosen = 0;
    for (; !is_end(schema); schema->at++) {
        if (!take(schema, "CREATE"))
            continue;
        if (take(schema, "TYPE"))
            add_name(schema->types, take_full_name(schema));
        else if (take(schema, "TABLE") || take(schema, "COLUMNFAMILY")) {
            const guint begin = schema->at;
            const char *name = take_full_name(schema);
            const bool is_wanted = strcmp(name, wanted) == 0;
            g_string_append_printf(others, "%s%s", count++ == 0 ? "" : ", ", name);
            chosen = is_wanted || count == 1 ? begin : chosen;
            if (is_wanted) {
                count = 1;
                break;
            }
        }
    }
    if (count != 1)
        return fail_at(schema, 1,
                       count == 0 ? g_strdup("no CREATE TABLE in it; give the output of DESCRIBE TABLE")
                                  : g_strdup_printf("%u tables, %s; name the one that you want, as in "
                                                    "bucketlab init TABLE --table FILE",
                                                    count, others->str));
    schema->at = chosen;
    schema->name = take_full_name(schema);
    static const char signs[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    if (schema->name[strspn(schema->name, signs)] != '\0')
        return FAIL(schema,
                    "the table's name '%s' has other signs than letters, digits and _; rename it in a copy",
                    schema->name);
    if (!expect(schema, "("))
        return false;
    do {
        if (!take_column(schema))
            return false;
    } while (take(schema, ","));
    if (!expect(schema, ")") || (take(schema, "WITH") && !take_options(schema)))
        return false;
    if (schema->partition->len == 0)
        return FAIL(schema, "table %s has no primary key; give the whole statement", schema->name);
    return schema->clustering->len > 0 || FAIL(schema,
                                               "table %s has no clustering columns, so a partition is one "
                                               "row, and there is nothing to bucket; "
                                               "give a table whose partitions have many rows",
                                               schema->name);
}

#define A_GUESS     ": a guess"
#define OF_ELEMENTS " of all elements, which are cells of their own"
#define BLOB_GUESS  100
#define TEXT_GUESS  50

/* The types that a scenario does not have, by the bytes of their values, which are stored with a length, as
 * those of a blob are. */
static const struct {
    const char *type, *as, *note; /* the note follows the type; "<": it has parameters */
    unsigned bytes;               /* of each value; 0: a guess, or they share row.bytes */
} types[] = {
    {"ascii", "text", "", 0},
    {"varchar", "text", "", 0},
    {"date", "blob", "", 4},
    {"time", "blob", "", 8},
    {"inet", "blob", " of IPv4; IPv6 has 16B", 4},
    {"varint", "blob", "; the size is a guess", 4},
    {"decimal", "blob", "; the size is a guess", 8},
    {"duration", "blob", "; the size is a guess", 6},
    {"frozen<", "blob", A_GUESS, 0},
    {"tuple<", "blob", A_GUESS, 0},
    {"list<", "blob", A_GUESS OF_ELEMENTS, 0},
    {"map<", "blob", A_GUESS OF_ELEMENTS, 0},
    {"set<", "blob", A_GUESS OF_ELEMENTS, 0},
};

static bool put_column(const struct schema *schema, const struct column *column, GString *out, bool *shares)
{
    const char *type = column->type, *as = NULL, *note = A_GUESS, *dimension = strrchr(type, ' ');
    g_autofree char *begin = g_strndup(type, strcspn(type, "<") + 1);
    enum cass_type known;
    guint64 bytes = 0;
    if (cass_type_parse(type, &known))
        as = type;
    for (size_t i = 0; i < G_N_ELEMENTS(types); i++) {
        if (strcmp(types[i].type, begin) != 0)
            continue;
        as = types[i].as;
        note = types[i].note;
        bytes = types[i].bytes;
    }
    if (g_str_has_prefix(type, "vector<float") && dimension != NULL) {
        as = "blob";
        note = "";
        bytes = 4 * g_ascii_strtoull(dimension + 1, NULL, 10);
    }
    for (guint i = 0; as == NULL && i < schema->types->len; i++)
        as = strcmp(g_ptr_array_index(schema->types, i), type) == 0 ? "blob" : NULL;
    if (as == NULL)
        return fail_at(schema, column->line,
                       g_strdup_printf("column %s has the type %s, which is not known; give the CREATE TYPE "
                                       "too, or write another type",
                                       column->name, type));
    const bool is_blob = strcmp(as, "blob") == 0, is_text = strcmp(as, "text") == 0;
    if (bytes == 0 && is_blob && (column->is_static || strcmp(type, "blob") != 0))
        bytes = BLOB_GUESS;
    else if (bytes == 0 && is_text && column->is_static)
        bytes = TEXT_GUESS;
    *shares = *shares || ((is_blob || is_text) && bytes == 0);
    g_string_append_printf(out, "    '%s': {type: %s", column->name, as);
    if (bytes > 0)
        g_string_append_printf(out, ", bytes: %" G_GUINT64_FORMAT "B", bytes);
    g_string_append(out, column->is_static ? ", static: true}" : "}");
    if (bytes > 0)
        g_string_append_printf(out, " # %s%s", is_blob ? type : "", is_blob ? note : "a guess");
    g_string_append_c(out, '\n');
    return true;
}

static bool is_like_a_bucket(const char *name)
{
    static const char *const words[] = {"bucket", "day",  "hour",  "date",   "month",    "week",     "year",
                                        "window", "slot", "shard", "period", "interval", "partition"};
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++) {
        if (strstr(name, words[i]) != NULL)
            return true;
    }
    return false;
}

/* What feeds a column of the key. */
static char *feed_of(const struct schema *schema, const char *name, const char *key, const char *bucket)
{
    const guint count = schema->clustering->len;
    if (strcmp(name, key) == 0 || strcmp(name, bucket) == 0)
        return g_strdup(strcmp(name, key) == 0 ? "key" : "bucket");
    if (strcmp(name, g_ptr_array_index(schema->clustering, count - 1)) == 0)
        return g_strdup("id");
    for (guint i = 0; i < count; i++) { /* the first one that is a timestamp */
        const char *other = g_ptr_array_index(schema->clustering, i);
        if (strcmp(column_of(schema, other)->type, "timestamp") == 0)
            return g_strdup(strcmp(other, name) == 0 ? "time" : "{values: 10}");
    }
    return g_strdup("{values: 10}");
}

static bool put_table(const struct schema *schema, GString *out)
{
    const char *key = NULL, *bucket = NULL;
    g_autoptr(GString) columns = g_string_new(""), merged = g_string_new(""), order = g_string_new(""),
                       data = g_string_new("");
    bool shares = false;
    for (guint i = 0; i < schema->partition->len; i++) {
        const char *name = g_ptr_array_index(schema->partition, i);
        if (schema->partition->len > 1 && bucket == NULL && is_like_a_bucket(name))
            bucket = name;
        else if (key == NULL)
            key = name;
        else
            g_string_append_printf(merged, ", %s", name);
    }
    const bool is_added = bucket == NULL;
    bucket = is_added ? "bucket" : bucket;
    if (is_added && column_of(schema, bucket) != NULL)
        return fail_at(schema, column_of(schema, bucket)->line,
                       g_strdup("a column named bucket is not in the partition key; give it another name"));
    g_string_append_printf(columns, "'%s': key, '%s': bucket", key, bucket);
    for (guint i = 0; i < schema->clustering->len; i++) {
        const char *name = g_ptr_array_index(schema->clustering, i);
        g_autofree char *feed = feed_of(schema, name, key, bucket);
        g_string_append_printf(columns, ", '%s': %s", name, feed);
        g_string_append_printf(
            order, "%s{'%s': %s}", i == 0 ? "" : ", ", name,
            g_ptr_array_find_with_equal_func(schema->descending, name, g_str_equal, NULL) ? "desc" : "asc");
    }
    guint data_columns = 0;
    for (guint i = 0; i < schema->columns->len; i++) {
        const struct column *column = &g_array_index(schema->columns, struct column, i);
        if (column->is_in_key)
            continue;
        g_string_append_printf(columns, ", '%s': data", column->name);
        data_columns += !column->is_static;
        if (!put_column(schema, column, data, &shares))
            return false;
    }
    if (data_columns == 0)
        g_string_append(columns, ", 'data': data");
    g_string_append(out, "table:");
    g_string_append(out, is_added ? " # with a column for the bucket\n" : "\n");
    if (merged->len > 0)
        g_string_append_printf(out, "  # The key is %s%s together, as one text.\n", key, merged->str);
    g_string_append_printf(
        out, "  name: %s\n  columns: {%s}\n  partition_key: ['%s', '%s']\n  clustering: [%s]\nrow:\n",
        schema->name, columns->str, key, bucket, order->str);
    if (shares || data_columns == 0)
        g_string_append(out, data_columns == 0 ? "  bytes: 1B\n"
                                               : "  bytes: 1KB # a guess; columns without a size share it\n");
    if (schema->ttl > 0)
        g_string_append_printf(out, "  ttl: %" G_GUINT64_FORMAT "s\n", schema->ttl);
    if (data->len > 0)
        g_string_append_printf(out, "  columns:\n%s%s", data->str,
                               data_columns == 0 ? "    data: {type: blob, bytes: 1B}\n" : "");
    return true;
}

/* The scenario of a table; NULL on failure. */
static char *scenario_of(const char *path, const char *wanted, struct sim_error *error)
{
    g_autofree char *text = NULL;
    g_autoptr(GError) problem = NULL;
    if (!g_file_get_contents(path, &text, NULL, &problem)) {
        sim_fail(error, SIM_ERROR_INPUT, "%s: cannot be read; check the file's name", path);
        return NULL;
    }
    struct schema schema = {.path = path,
                            .tokens = g_array_new(FALSE, FALSE, sizeof(struct token)),
                            .types = g_ptr_array_new(),
                            .texts = g_ptr_array_new_with_free_func(g_free),
                            .columns = g_array_new(FALSE, FALSE, sizeof(struct column)),
                            .partition = g_ptr_array_new(),
                            .clustering = g_ptr_array_new(),
                            .descending = g_ptr_array_new(),
                            .error = error};
    GString *out = g_string_new("# Every strategy below gets the very same rows.\n"
                                "#   bucketlab tune THIS-FILE   which strategy, and with which numbers\n"
                                "#   bucketlab cql THIS-FILE    the table with its bucket\n"
                                "#   docs/scenario.md           every field, and what it takes\n");
    split(&schema, text);
    bool is_fine = read_schema(&schema, wanted);
    if (is_fine) {
        g_string_append_printf(out, "# From table %s of %s%s%s.\n", schema.name, path,
                               schema.compaction == NULL ? "" : "; its compaction: ",
                               schema.compaction == NULL ? "" : schema.compaction);
        g_string_append(out, "duration: 30d\n"
                             "keys: {count: 1000, popularity: {zipf: 1}} # a guess\n"
                             "arrivals: {rate: 10/s} # a guess: the mean of all keys together\n");
        is_fine = put_table(&schema, out);
        g_string_append(
            out, "reads:\n"
                 "  latest: {rows: 50, rate: 1/s} # a guess: the newest rows of a key\n" CLI_SCENARIO_LIMITS
                 "  - probabilistic: {bits: 9, threshold: 40}\n"
                 "  - hash: {buckets: 16}\n");
    }
    g_array_free(schema.tokens, TRUE);
    g_array_free(schema.columns, TRUE);
    g_ptr_array_free(schema.types, TRUE);
    g_ptr_array_free(schema.texts, TRUE);
    g_ptr_array_free(schema.partition, TRUE);
    g_ptr_array_free(schema.clustering, TRUE);
    g_ptr_array_free(schema.descending, TRUE);
    return g_string_free(out, !is_fine);
}

static const struct cli_option init_options[] = {
    {"table", "FILE", "a scenario of the table in a schema (CREATE TABLE);\nof several, the one named NAME"},
    {NULL, NULL, NULL}};

static bool ends_in_yaml(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot != NULL && dot != name && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0);
}

static bool init(const struct cli_args *args, struct sim_error *error)
{
    const char *name = args->count > 0 ? cli_argument(args, 0) : "scenario";
    if (name[0] == '\0' || name[strlen(name) - 1] == '/')
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: init '%s': no file name; write 'bucketlab init chat'", name);
    g_autofree char *path = g_strconcat(name, ends_in_yaml(name) ? "" : ".yaml", NULL);
    const char *schema = cli_value(args, "table", NULL);
    g_autofree char *base = g_path_get_basename(path), *text = NULL;
    *strrchr(base, '.') = '\0';
    if (schema != NULL && (text = scenario_of(schema, base, error)) == NULL)
        return false;
    if (!(schema != NULL ? cli_file_create(path, text, strlen(text), error)
                         : cli_file_create(path, cli_starter, cli_starter_size, error)))
        return false;
    if (!args->is_quiet) {
        printf("wrote ");
        cli_print_text(stdout, path);
        cli_print_line(stdout, "; try it: bucketlab run ", path);
    }
    return true;
}

const struct cli_command cli_init = {
    .name = "init",
    .arguments = "[NAME]",
    .summary = "write a commented starter scenario (default scenario.yaml)",
    .example =
        "  bucketlab init chat\n  bucketlab run chat.yaml\n  bucketlab init events --table schema.cql\n",
    .options = init_options,
    .has_no_json = true,
    .least = 0,
    .most = 1,
    .run = init,
};
