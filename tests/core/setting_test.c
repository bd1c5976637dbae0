/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: a setting of every kind is written and read back unchanged; any other content of a text is refused
 * with its line, and so is a text that was cut off at any byte.
 * Method: known texts; settings drawn at random; a table of faults, one per line; every prefix of every
 * text; texts with random bytes altered, which are either refused or written and read back unchanged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../share.h"
#include "bucketing/setting.h"
#include "draw.h"

#define SECOND_NS INT64_C(1000000000)
#define DAY_NS    (86400 * SECOND_NS)
#define HEAD      "bucketing-setting 1\nscenario_digest = 0123456789abcdef\n"
#define FUZZ      300000

/* A text and its settings. */
static const struct known {
    const char *text;
    struct bk_setting setting;
} known[] = {
    {"kind = unbucketed\n", {.strategy.kind = BK_KIND_UNBUCKETED}},
    {"kind = time\nwindow = 36h\nepoch = 1969-12-31T23:59:59.5Z\nshards = 64\nread.plan = "
     "parallel\nread.at_once = 4\n"
     "read.remember_empty = true\nread.late = 0s\n",
     {.strategy = {BK_KIND_TIME, .of.time = {BK_CALENDAR_NONE, DAY_NS * 3 / 2, -SECOND_NS / 2, 64}},
      .read_plan = BK_PLAN_PARALLEL,
      .read_at_once = 4,
      .read_remember_empty = true}},
    {"kind = time\ncalendar = month\n",
     {.strategy = {BK_KIND_TIME, .of.time = {.calendar = BK_CALENDAR_MONTH}}}},
    {"kind = count\nrows = 5000\ncounter = external\nmax_age = 7d\n",
     {.strategy = {BK_KIND_COUNT, .of.count = {5000}, .max_age_ns = 7 * DAY_NS}}},
    {"kind = count\nrows = 1\ncounter = lease\nbatch = 100\nshards = 64\n",
     {.strategy = {BK_KIND_COUNT, 64, .of.count = {1}}, .source = BK_SOURCE_LEASE, .lease_rows = 100}},
    {"kind = count\nrows = 18446744073709551615\ncounter = scan\nevery_rows = 7\nevery_time = 1m\n",
     {.strategy = {BK_KIND_COUNT, .of.count = {UINT64_MAX}},
      .source = BK_SOURCE_SCAN,
      .every_rows = 7,
      .every_ns = 60 * SECOND_NS}},
    {"kind = probabilistic\nbits = 9\nthreshold = 40\ncoordination = single\ncounter = rmw\n",
     {.strategy = {BK_KIND_PROBABILISTIC, .of.probabilistic = {9, 0, 0, 40}}}},
    {"kind = probabilistic\nchance = 1/300\nthreshold = 40\ncoordination = guarded\ngrant = 10s\n",
     {.strategy = {BK_KIND_PROBABILISTIC, .of.probabilistic = {0, 1, 300, 40}},
      .coordination = BK_GUARDED,
      .counter = BK_COUNTER_NATIVE,
      .grant_ns = 10 * SECOND_NS}},
    {"kind = probabilistic\nbits = 0\nthreshold = 1\ncoordination = locked\ncounter = lwt\n"
     "lock.lasts = 5s\nlock.backoff = 100ms\n",
     {.strategy = {BK_KIND_PROBABILISTIC, .of.probabilistic = {0, 0, 0, 1}},
      .coordination = BK_LOCKED,
      .counter = BK_COUNTER_LWT,
      .lock_lasts_ns = 5 * SECOND_NS,
      .lock_backoff_ns = SECOND_NS / 10}},
    {"kind = hash\nbuckets = 64\nread.plan = lazy\n",
     {.strategy = {BK_KIND_HASH, .of.hash = {64}}, .read_plan = BK_PLAN_LAZY}},
    {"kind = weighted\nbytes = 512KB\nthreshold = 200\ncoordination = three-state\ncounter = counter\n"
     "lead = 0s\n",
     {.strategy = {BK_KIND_WEIGHTED, .of.weighted = {512000, 200}},
      .coordination = BK_THREE_STATE,
      .counter = BK_COUNTER_NATIVE}},
};
#define KNOWN_COUNT (sizeof known / sizeof *known)

