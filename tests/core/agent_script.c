/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs the scripts of agents (script.h). A0 is operation 0 of agent A. Rows that fire have odd ids; reads go
 * to key 7.
 *
 *     agent A single lwt retries=0           small_config() with these settings; also locked, three-state
 *     agent A guarded                        also time, hash, unbucketed
 *     agent A count lease rows=3             a source of `count`
 *     agent A count lwt from 2000 rows=2     from 2000 on other settings
 *     A changes to count external rows=9     bk_agent_change()
 *     A knows bucket=3 counter=2 at 980      a read has found this state of key 7
 *     A's cache fills at 1000                reads of four other keys
 *     A is due at 1010                       the deadline
 *     999 A views 7: 4, changing             or nothing
 *     1000 A0 writes 7 at 990                or fires; without `at` the row has the time of the event
 *     1000 A0 reads 5 by pair                five rows; also default, all
 *     1001 A0 applied                        also refused, unknown, found 3, found 0, empty, is 43, is
 * bucket=1, is absent, counts 3 to 700.5, not applied, bucket=1, not applied, absent 1005 A ticks, due at
 * 1003              bk_agent_tick(), when this is the deadline */
#include "agent_host.h"
#include "script.h"

#define AGENTS_MAX 26

struct actor {
    struct bk_agent *agent;
    struct bk_agent_config config;
    struct {
        enum bk_action_kind kind;
        uint64_t ticket;
    } waits_for[64]; /* by operation: the action whose outcome is due */
    bool may_wait;   /* the case ends before the deadline */
};

struct cast {
    struct actor actors[AGENTS_MAX]; /* A, B, ... */
    int64_t other_keys;
    bool is_reloaded;
};

static const char *const state_names[] = {"bucket", "counter", "last", "next"};
static const char *const guarded_names[] = {"bucket", "before", "start", "until"};
static const char *const lock_names[] = {"owner", "until", "", ""};
static const char *const start_names[] = {"start", "", "", ""};

static const char *const *names_of(const struct actor *actor, enum bk_action_kind kind)
{
    return kind == BK_ACT_CAS_LOCK                    ? lock_names
           : kind == BK_ACT_READ_START                ? start_names
           : actor->config.coordination == BK_GUARDED ? guarded_names
                                                      : state_names;
}

static void say_columns(struct said *said, const char *const *names, uint32_t mask, const int64_t *columns)
{
    for (unsigned i = 0; i < BK_COLUMNS; i++) {
        if ((mask & 1u << i) != 0 && columns[i] == INT64_MIN)
            say(said, " %s=-inf", names[i]);
        else if (mask & 1u << i)
            say(said, " %s=%lld", names[i], (long long)columns[i]);
    }
}

static void say_update(struct said *said, const char *const *names, const struct bk_action *action)
{
    say(said, action->kind == BK_ACT_CAS_LOCK ? "lock" : "set");
    say_columns(said, names, action->mask, action->columns);
    if (action->kind == BK_ACT_WRITE_STATE)
        return;
    say(said, action->if_mask == 0 ? " if absent" : " if");
    say_columns(said, names, action->if_mask & ~action->if_null_mask, action->expected);
    for (unsigned i = 0; i < BK_COLUMNS; i++) {
        if (action->if_null_mask & 1u << i)
            say(said, " %s=null", names[i]);
    }
}

static void say_done(struct said *said, const struct bk_action *action)
{
    say(said, "done %s", ((const char *[]){"ok", "refused", "unknown"})[action->status]);
    if (action->fired)
        say(said, " fired%s", action->counted ? " counted" : "");
    if (action->partitions_asked > 0)
        say(said, " found %llu in %llu", (unsigned long long)action->rows_found,
            (unsigned long long)action->partitions_asked);
}

