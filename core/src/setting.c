/* SPDX-License-Identifier: MIT */
/* The text of a setting: a table of its lines, the parser and the printer, which both read the table. In: the
 * text, or a setting. Kept: nothing. Out: the setting, or the text, or the first wrong line and the reason. A
 * test compares the names with those of the simulator's scenarios, so that they mean the same in both. */
#include "bucketing/setting.h"

#include <string.h>

#include "setting_text.h"

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
#define ALL           ((1u << BK_KIND_COUNT) - 1)
#define KIND(kind)    (1u << BK_##kind)
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
    return (unsigned)setting->strategy.kind < BK_KIND_COUNT &&
           (line->kinds >> setting->strategy.kind & 1) != 0;
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
    return setting->strategy.kind == BK_COUNT && setting->every_rows == 0 && setting->every_ns == 0 &&
           is_needed(&lines[LINE_EVERY_ROWS], setting);
}

static const struct word kinds[] = {{"unbucketed", BK_UNBUCKETED},
                                    {"time", BK_TIME},
                                    {"count", BK_COUNT},
                                    {"probabilistic", BK_PROBABILISTIC},
                                    {"hash", BK_HASH},
                                    {"weighted", BK_WEIGHTED},
                                    {NULL, 0}};

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
    struct bk_text out = {parser->error->text, sizeof parser->error->text, 0, false};
    parser->error->line = line;
    if (name != NULL) {
        bk_text_word(&out, "'");
        bk_text_word(&out, name);
        bk_text_word(&out, "' ");
    }
    bk_text_word(&out, text);
    if (more != NULL)
        bk_text_word(&out, more);
    return false;
}

/* Finds the next line that is neither empty nor a comment, without its end. Returns false at the end of the
 * text. */
static bool next_line(struct parser *parser, struct bk_piece *out)
{
    while (parser->at < parser->size) {
        size_t from = parser->at, until = from;
        while (until < parser->size && parser->text[until] != '\n')
            until++;
        parser->at = until + (until < parser->size);
        parser->line++;
        if (until > from && parser->text[until - 1] == '\r')
            until--;
        *out = bk_piece_trimmed((struct bk_piece){parser->text + from, until - from});
        if (out->size > 0 && out->at[0] != '#')
            return true;
    }
    return false;
}

/* Parses the next line "name = value". */
static bool next_pair(struct parser *parser, struct bk_piece *name, struct bk_piece *value)
{
    struct bk_piece line;
    size_t at = 0;
    if (!next_line(parser, &line))
        return false;
    while (at < line.size && line.at[at] != '=')
        at++;
    *name = bk_piece_trimmed((struct bk_piece){line.at, at});
    at += at < line.size;
    *value = bk_piece_trimmed((struct bk_piece){line.at + at, line.size - at});
    return true;
}

static bool read_head(struct parser *parser)
{
    struct bk_piece line = {"", 0}, value = line;
    if (!next_line(parser, &line) || !bk_piece_is(line, FIRST_LINE))
        return fail(parser, parser->line, NULL, "not '" FIRST_LINE "', with which a setting begins", NULL);
    if (!next_pair(parser, &line, &value) || !bk_piece_is(line, "scenario_digest"))
        return fail(parser, parser->line, NULL, "not 'scenario_digest = ...', which comes first", NULL);
    const char *wrong = bk_piece_digest(value, &parser->setting.scenario_digest);
    if (wrong != NULL)
        return fail(parser, parser->line, "scenario_digest", "is ", wrong);
    if (!next_pair(parser, &line, &value) || !bk_piece_is(line, "kind"))
        return fail(parser, parser->line, NULL, "not 'kind = ...', which comes after scenario_digest", NULL);
    for (const struct word *word = kinds; word->name != NULL; word++) {
        parser->setting.strategy.kind = (enum bk_kind)word->value;
        if (bk_piece_is(value, word->name))
            return true;
    }
    return fail(parser, parser->line, "kind",
                "is none of unbucketed, time, count, probabilistic, hash and weighted", NULL);
}

