/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cases of identifiers: a client whose host answers almost anything. */

#include "vectors.h"

static const char *const actions[] = {"WRITE_COLUMN", "READ_COLUMNS", "DELETE_COLUMNS",
                                      "CAS_LOCK",     "READ_LAST",    "WRITE_LAST",
                                      "CAS_LAST",     "READY",        "FAILED"};
static const char *const outcomes[] = {"UNKNOWN", "APPLIED", "NOT_APPLIED", "REFUSED"};

struct client {
    FILE *out;
    struct draw *draw;
    struct bk_idgen idgen;
    struct bk_idgen_config config;
    struct bk_idgen_column own; /* as it was written last */
    struct bk_idgen_action waiting;
    bool is_waiting;
    int64_t now_ns, last, lock[2];
    bool has_last, has_lock, is_contested; /* another client is faster each time */
};

static void write_columns(FILE *out, const struct bk_idgen_column *columns, size_t count)
{
    fputs(",\"columns\":[", out);
    for (size_t i = 0; i < count; i++) {
        fputs(i > 0 ? ",[" : "[", out);
        vectors_unsigned_number(out, columns[i].client);
        fputs(",", out);
        vectors_number(out, columns[i].until_ns);
        fputs("]", out);
    }
    fputs("]", out);
}

static void end_event(struct client *client)
{
    struct bk_idgen_action action;
    FILE *out = client->out;
    const char *before = ",\"actions\":[";
    bool any = false;
    for (; bk_idgen_next(&client->idgen, &action); any = true, before = ",") {
        fprintf(out, "%s{\"kind\":\"%s\"", before, actions[action.kind]);
        vectors_unsigned(out, "stripe", action.stripe);
        if (action.column_count > 0) {
            write_columns(out, action.columns, action.column_count);
            client->own = action.columns[0];
        }
        vectors_member(out, "if_absent", action.if_absent);
        if (action.expected[0] != 0 || action.expected[1] != 0)
            vectors_array(out, "expected", action.expected, 2);
        if (action.set[0] != 0 || action.set[1] != 0)
            vectors_array(out, "set", action.set, 2);
        vectors_member(out, "is_retry", action.is_retry);
        vectors_text(out, "status", action.status == BK_OK ? NULL : vectors_status(action.status));
        fputs("}", out);
        client->waiting = action;
        client->is_waiting = action.kind != BK_IDGEN_READY && action.kind != BK_IDGEN_FAILED;
    }
    fputs(any ? "]" : "", out);
    if (bk_idgen_deadline(&client->idgen) != INT64_MAX)
        vectors_member(out, "deadline", bk_idgen_deadline(&client->idgen));
    fputs("}", out);
}

static void begin_event(struct client *client, const char *name)
{
    fprintf(client->out, ",{\"event\":\"%s\"", name);
    vectors_member(client->out, "now", client->now_ns);
}

static void take(struct client *client)
{
    int64_t id;
    begin_event(client, "take");
    enum bk_status status = bk_idgen_take(&client->idgen, client->now_ns, &id);
    vectors_text(client->out, "status", status == BK_OK ? NULL : vectors_status(status));
    vectors_member(client->out, "id", id);
    end_event(client);
}

static size_t draw_columns(struct client *client, struct bk_idgen_column *columns)
{
    struct draw *draw = client->draw;
    size_t count = 0;
    bool is_own =
        !one_in(draw, 8); /* otherwise there is none, or an older one of a clock that was set back */
    if (is_own || one_in(draw, 2))
        columns[count++] = (struct bk_idgen_column){client->own.client, client->own.until_ns + !is_own};
    for (uint64_t i = one_in(draw, 3) ? draw_below(draw, 10) : 0; i > 0; i--)
        columns[count++] = (struct bk_idgen_column){5 + i, client->now_ns + draw_span(draw, 600) - 500};
    return count;
}

static struct bk_idgen_outcome perform(struct client *client, struct bk_idgen_column *columns)
{
    const struct bk_idgen_action *action = &client->waiting;
    struct bk_idgen_outcome outcome = {.kind = BK_IDGEN_APPLIED, .columns = columns};
    bool is_last = action->kind == BK_IDGEN_CAS_LAST;
    int64_t *row = is_last ? &client->last : client->lock;
    bool *exists = is_last ? &client->has_last : &client->has_lock;
    switch (action->kind) {
    case BK_IDGEN_READ_COLUMNS:
        outcome.column_count = draw_columns(client, columns);
        break;
    case BK_IDGEN_READ_LAST:
        outcome.found = client->has_last;
        outcome.values[0] = client->last;
        break;
    case BK_IDGEN_WRITE_LAST:
        client->last = action->set[0];
        client->has_last = true;
        break;
    case BK_IDGEN_CAS_LOCK:
    case BK_IDGEN_CAS_LAST:
        if (action->if_absent ? *exists : !*exists || memcmp(row, action->expected, is_last ? 8 : 16) != 0) {
            outcome.kind = BK_IDGEN_NOT_APPLIED;
            outcome.found = *exists;
            memcpy(outcome.values, row, is_last ? 8 : 16);
            break;
        }
        memcpy(row, action->set, is_last ? 8 : 16);
        *exists = true;
        break;
    default:
        break;
    }
    return outcome;
}

