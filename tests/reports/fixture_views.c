/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Hand-made views: what agents believe during a change of bucket. */
#include "fixture.h"

#include <assert.h>

#include "kernel/time.h"

static struct bk_strategy setting(void)
{
    struct bk_strategy out;
    assert(bk_strategy_probabilistic(9, 40, &out) == BK_OK);
    return out;
}

void fixture_views_begin(struct lab_strategy_result *strategy, const char *key, uint32_t agents,
                         int64_t change_ns, int64_t until_ns)
{
    struct lab_views *views = &strategy->views;
    *views = (struct lab_views){.change_ns = change_ns, .until_ns = until_ns, .agents = agents};
    if (key != NULL) {
        views->key = malloc(strlen(key) + 1);
        assert(views->key != NULL);
        strcpy(views->key, key);
    }
}

void fixture_look(struct lab_strategy_result *strategy, int64_t time_ns, uint32_t agent, bool is_known,
                  int64_t bucket, bool is_changing)
{
    struct lab_views *views = &strategy->views;
    if (views->count == views->capacity) {
        views->capacity = views->capacity == 0 ? 64 : 2 * views->capacity;
        views->items = realloc(views->items, views->capacity * sizeof *views->items);
        assert(views->items != NULL);
    }
    views->items[views->count++] = (struct lab_view){.time_ns = time_ns,
                                                     .agent = agent,
                                                     .bucket = is_known ? bucket : 0,
                                                     .is_known = is_known,
                                                     .is_changing = is_known && is_changing};
}

static void look(struct lab_strategy_result *strategy, const struct fixture_change *change, uint32_t agent,
                 int64_t at_ns, int64_t time_ns)
{
    const int64_t learns_ns = (int64_t)(agent * 37 % 100) * change->ttl_ns / 100;
    const int64_t turns_ns = change->lead_ns + change->skew_ns * ((int64_t)(agent * 29 % 21) - 10) / 10;
    bool is_new = at_ns >= learns_ns && at_ns >= turns_ns;
    bool is_changing = at_ns >= learns_ns && !is_new;
    bool is_known = !change->knows_nothing;
    int64_t bucket = is_new ? 8 : 7;
    const int64_t over_ns = change->lead_ns + change->after_ns;
    if (change->has_trouble && agent == 1) {
        is_known &= at_ns < over_ns / 4 || at_ns > over_ns / 2;
    }
    if (change->has_trouble && agent == 2 && at_ns > over_ns / 2 && is_new) {
        bucket = at_ns < over_ns * 3 / 4 ? 9 : 6;
    }
    if (change->has_trouble && agent == 3) {
        is_changing |= at_ns > over_ns * 3 / 4;
    }
    fixture_look(strategy, time_ns, agent, is_known, bucket, is_changing);
}

void fixture_views(const struct lab_result *result, struct lab_strategy_result *strategy,
                   const struct fixture_change *change)
{
    const int64_t change_ns = result->start_ns + SIM_DAY;
    fixture_views_begin(strategy, "chan-12", change->agents, change_ns, change_ns + change->lead_ns);
    for (int64_t at_ns = -change->before_ns; at_ns <= change->lead_ns + change->after_ns;
         at_ns += change->look_ns) {
        for (uint32_t i = 0; i < change->agents; i++) {
            look(strategy, change, i, at_ns, change_ns + at_ns);
        }
    }
}

static void add(struct lab_result *result, const char *label, const struct fixture_change *change)
{
    const struct bk_strategy strategy = setting();
    struct lab_strategy_result *out = fixture_add(result, label, &strategy);
    out->settings.coordination = change->lead_ns > 0 ? BK_THREE_STATE : BK_LOCKED;
    out->settings.lead_ns = change->lead_ns;
    fixture_views(result, out, change);
}

static const struct fixture_change safe = {.agents = 8,
                                           .lead_ns = 10 * SIM_SECOND,
                                           .ttl_ns = 5 * SIM_SECOND,
                                           .skew_ns = 50 * SIM_MS,
                                           .look_ns = 250 * SIM_MS,
                                           .before_ns = 10 * SIM_SECOND,
                                           .after_ns = 10 * SIM_SECOND};

static struct lab_result *with_agents(const char *name, uint32_t agents)
{
    struct lab_result *result = fixture_result(name, "synthetic");
    struct fixture_change change = safe;
    change.agents = agents;
    add(result, NULL, &change);
    return result;
}

