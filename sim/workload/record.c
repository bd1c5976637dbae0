/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Splits a file into records: those of CSV, of a table that was pasted from the terminal of cqlsh, psql or
 * mysql, or written in Markdown, which has bars between columns and a rule below its header, lines of logs,
 * and JSON objects. The fields of a record are in one buffer. */
#define _POSIX_C_SOURCE 200809L

#include <inttypes.h>
#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "kernel/grow.h"
#include "trace_parts.h"

#define PASTED_LINES_MAX 16u /* a prompt and a statement may be above a pasted table */
#define CSV_RECORD_BYTES_MAX                                                                                 \
    (16u << 20) /* limits the damage of an unclosed quote, which would otherwise read the whole file */

/* State of the parser within a record. */
struct parse {
    struct wl_csv *csv;
    struct wl_csv_record *out;
    size_t begin;    /* of the current field in the buffer */
    bool is_quoted;  /* inside quotes */
    bool was_quoted; /* the current field was quoted, and its closing quote was read */
};

static bool end_field(struct parse *parse, struct sim_error *error)
{
    struct wl_csv *csv = parse->csv;
    struct wl_csv_record *out = parse->out;
    if (out->count == WL_CSV_FIELDS_MAX)
        return trace_fail(csv->reader.path, out->line, error, "more than %u fields; leave columns out",
                          WL_CSV_FIELDS_MAX);
    out->sizes[out->count++] = csv->fields.size - parse->begin;
    csv->fields.bytes[csv->fields.size++] = '\0';
    parse->begin = csv->fields.size;
    parse->was_quoted = false;
    return true;
}

void csv_set_fields(const char *bytes, struct wl_csv_record *out)
{
    for (size_t i = 0; i < out->count; bytes += out->sizes[i++] + 1)
        out->fields[i] = bytes;
}

static bool is_escape(const struct csv_dialect *dialect, const char *line, size_t size, size_t at)
{
    return dialect->has_backslash && line[at] == '\\' && at + 1 < size &&
           (line[at + 1] == '"' || line[at + 1] == '\\' || line[at + 1] == dialect->delimiter);
}

/* The number of bytes from `at` on that are neither a delimiter nor a quote nor an escape. */
static size_t text_length(const struct csv_dialect *dialect, const char *line, size_t size, size_t at)
{
    size_t end = at;
    while (end < size && line[end] != '"' && line[end] != '\\' && line[end] != dialect->delimiter)
        end++;
    return end - at;
}

/* Parses one line of the record. The buffer must have room for all of its bytes, and for a NUL after each of
 * them. */
static bool take_line(struct parse *parse, const char *line, size_t size, struct sim_error *error)
{
    struct wl_csv *csv = parse->csv;
    struct csv_buffer *fields = &csv->fields;
    for (size_t i = 0; i < size; i++) {
        bool is_first = fields->size == parse->begin && !parse->was_quoted;
        bool is_closed = parse->was_quoted && !parse->is_quoted;
        if (is_escape(&csv->dialect, line, size, i)) {
            fields->bytes[fields->size++] = line[++i];
        } else if (line[i] == '"' && parse->is_quoted && i + 1 < size && line[i + 1] == '"') {
            fields->bytes[fields->size++] = line[++i];
        } else if (line[i] == '"' && (parse->is_quoted || is_first)) {
            parse->is_quoted = !parse->is_quoted;
            parse->was_quoted = true;
        } else if (line[i] == csv->dialect.delimiter && !parse->is_quoted) {
            if (!end_field(parse, error))
                return false;
        } else if (is_closed) {
            return csv_check_delimiter(csv, csv->reader.line, line, size, error) &&
                   trace_fail(csv->reader.path, csv->reader.line, error,
                              "text after a closing quote; double the quotes within a field");
        } else {
            size_t text = text_length(&csv->dialect, line, size, i);
            text = text == 0 ? 1 : text;
            memcpy(fields->bytes + fields->size, line + i, text);
            fields->size += text;
            i += text - 1;
        }
    }
    return true;
}

/* What kcat says among the rows, as in "% Reached end of topic". */
static bool is_message(const char *line, const char *end)
{
    return end - line > 1 && line[0] == '%' && line[1] == ' ';
}

/* The line between the header of a pasted table and its rows; mysql has more of them. */
static bool is_rule(const char *line, size_t size)
{
    size_t dashes = 0, most = 0;
    for (size_t i = 0; i < size; i++) {
        if (strchr("-+|: ", line[i]) == NULL || line[i] == '\0')
            return false;
        dashes = line[i] == '-' ? dashes + 1 : 0;
        most = dashes > most ? dashes : most;
    }
    return most >= 3;
}

/* What a terminal has around the rows of a table. */
static bool is_around_rows(const char *line, size_t size)
{
    static const char *const others[] = {"cqlsh", "mysql>", "---MORE---"};
    bool is_other = is_rule(line, size);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        is_other = is_other || (size >= strlen(others[i]) && memcmp(line, others[i], strlen(others[i])) == 0);
    const size_t begin = size > 0 && line[0] == '(';
    size_t digits = begin; /* "(96 rows)", "96 rows in set" */
    while (digits < size && line[digits] >= '0' && line[digits] <= '9')
        digits++;
    return is_other || (digits > begin && size >= digits + 4 && memcmp(line + digits, " row", 4) == 0);
}

static bool next_line(struct wl_csv *csv, char **line, size_t *size, struct sim_error *error)
{
    if (!trace_reader_next(&csv->reader, line, size, error))
        return false;
    return sim_grow(&csv->fields.bytes, &csv->fields.capacity,
                    csv->fields.size + 2 * *size + 2 + 2 * WL_CSV_FIELDS_MAX, 1) ||
           sim_fail_memory(error);
}