/* Changes by other clients, and changes that no client has made. */
static void interfere(struct client *client, uint64_t which)
{
    struct draw *draw = client->draw;
    switch (which) {
    case 0:
        client->has_lock = true;
        client->lock[0] = (int64_t)draw_below(draw, 4);
        client->lock[1] = client->now_ns + draw_span(draw, 400) - (client->is_contested ? 400 : 300);
        break;
    case 1:
        client->has_last = true;
        client->last = (int64_t)((uint64_t)client->last + client->config.stripes * draw_below(draw, 9));
        break;
    case 2:
        client->has_last = !one_in(draw, 3);
        break;
    default:
        if (one_in(draw, 3))
            client->last = draw_time(draw);
        else if (one_in(draw, 3))
            client->last = INT64_MAX - (int64_t)draw_below(draw, 9);
    }
}

static void tell_outcome(struct client *client)
{
    struct bk_idgen_column columns[16];
    struct bk_idgen_outcome outcome = {.kind = BK_IDGEN_UNKNOWN};
    if (!client->is_waiting)
        return;
    bool is_lock = client->waiting.kind == BK_IDGEN_CAS_LOCK,
         is_last = client->waiting.kind == BK_IDGEN_CAS_LAST;
    if ((is_lock || is_last) && client->is_contested)
        interfere(client, is_last);
    else if (one_in(client->draw, 6))
        interfere(client, draw_below(client->draw, 4));
    uint64_t fate = client->is_contested ? 16 : draw_below(client->draw, 16);
    if (fate < 2)
        outcome.kind = fate == 0 ? BK_IDGEN_REFUSED : BK_IDGEN_UNKNOWN;
    else if (fate == 2)
        perform(client, columns);
    else if (fate == 3)
        outcome = (struct bk_idgen_outcome){.kind = BK_IDGEN_NOT_APPLIED, .found = one_in(client->draw, 2)};
    else
        outcome = perform(client, columns);
    client->is_waiting = false;
    begin_event(client, "outcome");
    vectors_text(client->out, "outcome", outcomes[outcome.kind]);
    vectors_member(client->out, "found", outcome.found);
    if (outcome.values[0] != 0 || outcome.values[1] != 0)
        vectors_array(client->out, "values", outcome.values, 2);
    if (outcome.column_count > 0)
        write_columns(client->out, columns, outcome.column_count);
    bk_idgen_report(&client->idgen, client->now_ns, client->waiting.ticket, &outcome);
    end_event(client);
}

static void tick(struct client *client)
{
    int64_t deadline_ns = bk_idgen_deadline(&client->idgen);
    if (deadline_ns != INT64_MAX && deadline_ns > client->now_ns && !one_in(client->draw, 8))
        client->now_ns = deadline_ns;
    begin_event(client, "tick");
    bk_idgen_tick(&client->idgen, client->now_ns);
    end_event(client);
}

static struct bk_idgen_config draw_config(struct draw *draw, int which)
{
    struct bk_idgen_config config = {.lock = (enum bk_idgen_lock)which};
    config.client_id = 1 + draw_below(draw, 3);
    config.batch = 1 + (uint32_t)draw_below(draw, 4);
    config.stripes = 1 + (uint32_t)draw_below(draw, 3);
    config.choice = (enum bk_idgen_choice)draw_below(draw, 3);
    config.lock_lasts_ns = 200 + draw_span(draw, 200);
    config.lease_ns = draw_some(draw, 150);
    config.backoff = (enum bk_idgen_backoff)draw_below(draw, 3);
    config.backoff_base_ns = draw_some(draw, 40);
    config.attempts = (uint32_t)draw_below(draw, 5);
    config.retries = (uint32_t)draw_below(draw, 3);
    config.stripe = 1 + (uint32_t)draw_below(draw, config.stripes);
    if (config.backoff == BK_IDGEN_EXPONENTIAL && one_in(draw, 2))
        config.backoff_cap_ns = config.backoff_base_ns + draw_span(draw, 90);
    if (one_in(draw, 2))
        config.backoff_limit_ns = config.backoff_base_ns + draw_span(draw, 90);
    return config;
}

void vectors_idgen(FILE *out, struct draw *draw, int which)
{
    struct client client = {.out = out, .draw = draw, .now_ns = 1000000};
    client.is_contested = one_in(draw, 12);
    const struct bk_idgen_config config = client.config = draw_config(draw, which);
    if (bk_idgen_init(&config, &client.idgen) != BK_OK)
        abort();
    static const char *const choices[] = {"FIXED", "ROTATE", "RANDOM"}, *const locks[] = {"COLUMNS", "LWT"},
                             *const backoffs[] = {"CONSTANT", "EXPONENTIAL", "RANDOM_TIMES"};
    fprintf(out, "{\"config\":{\"choice\":\"%s\"", choices[config.choice]);
    vectors_text(out, "lock", locks[config.lock]);
    vectors_text(out, "backoff", backoffs[config.backoff]);
#define MEMBER(name) vectors_member(out, #name, (int64_t)config.name)
    MEMBER(client_id);
    MEMBER(batch);
    MEMBER(stripes);
    MEMBER(stripe);
    MEMBER(lock_lasts_ns);
    MEMBER(lease_ns);
    MEMBER(backoff_base_ns);
    MEMBER(backoff_cap_ns);
    MEMBER(backoff_limit_ns);
    MEMBER(attempts);
    MEMBER(retries);
#undef MEMBER
    fputs("},\"events\":[{\"event\":\"none\"}", out);
    for (int i = 0; i < 40; i++) {
        client.now_ns += draw_span(draw, 20);
        uint64_t next = draw_below(draw, 8);
        if (next < 2)
            take(&client);
        else if (next == 2)
            tick(&client);
        else
            tell_outcome(&client);
    }
    fputs("]}", out);
}
