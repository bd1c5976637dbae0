/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: whatever a host answers, each operation ends, none is parked forever, no read queries more partitions
 * than its limit, and nothing overflows (under the sanitizers). Method: random settings of every kind,
 * coordination and source, histories that are replaced during the run, small caches; outcomes of any kind in
 * any order, with values at the ends of int64 or with small ones that match by chance, and clocks that jump;
 * now and then an agent is replaced by its checkpoint. After a while no operation begins any more, and all
 * operations under way must end. Finally checkpoints with altered bytes: each is refused, or gives an agent
 * that neither crashes nor hangs. */
#include "agent_host.h"
#include "draw.h"

#define RUNS            2500
#define BUSY_STEPS      300
#define STEPS_MAX       20000
#define OPERATIONS_MOST 8
#define KEYS            6

struct host {
    struct draw draw;
    bool is_wild; /* its values are of any size, and its clock jumps */
    struct bk_agent *agent;
    struct bk_agent_config config;
    struct bk_strategy strategies[3];
    int64_t now_ns;
    uint64_t begun;
    uint32_t asked;                      /* actions without an outcome so far */
    uint64_t under_way[OPERATIONS_MOST]; /* tickets */
    uint64_t partitions_max[OPERATIONS_MOST];
};

static int64_t draw_value(struct host *host)
{
    if (!host->is_wild)
        return (int64_t)draw_below(&host->draw, 50);
    return draw_below(&host->draw, 3) == 0 ? (int64_t)draw_below(&host->draw, 9) : draw_time(&host->draw);
}

static int64_t draw_span(struct host *host)
{
    return draw_below(&host->draw, 6) == 0 ? INT64_MAX : 1 + (int64_t)draw_below(&host->draw, 100);
}

static struct bk_strategy draw_strategy(struct host *host, enum bk_kind kind)
{
    struct draw *draw = &host->draw;
    struct bk_strategy out;
    enum bk_status status = BK_OK;
    switch (kind) {
    case BK_KIND_TIME:
        status = bk_strategy_time(1000 + (int64_t)draw_below(draw, 50), draw_value(host), &out);
        break;
    case BK_KIND_COUNT:
        status = bk_strategy_count(1 + draw_below(draw, 4), &out);
        break;
    case BK_KIND_PROBABILISTIC:
        status = bk_strategy_probabilistic((uint32_t)draw_below(draw, 2), 1 + draw_below(draw, 3), &out);
        break;
    case BK_KIND_HASH:
        status = bk_strategy_hash(1 + (uint32_t)draw_below(draw, 9), &out);
        break;
    case BK_KIND_WEIGHTED:
        status = bk_strategy_weighted(1 + draw_below(draw, 9), 1 + draw_below(draw, 50), &out);
        break;
    default:
        status = bk_strategy_unbucketed(&out);
    }
    assert_int_equal(status, BK_OK);
    return out;
}

/* A history of one era or two; an impossible date is skipped. */
static struct bk_history draw_history(struct host *host, const struct bk_strategy *first)
{
    struct bk_history history;
    assert_int_equal(bk_history_begin(first, &history), BK_OK);
    if (first->kind != BK_KIND_COUNT && draw_below(&host->draw, 2) == 0)
        bk_history_change(&history, draw_value(host), &host->strategies[1]);
    return history;
}

static struct bk_agent_config draw_config(struct host *host)
{
    struct draw *draw = &host->draw;
    enum bk_kind kind = (enum bk_kind)draw_below(draw, BK_KINDS);
    struct bk_agent_config config = small_config(BK_SINGLE, (enum bk_counter)draw_below(draw, 3));
    for (int i = 0; i < 3; i++)
        host->strategies[i] = draw_strategy(host, kind);
    config.strategy = host->strategies[0];
    if (draw_below(draw, 3) == 0)
        config.history = draw_history(host, &host->strategies[0]);
    if (bk_kind_fires(kind))
        config.coordination = (enum bk_coordination)draw_below(draw, BK_GUARDED + 1);
    if (config.coordination == BK_GUARDED)
        config.counter = BK_COUNTER_NATIVE;
    if (kind == BK_KIND_COUNT)
        config.source = (enum bk_source)draw_below(draw, BK_SOURCE_MEMORY + 1);
    config.lease_rows = draw_below(draw, 5) == 0 ? INT64_MAX - 1 : 1 + draw_below(draw, 6);
    config.every_rows = 1 + draw_below(draw, 4);
    config.every_ns = draw_below(draw, 2) == 0 ? 0 : draw_span(host);
    config.lead_ns = draw_span(host);
    config.cache_ttl_ns = draw_below(draw, 3) == 0 ? 0 : draw_span(host);
    config.cache_entries = 1 + (uint32_t)draw_below(draw, 8);
    config.operations = 1 + (uint32_t)draw_below(draw, OPERATIONS_MOST);
    config.retries = (uint32_t)draw_below(draw, 4);
    config.counter_retries = (uint32_t)draw_below(draw, 3);
    config.retry_backoff_ns = draw_below(draw, 2) == 0 ? 0 : draw_span(host);
    config.lock_lasts_ns = draw_span(host);
    config.lock_backoff_ns = draw_span(host);
    config.grant_ns = draw_span(host);
    config.clock_bound_ns = draw_span(host) - 1;
    config.remember_keys = (uint32_t)draw_below(draw, KEYS);
    config.late_ns = draw_span(host) - 1;
    return config;
}