static void assert_same(const struct bk_setting *one, const struct bk_setting *other)
{
    assert_int_equal(one->scenario_digest, other->scenario_digest);
    assert_int_equal(one->strategy.kind, other->strategy.kind);
    assert_int_equal(one->strategy.shards, other->strategy.shards);
    assert_memory_equal(&one->strategy.of, &other->strategy.of, sizeof one->strategy.of);
    assert_int_equal(one->strategy.max_age_ns, other->strategy.max_age_ns);
    assert_int_equal(one->coordination, other->coordination);
    assert_int_equal(one->counter, other->counter);
    assert_int_equal(one->source, other->source);
    assert_int_equal(one->lease_rows, other->lease_rows);
    assert_int_equal(one->every_rows, other->every_rows);
    assert_int_equal(one->every_ns, other->every_ns);
    assert_int_equal(one->lead_ns, other->lead_ns);
    assert_int_equal(one->lock_lasts_ns, other->lock_lasts_ns);
    assert_int_equal(one->lock_backoff_ns, other->lock_backoff_ns);
    assert_int_equal(one->grant_ns, other->grant_ns);
    assert_int_equal(one->read_plan, other->read_plan);
    assert_int_equal(one->read_at_once, other->read_at_once);
    assert_int_equal(one->read_remember_empty, other->read_remember_empty);
    assert_int_equal(one->read_late_ns, other->read_late_ns);
}

static void assert_zero(const struct bk_setting *setting)
{
    for (size_t i = 0; i < sizeof *setting; i++)
        assert_int_equal(((const unsigned char *)setting)[i], 0);
}

/* Copies the unions whole, as a reader zeroes them. */
static struct bk_setting setting_of(const struct known *one)
{
    struct bk_setting setting;
    memcpy(&setting, &one->setting, sizeof setting);
    setting.scenario_digest = UINT64_C(0x0123456789abcdef);
    return setting;
}

static void test_setting_of_every_kind_is_the_known_text(void **state)
{
    (void)state;
    for (size_t i = 0; i < KNOWN_COUNT; i++) {
        char wanted[BK_SETTING_TEXT_SIZE], text[BK_SETTING_TEXT_SIZE];
        struct bk_setting setting = setting_of(&known[i]), read;
        struct bk_setting_error error;
        size_t length, size = (size_t)snprintf(wanted, sizeof wanted, HEAD "%send\n", known[i].text);
        assert_int_equal(bk_strategy_print(&setting, text, sizeof text, &length), BK_OK);
        assert_string_equal(text, wanted);
        assert_int_equal(length, size);
        assert_int_equal(bk_strategy_parse(text, size, &read, &error), BK_OK);
        assert_same(&read, &setting);
        assert_int_equal(error.line, 0);
        assert_string_equal(error.text, "");
        assert_int_equal(bk_strategy_parse(text, size, &read, NULL), BK_OK);
    }
}

static void test_setting_takes_comments_blanks_and_any_order(void **state)
{
    static const char text[] =
        "# by hand\r\n\r\n  bucketing-setting 1  \r\nscenario_digest=0000000000000000\n"
        "\tkind =probabilistic\n#bits = 8\nthreshold= 40\n\nbits\t=\t9\nend\n\n# end";
    struct bk_setting setting;
    (void)state;
    assert_int_equal(bk_strategy_parse(text, sizeof text - 1, &setting, NULL), BK_OK);
    assert_int_equal(setting.strategy.of.probabilistic.bits, 9);
    assert_int_equal(setting.strategy.of.probabilistic.threshold, 40);
    assert_int_equal(setting.coordination, BK_SINGLE);
    assert_int_equal(setting.counter, BK_COUNTER_RMW);
}

static uint64_t wide(struct draw *draw)
{
    uint64_t value = draw_bits(draw);
    return value >> draw_below(draw, 64);
}

static int64_t positive(struct draw *draw)
{
    return (int64_t)(wide(draw) >> 1 | 1000);
}

