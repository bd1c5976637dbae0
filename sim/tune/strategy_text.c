/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes a strategy as one line of a scenario. */
#include "tune/strategy_text.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "kernel/time.h"

#define QUANTITY_SIZE 32

struct text {
    char *buffer;
    size_t used;
    bool has_field;
};

static void write_numbers(struct text *text, const struct bk_strategy *strategy);
static void write_time(struct text *text, const struct bk_strategy *strategy);
static void write_probabilistic(struct text *text, const struct bk_strategy *strategy);
static void write_source(struct text *text, const struct lab_strategy *strategy);
static void write_coordination(struct text *text, const struct lab_strategy *strategy);
static void write_reading(struct text *text, const struct lab_strategy *strategy);
static void write_label(struct text *text, const char *label);
static void field(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(struct text *text, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));
static const char *span(int64_t span_ns, char *buffer);
static const char *size(uint64_t bytes, char *buffer);

void tune_strategy_text(const struct lab_strategy *strategy, char *buffer)
{
    struct text text = {.buffer = buffer};
    char age[QUANTITY_SIZE];
    text.used = (size_t)snprintf(buffer, TUNE_STRATEGY_TEXT_SIZE, "%s: {",
                                 bk_kind_name(strategy->settings.strategy.kind));
    write_numbers(&text, &strategy->settings.strategy);
    write_source(&text, strategy);
    if (bk_kind_fires(strategy->settings.strategy.kind))
        write_coordination(&text, strategy);
    if (strategy->settings.strategy.max_age_ns != 0)
        field(&text, "max_age: %s", span(strategy->settings.strategy.max_age_ns, age));
    write_reading(&text, strategy);
    write_label(&text, strategy->label);
    assert(text.used + 1 < TUNE_STRATEGY_TEXT_SIZE);
    strcpy(buffer + text.used, "}");
}

static void write_numbers(struct text *text, const struct bk_strategy *strategy)
{
    char bytes[QUANTITY_SIZE];
    switch (strategy->kind) {
    case BK_TIME:
        write_time(text, strategy);
        break;
    case BK_COUNT:
        field(text, "rows: %" PRIu64, strategy->of.count.rows);
        break;
    case BK_PROBABILISTIC:
        write_probabilistic(text, strategy);
        break;
    case BK_HASH:
        field(text, "buckets: %" PRIu32, strategy->of.hash.buckets);
        break;
    case BK_WEIGHTED:
        field(text, "bytes: %s", size(strategy->of.weighted.bytes, bytes));
        field(text, "threshold: %" PRIu64, strategy->of.weighted.threshold);
        break;
    case BK_NONE:
    case BK_KIND_COUNT:
        break;
    }
}

static void write_time(struct text *text, const struct bk_strategy *strategy)
{
    static const char *const units[] = {"none", "hour", "day", "week", "month"};
    char window[QUANTITY_SIZE], epoch[SIM_TIME_TEXT_SIZE];
    if (strategy->of.time.calendar != BK_CALENDAR_NONE) {
        field(text, "calendar: %s", units[strategy->of.time.calendar]);
        return;
    }
    field(text, "window: %s", span(strategy->of.time.window_ns, window));
    sim_time_format(strategy->of.time.epoch_ns, epoch);
    if (strategy->of.time.epoch_ns != 0)
        field(text, "epoch: %s", epoch);
}

static void write_probabilistic(struct text *text, const struct bk_strategy *strategy)
{
    if (strategy->of.probabilistic.chance_denominator != 0)
        field(text, "chance: %" PRIu64 "/%" PRIu64, strategy->of.probabilistic.chance_numerator,
              strategy->of.probabilistic.chance_denominator);
    else
        field(text, "bits: %" PRIu32, strategy->of.probabilistic.bits);
    field(text, "threshold: %" PRIu64, strategy->of.probabilistic.threshold);
}

static void write_source(struct text *text, const struct lab_strategy *strategy)
{
    static const char *const sources[] = {"external",    "counter", "lwt",   "lease",
                                          "incremental", "scan",    "memory"};
    char every[QUANTITY_SIZE];
    if (strategy->settings.source == BK_SOURCE_EXTERNAL)
        return;
    field(text, "counter: %s", sources[strategy->settings.source]);
    if (strategy->settings.source == BK_SOURCE_LEASE)
        field(text, "batch: %" PRIu64, strategy->settings.lease_rows);
    if (strategy->settings.every_rows != 0)
        field(text, "every_rows: %" PRIu64, strategy->settings.every_rows);
    if (strategy->settings.every_ns != 0)
        field(text, "every_time: %s", span(strategy->settings.every_ns, every));
}