static void begin(struct host *host)
{
    struct draw *draw = &host->draw;
    uint64_t key = draw_below(draw, KEYS);
    uint32_t operation = OPERATIONS_MOST;
    enum bk_status status;
    if (draw_below(draw, 3) > 0) {
        struct bk_row row = {draw_below(draw, 3) > 0 ? host->now_ns : draw_value(host), draw_size(draw),
                             draw_below(draw, 2) == 0 ? UINT64_MAX : draw_bits(draw), draw_size(draw)};
        status = bk_agent_write(host->agent, host->now_ns, key, &row, &operation);
    } else {
        struct bk_query query = {.kind = (enum bk_query_kind)draw_below(draw, 3),
                                 .plan = (enum bk_plan)draw_below(draw, 6),
                                 .rows = 1 + draw_below(draw, 9),
                                 .from_ns = draw_value(host),
                                 .until_ns = draw_value(host),
                                 .birth_ns = draw_value(host),
                                 .partitions_max = 1 + draw_below(draw, 300)};
        status = bk_agent_read(host->agent, host->now_ns, key, draw_below(draw, 50), &query, &operation);
        if (status == BK_OK)
            host->partitions_max[operation] = query.partitions_max;
    }
    host->begun += status == BK_OK;
}

static void take_actions(struct host *host)
{
    struct bk_action action;
    while (bk_agent_next(host->agent, &action)) {
        if (action.kind == BK_ACT_DONE) {
            assert_true(host->begun > 0);
            host->begun--;
            assert_true(action.partitions_asked == 0 ||
                        action.partitions_asked <= host->partitions_max[action.operation]);
        } else if (action.kind != BK_ACT_ACK) {
            assert_true(host->asked < OPERATIONS_MOST);
            host->under_way[host->asked++] = action.ticket;
        }
    }
}

static struct bk_outcome draw_outcome(struct host *host)
{
    struct draw *draw = &host->draw;
    struct bk_outcome outcome = {
        .kind = draw_below(draw, 4) > 0 ? BK_OUTCOME_APPLIED : (enum bk_outcome_kind)draw_below(draw, 4),
        .mask = draw_below(draw, 3) > 0 ? 15 : (uint32_t)draw_below(draw, 16),
        .counter = draw_value(host),
        .rows = draw_below(draw, 2) == 0 ? draw_below(draw, 5) : draw_size(draw),
        .saw_older = draw_below(draw, 2) == 0,
        .empty = draw_bits(draw),
    };
    if (draw_below(draw, 4) == 0)
        outcome.kind = BK_OUTCOME_NOT_APPLIED;
    for (int i = 0; i < BK_COLUMNS; i++)
        outcome.columns[i] = draw_value(host);
    return outcome;
}

static void answer(struct host *host)
{
    uint32_t at = (uint32_t)draw_below(&host->draw, host->asked);
    uint64_t ticket = host->under_way[at];
    host->under_way[at] = host->under_way[--host->asked];
    struct bk_outcome outcome = draw_outcome(host);
    assert_int_equal(bk_agent_report(host->agent, host->now_ns, ticket, &outcome), BK_OK);
    assert_int_equal(bk_agent_report(host->agent, host->now_ns, ticket, &outcome), BK_ERROR_OPERATION);
}

/* First a phase in which everything happens, then a phase that only continues the operations that have begun.
 */