static struct bk_setting draw_fires(struct draw *draw, bool is_weighted)
{
    struct bk_setting setting;
    memset(&setting, 0, sizeof setting);
    if (is_weighted) {
        setting.strategy.kind = BK_KIND_WEIGHTED;
        setting.strategy.of.weighted.bytes = wide(draw) | 1;
        setting.strategy.of.weighted.threshold = wide(draw) | 1;
    } else {
        setting.strategy.kind = BK_KIND_PROBABILISTIC;
        setting.strategy.of.probabilistic.threshold = wide(draw) | 1;
        if (draw_below(draw, 2) == 0) {
            setting.strategy.of.probabilistic.chance_denominator = wide(draw) | 1;
            setting.strategy.of.probabilistic.chance_numerator =
                1 + draw_below(draw, setting.strategy.of.probabilistic.chance_denominator);
        } else {
            setting.strategy.of.probabilistic.bits = (uint32_t)draw_below(draw, BK_BITS_MAX + 1);
        }
    }
    setting.coordination = (enum bk_coordination)draw_below(draw, 4);
    setting.counter =
        setting.coordination == BK_GUARDED ? BK_COUNTER_NATIVE : (enum bk_counter)draw_below(draw, 3);
    setting.lead_ns = setting.coordination == BK_THREE_STATE ? positive(draw) : 0;
    setting.lock_lasts_ns = setting.coordination == BK_LOCKED ? positive(draw) : 0;
    setting.lock_backoff_ns = setting.coordination == BK_LOCKED ? positive(draw) : 0;
    setting.grant_ns = setting.coordination == BK_GUARDED ? positive(draw) : 0;
    setting.strategy.max_age_ns = draw_below(draw, 2) == 0 ? positive(draw) : 0;
    setting.strategy.shards = (uint32_t)draw_below(draw, BK_SHARDS_MAX + 1);
    return setting;
}

static struct bk_setting draw_setting(struct draw *draw)
{
    struct bk_setting setting;
    enum bk_kind kind = (enum bk_kind)draw_below(draw, BK_KINDS);
    if (bk_kind_fires(kind))
        return draw_fires(draw, kind == BK_KIND_WEIGHTED);
    memset(&setting, 0, sizeof setting);
    setting.strategy.kind = kind;
    if (kind == BK_KIND_TIME) {
        setting.strategy.of.time.calendar = (enum bk_calendar)draw_below(draw, 5);
        if (setting.strategy.of.time.calendar == BK_CALENDAR_NONE) {
            setting.strategy.of.time.window_ns = positive(draw);
            setting.strategy.of.time.epoch_ns =
                (int64_t)(draw_below(draw, 2) == 0 ? wide(draw) : ~wide(draw));
        }
        setting.read_remember_empty = draw_below(draw, 2) == 0;
        setting.read_late_ns = setting.read_remember_empty ? positive(draw) : 0;
    } else if (kind == BK_KIND_COUNT) {
        setting.strategy.of.count.rows = wide(draw) | 1;
        setting.source = (enum bk_source)draw_below(draw, BK_SOURCE_MEMORY + 1);
        bool counts = setting.source == BK_SOURCE_INCREMENTAL || setting.source == BK_SOURCE_SCAN;
        setting.lease_rows = setting.source == BK_SOURCE_LEASE ? wide(draw) | 1 : 0;
        setting.every_rows = counts ? wide(draw) | 1 : 0;
        setting.every_ns = counts && draw_below(draw, 2) == 0 ? positive(draw) : 0;
    } else if (kind == BK_KIND_HASH) {
        setting.strategy.of.hash.buckets = (uint32_t)(1 + draw_below(draw, BK_BUCKETS_MAX));
    }
    setting.read_plan = (enum bk_plan)draw_below(draw, BK_PLAN_PARALLEL + 1);
    if (setting.read_plan == BK_PLAN_PARALLEL)
        setting.read_at_once = (uint32_t)draw_below(draw, 4097);
    return setting;
}

static void test_setting_drawn_is_read_back(void **state)
{
    struct draw draw = {.state = 1};
    size_t longest = 0;
    (void)state;
    for (uint64_t i = 0; i < test_part(100000); i++) {
        char text[BK_SETTING_TEXT_SIZE];
        struct bk_setting setting = draw_setting(&draw), read;
        struct bk_setting_error error;
        size_t length;
        setting.scenario_digest = wide(&draw);
        assert_int_equal(bk_strategy_print(&setting, text, sizeof text, &length), BK_OK);
        if (bk_strategy_parse(text, length, &read, &error) != BK_OK)
            fail_msg("line %u: %s of\n%s", error.line, error.text, text);
        assert_same(&read, &setting);
        longest = length > longest ? length : longest;
    }
    assert_true(longest * 2 < BK_SETTING_TEXT_SIZE);
}