static void say_action(struct said *said, const struct actor *actor, const struct bk_action *action)
{
    const bool has_counters = actor->config.coordination == BK_GUARDED; /* one for each bucket */
    const long long bucket = action->bucket;
    switch (action->kind) {
    case BK_ACT_PUT_ROW:
        say(said, "put %llu.%lld", (unsigned long long)action->key, bucket);
        break;
    case BK_ACT_READ_STATE:
        say(said, "read state%s", action->serial ? " serially" : "");
        break;
    case BK_ACT_WRITE_STATE:
    case BK_ACT_CAS_STATE:
    case BK_ACT_CAS_LOCK:
        say_update(said, names_of(actor, action->kind), action);
        break;
    case BK_ACT_ADD_COUNTER:
        say(said, has_counters ? "add 1 to %lld" : "add 1", bucket);
        break;
    case BK_ACT_READ_COUNTER:
        say(said, has_counters ? "read counter of %lld" : "read counter", bucket);
        break;
    case BK_ACT_READ_START:
        say(said, "read start of %lld", bucket);
        break;
    case BK_ACT_WRITE_START:
        say(said, "set start of %lld to %lld", bucket, (long long)action->columns[0]);
        break;
    case BK_ACT_COUNT_ROWS:
        say(said, "count rows of %lld", bucket);
        if (action->mask != 0)
            say(said, " after %lld.%lld", (long long)action->columns[BK_PLACE_TIME],
                (long long)action->columns[BK_PLACE_ID]);
        break;
    case BK_ACT_READ_ROWS:
        say(said, "read %llu.%lld..%lld for %llu", (unsigned long long)action->key,
            (long long)action->step.bucket_low, (long long)action->step.bucket_high,
            (unsigned long long)action->step.rows);
        break;
    case BK_ACT_ACK:
        say(said, "ack %lld", bucket);
        break;
    case BK_ACT_DONE:
        say_done(said, action);
        break;
    }
    say(said, "%s", action->is_retry ? " again" : "");
}

/* `about`: the operation that the event concerns; actions of other operations are named. */
static void say_actions(struct cast *cast, struct actor *actor, int64_t about, struct said *said)
{
    struct bk_action action;
    while (bk_agent_next(actor->agent, &action)) {
        say(said, said->length > 0 ? ", " : "");
        if (action.operation != about)
            say(said, "%c%u ", 'A' + (int)(actor - cast->actors), action.operation);
        say_action(said, actor, &action);
        actor->waits_for[action.operation].kind = action.kind;
        actor->waits_for[action.operation].ticket = action.ticket;
    }
    actor->agent = cast->is_reloaded ? reload_agent(actor->agent, &actor->config)
                                     : move_agent(actor->agent, bk_agent_size(&actor->config));
}

/* Reads "bucket=3 next=0" or "absent". Columns without a value must not be used. */
static bool read_columns(const char **line, const char *const *names, struct bk_outcome *outcome)
{
    for (unsigned i = 0; i < BK_COLUMNS; i++)
        outcome->columns[i] = 77;
    if (skip_word(line, " absent"))
        return true;
    for (unsigned i = 0; i < BK_COLUMNS; i++) {
        const char *at = *line;
        if (skip_word(&at, " ") && skip_word(&at, names[i]) && skip_word(&at, "=")) {
            outcome->mask |= 1u << i;
            if (!skip_number(&at, &outcome->columns[i]))
                return false;
            *line = at;
        }
    }
    return outcome->mask != 0;
}

static bool read_outcome(const char **line, const char *const *names, struct bk_outcome *outcome)
{
    int64_t number;
    outcome->kind = BK_OUTCOME_APPLIED;
    if (skip_word(line, "applied"))
        return true;
    if (skip_word(line, "refused")) {
        outcome->kind = BK_OUTCOME_REFUSED;
    } else if (skip_word(line, "unknown")) {
        outcome->kind = BK_OUTCOME_UNKNOWN;
    } else if (skip_word(line, "not applied,")) {
        outcome->kind = BK_OUTCOME_NOT_APPLIED;
        return read_columns(line, names, outcome);
    } else if (skip_word(line, "found ") && skip_number(line, &number)) {
        outcome->rows = (uint64_t)number;
        outcome->empty = skip_word(line, ", empty");
    } else if (skip_word(line, "counts ") && skip_number(line, &number)) {
        outcome->rows = (uint64_t)number;
        outcome->mask = 1u << BK_PLACE_TIME;
        if (!skip_word(line, " to ") || !skip_number(line, &outcome->columns[BK_PLACE_TIME]))
            return false;
        if (skip_word(line, "."))
            outcome->mask |= skip_number(line, &outcome->columns[BK_PLACE_ID]) ? 1u << BK_PLACE_ID : 0;
    } else if (skip_word(line, "is")) {
        const char *at = *line;
        if (!skip_word(&at, " ") || !skip_number(&at, &outcome->counter))
            return read_columns(line, names, outcome);
        *line = at;
    } else {
        return false;
    }
    return true;
}