static const char *read_word(const struct word *words, struct bk_piece value, uint64_t *out)
{
    for (; words->name != NULL; words++) {
        *out = words->value;
        if (bk_piece_is(value, words->name))
            return NULL;
    }
    return "none of its words; see docs/scenario.md";
}

static const char *read_value(struct bk_setting *setting, const struct line *line, struct bk_piece value)
{
    uint64_t whole = 0, denominator = 0;
    int64_t span = 0;
    const char *wrong;
    switch (line->type) {
    case VALUE_CHOICE:
    case VALUE_FLAG:
        wrong = read_word(line->words, value, &whole);
        break;
    case VALUE_DURATION:
    case VALUE_TIME:
        wrong = line->type == VALUE_TIME ? bk_piece_time(value, &span) : bk_piece_duration(value, &span);
        whole = (uint64_t)span;
        break;
    case VALUE_BYTES:
        wrong = bk_piece_bytes(value, &whole);
        break;
    case VALUE_CHANCE:
        wrong = bk_piece_chance(value, &setting->strategy.of.probabilistic.chance_numerator, &denominator);
        setting->strategy.of.probabilistic.chance_denominator = denominator;
        return wrong;
    case VALUE_U32:
    case VALUE_U64:
    default:
        wrong = bk_piece_number(value, &whole);
        break;
    }
    if (wrong == NULL && line->type != VALUE_TIME && whole < line->least)
        wrong = "too small";
    if (wrong == NULL && line->most != 0 && whole > line->most)
        wrong = "too large";
    put_value(setting, line, whole);
    return wrong;
}

static enum line_name find(const struct bk_setting *setting, struct bk_piece name)
{
    for (unsigned i = LINE_NONE + 1; i < LINE_COUNT; i++) {
        if (is_of_kind(&lines[i], setting) && bk_piece_is(name, lines[i].name))
            return (enum line_name)i;
    }
    return LINE_NONE;
}

static bool read_lines(struct parser *parser)
{
    struct bk_piece name, value;
    while (next_pair(parser, &name, &value)) {
        if (bk_piece_is(name, "end"))
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
        parser->setting.counter = BK_COUNTER_COLUMN;
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

static void write_value(struct bk_text *text, const struct bk_setting *setting, const struct line *line)
{
    uint64_t value = value_of(setting, line);
    switch (line->type) {
    case VALUE_CHOICE:
    case VALUE_FLAG:
        bk_text_word(text, word_of(line->words, value));
        return;
    case VALUE_DURATION:
        bk_text_duration(text, (int64_t)value);
        return;
    case VALUE_BYTES:
        bk_text_bytes(text, value);
        return;
    case VALUE_TIME:
        bk_text_time(text, (int64_t)value);
        return;
    case VALUE_CHANCE:
        bk_text_number(text, setting->strategy.of.probabilistic.chance_numerator);
        bk_text_word(text, "/");
        break;
    case VALUE_U32:
    case VALUE_U64:
        break;
    }
    bk_text_number(text, value);
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

static void write_setting(struct bk_text *text, const struct bk_setting *setting)
{
    bk_text_word(text, FIRST_LINE "\nscenario_digest = ");
    bk_text_digest(text, setting->scenario_digest);
    bk_text_word(text, "\nkind = ");
    bk_text_word(text, bk_kind_name(setting->strategy.kind));
    bk_text_word(text, "\n");
    for (unsigned i = LINE_NONE + 1; i < LINE_COUNT; i++) {
        if (!applies(&lines[i], setting) || !is_written(setting, &lines[i]))
            continue;
        bk_text_word(text, lines[i].name);
        bk_text_word(text, " = ");
        write_value(text, setting, &lines[i]);
        bk_text_word(text, "\n");
    }
    bk_text_word(text, "end\n");
}

enum bk_status bk_strategy_print(const struct bk_setting *setting, char *buffer, size_t size, size_t *length)
{
    struct bk_text text = {buffer, size, 0, false};
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
