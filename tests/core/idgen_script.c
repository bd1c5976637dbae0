/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs the scripts of clients of leased identifiers (script.h). Client 7 takes batches of 3 identifiers in
 * leases of 50, under locks of 100, and backs off for 10.
 *
 *     client lwt rotate stripes=5 stripe=4   with these settings
 *     1000 take 0: write 7:1100              the identifier that it hands out; 0: none
 *     1001 done: read all                    also refused, unknown, nothing, last 3, columns 7:1100 8:1000,
 *                                            columns none, not applied, 8 1500, not applied, absent
 *     1012 tick: until 1013                  the deadline is after the actions
 *     1014 in hand: 2                        the number of identifiers */
#include "bucketing/idgen.h"
#include "script.h"

struct client {
    struct bk_idgen idgen;
    struct bk_idgen_config config;
    uint64_t ticket; /* of the action whose outcome is due */
    bool is_reloaded;
};

static void say_columns(struct said *said, const struct bk_idgen_action *action)
{
    for (uint32_t i = 0; i < action->column_count; i++)
        say(said, " %llu:%lld", (unsigned long long)action->columns[i].client,
            (long long)action->columns[i].until_ns);
}

static void say_cas(struct said *said, const struct bk_idgen_action *action, int values)
{
    say(said, action->if_absent ? " if absent" : " if");
    for (int i = 0; i < values && !action->if_absent; i++)
        say(said, " %lld", (long long)action->expected[i]);
    say(said, " then");
    for (int i = 0; i < values; i++)
        say(said, " %lld", (long long)action->set[i]);
}

static void say_action(struct said *said, bool has_stripes, const struct bk_idgen_action *action)
{
    static const char *const names[] = {"write", "read all", "delete", "lock",  "read last",
                                        "store", "store",    "ready",  "failed"};
    say(said, "%s%s%s", said->length > 0 ? ", " : "", names[action->kind], action->is_retry ? " again" : "");
    if (has_stripes)
        say(said, " at %u", action->stripe);
    say_columns(said, action);
    if (action->kind == BK_IDGEN_WRITE_LAST)
        say(said, " %lld", (long long)action->set[0]);
    if (action->kind == BK_IDGEN_CAS_LOCK || action->kind == BK_IDGEN_CAS_LAST)
        say_cas(said, action, action->kind == BK_IDGEN_CAS_LOCK ? 2 : 1);
    if (action->kind == BK_IDGEN_FAILED)
        say(said, ": %s", bk_status_text(action->status));
}

/* Says what the client does now, and moves it, or restores it from its checkpoint. */
static void say_actions(struct client *client, struct said *said)
{
    struct bk_idgen_action action;
    while (bk_idgen_next(&client->idgen, &action)) {
        client->ticket = action.ticket != 0 ? action.ticket : client->ticket;
        say_action(said, client->config.stripes > 1, &action);
    }
    int64_t deadline_ns = bk_idgen_deadline(&client->idgen);
    if (deadline_ns != INT64_MAX)
        say(said, "%suntil %lld", said->length > 0 ? ", " : "", (long long)deadline_ns);
    if (!client->is_reloaded)
        return;
    char state[1024];
    size_t size = bk_idgen_state_size(&client->idgen);
    assert_in_range(size, 1, sizeof state);
    assert_int_equal(bk_idgen_save(&client->idgen, state, size), BK_OK);
    memset(&client->idgen, 0xa5, sizeof client->idgen);
    assert_int_equal(bk_idgen_load(&client->config, state, size, &client->idgen), BK_OK);
}