struct trace_span trace_trim(const char *begin, const char *end)
{
    while (begin < end && (*begin == ' ' || *begin == '\t'))
        begin++;
    while (end > begin && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    return (struct trace_span){begin, end};
}

/* Splits a row of a pasted table at its bars. */
static bool take_pasted(struct parse *parse, const char *line, size_t size, struct sim_error *error)
{
    struct wl_csv *csv = parse->csv;
    struct trace_span rest = trace_trim(line, line + size);
    if (rest.end > rest.begin + 1 && *rest.begin == '|') { /* a frame */
        rest.begin++;
        rest.end -= rest.end[-1] == '|';
    }
    for (const char *bar = rest.begin; bar != NULL; rest.begin = bar + 1) {
        bar = memchr(rest.begin, '|', (size_t)(rest.end - rest.begin));
        const struct trace_span field = trace_trim(rest.begin, bar == NULL ? rest.end : bar);
        size_t bytes = (size_t)(field.end - field.begin);
        bytes = bytes == 4 && memcmp(field.begin, "null", 4) == 0 ? 0 : bytes;
        memcpy(csv->fields.bytes + csv->fields.size, field.begin, bytes);
        csv->fields.size += bytes;
        if (!end_field(parse, error))
            return false;
        if (bar == NULL)
            break;
    }
    if (csv->pasted_columns == 0)
        csv->pasted_columns = parse->out->count;
    return parse->out->count == csv->pasted_columns ||
           trace_fail(csv->reader.path, csv->reader.line, error,
                      "%zu columns where the table's header has %zu; give only the table, with a row "
                      "per line and no bars in its fields",
                      parse->out->count, csv->pasted_columns);
}

/* Moves the beginning of a sample behind its first line, and sets *line to it, without its line break; false
 * when the rest of the sample has no line break. */
static bool next_of_sample(struct trace_span *sample, struct trace_span *line)
{
    const char *begin = sample->begin;
    const char *end = begin == sample->end ? NULL : memchr(begin, '\n', (size_t)(sample->end - begin));
    if (end == NULL)
        return false;
    sample->begin = end + 1;
    *line = (struct trace_span){begin, end - (end > begin && end[-1] == '\r')};
    return true;
}

/* The number of the header's line: that above the first rule, or below it if the table has a frame. 0 when
 * none of the first lines is a rule. */
static uint64_t pasted_header(const char *bytes, size_t size)
{
    struct trace_span sample = {bytes, bytes + size}, line;
    uint64_t before = 0;
    for (uint64_t number = 1; number <= PASTED_LINES_MAX && next_of_sample(&sample, &line); number++) {
        const size_t length = (size_t)(line.end - line.begin);
        if (is_rule(line.begin, length))
            return *line.begin == '+' ? number + 1 : before;
        before = length > 0 ? number : before;
    }
    return 0;
}

/* Lines of a log. Each step takes a part of the form: a field in braces, or a character; a blank takes all
 * blanks that follow, as of columns that are aligned. */

struct form {
    const char *at;                 /* in the form */
    const char *name;               /* of the field that was taken; NULL: a character */
    size_t name_size, width, words; /* that it takes; 0: up to the text after it */
    const char *until;              /* the text after the field, up to the next one */
    size_t until_size;
};

static bool next_part(struct form *form)
{
    const char *end = *form->at == '{' ? strchr(form->at, '}') : NULL;
    form->name = end == NULL ? NULL : form->at + 1;
    if (end == NULL)
        return *form->at++ != '\0';
    form->name_size = strcspn(form->name, ":}");
    char *unit = NULL;
    form->width =
        form->name[form->name_size] == ':' ? strtoul(form->name + form->name_size + 1, &unit, 10) : 0;
    form->words = unit != NULL && *unit == 'w' ? form->width : 0;
    form->until = form->at = end + 1;
    form->until_size = strcspn(form->until, "{");
    return true;
}

bool wl_trace_line_is(const char *text)
{
    struct form form = {.at = text};
    size_t fields = 0;
    while (next_part(&form)) {
        if (form.name != NULL &&
            (form.name_size == 0 || (form.width == 0 && form.until_size == 0 && *form.at != '\0')))
            return false;
        fields += form.name != NULL;
    }
    return fields > 1 && fields < WL_CSV_FIELDS_MAX;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Whether a text begins with that of a form, of which a blank is also a tab. */
static bool is_text(const char *at, const char *text, size_t size)
{
    size_t i = 0;
    while (i < size && (at[i] == text[i] || (text[i] == ' ' && at[i] == '\t')))
        i++;
    return i == size;
}

/* Where the next field ends; NULL: the line does not have the form. What is after a last blank may be
 * missing. */
static const char *end_of_field(const struct form *form, const char *at, const char *end)
{
    const char *found = at;
    for (size_t word = 0; word < form->words; word++) {
        while (found < end && is_blank(*found))
            found++;
        while (found < end && !is_blank(*found))
            found++;
    }
    if (form->words > 0)
        return found - (found > at && form->until_size > 0 && found[-1] == *form->until);
    if (form->width > 0)
        return (size_t)(end - at) >= form->width ? at + form->width : NULL;
    while (form->until_size > 0 && (size_t)(end - found) >= form->until_size &&
           !is_text(found, form->until, form->until_size))
        found++;
    if (form->until_size > 0 && (size_t)(end - found) >= form->until_size)
        return found;
    bool is_last =
        *form->until == '\0' || (strncmp(form->until, " {", 2) == 0 && strchr(form->until + 2, '{') == NULL);
    return is_last ? end : NULL;
}

bool csv_split_line(const char *line_form, const char *at, const char *end, csv_taker *take, void *target)
{
    struct form form = {.at = line_form};
    bool has_rest = true;
    while (next_part(&form)) {
        if (form.name == NULL) {
            const char sign = form.at[-1];
            has_rest = at < end;
            if (has_rest ? !is_text(at++, &sign, 1)
                         : sign != ' ' || *form.at != '{' || strchr(form.at + 1, '{') != NULL)
                return false;
            while (sign == ' ' && at < end && is_blank(*at))
                at++;
            continue;
        }
        const char *stop = has_rest ? end_of_field(&form, at, end) : end;
        if (stop == NULL ||
            !take(target, (struct trace_span){form.name, form.name + form.name_size}, trace_trim(at, stop)))
            return false;
        at = stop;
    }
    return at == end;
}

static bool take_field(void *target, struct trace_span name, struct trace_span field)
{
    struct csv_buffer *fields = &((struct parse *)target)->csv->fields;
    struct sim_error ignored;
    size_t size = (size_t)(field.end - field.begin);
    memcpy(fields->bytes + fields->size, field.begin, size);
    if (size == 1 && *field.begin == '-' && strncmp(name.begin, "bytes", 5) == 0)
        fields->bytes[fields->size] = '0'; /* a web server that sent none */
    fields->size += size;
    return end_field(target, &ignored);
}

/* Finds the form of a log's lines. A time is among the first words of a line. The sample's lines with a time
 * at that place are compared word by word: where all have the same kind of word (before a colon, in brackets,
 * a level, a number, a name), it is a field. The message begins at the first word that is of no such kind. */

#define WORDS_BEFORE  5u /* a time; in brackets, three times as many */
#define PLACES        8u /* after it */
#define WORDS_MOST    2u /* plain words before one with a colon */
#define PLACE_BYTES   40u
#define LINES_SEEN    200u
#define NUMBER_SIGNS  "0123456789#.:+-"
#define LOG_ACCESS    "{host} {ident} {auth} [{time}] \"{request}\" {status} {bytes} {rest}"
#define LOG_SYSLOG    "{time:3w} {host} {tag}: {message}"
#define LOG_AUDIT     "type={source} msg=audit({time}:{number}): {message}"
#define LINE_PROTOCOL "{series} {values} {time}" /* of InfluxDB and Prometheus */
#define BANNER_LINES  4u
enum { LOG_KIND_SYSLOG = 1, LOG_KIND_PROTOCOL = 3 }; /* among those that are known */

static const char delimiters[] = ",;\t|";

/* What a word is. */
enum {
    WORD = 1,
    BRACKETS = 2,
    COLON = 4,
    CLOSED = 8,
    LEVEL = 16,
    NUMBER = 32,
    NAME = 64,
    BAR = 128,
    DASH = 256
};

/* Where the lines of a log have their time. */
struct place_of_time {
    unsigned before, words;                 /* words before it, and its own */
    size_t level_bytes;                     /* a letter before it, as in I0131 10:05:03 */
    bool has_bracket, has_comma, has_blank; /* around it, and behind it */
};

bool trace_has_only(struct trace_span word, const char *signs)
{
    const bool is_empty = word.begin == word.end;
    while (word.begin < word.end && *word.begin != '\0' && strchr(signs, *word.begin) != NULL)
        word.begin++;
    return word.begin == word.end && !is_empty;
}

static bool is_level(struct trace_span word)
{
    static const char *const levels[] = {
        "trace", "debug", "info", "information", "notice",   "note", "warn",   "warning",   "error",
        "err",   "fatal", "crit", "severe",      "critical", "fine", "emerg",  "emergency", "alert",
        "panic", "log",   "inf",  "wrn",         "ftl",      "dbg",  "detail", "hint",      "statement",
        "v",     "d",     "i",    "w",           "e",        "f",    "t"};
    const size_t size = (size_t)(word.end - word.begin);
    bool is_one = false;
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
        is_one = is_one || (strlen(levels[i]) == size && strncasecmp(levels[i], word.begin, size) == 0);
    return is_one;
}

/* Whether a word looks like the name of a program, a class or a machine: it has a digit or a sign that names
 * have, or only capitals. */
static bool is_program(struct trace_span word)
{
    bool has_sign = false, is_upper = true;
    for (const char *at = word.begin; at < word.end; at++) {
        has_sign = has_sign || strchr("0123456789._-/$@", *at) != NULL;
        is_upper = is_upper && *at >= 'A' && *at <= 'Z';
        if (*at == '\0' || strchr("()<>*,\"'=[]", *at) != NULL)
            return false;
    }
    return (has_sign || is_upper) && word.end - word.begin > 1 && strchr(".,", word.end[-1]) == NULL;
}

static unsigned kinds_of(struct trace_span word)
{
    const size_t size = (size_t)(word.end - word.begin);
    if (size == 1 && (*word.begin == '|' || *word.begin == '-'))
        return WORD | (*word.begin == '|' ? BAR : DASH);
    unsigned kinds = size > 0 ? WORD : 0;
    if (size > 2 && *word.begin == '[' && word.end[-1] == ']') {
        kinds |= BRACKETS;
        word.begin++;
    } else if (size > 1 && word.end[-1] == ':') {
        kinds |= COLON;
    } else if (size > 1 && word.end[-1] == ']' && memchr(word.begin, '[', size) == NULL) {
        kinds |= CLOSED;
    }
    word.end -= kinds > WORD;
    return kinds | (is_level(word) ? LEVEL : 0) | (trace_has_only(word, NUMBER_SIGNS) ? NUMBER : 0) |
           (is_program(word) ? NAME : 0);
}

/* The next word of a line, or, in brackets, all up to the bracket that closes them. */
static struct trace_span next_word(const char *at, const char *end)
{
    struct trace_span word = trace_trim(at, end);
    unsigned depth = 0;
    const bool has_bracket = word.begin < word.end && *word.begin == '[';
    for (at = word.begin; at < word.end; at++) {
        depth += *at == '[';
        if (has_bracket ? *at == ']' && --depth == 0 : is_blank(*at))
            break;
    }
    word.end = has_bracket && at < word.end ? at + 1 : at;
    return word;
}

/* The word at a place of a line, counted from 0; the words of the time count as one. */
static struct trace_span word_at(const char *line, const char *end, const struct place_of_time *time,
                                 unsigned place)
{
    struct trace_span word = {line, line};
    for (unsigned i = 0; i <= place; i++) {
        word = next_word(word.end, end);
        for (unsigned more = 1; i == time->before && more < time->words; more++)
            word.end = next_word(word.end, end).end;
    }
    return word;
}

/* Whether a text is a time, not only an id that contains one. */
static bool is_time(const char *text, size_t size)
{
    return trace_time_likely(text, size) >= 2;
}

static bool has_time_at(const char *line, const char *end, const struct place_of_time *time)
{
    const struct trace_span word = word_at(line, end, time, time->before);
    const size_t size = (size_t)(word.end - word.begin), begin = time->level_bytes + time->has_bracket;
    const size_t after = time->has_bracket + time->has_comma;
    return size > begin + after && is_time(word.begin + begin, size - begin - after);
}

/* The length of the longest time that a text begins with; 0: there is none. A blank, or a comma and a blank,
 * must follow the time; in brackets, the closing bracket. */
static size_t time_before_text(const char *text, size_t size, bool has_bracket)
{
    static const char names[] = "janfebmaraprmayjunjulaugsepoctnovdecsunmontuewedthufrisat";
    enum { LEAST = 8, MOST = 40, LETTERS = 3 };
    bool may_be_time = size > LEAST && *text >= '0' && *text <= '9';
    for (const char *name = names; size > LEAST && *name != '\0'; name += LETTERS)
        may_be_time = may_be_time || strncasecmp(name, text, LETTERS) == 0;
    bool has_sign = may_be_time && trace_has_only((struct trace_span){text, text + LEAST}, "0123456789. ");
    for (size_t i = 0; i < size && i < MOST; i++)
        has_sign = has_sign || strchr(":-/", text[i]) != NULL;
    if (!may_be_time || !has_sign)
        return 0;
    for (size_t length = MOST < size ? MOST : size - (size > 0); length >= LEAST && length < size; length--) {
        const char sign = text[length];
        const bool is_end = has_bracket ? sign == ']' : strchr(" ,;|\t", sign) != NULL && sign != '\0';
        if (is_end && is_time(text, length))
            return has_bracket || is_blank(sign) || is_blank(text[length + (length + 1 < size)]) ? length : 0;
    }
    return 0;
}

/* Finds the time of a line among its first words; false if there is none, or in a row of a table. */
static bool find_time(const char *line, const char *end, struct place_of_time *out)
{
    struct trace_span word = {line, line};
    *out = (struct place_of_time){.words = 1};
    for (;; out->before++) {
        word = next_word(word.end, end);
        const size_t size = (size_t)(word.end - word.begin);
        out->has_bracket = size > 2 && *word.begin == '[';
        out->level_bytes = out->before == 0 && size == 5 && strchr("IWEFD", *word.begin) != NULL;
        if (size == 0 || memchr(word.begin, '"', size) != NULL || out->before >= 3 * WORDS_BEFORE)
            return false;
        const char *begin = word.begin + (out->has_bracket || out->level_bytes > 0);
        const bool may_be_time = out->has_bracket || out->before < WORDS_BEFORE;
        const size_t length =
            may_be_time ? time_before_text(begin, (size_t)(end - begin), out->has_bracket) : 0;
        for (size_t i = 1; i < length && !out->has_bracket; i++)
            out->words += is_blank(begin[i]) && !is_blank(begin[i - 1]);
        out->has_comma = length > 0 && begin[length] == ',';
        out->has_blank = length > 0 && begin[length] == ' ';
        if (length > 0)
            word = next_word(begin + length + 1, end);
        for (const char *at = word.begin; at + (length > 0) < word.end && *word.begin != '{'; at++) {
            if ((*at == ',' || *at == ';') && !out->has_bracket)
                return false;
        }
        if (length > 0)
            return true;
    }
}

/* The kinds that the words at a place have in all lines with a time. */
static unsigned kinds_at(const char *bytes, size_t size, const struct place_of_time *time, unsigned place)
{
    struct trace_span sample = {bytes, bytes + size}, line;
    unsigned kinds = ~0u;
    for (size_t lines = 0; lines < LINES_SEEN && next_of_sample(&sample, &line); lines++) {
        if (has_time_at(line.begin, line.end, time))
            kinds &= kinds_of(word_at(line.begin, line.end, time, place));
    }
    return kinds;
}

static void add_place(char *form, unsigned kinds, unsigned place)
{
    const size_t used = strlen(form), room = CSV_FORM_BYTES - used;
    const bool is_source = (kinds & (NAME | COLON | CLOSED)) != 0 && (kinds & NUMBER) == 0;
    const char *kind = (kinds & LEVEL) != 0 ? "{level" : is_source ? "{source" : "{part";
    char number[16] = "";
    if ((kinds & (BAR | DASH)) != 0) {
        snprintf(form + used, room, "%s ", (kinds & BAR) != 0 ? "|" : "-");
        return;
    }
    if (strstr(form, kind) != NULL)
        snprintf(number, sizeof number, "%u", place + 1);
    snprintf(form + used, room, "%s%s%s}%s ", (kinds & BRACKETS) != 0 ? "[" : "", kind, number,
             (kinds & (BRACKETS | CLOSED)) != 0 ? "]"
             : (kinds & COLON) != 0             ? ":"
                                                : "");
}

/* Writes the form. After the time, plain words are fields only if a word with a colon follows them, as a
 * program's name follows a machine's. */
static void write_form(const char *bytes, size_t size, const struct place_of_time *time, char *form)
{
    char words[16] = "";
    form[0] = '\0';
    for (unsigned place = 0; place < time->before; place++)
        add_place(form, kinds_at(bytes, size, time, place), place);
    if (time->words > 1)
        snprintf(words, sizeof words, ":%uw", time->words);
    snprintf(form + strlen(form), PLACE_BYTES, "%s{time%s}%s%s ",
             time->has_bracket       ? "["
             : time->level_bytes > 0 ? "{level:1}"
                                     : "",
             words, time->has_bracket ? "]" : "", time->has_comma ? "," : "");
    size_t sure = strlen(form);
    for (unsigned place = time->before + 1, others = 0; place <= time->before + PLACES; place++) {
        const unsigned kinds = kinds_at(bytes, size, time, place), ends = kinds & (COLON | CLOSED);
        others = kinds == WORD ? others + 1 : others;
        if ((kinds & WORD) == 0 || others > WORDS_MOST || (others > 0 && kinds != WORD && ends == 0))
            break;
        add_place(form, kinds, place);
        sure = kinds == WORD ? sure : strlen(form);
        if (ends != 0 && (kinds & (LEVEL | NUMBER)) == 0)
            break;
    }
    strcpy(form + sure, "{message}");
}

/* The number of a delimiter's signs in all lines; 0: it differs, or there are not three lines. */
static size_t count_in_all(const char *bytes, size_t size, char delimiter)
{
    struct trace_span sample = {bytes, bytes + size}, line;
    size_t first = 0, lines = 0;
    for (; lines < LINES_SEEN && next_of_sample(&sample, &line); lines++) {
        size_t count = 0;
        for (const char *c = line.begin; c < line.end; c++)
            count += *c == delimiter;
        if (lines > 0 && count != first)
            return 0;
        first = count;
    }
    return lines < 3 ? 0 : first;
}

/* Reads the form from a comment, such as #Fields: date time cs-method in the logs of IIS, or #fields in those
 * of Zeek. */
static bool read_directive(const char *line, const char *end, char *form)
{
    static const char name[] = "#fields";
    size_t used = 0;
    if ((size_t)(end - line) < sizeof name)
        return false;
    for (size_t i = 0; i + 1 < sizeof name; i++) {
        if (trace_lower(line[i]) != name[i])
            return false;
    }
    struct trace_span rest = trace_trim(line + sizeof name - 1 + (line[sizeof name - 1] == ':'), end);
    const char sign = memchr(line, '\t', (size_t)(end - line)) != NULL ? '\t' : ' ';
    while (rest.begin < rest.end && used + 2 < CSV_FORM_BYTES) {
        const char *stop = memchr(rest.begin, sign, (size_t)(rest.end - rest.begin));
        stop = stop == NULL ? rest.end : stop;
        used += (size_t)snprintf(form + used, CSV_FORM_BYTES - used, "%s{%.*s}",
                                 used == 0 ? "" : (char[]){sign, '\0'}, (int)(stop - rest.begin), rest.begin);
        rest.begin = stop + (stop < rest.end);
    }
    return used > 0 && used < CSV_FORM_BYTES && wl_trace_line_is(form);
}

/* As Prometheus, IIS and Zeek write comments, and journalctl. */
static bool is_comment(const char *line, const char *end)
{
    return line < end && (*line == '#' || (end - line > 2 && memcmp(line, "-- ", 3) == 0));
}

/* Whether a line without a time is the header of a table, not a banner such as "out of: x, y". */
static bool is_header(const char *line, const char *end)
{
    bool is_one = false;
    for (; line < end; line++)
        is_one = is_one ||
                 (*line != '\0' && strchr(delimiters, *line) != NULL && (*line != ',' || line[1] != ' '));
    return is_one;
}

/* The time of a line of a log; its begin is NULL if the line has none. */
struct found {
    struct trace_span time;
    bool has_form;
};

static bool is_time_name(struct trace_span name)
{
    return name.end - name.begin == 4 && memcmp(name.begin, "time", 4) == 0;
}

static bool take_time(void *target, struct trace_span name, struct trace_span field)
{
    if (is_time_name(name))
        *(struct trace_span *)target = field;
    return true;
}

static struct found read_time(const char *form, const char *begin, const char *end)
{
    struct found found = {.has_form = false};
    found.has_form = csv_split_line(form, begin, end, take_time, &found.time);
    const size_t size = found.time.begin == NULL ? 0 : (size_t)(found.time.end - found.time.begin);
    if (size == 0 || !is_time(found.time.begin, size))
        found.time.begin = NULL;
    return found;
}

/* Whether a line has one of the known forms, and a time in it. */
static bool is_known(unsigned kind, const char *form, const char *begin, const char *end)
{
    const struct found found = read_time(form, begin, end);
    return found.has_form && found.time.begin != NULL &&
           (kind != LOG_KIND_SYSLOG ||
            trace_time_lacks_year(found.time.begin, (size_t)(found.time.end - found.time.begin))) &&
           (kind != LOG_KIND_PROTOCOL || trace_has_only(found.time, NUMBER_SIGNS));
}

bool csv_guess_line(const char *bytes, size_t size, char *form)
{
    static const char *const known[] = {LOG_ACCESS, LOG_SYSLOG, LOG_AUDIT, LINE_PROTOCOL};
    struct place_of_time time;
    const bool is_pasted = pasted_header(bytes, size) > 0;
    const bool is_table = count_in_all(bytes, size, ';') > 0 || count_in_all(bytes, size, '\t') > 0;
    struct trace_span sample = {bytes, bytes + size}, line;
    for (unsigned lines = 0; lines < BANNER_LINES && next_of_sample(&sample, &line);) {
        if (read_directive(line.begin, line.end, form))
            return true;
        if (is_comment(line.begin, line.end))
            continue;
        for (unsigned i = 0; i < sizeof known / sizeof *known; i++) {
            if (is_known(i, known[i], line.begin, line.end)) {
                strcpy(form, known[i]);
                return true;
            }
        }
        if (!is_pasted && find_time(line.begin, line.end, &time) &&
            (!is_table || (time.before == 0 && time.has_blank))) {
            write_form(bytes, size, &time, form);
            return true;
        }
        if (is_header(line.begin, line.end))
            return false;
        lines++;
    }
    return false;
}

bool csv_line_names(struct wl_csv *csv, struct wl_csv_record *out, struct sim_error *error)
{
    struct parse parse = {.csv = csv, .out = out};
    struct form form = {.at = csv->dialect.line};
    if (!sim_grow(&csv->fields.bytes, &csv->fields.capacity, 2 * strlen(form.at) + 2, 1))
        return sim_fail_memory(error);
    out->count = csv->fields.size = 0;
    out->line = 1;
    while (next_part(&form)) {
        if (form.name == NULL)
            continue;
        memcpy(csv->fields.bytes + csv->fields.size, form.name, form.name_size);
        csv->fields.size += form.name_size;
        if (!end_field(&parse, error))
            return false;
    }
    csv_set_fields(csv->fields.bytes, out);
    return true;
}

/* Takes a line of a log that has a time but lacks other fields: those after the time are '-', and the last
 * one is the whole line. Returns false if the line has no time. */
static bool take_rest(struct parse *parse, const char *begin, const char *end)
{
    static const char none[] = "-";
    struct form form = {.at = parse->csv->dialect.line};
    struct csv_buffer *fields = &parse->csv->fields;
    size_t time = 0, before = 0;
    while (next_part(&form) &&
           (form.name == NULL || !is_time_name((struct trace_span){form.name, form.name + form.name_size})))
        time += form.name != NULL;
    for (size_t i = 0; i < time && i < parse->out->count; i++)
        before += parse->out->sizes[i] + 1;
    if (parse->out->count <= time || !is_time(fields->bytes + before, parse->out->sizes[time]))
        return false;
    parse->out->count = time + 1;
    parse->begin = fields->size = before + parse->out->sizes[time] + 1;
    while (next_part(&form)) {
        if (form.name != NULL)
            take_field(parse, (struct trace_span){form.name, form.name + form.name_size},
                       *form.at == '\0' ? (struct trace_span){begin, end}
                                        : (struct trace_span){none, none + 1});
    }
    return true;
}

static bool read_record(struct parse *parse, char *line, size_t size, struct sim_error *error)
{
    struct wl_csv *csv = parse->csv;
    if (csv->dialect.is_pasted)
        return take_pasted(parse, line, size, error);
    if (csv->dialect.line != NULL)
        return csv_split_line(csv->dialect.line, line, line + size, take_field, parse) ||
               (csv->dialect.is_guessed && take_rest(parse, line, line + size)) ||
               trace_fail(
                   csv->reader.path, csv->reader.line, error,
                   "the line has not the form %s; remove it, or give another form by 'line' under trace",
                   csv->dialect.line);
    while (take_line(parse, line, size, error)) {
        if (!parse->is_quoted)
            return end_field(parse, error);
        csv->fields.bytes[csv->fields.size++] = '\n';
        if (!next_line(csv, &line, &size, error))
            return false;
        if (line == NULL || csv->fields.size > CSV_RECORD_BYTES_MAX)
            return trace_fail(csv->reader.path, parse->out->line, error,
                              "a quote that is never closed; close it, or double it within a field");
    }
    return false;
}

/* Whether a line continues the message of the one above. */
static bool is_continued(struct wl_csv *csv, const char *begin, const char *end)
{
    struct place_of_time time;
    const bool is_row =
        !is_comment(begin, end) &&
        (csv->dialect.has_comments || read_time(csv->dialect.line, begin, end).time.begin != NULL ||
         (!is_blank(*begin) && find_time(begin, end, &time)));
    csv->reader.continued += !is_row;
    return !is_row;
}

bool wl_csv_next(struct wl_csv *csv, struct wl_csv_record *out, struct sim_error *error)
{
    const struct csv_dialect *dialect = &csv->dialect;
    struct parse parse = {.csv = csv, .out = out};
    char *line;
    size_t size;
    out->count = csv->fields.size = 0;
    do {
        if (!next_line(csv, &line, &size, error))
            return false;
        csv->reader.continued += size > 0 && is_message(line, line + size);
    } while (
        line != NULL &&
        (size == 0 || (dialect->has_comments && *line == '#') || is_message(line, line + size) ||
         (dialect->is_pasted && (csv->reader.line < dialect->header_line || is_around_rows(line, size))) ||
         (dialect->is_guessed && is_continued(csv, line, line + size))));
    out->line = csv->reader.line;
    if (line == NULL)
        return true;
    bool ok = read_record(&parse, line, size, error);
    csv_set_fields(csv->fields.bytes, out); /* the buffer has its final place now */
    return ok;
}

/* The delimiter that occurs most often in the first line. */
static char delimiter_of(const char *bytes, size_t size)
{
    size_t counts[4] = {0}, best = 0;
    bool is_quoted = false;
    for (size_t i = 0; i < size && (bytes[i] != '\n' || is_quoted); i++) {
        const char *found = bytes[i] == '\0' ? NULL : strchr(delimiters, bytes[i]);
        is_quoted = is_quoted != (bytes[i] == '"');
        if (found != NULL && !is_quoted)
            counts[found - delimiters]++;
    }
    for (size_t i = 1; i < 4; i++)
        best = counts[i] > counts[best] ? i : best;
    return delimiters[best];
}

/* Counts the first records that have as many fields as the first one, with or without backslashes. */
static bool count_records(struct wl_csv *csv, bool has_backslash, size_t *out, struct sim_error *error)
{
    struct wl_csv_record record;
    struct sim_error fault = {.class = SIM_ERROR_NONE};
    size_t first = 0;
    csv->dialect.has_backslash = has_backslash;
    trace_reader_mark(&csv->reader);
    for (*out = 0; *out < TRACE_SAMPLE_ROWS && !trace_reader_is_sampled(&csv->reader); ++*out) {
        if (!wl_csv_next(csv, &record, &fault) || record.count == 0 || (*out > 0 && record.count != first))
            break;
        first = record.count;
    }
    trace_reader_return(&csv->reader);
    if (fault.class == SIM_ERROR_ENVIRONMENT)
        *error = fault;
    return fault.class != SIM_ERROR_ENVIRONMENT;
}

bool csv_sniff(struct wl_csv *csv, char delimiter, enum wl_trace_escape escape, struct sim_error *error)
{
    size_t size, plain = 0, escaped = 0;
    const char *bytes = trace_reader_peek(&csv->reader, &size), *end;
    csv->dialect = (struct csv_dialect){.delimiter = '|',
                                        .has_comments = size > 0 && *bytes == '#',
                                        .header_line = pasted_header(bytes, size)};
    for (; size > 0 && (*bytes == '#' || is_message(bytes, bytes + size)) &&
           (end = memchr(bytes, '\n', size)) != NULL;
         bytes = end + 1)
        size -= (size_t)(end + 1 - bytes);
    csv->dialect.is_pasted = csv->dialect.header_line > 0;
    if (delimiter != '\0' || !csv->dialect.is_pasted)
        csv->dialect.delimiter = delimiter != '\0' ? delimiter : delimiter_of(bytes, size);
    const size_t tabs = delimiter == '\0' && size > 0 ? count_in_all(bytes, size, '\t') : 0;
    if (tabs > 0 && count_in_all(bytes, size, csv->dialect.delimiter) == 0)
        csv->dialect.delimiter = '\t'; /* texts may have others */
    if (escape == WL_ESCAPE_AUTO && !csv->dialect.is_pasted && size > 0 &&
        memchr(bytes, '\\', size) != NULL &&
        (!count_records(csv, false, &plain, error) || !count_records(csv, true, &escaped, error)))
        return false;
    csv->dialect.has_backslash = escape == WL_ESCAPE_BACKSLASH || escaped > plain;
    return true;
}

bool csv_check_delimiter(const struct wl_csv *csv, uint64_t number, const char *line, size_t size,
                         struct sim_error *error)
{
    const char delimiter = csv->dialect.delimiter, *first = wl_trace_delimiter_name(delimiter);
    const char other = delimiter_of(line, size), sign[] = {'\'', delimiter, '\'', '\0'};
    if (size == 0 || memchr(line, delimiter, size) != NULL || memchr(line, other, size) == NULL)
        return true;
    return trace_fail(csv->reader.path, number, error,
                      "the first line has %s%s, line %" PRIu64 " has %ss; write the same between all columns",
                      first == NULL ? sign : first, first == NULL ? "" : "s", number,
                      wl_trace_delimiter_name(other));
}

bool wl_csv_open(const char *path, const char *what, struct wl_csv **out, struct sim_error *error)
{
    struct wl_csv *csv = calloc(1, sizeof *csv);
    *out = NULL;
    if (csv == NULL)
        return sim_fail_memory(error);
    csv->path = strdup(path);
    if (csv->path == NULL ? !sim_fail_memory(error)
                          : !trace_reader_open(csv->path, what, &csv->reader, error) ||
                                !csv_sniff(csv, '\0', WL_ESCAPE_BACKSLASH, error)) {
        wl_csv_close(csv);
        return false;
    }
    *out = csv;
    return true;
}

void wl_csv_close(struct wl_csv *csv)
{
    if (csv == NULL)
        return;
    trace_reader_close(&csv->reader);
    free(csv->path);
    free(csv->fields.bytes);
    free(csv);
}

/* Reads JSON objects with jansson, and converts the requested values to text. */

#define NAME_BYTES_MAX 512u
#define PAIR_BYTES     4096u /* of a value */
#define PAIRS_LEAST    3u
#define TOKEN_BYTES    32u /* a fault so near to the end of the buffer may be a token that is not whole */

/* Skips what stands between objects, and the messages of kcat. Returns false at the end of the file, or when
 * reading fails. */
static bool skip_to_object(struct trace_reader *reader, struct sim_error *error)
{
    bool is_message = false;
    reader->line += reader->line == 0;
    for (;; reader->begin++) {
        if (reader->begin == reader->end &&
            (reader->at_end || !trace_reader_fill(reader, error) || reader->begin == reader->end))
            return false;
        char c = reader->buffer[reader->begin];
        reader->line += c == reader->line_break;
        reader->continued += c == '%' && !is_message;
        is_message = c != reader->line_break && (is_message || c == '%');
        if (is_message)
            continue;
        if (reader->has_prefix ? c == '{' : strchr(" \t\r\n,[]", c) == NULL || c == '\0')
            return true;
    }
}

/* Puts quotes around an integer that ends at `end`, which does not fit into 63 bits: it is read as a text. */
static bool quote_integer(struct trace_reader *reader, size_t end)
{
    if (!sim_grow(&reader->buffer, &reader->capacity, reader->end + 2, 1))
        return false;
    char *bytes = reader->buffer;
    size_t begin = end += reader->begin;
    while (begin > reader->begin &&
           (bytes[begin - 1] == '-' || (bytes[begin - 1] >= '0' && bytes[begin - 1] <= '9')))
        begin--;
    memmove(bytes + end + 2, bytes + end, reader->end - end);
    memmove(bytes + begin + 1, bytes + begin, end - begin);
    bytes[begin] = bytes[end + 1] = '"';
    reader->end += 2;
    return true;
}

static bool fail_json(const struct trace_reader *reader, const json_error_t *problem, struct sim_error *error)
{
    const char *line = reader->buffer + reader->begin;
    size_t size = reader->end - reader->begin;
    const char *end = size == 0 ? NULL : memchr(line, reader->line_break, size);
    bool has_brace = size > 0 && memchr(line, '{', end == NULL ? size : (size_t)(end - line)) != NULL;
    enum json_error_code code = json_error_code(problem);
    if (code == json_error_out_of_memory)
        return sim_fail_memory(error);
    return trace_fail(reader->path, reader->line, error, "%s",
                      !has_brace ? "no JSON object, but a message such as kcat and kubectl print; remove it"
                      : code == json_error_duplicate_key
                          ? "a field occurs twice in the object; rename one of them"
                          : "not JSON; write one object per line");
}

/* Reads the pairs of a line, as in level=info msg="a \\"b\\"", into an object; returns their number, or 0
 * also if `is_strict` and there is other text. */
static size_t put_pairs(const char *at, const char *end, bool is_strict, json_t *object)
{
    size_t pairs = 0;
    char value[PAIR_BYTES];
    while (at < end) {
        const char *name = at, *stop = at;
        while (stop < end && (*stop == '_' || strchr("=\" []{},", *stop) == NULL))
            stop++;
        at = stop;
        if (stop == name || stop == end || *stop != '=') {
            if (is_strict && *stop != ' ')
                return 0;
            at += at < end;
            continue;
        }
        const size_t name_size = (size_t)(stop - name);
        size_t size = 0;
        const bool is_quoted = ++at < end && *at == '"';
        for (at += is_quoted; at < end && (is_quoted ? *at != '"' : *at != ' '); at++) {
            at += is_quoted && *at == '\\' && at + 1 < end;
            value[size] = *at;
            size += size + 1 < sizeof value;
        }
        at += at < end;
        if (json_object_setn_new_nocheck(object, name, name_size, json_stringn_nocheck(value, size)) != 0)
            return 0;
        pairs++;
    }
    return pairs;
}

bool trace_json_has_prefix(const char *bytes, size_t size)
{
    struct trace_span sample = {bytes, bytes + size}, line;
    const char *at =
        next_of_sample(&sample, &line) ? memchr(line.begin, '{', (size_t)(line.end - line.begin)) : NULL;
    if (at == NULL || at == bytes || at[-1] != ' ' || at[1] != '"' || line.end[-1] != '}')
        return false;
    json_t *object = json_loadb(at, (size_t)(line.end - at), 0, NULL);
    struct csv_buffer text = {0};
    bool has_time = false;
    for (void *i = json_object_iter(object); i != NULL && !has_time; i = json_object_iter_next(object, i)) {
        size_t value;
        text.size = 0;
        has_time = trace_json_put(&text, trace_json_bare(json_object_iter_value(i)), &value) &&
                   is_time(text.bytes, value);
    }
    free(text.bytes);
    json_decref(object);
    return has_time;
}

bool trace_json_are_pairs(const char *bytes, size_t size)
{
    struct trace_span sample = {bytes, bytes + size}, line;
    json_t *object = json_object();
    const size_t pairs =
        object != NULL && next_of_sample(&sample, &line) ? put_pairs(line.begin, line.end, true, object) : 0;
    json_decref(object);
    return pairs >= PAIRS_LEAST;
}

static bool next_pairs(struct trace_reader *reader, json_t **out, uint64_t *line, struct sim_error *error)
{
    char *text;
    size_t size, pairs = 0;
    while (pairs == 0) {
        if (!trace_reader_next(reader, &text, &size, error))
            return false;
        json_decref(*out);
        *out = text == NULL ? NULL : json_object();
        if (text == NULL)
            return true;
        if (*out == NULL)
            return sim_fail_memory(error);
        pairs = put_pairs(text, text + size, false, *out);
        if (pairs == 0 && *text == '{')
            return trace_fail(reader->path, reader->line, error,
                              "an object among lines of name=value; give them in two files");
        reader->continued += pairs == 0;
    }
    *line = reader->line;
    return true;
}

const json_t *trace_json_rows(const json_t *value, unsigned depth)
{
    const json_t *rows = json_is_array(value) && json_is_object(json_array_get(value, 0)) ? value : NULL;
    for (void *at = json_object_iter((json_t *)(uintptr_t)value); at != NULL && depth > 0;
         at = json_object_iter_next((json_t *)(uintptr_t)value, at)) {
        const json_t *found = trace_json_rows(json_object_iter_value(at), depth - 1);
        rows = json_array_size(found) > json_array_size(rows) ? found : rows;
    }
    return rows;
}

bool trace_json_next(struct trace_reader *reader, json_t **out, uint64_t *line, struct sim_error *error)
{
    const size_t flags = JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES | JSON_DISABLE_EOF_CHECK;
    json_error_t problem;
    json_decref(*out);
    *out = NULL;
    if (reader->rows != NULL) {
        *out = json_incref(json_array_get(reader->rows, reader->row++));
        *line = 1;
        return true;
    }
    if (reader->are_pairs)
        return next_pairs(reader, out, line, error);
    if (!skip_to_object(reader, error))
        return reader->at_end;
    *line = reader->line;
    while (*out == NULL) {
        size_t size = reader->end - reader->begin;
        if (reader->buffer[reader->begin] == '{')
            *out = json_loadb(reader->buffer + reader->begin, size, flags, &problem);
        else
            return fail_json(reader, &(json_error_t){.line = 0}, error);
        if (*out != NULL)
            break;
        size_t position = (size_t)problem.position;
        if (json_error_code(&problem) == json_error_numeric_overflow && position < size) {
            if (!quote_integer(reader, position))
                return sim_fail_memory(error);
        } else if (position + TOKEN_BYTES < size || reader->at_end || size > TRACE_LINE_BYTES_MAX) {
            return fail_json(reader, &problem, error);
        } else if (!trace_reader_fill(reader, error)) {
            return false;
        }
    }
    for (const char *at = reader->buffer + reader->begin, *end = at + problem.position; at < end; at++)
        reader->line += *at == reader->line_break;
    reader->begin += (size_t)problem.position;
    return true;
}

const json_t *trace_json_bare(const json_t *value)
{
    void *at = json_object_size(value) == 1 ? json_object_iter((json_t *)(uintptr_t)value) : NULL;
    return at != NULL && *json_object_iter_key(at) == '$' ? trace_json_bare(json_object_iter_value(at))
                                                          : value;
}

const json_t *trace_json_find(const json_t *object, const char *name)
{
    const json_t *found = json_object_get(object, name);
    const char *point = found == NULL ? strchr(name, '.') : NULL;
    while (found == NULL && point != NULL) {
        char first[NAME_BYTES_MAX];
        size_t size = (size_t)(point - name);
        if (size >= sizeof first)
            return NULL;
        memcpy(first, name, size);
        first[size] = '\0';
        const json_t *inner = json_object_get(object, first);
        if (inner != NULL)
            return trace_json_find(inner, point + 1);
        point = strchr(point + 1, '.');
    }
    return json_is_null(found) ? NULL : trace_json_bare(found);
}

bool trace_json_put(struct csv_buffer *buffer, const json_t *value, size_t *size)
{
    char number[64], *dumped = NULL;
    const char *text = number;
    if (json_is_string(value)) {
        text = json_string_value(value);
        *size = json_string_length(value);
    } else if (json_is_integer(value)) {
        *size = (size_t)snprintf(number, sizeof number, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    } else if (json_is_real(value)) {
        /* A double represents a time since 1970 to a microsecond, and not better. */
        *size = (size_t)snprintf(number, sizeof number, "%.6f", json_real_value(value));
        *size = *size < sizeof number ? *size : sizeof number - 1;
    } else {
        text = dumped = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
        *size = dumped == NULL ? 0 : strlen(dumped);
    }
    bool ok = text != NULL && sim_grow(&buffer->bytes, &buffer->capacity, buffer->size + *size + 1, 1);
    if (ok) {
        memcpy(buffer->bytes + buffer->size, text, *size);
        buffer->size += *size;
        buffer->bytes[buffer->size++] = '\0';
    }
    free(dumped);
    return ok;
}
