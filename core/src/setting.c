/* SPDX-License-Identifier: MIT */
/* The text of a setting: a table of its lines, the parser and the printer, which both read the table. In: the
 * text, or a setting. Kept: nothing. Out: the setting, or the text, or the first wrong line and the reason. A
 * test compares the names with those of the simulator's scenarios, so that they mean the same in both. */
#include "bucketing/setting.h"

#include <string.h>

#include "bucketing/strategy.h"
#include "calendar.h"

/* The values of settings: whole numbers, durations, sizes, chances, times (by Howard Hinnant's algorithms for
 * the civil calendar). Pieces of text have no final NUL. */
struct piece {
    const char *at;
    size_t size;
};

/* A text in a buffer of limited size; what does not fit is left out, and is_full is set. */
struct text {
    char *at;
    size_t size, used; /* one byte of `size` is for the final NUL */
    bool is_full;
};

#define SECOND_NS  INT64_C(1000000000)
#define DAY_S      INT64_C(86400)
#define DIGITS_MAX 20 /* the most decimal digits of a uint64_t */

struct unit {
    const char *name;
    uint64_t size;
};

/* From the largest to the smallest unit, the order in which they are tried for writing. */
static const struct unit times[] = {
    {"d", 86400000000000}, {"h", 3600000000000}, {"m", 60000000000}, {"s", 1000000000},
    {"ms", 1000000},       {"us", 1000},         {"ns", 1},          {NULL, 0}};
static const struct unit sizes[] = {{"TB", 1000000000000}, {"GB", 1000000000}, {"MB", 1000000},
                                    {"KB", 1000},          {"B", 1},           {NULL, 0}};

/* Compares byte by byte: a compiler may replace a loop that only searches for the end by a call of
 * strlen(). */
static bool piece_is(struct piece piece, const char *word)
{
    for (size_t i = 0; i < piece.size; i++) {
        if (word[i] == '\0' || word[i] != piece.at[i])
            return false;
    }
    return word[piece.size] == '\0';
}