static void test_setting_times_end_where_the_line_of_time_ends(void **state)
{
    static const struct {
        const char *time;
        bool is_fine;
        int64_t ns;
    } rows[] = {
        {"1677-09-21T00:12:43.145224192Z", true, INT64_MIN},
        {"1677-09-21T00:12:43.145224191Z", false, 0},
        {"2262-04-11T23:47:16.854775807Z", true, INT64_MAX},
        {"2262-04-11T23:47:16.854775808Z", false, 0},
        {"2024-02-29T00:00:00Z", true, INT64_C(1709164800) * SECOND_NS},
        {"2023-02-29T00:00:00Z", false, 0},
        {"2024-02-29T00:00:00", false, 0},
        {"2024-02-29T00:00:00.Z", false, 0},
        {"2024-02-29T00:00:00.1234567890Z", false, 0},
        {"2024-02-00T00:00:00Z", false, 0},
        {"2024-13-01T00:00:00Z", false, 0},
        {"2024-01-01T24:00:00Z", false, 0},
        {"2024-01-01T00:00:60Z", false, 0},
        {"1676-01-01T00:00:00Z", false, 0},
        {"2263-01-01T00:00:00Z", false, 0},
        {"20x4-01-01T00:00:00Z", false, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[256];
        struct bk_setting setting;
        size_t size = (size_t)snprintf(text, sizeof text, HEAD "kind = time\nwindow = 1d\nepoch = %s\nend\n",
                                       rows[i].time);
        enum bk_status status = bk_strategy_parse(text, size, &setting, NULL);
        if (status != (rows[i].is_fine ? BK_OK : BK_ERROR_SETTING))
            fail_msg("%s: %s", rows[i].time, bk_status_text(status));
        assert_int_equal(setting.strategy.of.time.epoch_ns, rows[i].ns);
    }
}

static const struct fault {
    const char *text;
    uint32_t line;
    const char *said;
} faults[] = {
    {"", 0, "not 'bucketing-setting 1', with which a setting begins"},
    {"\n\n", 2, "not 'bucketing-setting 1', with which a setting begins"},
    {"bucketing-setting 2\n", 1, "not 'bucketing-setting 1', with which a setting begins"},
    {HEAD "kind = hash\nbuckets = 4\n", 4, "the text has no last line 'end'; is it cut off?"},
    {HEAD "kind = hash\nbuckets = 4", 4, "the text has no last line 'end'; is it cut off?"},
    {HEAD "kind = hash\nbuckets = 4\nend\n# more\nread.plan = all\n", 7,
     "comes after 'end', which is the last line"},
    {"bucketing-setting 1\n", 1, "not 'scenario_digest = ...', which comes first"},
    {"bucketing-setting 1\nkind = count\n", 2, "not 'scenario_digest = ...', which comes first"},
    {"bucketing-setting 1\nscenario_digest = 12\n", 2, "'scenario_digest' is not 16 digits of 0-9 and a-f"},
    {"bucketing-setting 1\nscenario_digest = 0123456789ABCDEF\n", 2,
     "'scenario_digest' is not 16 digits of 0-9 and a-f"},
    {HEAD "rows = 3\n", 3, "not 'kind = ...', which comes after scenario_digest"},
    {HEAD "kind = none\n", 3, "'kind' is none of unbucketed, time, count, probabilistic, hash and weighted"},
    {HEAD "kind\n", 3, "'kind' is none of unbucketed, time, count, probabilistic, hash and weighted"},
    {HEAD "kind = unbucketed\nkind = count\n", 4, "no such setting of kind unbucketed"},
    {HEAD "kind = hash\nrows = 3\n", 4, "no such setting of kind hash"},
    {HEAD "kind = hash\nend\n", 4, "'buckets' is missing"},
    {HEAD "kind = hash\nbuckets\n", 4, "'buckets' is not a whole number from 0 to 2^64 - 1"},
    {HEAD "kind = hash\nbuckets = 4\nbuckets = 4\n", 5, "'buckets' stands twice"},
    {HEAD "kind = hash\nbuckets = 0\n", 4, "'buckets' is too small"},
    {HEAD "kind = hash\nbuckets = 2147483648\n", 4, "'buckets' is too large"},
    {HEAD "kind = hash\nbuckets = 4294967297\n", 4, "'buckets' is too large"},
    {HEAD "kind = hash\nbuckets = 18446744073709551616\n", 4,
     "'buckets' is not a whole number from 0 to 2^64 - 1"},
    {HEAD "kind = hash\nbuckets = 4 # four\n", 4, "'buckets' is not a whole number from 0 to 2^64 - 1"},
    {HEAD "kind = hash\nbuckets = -4\n", 4, "'buckets' is not a whole number from 0 to 2^64 - 1"},
    {HEAD "kind = hash\nbuckets = 4\nread.plan = quick\n", 5,
     "'read.plan' is none of its words; see docs/scenario.md"},
    {HEAD "kind = hash\nbuckets = 4\nread.at_once = 4\nend\n", 5,
     "'read.at_once' does not go with this value of read.plan"},
    {HEAD "kind = time\nend\n", 4, "'window' is missing, or calendar"},
    {HEAD "kind = time\nwindow = 5\n", 4,
     "'window' is not a duration; a whole number and ns us ms s m h or d, up to 2^63 - 1 ns, as in 90d"},
    {HEAD "kind = time\nwindow = 1.5d\n", 4,
     "'window' is not a duration; a whole number and ns us ms s m h or d, up to 2^63 - 1 ns, as in 90d"},
    {HEAD "kind = time\nwindow = 106752d\n", 4,
     "'window' is not a duration; a whole number and ns us ms s m h or d, up to 2^63 - 1 ns, as in 90d"},
    {HEAD "kind = time\nwindow = 999ns\n", 4, "'window' is too small"},
    {HEAD "kind = time\nwindow = 1d\ncalendar = day\nend\n", 4, "'window' conflicts with calendar"},
    {HEAD "kind = time\ncalendar = day\nepoch = 1970-01-01T00:00:00Z\nend\n", 5,
     "'epoch' conflicts with calendar"},
    {HEAD "kind = time\nwindow = 1d\nepoch = 0\n", 5,
     "'epoch' is not a time of the years 1677 to 2262; give it in UTC, as in 2026-01-31T12:00:00Z"},
    {HEAD "kind = count\nrows = 10\nend\n", 5, "'counter' is missing"},
    {HEAD "kind = count\nrows = 10\ncounter = lease\nend\n", 6, "'batch' is missing"},
    {HEAD "kind = count\nrows = 10\ncounter = scan\nend\n", 6, "'every_rows' is missing, or every_time"},
    {HEAD "kind = count\nrows = 10\ncounter = lwt\nevery_time = 1s\nend\n", 6,
     "'every_time' does not go with this value of counter"},
    {HEAD "kind = probabilistic\nthreshold = 40\nend\n", 5, "'bits' is missing, or chance"},
    {HEAD "kind = probabilistic\nthreshold = 40\nbits = 33\n", 5, "'bits' is too large"},
    {HEAD "kind = probabilistic\nbits = 9\nthreshold = 0\n", 5, "'threshold' is too small"},
    {HEAD "kind = probabilistic\nbits = 9\nchance = 1/2\nthreshold = 4\nend\n", 4,
     "'bits' conflicts with chance"},
    {HEAD "kind = probabilistic\nchance = 2/1\nthreshold = 4\n", 4,
     "'chance' is not a chance; two whole numbers m/n with 0 < m <= n, as in 1/300"},
    {HEAD "kind = probabilistic\nchance = 1\nthreshold = 4\n", 4,
     "'chance' is not a chance; two whole numbers m/n with 0 < m <= n, as in 1/300"},
    {HEAD "kind = probabilistic\nbits = 9\nthreshold = 4\ncoordination = three-state\nend\n", 7,
     "'lead' is missing"},
    {HEAD "kind = probabilistic\nbits = 9\nthreshold = 4\nlead = 1s\nend\n", 6,
     "'lead' does not go with this value of coordination"},
    {HEAD "kind = probabilistic\nbits = 9\nthreshold = 4\ncounter = lwt\ncoordination = guarded\n"
          "grant = 1s\nend\n",
     6, "'counter' does not go with this value of coordination"},
    {HEAD "kind = probabilistic\nbits = 9\nthreshold = 4\ncoordination = locked\nlock.lasts = 1s\nend\n", 8,
     "'lock.backoff' is missing"},
    {HEAD "kind = weighted\nbytes = 512\nthreshold = 4\n", 4,
     "'bytes' is not a size; a whole number and B KB MB GB or TB, up to 2^64 - 1 bytes, as in 512KB"},
    {HEAD "kind = weighted\nbytes = 18446745TB\nthreshold = 4\n", 4,
     "'bytes' is not a size; a whole number and B KB MB GB or TB, up to 2^64 - 1 bytes, as in 512KB"},
    {HEAD "kind = weighted\nbytes = 1KB\nthreshold = 4\nmax_age = 1ns\n", 6, "'max_age' is too small"},
};

static void test_setting_with_a_fault_is_refused_with_its_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct bk_setting setting;
        struct bk_setting_error error;
        memset(&setting, 0xa5, sizeof setting);
        enum bk_status status = bk_strategy_parse(faults[i].text, strlen(faults[i].text), &setting, &error);
        if (status != BK_ERROR_SETTING || error.line != faults[i].line ||
            strcmp(error.text, faults[i].said) != 0)
            fail_msg("%s\nline %u, not %u: %s, not\n%s", faults[i].text, error.line, faults[i].line,
                     error.text, faults[i].said);
        assert_zero(&setting);
    }
}

