/* SPDX-License-Identifier: MIT */
/* Parses the text of a setting, line by line. */
#include <string.h>

#include "bucketing/setting.h"
#include "setting_lines.h"
#include "setting_text.h"

static const struct bk_setting_word kinds[] = {{"unbucketed", BK_UNBUCKETED},
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
    uint32_t seen[BK_LINE_COUNT]; /* the line number of each name, 0 if it does not occur */
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
    if (!next_line(parser, &line) || !bk_piece_is(line, BK_SETTING_FIRST_LINE))
        return fail(parser, parser->line, NULL,
                    "not '" BK_SETTING_FIRST_LINE "', with which a setting begins", NULL);
    if (!next_pair(parser, &line, &value) || !bk_piece_is(line, "scenario_digest"))
        return fail(parser, parser->line, NULL, "not 'scenario_digest = ...', which comes first", NULL);
    const char *wrong = bk_piece_digest(value, &parser->setting.scenario_digest);
    if (wrong != NULL)
        return fail(parser, parser->line, "scenario_digest", "is ", wrong);
    if (!next_pair(parser, &line, &value) || !bk_piece_is(line, "kind"))
        return fail(parser, parser->line, NULL, "not 'kind = ...', which comes after scenario_digest", NULL);
    for (const struct bk_setting_word *word = kinds; word->name != NULL; word++) {
        parser->setting.strategy.kind = (enum bk_kind)word->value;
        if (bk_piece_is(value, word->name))
            return true;
    }
    return fail(parser, parser->line, "kind",
                "is none of unbucketed, time, count, probabilistic, hash and weighted", NULL);
}

static const char *read_word(const struct bk_setting_word *words, struct bk_piece value, uint64_t *out)
{
    for (; words->name != NULL; words++) {
        *out = words->value;
        if (bk_piece_is(value, words->name))
            return NULL;
    }
    return "none of its words; see docs/scenario.md";
}

static const char *read_value(struct bk_setting *setting, const struct bk_setting_line *line,
                              struct bk_piece value)
{
    uint64_t whole = 0, denominator = 0;
    int64_t span = 0;
    const char *wrong;
    switch (line->type) {
    case BK_VALUE_CHOICE:
    case BK_VALUE_FLAG:
        wrong = read_word(line->words, value, &whole);
        break;
    case BK_VALUE_DURATION:
    case BK_VALUE_TIME:
        wrong = line->type == BK_VALUE_TIME ? bk_piece_time(value, &span) : bk_piece_duration(value, &span);
        whole = (uint64_t)span;
        break;
    case BK_VALUE_BYTES:
        wrong = bk_piece_bytes(value, &whole);
        break;
    case BK_VALUE_CHANCE:
        wrong = bk_piece_chance(value, &setting->strategy.of.probabilistic.chance_numerator, &denominator);
        setting->strategy.of.probabilistic.chance_denominator = denominator;
        return wrong;
    case BK_VALUE_U32:
    case BK_VALUE_U64:
    default:
        wrong = bk_piece_number(value, &whole);
        break;
    }
    if (wrong == NULL && line->type != BK_VALUE_TIME && whole < line->least)
        wrong = "too small";
    if (wrong == NULL && line->most != 0 && whole > line->most)
        wrong = "too large";
    bk_setting_put(setting, line, whole);
    return wrong;
}

static enum bk_setting_name find(const struct bk_setting *setting, struct bk_piece name)
{
    for (unsigned i = BK_LINE_NONE + 1; i < BK_LINE_COUNT; i++) {
        if (bk_setting_is_of_kind(&bk_setting_lines[i], setting) &&
            bk_piece_is(name, bk_setting_lines[i].name))
            return (enum bk_setting_name)i;
    }
    return BK_LINE_NONE;
}

static bool read_lines(struct parser *parser)
{
    struct bk_piece name, value;
    while (next_pair(parser, &name, &value)) {
        if (bk_piece_is(name, "end"))
            return !next_line(parser, &name) ||
                   fail(parser, parser->line, NULL, "comes after 'end', which is the last line", NULL);
        enum bk_setting_name found = find(&parser->setting, name);
        if (found == BK_LINE_NONE)
            return fail(parser, parser->line, NULL, "no such setting of kind ",
                        bk_kind_name(parser->setting.strategy.kind));
        if (parser->seen[found] != 0)
            return fail(parser, parser->line, bk_setting_lines[found].name, "stands twice", NULL);
        parser->seen[found] = parser->line;
        const char *wrong = read_value(&parser->setting, &bk_setting_lines[found], value);
        if (wrong != NULL)
            return fail(parser, parser->line, bk_setting_lines[found].name, "is ", wrong);
    }
    return fail(parser, parser->line, NULL, "the text has no last line 'end'; is it cut off?", NULL);
}

/* Reports names that do not apply to the strategy, and missing ones. */
static bool check_lines(struct parser *parser)
{
    const struct bk_setting *setting = &parser->setting;
    for (unsigned i = BK_LINE_NONE + 1; i < BK_LINE_COUNT; i++) {
        const struct bk_setting_line *line = &bk_setting_lines[i];
        const char *of = bk_setting_lines[line->of].name, *other = bk_setting_lines[line->unless].name;
        if (!bk_setting_is_of_kind(line, setting))
            continue;
        if (parser->seen[i] != 0 && !bk_setting_is_needed(line, setting))
            return fail(parser, parser->seen[i], line->name, "does not go with this value of ", of);
        if (parser->seen[i] != 0 && !bk_setting_applies(line, setting))
            return fail(parser, parser->seen[i], line->name, "conflicts with ", other);
        if (parser->seen[i] == 0 && bk_setting_applies(line, setting) && !line->is_optional)
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
    if (bk_setting_counts_never(&parser->setting))
        return fail(parser, parser->line, bk_setting_lines[BK_LINE_EVERY_ROWS].name, "is missing, or ",
                    bk_setting_lines[BK_LINE_EVERY_TIME].name);
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