/* An event of an operation: a row, a read or an outcome. */
static bool run_operation(struct actor *actor, int64_t now_ns, uint32_t operation, const char **line)
{
    static const char *const plans[] = {" by default", " by walk", " by pair", " by all"};
    struct bk_row row = row_at(now_ns, skip_word(line, "fires "));
    uint32_t begun = operation;
    int64_t number;
    if (row.id != 0 || skip_word(line, "writes ")) {
        if (!skip_number(line, &number) || (skip_word(line, " at ") && !skip_number(line, &row.time_ns)))
            return false;
        assert_int_equal(bk_agent_write(actor->agent, now_ns, (uint64_t)number, &row, &begun), BK_OK);
    } else if (skip_word(line, "reads ")) {
        enum bk_plan plan = BK_PLAN_WALK;
        if (!skip_number(line, &number))
            return false;
        for (int i = BK_PLAN_DEFAULT; i <= BK_PLAN_ALL; i++)
            plan = skip_word(line, plans[i]) ? (enum bk_plan)i : plan;
        assert_int_equal(bk_agent_read_latest(actor->agent, now_ns, 7, 0, 25, (uint64_t)number, plan, &begun),
                         BK_OK);
    } else {
        struct bk_outcome outcome = {.mask = 0};
        if (!read_outcome(line, names_of(actor, actor->waits_for[operation].kind), &outcome))
            return false;
        assert_int_equal(bk_agent_report(actor->agent, now_ns, actor->waits_for[operation].ticket, &outcome),
                         BK_OK);
    }
    assert_int_equal(begun, operation);
    return true;
}

/* A state of key 7 that a read finds, so that a case may begin at its main event. */
static bool know(struct actor *actor, const char **line)
{
    struct bk_outcome outcome = {.kind = BK_OUTCOME_APPLIED};
    const struct bk_outcome found = {.kind = BK_OUTCOME_APPLIED, .rows = 1};
    struct bk_action action;
    uint32_t operation;
    int64_t now_ns;
    if (!read_columns(line, names_of(actor, BK_ACT_READ_STATE), &outcome) || !skip_word(line, " at ") ||
        !skip_number(line, &now_ns))
        return false;
    assert_int_equal(bk_agent_read_latest(actor->agent, now_ns, 7, 0, 25, 1, BK_PLAN_WALK, &operation),
                     BK_OK);
    assert_true(bk_agent_next(actor->agent, &action) && action.kind == BK_ACT_READ_STATE);
    assert_int_equal(bk_agent_report(actor->agent, now_ns, action.ticket, &outcome), BK_OK);
    assert_true(bk_agent_next(actor->agent, &action) && action.kind == BK_ACT_READ_ROWS);
    assert_int_equal(bk_agent_report(actor->agent, now_ns, action.ticket, &found), BK_OK);
    assert_true(bk_agent_next(actor->agent, &action) && action.kind == BK_ACT_DONE);
    return !bk_agent_next(actor->agent, &action);
}

/* Four reads of keys that no other line names. */
static bool fill_cache(struct cast *cast, struct actor *actor, const char **line)
{
    const struct bk_outcome one = {.kind = BK_OUTCOME_APPLIED, .rows = 1};
    struct bk_action action;
    uint32_t operation;
    int64_t now_ns;
    if (!skip_number(line, &now_ns))
        return false;
    for (int i = 0; i < 4; i++) {
        const uint64_t key = (uint64_t)(1000 + cast->other_keys++);
        assert_int_equal(bk_agent_read_latest(actor->agent, now_ns, key, 0, 0, 1, BK_PLAN_WALK, &operation),
                         BK_OK);
        while (bk_agent_next(actor->agent, &action)) {
            if (action.kind != BK_ACT_DONE)
                assert_int_equal(bk_agent_report(actor->agent, now_ns, action.ticket, &one), BK_OK);
        }
    }
    return true;
}