static void test_setting_cut_off_anywhere_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < KNOWN_COUNT; i++) {
        char text[BK_SETTING_TEXT_SIZE];
        size_t size = (size_t)snprintf(text, sizeof text, HEAD "%send\n", known[i].text);
        for (size_t cut = 0; cut < size - 1; cut++) {
            struct bk_setting setting;
            struct bk_setting_error error;
            if (bk_strategy_parse(text, cut, &setting, &error) != BK_ERROR_SETTING)
                fail_msg("%.*s was accepted", (int)cut, text);
            assert_true(error.text[0] != '\0' && error.line <= 12);
        }
    }
}

static void test_setting_altered_is_refused_or_means_what_is_written_back(void **state)
{
    struct draw draw = {.state = 2};
    unsigned taken = 0;
    (void)state;
    const uint64_t most = test_part(FUZZ);
    for (uint64_t i = 0; i < most; i++) {
        char text[BK_SETTING_TEXT_SIZE], again[BK_SETTING_TEXT_SIZE];
        struct bk_setting setting, read;
        struct bk_setting_error error;
        size_t length, size = (size_t)snprintf(text, sizeof text, HEAD "%send\n",
                                               known[draw_below(&draw, KNOWN_COUNT)].text);
        for (uint64_t alter = 1 + draw_below(&draw, 3); alter > 0; alter--) {
            char any = (char)draw_bits(&draw), likely = "0123456789=\n #/.smhd"[draw_below(&draw, 20)];
            text[draw_below(&draw, size)] = draw_below(&draw, 4) == 0 ? any : likely;
        }
        enum bk_status status = bk_strategy_parse(text, size, &setting, &error);
        if (status != BK_OK) {
            assert_int_equal(status, BK_ERROR_SETTING);
            assert_zero(&setting);
            assert_non_null(memchr(error.text, '\0', sizeof error.text));
            assert_null(strchr(error.text, '\n'));
            continue;
        }
        taken++;
        assert_int_equal(bk_strategy_print(&setting, again, sizeof again, &length), BK_OK);
        assert_int_equal(bk_strategy_parse(again, length, &read, NULL), BK_OK);
        assert_same(&read, &setting);
    }
    assert_true(taken > most / 50 && taken < most / 2);
}