static void write_coordination(struct text *text, const struct lab_strategy *strategy)
{
    static const char *const coordinations[] = {"single", "locked", "three-state", "guarded"};
    static const char *const counters[] = {"rmw", "lwt", "counter"};
    char first[QUANTITY_SIZE], second[QUANTITY_SIZE];
    if (strategy->settings.coordination != BK_SINGLE)
        field(text, "coordination: %s", coordinations[strategy->settings.coordination]);
    if (strategy->settings.counter != BK_COUNTER_RMW)
        field(text, "counter: %s", counters[strategy->settings.counter]);
    if (strategy->settings.coordination == BK_THREE_STATE)
        field(text, "lead: %s", span(strategy->settings.lead_ns, first));
    if (strategy->settings.coordination == BK_GUARDED)
        field(text, "grant: %s", span(strategy->settings.grant_ns, first));
    if (strategy->settings.coordination == BK_LOCKED)
        field(text, "lock: {lasts: %s, backoff: %s}", span(strategy->settings.lock_lasts_ns, first),
              span(strategy->settings.lock_backoff_ns, second));
}

static void write_reading(struct text *text, const struct lab_strategy *strategy)
{
    static const char *const plans[] = {[BK_PLAN_WALK] = "walk",
                                        [BK_PLAN_PAIR] = "pair",
                                        [BK_PLAN_ALL] = "all",
                                        [BK_PLAN_LAZY] = "lazy",
                                        [BK_PLAN_PARALLEL] = "parallel"};
    const struct lab_reading *reading = &strategy->settings.reading;
    char late[QUANTITY_SIZE], plan[3 * QUANTITY_SIZE] = "", memory[3 * QUANTITY_SIZE] = "";
    if (reading->plan != BK_PLAN_DEFAULT) {
        int used = snprintf(plan, sizeof plan, "plan: %s", plans[reading->plan]);
        if (reading->at_once != 0)
            snprintf(plan + used, sizeof plan - (size_t)used, ", at_once: %" PRIu32, reading->at_once);
    }
    if (reading->remembers_empty)
        snprintf(memory, sizeof memory, "remember_empty: true, late: %s", span(reading->late_ns, late));
    if (plan[0] != '\0' || memory[0] != '\0')
        field(text, "read: {%s%s%s}", plan, plan[0] != '\0' && memory[0] != '\0' ? ", " : "", memory);
}

/* In quotes unless it is a plain word, whatever YAML would make of it. */
static void write_label(struct text *text, const char *label)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    static const char *const words[] = {"null",  "Null", "NULL", "true", "True", "TRUE", "false", "False",
                                        "FALSE", "y",    "n",    "yes",  "no",   "on",   "off"};
    char quoted[2 * LAB_LABEL_SIZE_MAX + 3], *end = quoted;
    bool is_plain = strspn(label, letters) > 0 && strspn(label, safe) == strlen(label);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        is_plain = is_plain && strcmp(label, words[i]) != 0;
    if (is_plain) {
        field(text, "label: %s", label);
        return;
    }
    *end++ = '\'';
    for (const char *c = label; *c != '\0'; c++) {
        if (*c == '\'')
            *end++ = '\'';
        *end++ = *c;
    }
    *end++ = '\'';
    *end = '\0';
    field(text, "label: %s", quoted);
}

static void field(struct text *text, const char *format, ...)
{
    va_list arguments;
    if (text->has_field) {
        text->buffer[text->used++] = ',';
        text->buffer[text->used++] = ' ';
    }
    text->has_field = true;
    va_start(arguments, format);
    put(text, format, arguments);
    va_end(arguments);
}

static void put(struct text *text, const char *format, va_list arguments)
{
    int size = vsnprintf(text->buffer + text->used, TUNE_STRATEGY_TEXT_SIZE - text->used, format, arguments);
    text->used += (size_t)size;
    assert(size >= 0 && text->used + 4 < TUNE_STRATEGY_TEXT_SIZE);
}

/* With the largest unit that is exact. */
static const char *span(int64_t span_ns, char *buffer)
{
    static const struct {
        int64_t ns;
        const char *unit;
    } units[] = {{SIM_DAY, "d"}, {SIM_HOUR, "h"}, {SIM_MINUTE, "m"}, {SIM_SECOND, "s"},
                 {SIM_MS, "ms"}, {SIM_US, "us"},  {1, "ns"}};
    size_t i = span_ns == 0 ? 3 : 0;
    while (span_ns % units[i].ns != 0)
        i++;
    snprintf(buffer, QUANTITY_SIZE, "%" PRId64 "%s", span_ns / units[i].ns, units[i].unit);
    return buffer;
}

static const char *size(uint64_t bytes, char *buffer)
{
    static const char *const units[] = {"B", "KB", "MB", "GB", "TB"};
    size_t unit = 0;
    for (; bytes != 0 && bytes % 1000 == 0 && unit < 4; unit++)
        bytes /= 1000;
    snprintf(buffer, QUANTITY_SIZE, "%" PRIu64 "%s", bytes, units[unit]);
    return buffer;
}