static struct bk_agent_config count_config(const char **line)
{
    static const char *const sources[] = {"external",    "counter", "lwt",   "lease",
                                          "incremental", "scan",    "memory"};
    struct bk_agent_config config = small_config(BK_SINGLE, BK_COUNTER_RMW);
    assert_int_equal(bk_strategy_count(THRESHOLD, &config.strategy), BK_OK);
    for (int i = BK_SOURCE_EXTERNAL; i <= BK_SOURCE_MEMORY; i++)
        config.source = skip_word(line, sources[i]) ? (enum bk_source)i : config.source;
    config.lease_rows = 4;
    config.every_rows = 2;
    config.cache_entries = 4; /* one set, so that the fifth key replaces the first */
    config.operations = 4;
    return config;
}

static struct bk_agent_config protocol_config(const char **line)
{
    static const char *const coordinations[] = {"single", "locked", "three-state", "guarded"};
    static const char *const counters[] = {" rmw", " lwt", " column"};
    if (skip_word(line, "count "))
        return count_config(line);
    struct bk_agent_config config = small_config(BK_SINGLE, BK_COUNTER_LWT);
    if (skip_word(line, "unbucketed"))
        assert_int_equal(bk_strategy_unbucketed(&config.strategy), BK_OK);
    else if (skip_word(line, "time"))
        assert_int_equal(bk_strategy_time(1000, 0, &config.strategy), BK_OK);
    else if (skip_word(line, "hash"))
        assert_int_equal(bk_strategy_hash(6, &config.strategy), BK_OK);
    for (int i = BK_SINGLE; i <= BK_GUARDED; i++)
        config.coordination =
            skip_word(line, coordinations[i]) ? (enum bk_coordination)i : config.coordination;
    for (int i = BK_COUNTER_RMW; i <= BK_COUNTER_NATIVE; i++)
        config.counter = skip_word(line, counters[i]) ? (enum bk_counter)i : config.counter;
    if (config.coordination == BK_GUARDED) {
        config.counter = BK_COUNTER_NATIVE;
        config.operations = 4;
        config.retry_backoff_ns = 0;
    }
    return config;
}

/* Reads the settings of an agent, and those that follow at a date. */
static bool read_config(const char **line, struct bk_agent_config *config)
{
#define SETTING(name, member)                                                                                \
    {                                                                                                        \
        name, offsetof(struct bk_agent_config, member), sizeof config->member                                \
    }
    static const struct script_setting settings[] = {
        SETTING("lead", lead_ns),
        SETTING("cache_ttl", cache_ttl_ns),
        SETTING("cache_entries", cache_entries),
        SETTING("operations", operations),
        SETTING("retries", retries),
        SETTING("counter_retries", counter_retries),
        SETTING("retry_backoff", retry_backoff_ns),
        SETTING("lock_lasts", lock_lasts_ns),
        SETTING("lock_backoff", lock_backoff_ns),
        SETTING("agent_id", agent_id),
        SETTING("lease_rows", lease_rows),
        SETTING("every_rows", every_rows),
        SETTING("every", every_ns),
        SETTING("max_age", strategy.max_age_ns),
        SETTING("threshold", strategy.of.probabilistic.threshold),
        SETTING("rows", strategy.of.count.rows),
        SETTING("window", strategy.of.time.window_ns),
        SETTING("remember_keys", remember_keys),
    };
    *config = protocol_config(line);
    struct bk_strategy first = config->strategy;
    int64_t from_ns = 0;
    for (bool has_more = true; has_more;) {
        while (skip_word(line, " ") &&
               skip_setting(line, settings, sizeof settings / sizeof *settings, config))
            ;
        if (from_ns == 0)
            first = config->strategy;
        else
            assert_int_equal(bk_history_change(&config->history, from_ns, &config->strategy), BK_OK);
        has_more = skip_word(line, "from ");
        if (has_more && from_ns == 0)
            assert_int_equal(bk_history_begin(&first, &config->history), BK_OK);
        if (has_more && !skip_number(line, &from_ns))
            return false;
    }
    config->strategy = first;
    return true;
}