static void test_setting_fits_its_buffer_or_is_not_written(void **state)
{
    struct bk_setting setting = setting_of(&known[1]);
    char text[BK_SETTING_TEXT_SIZE], small[BK_SETTING_TEXT_SIZE];
    size_t length, told;
    (void)state;
    assert_int_equal(bk_strategy_print(&setting, text, sizeof text, &length), BK_OK);
    for (size_t size = 0; size <= length; size++) {
        memset(small, 'x', sizeof small);
        assert_int_equal(bk_strategy_print(&setting, small, size, &told), BK_ERROR_MEMORY);
        assert_int_equal(small[0], size > 0 ? '\0' : 'x');
        assert_int_equal(small[size], 'x');
        assert_int_equal(told, 0);
    }
    assert_int_equal(bk_strategy_print(&setting, small, length + 1, NULL), BK_OK);
    assert_string_equal(small, text);
}

static void test_setting_that_could_not_be_read_back_is_not_written(void **state)
{
    char text[BK_SETTING_TEXT_SIZE];
    (void)state;
    for (int fault = 0; fault < 7; fault++) {
        struct bk_setting setting = setting_of(&known[fault == 0 ? 5 : fault == 1 ? 4 : 8]);
        if (fault == 0)
            setting.every_rows = 0, setting.every_ns = 0;
        if (fault == 1)
            setting.lease_rows = 0;
        if (fault == 2)
            setting.lock_lasts_ns = 0;
        if (fault == 3)
            setting.lock_backoff_ns = -1;
        if (fault == 4)
            setting.coordination = (enum bk_coordination)4;
        if (fault == 5)
            setting.read_plan = (enum bk_plan)6;
        if (fault == 6)
            setting.read_plan = BK_PLAN_PARALLEL, setting.read_at_once = 4097;
        assert_int_equal(bk_strategy_print(&setting, text, sizeof text, NULL), BK_ERROR_SETTING);
        assert_string_equal(text, "");
    }
    struct bk_setting unsound = {.strategy = {.kind = BK_KIND_HASH}};
    assert_int_equal(bk_strategy_print(&unsound, text, sizeof text, NULL), BK_ERROR_BUCKETS);
    unsound.strategy.kind = (enum bk_kind)77;
    assert_int_equal(bk_strategy_print(&unsound, text, sizeof text, NULL), BK_ERROR_KIND);
}