static struct lab_result *five(const char *name, uint32_t agents)
{
    struct lab_result *result = fixture_result(name, "synthetic");
    struct fixture_change change = safe;
    change.agents = agents;
    add(result, "safe lead", &change);
    change.lead_ns = 2 * SIM_SECOND;
    add(result, "unsafe lead, shorter than the caches live", &change);
    change.lead_ns = 0;
    change.skew_ns = 0;
    change.ttl_ns = SIM_SECOND;
    add(result, "locked", &change);
    change = safe;
    change.agents = agents;
    change.has_trouble = true;
    add(result, "trouble", &change);
    change.has_trouble = false;
    change.skew_ns = 2 * SIM_SECOND;
    add(result, "clocks two seconds off", &change);
    return result;
}

static struct lab_result *single(void)
{
    struct lab_result *result = fixture_result("views-single", "synthetic");
    add(result, "single",
        &(struct fixture_change){
            .agents = 1, .look_ns = 25 * SIM_MS, .before_ns = SIM_SECOND, .after_ns = SIM_SECOND});
    return result;
}

static struct lab_result *known_to_nobody(void)
{
    struct lab_result *result = fixture_result("views-unknown", "synthetic");
    struct fixture_change change = safe;
    change.knows_nothing = true;
    add(result, "none knows", &change);
    return result;
}

static struct lab_result *different_leads(void)
{
    struct lab_result *result = fixture_result("views-of-many-lengths", "synthetic");
    const int64_t leads[] = {500, 50 * SIM_US, 2 * SIM_MS, 40 * SIM_MINUTE, 20 * SIM_HOUR, 40 * SIM_DAY};
    for (size_t i = 0; i < sizeof leads / sizeof leads[0]; i++) {
        struct fixture_change change = {.agents = 3,
                                        .lead_ns = leads[i],
                                        .ttl_ns = leads[i] * 6 / 5,
                                        .look_ns = leads[i] / 20,
                                        .before_ns = leads[i],
                                        .after_ns = leads[i]};
        add(result, "a lead", &change);
    }
    return result;
}

/* Samples that end before the change time, a change time before the change, one sample, more agents than
 * lanes. */
static struct lab_result *odd(void)
{
    struct lab_result *result = fixture_result("views-odd", "synthetic");
    struct fixture_change change = safe;
    change.agents = 2;
    change.after_ns = -6 * SIM_SECOND;
    add(result, "ended early", &change);
    const struct bk_strategy strategy = setting();
    struct lab_strategy_result *out = fixture_add(result, "late store", &strategy);
    const int64_t time_ns = result->start_ns;
    fixture_views_begin(out,
                        "a key with a long name <b> \xff\n that somebody wrote to say all about it, and more "
                        "than that, and then some more words that leave no room on the line",
                        2, time_ns, time_ns - SIM_SECOND);
    for (int64_t i = -80; i < 80; i++) {
        fixture_look(out, time_ns + i * 25 * SIM_MS, 0, true, i < 0 ? 0 : 1, false);
        fixture_look(out, time_ns + i * 25 * SIM_MS, 1, true, i < 2 ? 0 : 1, false);
    }
    out = fixture_add(result, "one look", &strategy);
    fixture_views_begin(out, "", 1, time_ns, time_ns);
    fixture_look(out, time_ns, 0, true, 3, false);
    change = safe;
    change.agents = 2;
    change.lead_ns = 700 * SIM_MS;
    change.ttl_ns = 25 * SIM_SECOND;
    add(result, "no room for pre-change", &change);
    change = safe;
    change.agents = 70;
    add(result, "more agents than lanes", &change);
    return result;
}

static struct lab_result *very_many(void)
{
    struct lab_result *result = fixture_result("views-64-of-64", "synthetic");
    struct fixture_change change = safe;
    change.agents = 64;
    change.look_ns = SIM_SECOND;
    for (size_t i = 0; i < 64; i++) {
        add(result, "a strategy among many", &change);
    }
    return result;
}

struct lab_result *fixture_views_case(size_t index)
{
    switch (index) {
    case 0:
        return with_agents("views-1-agent", 1);
    case 1:
        return with_agents("views-2-agents", 2);
    case 2:
        return with_agents("views-8-agents", 8);
    case 3:
        return with_agents("views-16-agents", 16);
    case 4:
        return with_agents("views-32-agents", 32);
    case 5:
        return with_agents("views-64-agents", 64);
    case 6:
        return five("views-5-strategies", 8);
    case 7:
        return five("views-5-strategies-64-agents", 64);
    case 8:
        return single();
    case 9:
        return known_to_nobody();
    case 10:
        return different_leads();
    case 11:
        return odd();
    default:
        return very_many();
    }
}