static bool read_config(const char **line, struct bk_idgen_config *config)
{
#define SETTING(member)                                                                                      \
    {                                                                                                        \
#member, offsetof(struct bk_idgen_config, member), sizeof config->member                             \
    }
    static const struct script_setting settings[] = {SETTING(stripes), SETTING(stripe), SETTING(attempts)};
    *config = (struct bk_idgen_config){.client_id = 7,
                                       .batch = 3,
                                       .stripes = 1,
                                       .stripe = 1,
                                       .lock_lasts_ns = 100,
                                       .lease_ns = 50,
                                       .backoff_base_ns = 10,
                                       .retries = 1};
    while (skip_word(line, " ")) {
        if (skip_word(line, "lwt"))
            config->lock = BK_IDGEN_LOCK_LWT;
        else if (skip_word(line, "rotate"))
            config->choice = BK_IDGEN_ROTATE;
        else if (!skip_setting(line, settings, sizeof settings / sizeof *settings, config))
            return false;
    }
    return **line == '\0';
}

/* Reads "columns 7:1100 8:1000". */
static bool read_columns(const char **line, struct bk_idgen_column *columns, size_t most, size_t *count)
{
    int64_t client, until_ns;
    for (*count = 0; *count < most && skip_word(line, " "); ++*count) {
        if (!skip_number(line, &client) || !skip_word(line, ":") || !skip_number(line, &until_ns))
            return skip_word(line, "none");
        columns[*count] = (struct bk_idgen_column){(uint64_t)client, until_ns};
    }
    return true;
}

static bool read_outcome(const char **line, struct bk_idgen_outcome *outcome, struct bk_idgen_column *columns,
                         size_t most)
{
    outcome->kind = BK_IDGEN_APPLIED;
    outcome->columns = columns;
    if (skip_word(line, "done") || skip_word(line, "nothing"))
        return true;
    if (skip_word(line, "columns"))
        return read_columns(line, columns, most, &outcome->column_count);
    if (skip_word(line, "last ")) {
        outcome->found = true;
        return skip_number(line, &outcome->values[0]);
    }
    outcome->kind = BK_IDGEN_UNKNOWN;
    if (skip_word(line, "unknown"))
        return true;
    outcome->kind = BK_IDGEN_REFUSED;
    if (skip_word(line, "refused"))
        return true;
    outcome->kind = BK_IDGEN_NOT_APPLIED;
    if (!skip_word(line, "not applied, ") || skip_word(line, "absent"))
        return **line == '\0';
    outcome->found = true;
    return skip_number(line, &outcome->values[0]) && skip_word(line, " ") &&
           skip_number(line, &outcome->values[1]);
}

static bool run(void *of, const char *line, struct said *said)
{
    struct client *client = of;
    struct bk_idgen_column columns[16];
    struct bk_idgen_outcome outcome = {.column_count = 0};
    int64_t now_ns, id, expected;
    if (skip_word(&line, "client"))
        return read_config(&line, &client->config) && bk_idgen_init(&client->config, &client->idgen) == BK_OK;
    if (!skip_number(&line, &now_ns) || !skip_word(&line, " "))
        return false;
    if (skip_word(&line, "in hand")) {
        say(said, "%llu", (unsigned long long)bk_idgen_in_hand(&client->idgen));
        return true;
    }
    if (skip_word(&line, "take ")) {
        enum bk_status status = bk_idgen_take(&client->idgen, now_ns, &id);
        assert_int_equal(status, id == 0 ? BK_ERROR_EMPTY : BK_OK);
        if (!skip_number(&line, &expected) || id != expected)
            say(said, "not %lld", (long long)id);
    } else if (skip_word(&line, "tick")) {
        assert_int_equal(bk_idgen_tick(&client->idgen, now_ns), BK_OK);
    } else if (read_outcome(&line, &outcome, columns, sizeof columns / sizeof *columns)) {
        assert_int_equal(bk_idgen_report(&client->idgen, now_ns, client->ticket, &outcome), BK_OK);
    } else {
        return false;
    }
    say_actions(client, said);
    return *line == '\0';
}

static void *begin(bool is_reloaded)
{
    struct client *client = calloc(1, sizeof *client);
    assert_non_null(client);
    client->is_reloaded = is_reloaded;
    return client;
}

/* A client may end with a request or a wait: it is a case of a lease, not of all leases. */
static void end(void *of, struct said *said)
{
    (void)said;
    free(of);
}

const struct script_machine idgen_scripts = {"client", begin, run, end};