/* Any parsed setting makes an agent, except for a greatest age with a count. */
static void test_setting_gives_an_agent_its_config(void **state)
{
    (void)state;
    for (size_t i = 0; i < KNOWN_COUNT; i++) {
        struct bk_setting setting = setting_of(&known[i]);
        struct bk_agent_config config = bk_setting_agent_config(&setting);
        config.agent_id = 1;
        config.clock_bound_ns = 1;
        bool is_aged_count = setting.strategy.kind == BK_KIND_COUNT && setting.strategy.max_age_ns != 0;
        assert_int_equal(bk_agent_check(&config), is_aged_count ? BK_ERROR_AGE : BK_OK);
    }
    struct bk_setting setting = setting_of(&known[8]);
    struct bk_agent_config config = bk_setting_agent_config(&setting);
    assert_int_equal(config.lock_lasts_ns, 5 * SECOND_NS);
    assert_int_equal(config.counter, BK_COUNTER_LWT);
    assert_int_equal(bk_setting_agent_config(NULL).strategy.kind, BK_KIND_UNBUCKETED);
    setting = setting_of(&known[5]);
    config = bk_setting_agent_config(&setting);
    assert_int_equal(config.every_rows, 7);
    assert_int_equal(config.every_ns, 60 * SECOND_NS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_setting_of_every_kind_is_the_known_text),
        cmocka_unit_test(test_setting_takes_comments_blanks_and_any_order),
        cmocka_unit_test(test_setting_drawn_is_read_back),
        cmocka_unit_test(test_setting_times_end_where_the_line_of_time_ends),
        cmocka_unit_test(test_setting_with_a_fault_is_refused_with_its_line),
        cmocka_unit_test(test_setting_cut_off_anywhere_is_refused),
        cmocka_unit_test(test_setting_altered_is_refused_or_means_what_is_written_back),
        cmocka_unit_test(test_setting_fits_its_buffer_or_is_not_written),
        cmocka_unit_test(test_setting_that_could_not_be_read_back_is_not_written),
        cmocka_unit_test(test_setting_gives_an_agent_its_config),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