static struct piece piece_trimmed(struct piece piece)
{
    while (piece.size > 0 && (piece.at[0] == ' ' || piece.at[0] == '\t')) {
        piece.at++;
        piece.size--;
    }
    while (piece.size > 0 && (piece.at[piece.size - 1] == ' ' || piece.at[piece.size - 1] == '\t'))
        piece.size--;
    return piece;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Takes the digits from the start of the piece. Returns false if there are none or if the number exceeds 2^64
 * - 1. */
static bool take_digits(struct piece *piece, uint64_t *out)
{
    size_t used = 0;
    uint64_t value = 0;
    for (; used < piece->size && is_digit(piece->at[used]); used++) {
        unsigned digit = (unsigned)(piece->at[used] - '0');
        if (value > (UINT64_MAX - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    piece->at += used;
    piece->size -= used;
    *out = value;
    return used > 0;
}

/* Each of these sets *out and returns NULL, or returns the problem as a text that follows "'name = value': ".
 */
static const char *piece_digest(struct piece piece, uint64_t *out)
{
    *out = 0;
    for (size_t i = 0; i < piece.size && piece.size == 16; i++) {
        char c = piece.at[i];
        if (!is_digit(c) && !(c >= 'a' && c <= 'f'))
            return "not 16 digits of 0-9 and a-f";
        *out = *out << 4 | (unsigned)(is_digit(c) ? c - '0' : c - 'a' + 10);
    }
    return piece.size == 16 ? NULL : "not 16 digits of 0-9 and a-f";
}

static bool read_with_unit(struct piece piece, const struct unit *units, uint64_t most, uint64_t *out)
{
    uint64_t value;
    if (!take_digits(&piece, &value))
        return false;
    while (units->name != NULL && !piece_is(piece, units->name))
        units++;
    if (units->name == NULL || value > most / units->size)
        return false;
    *out = value * units->size;
    return true;
}

static const char *piece_duration(struct piece piece, int64_t *out_ns)
{
    uint64_t span;
    if (!read_with_unit(piece, times, INT64_MAX, &span))
        return "not a duration; a whole number and ns us ms s m h or d, up to 2^63 - 1 ns, as in 90d";
    *out_ns = (int64_t)span;
    return NULL;
}

static const char *piece_chance(struct piece piece, uint64_t *numerator, uint64_t *denominator)
{
    static const char wrong[] = "not a chance; two whole numbers m/n with 0 < m <= n, as in 1/300";
    if (!take_digits(&piece, numerator) || piece.size == 0 || piece.at[0] != '/')
        return wrong;
    piece.at++;
    piece.size--;
    return take_digits(&piece, denominator) && piece.size == 0 && *numerator > 0 && *numerator <= *denominator
               ? NULL
               : wrong;
}

/* Takes `digits` digits and the character `mark` from the start of the piece. */
static bool take_part(struct piece *piece, size_t digits, char mark, int64_t *out)
{
    uint64_t value = 0;
    struct piece part = {piece->at, digits};
    if (piece->size <= digits || piece->at[digits] != mark || !take_digits(&part, &value) || part.size != 0)
        return false;
    *out = (int64_t)value;
    piece->at += digits + 1;
    piece->size -= digits + 1;
    return true;
}

/* Parses ".5Z" or "Z". */
static bool take_fraction(struct piece piece, int64_t *out_ns)
{
    int64_t unit = SECOND_NS;
    *out_ns = 0;
    if (piece.size > 1 && piece.at[0] == '.') {
        size_t i = 1;
        for (; i < piece.size && i <= 9 && is_digit(piece.at[i]); i++) {
            unit /= 10;
            *out_ns += (piece.at[i] - '0') * unit;
        }
        if (i == 1)
            return false;
        piece.at += i;
        piece.size -= i;
    }
    return piece.size == 1 && piece.at[0] == 'Z';
}

/* Returns false if the result does not fit into int64_t. */
static bool add_fraction(int64_t seconds, int64_t fraction_ns, int64_t *out_ns)
{
    int64_t least = INT64_MIN / SECOND_NS - 1, most = INT64_MAX / SECOND_NS;
    if (seconds < least || seconds > most || (seconds == most && fraction_ns > INT64_MAX % SECOND_NS) ||
        (seconds == least && SECOND_NS - fraction_ns > -(INT64_MIN % SECOND_NS)))
        return false;
    *out_ns = seconds < 0 ? (seconds + 1) * SECOND_NS - (SECOND_NS - fraction_ns)
                          : seconds * SECOND_NS + fraction_ns;
    return true;
}

static const char *piece_time(struct piece piece, int64_t *out_ns)
{
    static const char wrong[] =
        "not a time of the years 1677 to 2262; give it in UTC, as in 2026-01-31T12:00:00Z";
    int64_t year, month, day, hour, minute, second, fraction_ns;
    /* The character after the seconds is checked together with the fraction. */
    if (piece.size < 20 || !take_part(&piece, 4, '-', &year) || !take_part(&piece, 2, '-', &month) ||
        !take_part(&piece, 2, 'T', &day) || !take_part(&piece, 2, ':', &hour) ||
        !take_part(&piece, 2, ':', &minute) || !take_part(&piece, 2, piece.at[2], &second))
        return wrong;
    piece.at--;
    piece.size++;
    if (!take_fraction(piece, &fraction_ns) || year < 1677 || year > 2262 || month < 1 || month > 12 ||
        hour > 23 || minute > 59 || second > 59)
        return wrong;
    int64_t index = (year - 1970) * 12 + month - 1, days = bk_month_begin_days(index) + day - 1;
    if (day < 1 || days >= bk_month_begin_days(index + 1) ||
        !add_fraction(days * DAY_S + hour * 3600 + minute * 60 + second, fraction_ns, out_ns))
        return wrong;
    return NULL;
}

static void text_piece(struct text *text, struct piece piece)
{
    if (text->size == 0 || text->is_full || piece.size >= text->size - text->used) {
        text->is_full = true;
        return;
    }
    if (piece.size > 0)
        memcpy(text->at + text->used, piece.at, piece.size);
    text->used += piece.size;
    text->at[text->used] = '\0';
}

static void text_word(struct text *text, const char *word)
{
    for (; *word != '\0'; word++)
        text_piece(text, (struct piece){word, 1});
}

static void write_digits(struct text *text, uint64_t value, unsigned base, size_t least)
{
    char digits[DIGITS_MAX];
    size_t first = sizeof digits;
    do {
        unsigned digit = (unsigned)(value % base);
        digits[--first] = (char)(digit < 10 ? '0' + digit : 'a' + digit - 10);
        value /= base;
    } while (value != 0 || sizeof digits - first < least);
    text_piece(text, (struct piece){digits + first, sizeof digits - first});
}

static void text_number(struct text *text, uint64_t value)
{
    write_digits(text, value, 10, 1);
}

static void write_with_unit(struct text *text, const struct unit *units, uint64_t value)
{
    while (value % units->size != 0)
        units++;
    write_digits(text, value / units->size, 10, 1);
    text_word(text, units->name);
}

static void write_part(struct text *text, int64_t value, size_t digits, const char *mark)
{
    write_digits(text, (uint64_t)value, 10, digits);
    text_word(text, mark);
}

static void text_time(struct text *text, int64_t time_ns)
{
    static const struct bk_strategy months = {.kind = BK_KIND_TIME,
                                              .of.time = {.calendar = BK_CALENDAR_MONTH}};
    int64_t month = bk_window_of(&months, time_ns).index, year = 1970 + bk_floor_divide(month, 12);
    int64_t seconds = bk_floor_divide(time_ns, SECOND_NS), days = bk_floor_divide(seconds, DAY_S);
    int64_t of_day = seconds - days * DAY_S, fraction_ns = time_ns % SECOND_NS;
    size_t places = 9;
    fraction_ns += fraction_ns < 0 ? SECOND_NS : 0;
    write_part(text, year, 4, "-");
    write_part(text, month - 12 * (year - 1970) + 1, 2, "-");
    write_part(text, days - bk_month_begin_days(month) + 1, 2, "T");
    write_part(text, of_day / 3600, 2, ":");
    write_part(text, of_day / 60 % 60, 2, ":");
    write_part(text, of_day % 60, 2, fraction_ns == 0 ? "Z" : ".");
    if (fraction_ns == 0)
        return;
    for (; fraction_ns % 10 == 0; fraction_ns /= 10)
        places--;
    write_part(text, fraction_ns, places, "Z");
}

#define FIRST_LINE "bucketing-setting 1"

struct word {
    const char *name; /* NULL ends the list */
    unsigned value;
};

enum value_type {
    VALUE_CHOICE,
    VALUE_FLAG,
    VALUE_U32,
    VALUE_U64,
    VALUE_DURATION,
    VALUE_BYTES,
    VALUE_CHANCE,
    VALUE_TIME
};

enum line_name {
    LINE_NONE,
    LINE_CALENDAR,
    LINE_WINDOW,
    LINE_EPOCH,
    LINE_SHARDS,
    LINE_ROWS,
    LINE_SOURCE,
    LINE_BATCH,
    LINE_EVERY_ROWS,
    LINE_EVERY_TIME,
    LINE_CHANCE,
    LINE_BITS,
    LINE_THRESHOLD,
    LINE_BYTES,
    LINE_WEIGHT,
    LINE_PARTITIONS,
    LINE_COORDINATION,
    LINE_COUNTER,
    LINE_LEAD,
    LINE_LOCK_LASTS,
    LINE_LOCK_BACKOFF,
    LINE_GRANT,
    LINE_BUCKETS,
    LINE_MAX_AGE,
    LINE_PLAN,
    LINE_AT_ONCE,
    LINE_REMEMBER_EMPTY,
    LINE_LATE,
    LINE_COUNT
};

struct line {
    const char *name;
    unsigned kinds; /* bit k: an enum bk_kind */
    enum value_type type;
    size_t place;
    const struct word *words;
    uint64_t least, most; /* most 0: any */
    bool is_optional;
    enum line_name unless; /* the line must be absent if that one is set */
    enum line_name of;     /* the line applies only if that one has one of `values` */
    unsigned values;
};

#define FIRES         (KIND(PROBABILISTIC) | KIND(WEIGHTED))
#define ALL           ((1u << BK_KINDS) - 1)
#define KIND(kind)    (1u << BK_KIND_##kind)
#define PLACE(member) offsetof(struct bk_setting, member)

#define WORD(word, value) {word, value},
static const struct word calendars[] = {BK_CALENDAR_WORDS(WORD){NULL, 0}};
static const struct word sources[] = {BK_SOURCE_WORDS(WORD){NULL, 0}};
static const struct word coordinations[] = {BK_COORDINATION_WORDS(WORD){NULL, 0}};
static const struct word counters[] = {BK_COUNTER_WORDS(WORD){NULL, 0}};
static const struct word plans[] = {BK_PLAN_WORDS(WORD){NULL, 0}};
static const struct word flags[] = {{"false", false}, {"true", true}, {NULL, 0}};

static const struct line lines[LINE_COUNT] = {
    [LINE_CALENDAR] = {"calendar", KIND(TIME), VALUE_CHOICE, PLACE(strategy.of.time.calendar), calendars,
                       .least = 1, .is_optional = true},
    [LINE_WINDOW] = {"window", KIND(TIME), VALUE_DURATION, PLACE(strategy.of.time.window_ns), .least = 1000,
                     .unless = LINE_CALENDAR},
    [LINE_EPOCH] = {"epoch", KIND(TIME), VALUE_TIME, PLACE(strategy.of.time.epoch_ns), .is_optional = true,
                    .unless = LINE_CALENDAR},
    [LINE_SHARDS] = {"shards", KIND(TIME), VALUE_U32, PLACE(strategy.of.time.shards), .least = 1,
                     .most = BK_SHARDS_MAX, .is_optional = true},
    [LINE_ROWS] = {"rows", KIND(COUNT), VALUE_U64, PLACE(strategy.of.count.rows), .least = 1},
    [LINE_SOURCE] = {"counter", KIND(COUNT), VALUE_CHOICE, PLACE(source), .words = sources},
    [LINE_BATCH] = {"batch", KIND(COUNT), VALUE_U64, PLACE(lease_rows), .least = 1, .of = LINE_SOURCE,
                    .values = 1u << BK_SOURCE_LEASE},
    [LINE_EVERY_ROWS] = {"every_rows", KIND(COUNT), VALUE_U64, PLACE(every_rows), .least = 1,
                         .is_optional = true, .of = LINE_SOURCE,
                         .values = 1u << BK_SOURCE_INCREMENTAL | 1u << BK_SOURCE_SCAN},
    [LINE_EVERY_TIME] = {"every_time", KIND(COUNT), VALUE_DURATION, PLACE(every_ns), .least = 1,
                         .is_optional = true, .of = LINE_SOURCE,
                         .values = 1u << BK_SOURCE_INCREMENTAL | 1u << BK_SOURCE_SCAN},
    [LINE_CHANCE] = {"chance", KIND(PROBABILISTIC), VALUE_CHANCE,
                     PLACE(strategy.of.probabilistic.chance_numerator), .is_optional = true},
    [LINE_BITS] = {"bits", KIND(PROBABILISTIC), VALUE_U32, PLACE(strategy.of.probabilistic.bits),
                   .most = BK_BITS_MAX, .unless = LINE_CHANCE},
    [LINE_THRESHOLD] = {"threshold", KIND(PROBABILISTIC), VALUE_U64,
                        PLACE(strategy.of.probabilistic.threshold), .least = 1},
    [LINE_BYTES] = {"bytes", KIND(WEIGHTED), VALUE_BYTES, PLACE(strategy.of.weighted.bytes), .least = 1},
    [LINE_WEIGHT] = {"threshold", KIND(WEIGHTED), VALUE_U64, PLACE(strategy.of.weighted.threshold),
                     .least = 1},
    [LINE_PARTITIONS] = {"shards", KIND(COUNT) | FIRES, VALUE_U32, PLACE(strategy.shards), .least = 1,
                         .most = BK_SHARDS_MAX, .is_optional = true},
    [LINE_COORDINATION] = {"coordination", FIRES, VALUE_CHOICE, PLACE(coordination), coordinations,
                           .is_optional = true},
    [LINE_COUNTER] = {"counter", FIRES, VALUE_CHOICE, PLACE(counter), counters, .is_optional = true,
                      .of = LINE_COORDINATION, .values = ~(1u << BK_GUARDED)},
    [LINE_LEAD] = {"lead", FIRES, VALUE_DURATION, PLACE(lead_ns), .of = LINE_COORDINATION,
                   .values = 1u << BK_THREE_STATE},
    [LINE_LOCK_LASTS] = {"lock.lasts", FIRES, VALUE_DURATION, PLACE(lock_lasts_ns), .least = 1,
                         .of = LINE_COORDINATION, .values = 1u << BK_LOCKED},
    [LINE_LOCK_BACKOFF] = {"lock.backoff", FIRES, VALUE_DURATION, PLACE(lock_backoff_ns), .least = 1,
                           .of = LINE_COORDINATION, .values = 1u << BK_LOCKED},
    [LINE_GRANT] = {"grant", FIRES, VALUE_DURATION, PLACE(grant_ns), .least = 1, .of = LINE_COORDINATION,
                    .values = 1u << BK_GUARDED},
    [LINE_BUCKETS] = {"buckets", KIND(HASH), VALUE_U32, PLACE(strategy.of.hash.buckets), .least = 1,
                      .most = BK_BUCKETS_MAX},
    [LINE_MAX_AGE] = {"max_age", KIND(COUNT) | FIRES, VALUE_DURATION, PLACE(strategy.max_age_ns),
                      .least = 1000, .is_optional = true},
    [LINE_PLAN] = {"read.plan", ALL, VALUE_CHOICE, PLACE(read_plan), plans, .least = 1, .is_optional = true},
    [LINE_AT_ONCE] = {"read.at_once", ALL, VALUE_U32, PLACE(read_at_once), .least = 1, .most = 4096,
                      .is_optional = true, .of = LINE_PLAN, .values = 1u << BK_PLAN_PARALLEL},
    [LINE_REMEMBER_EMPTY] = {"read.remember_empty", KIND(TIME), VALUE_FLAG, PLACE(read_remember_empty), flags,
                             .is_optional = true},
    [LINE_LATE] = {"read.late", KIND(TIME), VALUE_DURATION, PLACE(read_late_ns), .of = LINE_REMEMBER_EMPTY,
                   .values = 1u << true},
};

_Static_assert(sizeof(enum bk_kind) == sizeof(unsigned) && sizeof(enum bk_calendar) == sizeof(unsigned) &&
                   sizeof(enum bk_plan) == sizeof(unsigned),
               "an enum is read and written as an unsigned");

/* The value of a line; for a chance, its denominator. */
static uint64_t value_of(const struct bk_setting *setting, const struct line *line)
{
    const unsigned char *place = (const unsigned char *)setting + line->place;
    uint64_t wide = 0;
    unsigned narrow = 0;
    bool flag = false;
    if (line->type == VALUE_FLAG)
        return memcpy(&flag, place, sizeof flag), (uint64_t)flag;
    if (line->type == VALUE_CHOICE || line->type == VALUE_U32)
        return memcpy(&narrow, place, sizeof narrow), (uint64_t)narrow;
    memcpy(&wide, place + (line->type == VALUE_CHANCE ? sizeof wide : 0), sizeof wide);
    return wide;
}

static void put_value(struct bk_setting *setting, const struct line *line, uint64_t value)
{
    unsigned char *place = (unsigned char *)setting + line->place;
    unsigned narrow = (unsigned)value;
    bool flag = value != 0;
    if (line->type == VALUE_FLAG)
        memcpy(place, &flag, sizeof flag);
    else if (line->type == VALUE_CHOICE || line->type == VALUE_U32)
        memcpy(place, &narrow, sizeof narrow);
    else
        memcpy(place, &value, sizeof value);
}

/* The word of a value; NULL: there is none. */
static const char *word_of(const struct word *words, uint64_t value)
{
    while (words->name != NULL && words->value != value)
        words++;
    return words->name;
}

static bool is_of_kind(const struct line *line, const struct bk_setting *setting)
{
    return (unsigned)setting->strategy.kind < BK_KINDS && (line->kinds >> setting->strategy.kind & 1) != 0;
}

/* Whether the setting `of` has one of the values that the line needs. */
static bool is_needed(const struct line *line, const struct bk_setting *setting)
{
    if (line->of == LINE_NONE)
        return true;
    uint64_t value = value_of(setting, &lines[line->of]);
    return value < 32 && (line->values >> value & 1) != 0;
}

/* Whether the line applies to this setting. */
static bool applies(const struct line *line, const struct bk_setting *setting)
{
    return line->name != NULL && is_of_kind(line, setting) && is_needed(line, setting) &&
           (line->unless == LINE_NONE || value_of(setting, &lines[line->unless]) == 0);
}

/* Whether rows should be counted from time to time, but neither every_rows nor every_time is set. */
static bool counts_never(const struct bk_setting *setting)
{
    return setting->strategy.kind == BK_KIND_COUNT && setting->every_rows == 0 && setting->every_ns == 0 &&
           is_needed(&lines[LINE_EVERY_ROWS], setting);
}

struct parser {
    const char *text;
    size_t size, at;
    uint32_t line;
    uint32_t seen[LINE_COUNT]; /* the line number of each name, 0 if it does not occur */
    struct bk_setting setting;
    struct bk_setting_error *error;
};

/* Sets the error "'NAME' text", or `text` alone without a name. */
static bool fail(struct parser *parser, uint32_t line, const char *name, const char *text, const char *more)
{
    struct text out = {parser->error->text, sizeof parser->error->text, 0, false};
    parser->error->line = line;
    if (name != NULL) {
        text_word(&out, "'");
        text_word(&out, name);
        text_word(&out, "' ");
    }
    text_word(&out, text);
    if (more != NULL)
        text_word(&out, more);
    return false;
}

/* Finds the next line that is neither empty nor a comment, without its end. Returns false at the end of the
 * text. */
static bool next_line(struct parser *parser, struct piece *out)
{
    while (parser->at < parser->size) {
        size_t from = parser->at, until = from;
        while (until < parser->size && parser->text[until] != '\n')
            until++;
        parser->at = until + (until < parser->size);
        parser->line++;
        if (until > from && parser->text[until - 1] == '\r')
            until--;
        *out = piece_trimmed((struct piece){parser->text + from, until - from});
        if (out->size > 0 && out->at[0] != '#')
            return true;
    }
    return false;
}

/* Parses the next line "name = value". */
static bool next_pair(struct parser *parser, struct piece *name, struct piece *value)
{
    struct piece line;
    size_t at = 0;
    if (!next_line(parser, &line))
        return false;
    while (at < line.size && line.at[at] != '=')
        at++;
    *name = piece_trimmed((struct piece){line.at, at});
    at += at < line.size;
    *value = piece_trimmed((struct piece){line.at + at, line.size - at});
    return true;
}

static bool read_head(struct parser *parser)
{
    struct piece line = {"", 0}, value = line;
    if (!next_line(parser, &line) || !piece_is(line, FIRST_LINE))
        return fail(parser, parser->line, NULL, "not '" FIRST_LINE "', with which a setting begins", NULL);
    if (!next_pair(parser, &line, &value) || !piece_is(line, "scenario_digest"))
        return fail(parser, parser->line, NULL, "not 'scenario_digest = ...', which comes first", NULL);
    const char *wrong = piece_digest(value, &parser->setting.scenario_digest);
    if (wrong != NULL)
        return fail(parser, parser->line, "scenario_digest", "is ", wrong);
    if (!next_pair(parser, &line, &value) || !piece_is(line, "kind"))
        return fail(parser, parser->line, NULL, "not 'kind = ...', which comes after scenario_digest", NULL);
    for (unsigned kind = 0; kind < BK_KINDS; kind++) {
        parser->setting.strategy.kind = (enum bk_kind)kind;
        if (piece_is(value, bk_kind_name((enum bk_kind)kind)))
            return true;
    }
    return fail(parser, parser->line, "kind",
                "is none of unbucketed, time, count, probabilistic, hash and weighted", NULL);
}

static const char *read_word(const struct word *words, struct piece value, uint64_t *out)
{
    for (; words->name != NULL; words++) {
        *out = words->value;
        if (piece_is(value, words->name))
            return NULL;
    }
    return "none of its words; see docs/scenario.md";
}

static const char *read_value(struct bk_setting *setting, const struct line *line, struct piece value)
{
    uint64_t whole = 0, denominator = 0;
    int64_t span = 0;
    const char *wrong = NULL;
    switch (line->type) {
    case VALUE_CHOICE:
    case VALUE_FLAG:
        wrong = read_word(line->words, value, &whole);
        break;
    case VALUE_DURATION:
    case VALUE_TIME:
        wrong = line->type == VALUE_TIME ? piece_time(value, &span) : piece_duration(value, &span);
        whole = (uint64_t)span;
        break;
    case VALUE_BYTES:
        if (!read_with_unit(value, sizes, UINT64_MAX, &whole))
            wrong = "not a size; a whole number and B KB MB GB or TB, up to 2^64 - 1 bytes, as in 512KB";
        break;
    case VALUE_CHANCE:
        wrong = piece_chance(value, &setting->strategy.of.probabilistic.chance_numerator, &denominator);
        setting->strategy.of.probabilistic.chance_denominator = denominator;
        return wrong;
    case VALUE_U32:
    case VALUE_U64:
    default:
        if (!take_digits(&value, &whole) || value.size != 0)
            wrong = "not a whole number from 0 to 2^64 - 1";
        break;
    }
    if (wrong == NULL && line->type != VALUE_TIME && whole < line->least)
        wrong = "too small";
    if (wrong == NULL && line->most != 0 && whole > line->most)
        wrong = "too large";
    put_value(setting, line, whole);
    return wrong;
}

static enum line_name find(const struct bk_setting *setting, struct piece name)
{
    for (unsigned i = LINE_NONE + 1; i < LINE_COUNT; i++) {
        if (is_of_kind(&lines[i], setting) && piece_is(name, lines[i].name))
            return (enum line_name)i;
    }
    return LINE_NONE;
}

static bool read_lines(struct parser *parser)
{
    struct piece name, value;
    while (next_pair(parser, &name, &value)) {
        if (piece_is(name, "end"))
            return !next_line(parser, &name) ||
                   fail(parser, parser->line, NULL, "comes after 'end', which is the last line", NULL);
        enum line_name found = find(&parser->setting, name);
        if (found == LINE_NONE)
            return fail(parser, parser->line, NULL, "no such setting of kind ",
                        bk_kind_name(parser->setting.strategy.kind));
        if (parser->seen[found] != 0)
            return fail(parser, parser->line, lines[found].name, "stands twice", NULL);
        parser->seen[found] = parser->line;
        const char *wrong = read_value(&parser->setting, &lines[found], value);
        if (wrong != NULL)
            return fail(parser, parser->line, lines[found].name, "is ", wrong);
    }
    return fail(parser, parser->line, NULL, "the text has no last line 'end'; is it cut off?", NULL);
}

/* Reports names that do not apply to the strategy, and missing ones. */
static bool check_lines(struct parser *parser)
{
    const struct bk_setting *setting = &parser->setting;
    for (unsigned i = LINE_NONE + 1; i < LINE_COUNT; i++) {
        const struct line *line = &lines[i];
        const char *of = lines[line->of].name, *other = lines[line->unless].name;
        if (!is_of_kind(line, setting))
            continue;
        if (parser->seen[i] != 0 && !is_needed(line, setting))
            return fail(parser, parser->seen[i], line->name, "does not go with this value of ", of);
        if (parser->seen[i] != 0 && !applies(line, setting))
            return fail(parser, parser->seen[i], line->name, "conflicts with ", other);
        if (parser->seen[i] == 0 && applies(line, setting) && !line->is_optional)
            return fail(parser, parser->line, line->name, other == NULL ? "is missing" : "is missing, or ",
                        other);
    }
    return true;
}

static bool check_whole(struct parser *parser)
{
    enum bk_status status = bk_strategy_check(&parser->setting.strategy);
    if (status != BK_OK)
        return fail(parser, parser->line, NULL, bk_status_text(status), NULL);
    if (counts_never(&parser->setting))
        return fail(parser, parser->line, lines[LINE_EVERY_ROWS].name, "is missing, or ",
                    lines[LINE_EVERY_TIME].name);
    if (parser->setting.coordination == BK_GUARDED)
        parser->setting.counter = BK_COUNTER_NATIVE;
    return true;
}

enum bk_status bk_strategy_parse(const char *text, size_t size, struct bk_setting *out,
                                 struct bk_setting_error *error)
{
    struct bk_setting_error unwanted = {0, ""};
    struct parser parser = {.text = text, .size = size, .error = error != NULL ? error : &unwanted};
    memset(parser.error, 0, sizeof *parser.error);
    memset(&parser.setting, 0, sizeof parser.setting);
    if (out == NULL)
        return BK_ERROR_NULL;
    memset(out, 0, sizeof *out);
    if (text == NULL && size > 0)
        return BK_ERROR_NULL;
    if (!read_head(&parser) || !read_lines(&parser) || !check_lines(&parser) || !check_whole(&parser))
        return BK_ERROR_SETTING;
    *out = parser.setting;
    return BK_OK;
}

/* Returns whether the value can be parsed again. */
static bool is_sound(const struct bk_setting *setting, const struct line *line)
{
    uint64_t value = value_of(setting, line);
    if ((line->type == VALUE_CHOICE || line->type == VALUE_FLAG) && word_of(line->words, value) == NULL)
        return value == 0 && line->is_optional;
    if (line->type == VALUE_DURATION && value > INT64_MAX)
        return false;
    if (line->most != 0 && value > line->most)
        return false;
    return line->type == VALUE_TIME || value >= line->least || (value == 0 && line->is_optional);
}

/* A value of 0 is written only if it is a word, as in coordination = single. */
static bool is_written(const struct bk_setting *setting, const struct line *line)
{
    return !line->is_optional || value_of(setting, line) != 0 ||
           (line->type == VALUE_CHOICE && word_of(line->words, 0) != NULL);
}

static void write_value(struct text *text, const struct bk_setting *setting, const struct line *line)
{
    uint64_t value = value_of(setting, line);
    switch (line->type) {
    case VALUE_CHOICE:
    case VALUE_FLAG:
        text_word(text, word_of(line->words, value));
        return;
    case VALUE_DURATION:
        write_with_unit(text, value == 0 ? times + 3 : times, value);
        return;
    case VALUE_BYTES:
        write_with_unit(text, value == 0 ? sizes + 4 : sizes, value);
        return;
    case VALUE_TIME:
        text_time(text, (int64_t)value);
        return;
    case VALUE_CHANCE:
        text_number(text, setting->strategy.of.probabilistic.chance_numerator);
        text_word(text, "/");
        break;
    case VALUE_U32:
    case VALUE_U64:
        break;
    }
    text_number(text, value);
}

static enum bk_status check_setting(const struct bk_setting *setting)
{
    enum bk_status status = bk_strategy_check(&setting->strategy);
    if (status != BK_OK)
        return status;
    for (unsigned i = LINE_NONE + 1; i < LINE_COUNT; i++) {
        if (is_of_kind(&lines[i], setting) && applies(&lines[i], setting) && !is_sound(setting, &lines[i]))
            return BK_ERROR_SETTING;
    }
    return counts_never(setting) ? BK_ERROR_SETTING : BK_OK;
}

static void write_setting(struct text *text, const struct bk_setting *setting)
{
    text_word(text, FIRST_LINE "\nscenario_digest = ");
    write_digits(text, setting->scenario_digest, 16, 16);
    text_word(text, "\nkind = ");
    text_word(text, bk_kind_name(setting->strategy.kind));
    text_word(text, "\n");
    for (unsigned i = LINE_NONE + 1; i < LINE_COUNT; i++) {
        if (!applies(&lines[i], setting) || !is_written(setting, &lines[i]))
            continue;
        text_word(text, lines[i].name);
        text_word(text, " = ");
        write_value(text, setting, &lines[i]);
        text_word(text, "\n");
    }
    text_word(text, "end\n");
}

enum bk_status bk_strategy_print(const struct bk_setting *setting, char *buffer, size_t size, size_t *length)
{
    struct text text = {buffer, size, 0, false};
    if (length != NULL)
        *length = 0;
    if (buffer == NULL)
        return BK_ERROR_NULL;
    if (size > 0)
        buffer[0] = '\0';
    if (setting == NULL)
        return BK_ERROR_NULL;
    enum bk_status status = check_setting(setting);
    if (status != BK_OK)
        return status;
    write_setting(&text, setting);
    if (text.is_full) {
        if (size > 0)
            buffer[0] = '\0';
        return BK_ERROR_MEMORY;
    }
    if (length != NULL)
        *length = text.used;
    return BK_OK;
}

struct bk_agent_config bk_setting_agent_config(const struct bk_setting *setting)
{
    struct bk_agent_config config = bk_agent_config_default(setting != NULL ? &setting->strategy : NULL);
    if (setting == NULL)
        return config;
    config.coordination = setting->coordination;
    config.counter = setting->counter;
    config.source = setting->source;
    if (is_of_kind(&lines[LINE_BATCH], setting) && is_needed(&lines[LINE_BATCH], setting))
        config.lease_rows = setting->lease_rows;
    if (is_of_kind(&lines[LINE_EVERY_ROWS], setting) && is_needed(&lines[LINE_EVERY_ROWS], setting)) {
        config.every_rows = setting->every_rows;
        config.every_ns = setting->every_ns;
    }
    if (setting->coordination == BK_THREE_STATE)
        config.lead_ns = setting->lead_ns;
    if (setting->coordination == BK_LOCKED) {
        config.lock_lasts_ns = setting->lock_lasts_ns;
        config.lock_backoff_ns = setting->lock_backoff_ns;
    }
    if (setting->coordination == BK_GUARDED)
        config.grant_ns = setting->grant_ns;
    if (setting->read_remember_empty)
        config.late_ns = setting->read_late_ns;
    return config;
}