static bool change(struct actor *actor, const char **line)
{
    struct bk_agent_config config;
    if (!read_config(line, &config))
        return false;
    if (config.history.count == 0)
        assert_int_equal(bk_history_begin(&config.strategy, &config.history), BK_OK);
    actor->config.history = config.history;
    assert_int_equal(bk_agent_change(actor->agent, &config.history), BK_OK);
    return true;
}

static bool view(const struct actor *actor, int64_t now_ns, const char **line, struct said *said)
{
    int64_t key, bucket;
    bool is_changing;
    if (!skip_number(line, &key))
        return false;
    if (bk_agent_view(actor->agent, now_ns, (uint64_t)key, &bucket, &is_changing))
        say(said, "%lld%s", (long long)bucket, is_changing ? ", changing" : "");
    else
        say(said, "nothing");
    return true;
}

static bool tick(struct actor *actor, int64_t now_ns, const char **line)
{
    int64_t due_ns = INT64_MAX;
    if (skip_word(line, ", due at ") && !skip_number(line, &due_ns))
        return false;
    assert_int_equal(bk_agent_deadline(actor->agent), due_ns);
    assert_int_equal(bk_agent_tick(actor->agent, now_ns), BK_OK);
    return true;
}

static bool is_due(struct actor *actor, const char **line, struct said *said)
{
    int64_t due_ns;
    if (!skip_number(line, &due_ns))
        return false;
    if (bk_agent_deadline(actor->agent) != due_ns)
        say(said, "is due at %lld", (long long)bk_agent_deadline(actor->agent));
    actor->may_wait = true;
    return true;
}

static bool run(void *of, const char *line, struct said *said)
{
    struct cast *cast = of;
    int64_t now_ns = 0, operation = -1;
    bool has_time = false, is_known = true;
    if (skip_word(&line, "agent ")) {
        struct actor *actor = &cast->actors[(unsigned)(line[0] - 'A') % AGENTS_MAX];
        free(actor->agent);
        memset(actor, 0, sizeof *actor);
        line += strlen("A ");
        if (!read_config(&line, &actor->config))
            return false;
        actor->agent = make_agent(&actor->config);
        return *line == '\0';
    }
    if (line[0] < 'A')
        has_time = skip_number(&line, &now_ns) && skip_word(&line, " ");
    struct actor *actor = &cast->actors[(unsigned)(*line++ - 'A') % AGENTS_MAX];
    if (actor->agent == NULL)
        return false;
    if (has_time && line[0] != ' ' && !skip_number(&line, &operation))
        return false;
    if (has_time && operation >= 0 && skip_word(&line, " "))
        is_known = run_operation(actor, now_ns, (uint32_t)operation, &line);
    else if (has_time && skip_word(&line, " ticks"))
        is_known = tick(actor, now_ns, &line);
    else if (has_time && skip_word(&line, " views "))
        is_known = view(actor, now_ns, &line, said);
    else if (skip_word(&line, " knows"))
        is_known = know(actor, &line);
    else if (skip_word(&line, "'s cache fills at "))
        is_known = fill_cache(cast, actor, &line);
    else if (skip_word(&line, " changes to "))
        is_known = change(actor, &line);
    else if (skip_word(&line, " is due at "))
        return is_due(actor, &line, said);
    else
        return false;
    say_actions(cast, actor, operation, said);
    return is_known && *line == '\0';
}

static void *begin(bool is_reloaded)
{
    struct cast *cast = calloc(1, sizeof *cast);
    assert_non_null(cast);
    cast->is_reloaded = is_reloaded;
    return cast;
}

static void end(void *of, struct said *said)
{
    struct cast *cast = of;
    for (int i = 0; i < AGENTS_MAX; i++) {
        const struct bk_agent *agent = cast->actors[i].agent;
        if (agent != NULL && !cast->actors[i].may_wait && bk_agent_deadline(agent) != INT64_MAX)
            say(said, "%c is due at %lld", 'A' + i, (long long)bk_agent_deadline(agent));
        free(cast->actors[i].agent);
    }
    free(cast);
}

const struct script_machine agent_scripts = {"agent ", begin, run, end};