static void step(struct host *host, bool is_busy)
{
    struct draw *draw = &host->draw;
    if (host->is_wild && draw_below(draw, 20) == 0)
        host->now_ns = draw_time(draw);
    else if (host->now_ns < INT64_MAX - 100)
        host->now_ns += (int64_t)draw_below(draw, 20);
    if (is_busy && draw_below(draw, 2) == 0)
        begin(host);
    if (is_busy && draw_below(draw, 100) == 0) {
        struct bk_history history = draw_history(host, &host->strategies[2]);
        assert_int_equal(bk_agent_change(host->agent, &history), BK_OK);
    }
    if (draw_below(draw, 8) == 0)
        host->agent = reload_agent(host->agent, &host->config);
    take_actions(host);
    if (host->asked > 0 && (!is_busy || draw_below(draw, 2) == 0))
        answer(host);
    int64_t deadline_ns = bk_agent_deadline(host->agent);
    if (!is_busy && host->asked == 0 && deadline_ns != INT64_MAX && deadline_ns > host->now_ns)
        host->now_ns = deadline_ns;
    assert_int_equal(bk_agent_tick(host->agent, host->now_ns), BK_OK);
    take_actions(host);
    /* Each operation under way has sent a request, or sleeps. */
    assert_true(host->begun == 0 || host->asked > 0 || bk_agent_deadline(host->agent) != INT64_MAX);
}

static void test_all_operations_end_whatever_the_host_reports(void **state)
{
    (void)state;
    for (uint64_t run = 0; run < RUNS; run++) {
        struct host host = {.draw = {run}, .now_ns = 1000};
        host.is_wild = draw_below(&host.draw, 2) == 0;
        host.config = draw_config(&host);
        host.agent = make_agent(&host.config);
        for (int i = 0; i < BUSY_STEPS; i++)
            step(&host, true);
        for (int i = 0; host.begun > 0; i++) {
            assert_true(i < STEPS_MAX);
            step(&host, false);
        }
        free(host.agent);
    }
}

/* One step of an agent with any operations under way. */
static void stumble(struct host *host)
{
    struct bk_action action;
    uint32_t operation = (uint32_t)draw_below(&host->draw, host->config.operations);
    host->now_ns = host->is_wild && draw_below(&host->draw, 20) == 0 ? draw_time(&host->draw)
                   : host->now_ns < INT64_MAX - 100                  ? host->now_ns + 10
                                                                     : host->now_ns;
    for (int i = 0; i < 100 && bk_agent_next(host->agent, &action); i++) {
        assert_true(action.operation < host->config.operations);
        host->under_way[action.operation] = action.ticket;
    }
    struct bk_outcome outcome = draw_outcome(host);
    bk_agent_report(host->agent, host->now_ns, host->under_way[operation], &outcome);
    bk_agent_tick(host->agent, host->now_ns);
    if (draw_below(&host->draw, 2) == 0) {
        struct bk_row row = {host->now_ns, draw_size(&host->draw), draw_bits(&host->draw), 1};
        bk_agent_write(host->agent, host->now_ns, draw_below(&host->draw, KEYS), &row, &operation);
    }
}

/* Alters a few bytes of the agent's checkpoint. Returns whether the result is accepted as a state. */
static bool alter(struct host *host)
{
    struct draw *draw = &host->draw;
    size_t size = bk_agent_size(&host->config), state_size = bk_agent_state_size(host->agent);
    unsigned char *state = malloc(state_size);
    void *memory = malloc(size);
    assert_true(state != NULL && memory != NULL);
    assert_int_equal(bk_agent_save(host->agent, state, state_size), BK_OK);
    for (uint64_t left = 1 + draw_below(draw, 3); left > 0; left--)
        state[draw_below(draw, state_size)] =
            (unsigned char)(draw_below(draw, 2) == 0 ? draw_bits(draw) : draw_below(draw, 2) * 255);
    size_t cut = draw_below(draw, 20) == 0 ? draw_below(draw, state_size) : state_size;
    struct bk_agent *loaded;
    enum bk_status status = bk_agent_load(memory, size, &host->config, state, cut, &loaded);
    assert_true(status == BK_OK || (status == BK_ERROR_CHECKPOINT && loaded == NULL));
    assert_true(cut == state_size || status != BK_OK);
    free(state);
    free(host->agent);
    host->agent = memory;
    return status == BK_OK;
}

static void test_no_altered_checkpoint_does_harm(void **state)
{
    (void)state;
    int taken = 0;
    for (uint64_t run = 0; run < RUNS; run++) {
        struct host host = {.draw = {run}, .now_ns = 1000};
        host.is_wild = draw_below(&host.draw, 2) == 0;
        host.config = draw_config(&host);
        host.agent = make_agent(&host.config);
        for (uint64_t left = draw_below(&host.draw, 100); left > 0; left--)
            step(&host, true);
        if (alter(&host)) {
            taken++;
            for (int i = 0; i < 300; i++)
                stumble(&host);
        }
        free(host.agent);
    }
    assert_true(taken > RUNS / 20 && taken < RUNS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_operations_end_whatever_the_host_reports),
        cmocka_unit_test(test_no_altered_checkpoint_does_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
