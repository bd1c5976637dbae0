/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: answers that come late, twice, out of order, without an outcome set, or from another agent's requests
 * neither lose a row nor acknowledge one that is not stored. Method: two threads with an agent each share a
 * store and post each answer to both agents' mailboxes, some of them several times; each thread takes letters
 * from its mailbox in a drawn order. Exactly one letter of each action is accepted. The test runs under the
 * thread and the address sanitizer too. */
#include <pthread.h>

#include "../share.h"
#include "agent_host.h"
#include "draw.h"

#define KEYS    16
#define LETTERS 64
#define ROWS    UINT64_C(500000) /* of each agent */

struct letter {
    uint64_t ticket;
    struct bk_outcome outcome;
};

struct mailbox {
    struct letter letters[LETTERS];
    size_t count;
};

/* What both threads use, under the lock. */
struct office {
    pthread_mutex_t lock;
    struct bk_outcome states[KEYS];
    int64_t *stored; /* by the row's id: its bucket + 1 */
    struct mailbox mailboxes[2];
};

struct clerk {
    struct office *office;
    struct draw draw;
    struct bk_agent *agent;
    unsigned number;
    uint64_t rows, begun, asked, accepted, refused, acknowledged, ended, lost;
};

/* The store: each action takes effect as soon as it is asked. */
static struct bk_outcome perform(struct office *office, const struct bk_action *action)
{
    struct bk_outcome *state = &office->states[action->key];
    struct bk_outcome outcome = {.kind = BK_OUTCOME_APPLIED};
    if (action->kind == BK_ACT_READ_STATE) {
        outcome.mask = state->mask;
        memcpy(outcome.columns, state->columns, sizeof outcome.columns);
    } else if (action->kind == BK_ACT_WRITE_STATE) {
        state->mask |= action->mask;
        for (unsigned i = 0; i < BK_COLUMNS; i++)
            state->columns[i] = action->mask >> i & 1 ? action->columns[i] : state->columns[i];
    } else if (action->kind == BK_ACT_PUT_ROW) {
        office->stored[action->row.sequence] = action->bucket + 1;
    }
    return outcome;
}

static void post(struct mailbox *mailbox, uint64_t ticket, const struct bk_outcome *outcome)
{
    assert_true(mailbox->count < LETTERS);
    mailbox->letters[mailbox->count++] = (struct letter){ticket, *outcome};
}

static void ask(struct clerk *clerk, const struct bk_action *action)
{
    struct office *office = clerk->office;
    clerk->asked++;
    pthread_mutex_lock(&office->lock);
    struct bk_outcome outcome = perform(office, action);
    if (draw_below(&clerk->draw, 50) == 0)
        outcome = (struct bk_outcome){.rows = 0}; /* it took effect, and its host forgot to say so */
    struct mailbox *own = &office->mailboxes[clerk->number], *other = &office->mailboxes[!clerk->number];
    post(own, action->ticket, &outcome);
    for (uint64_t again = draw_below(&clerk->draw, 3); again > 0; again--)
        if (own->count < LETTERS / 2)
            post(own, action->ticket, &outcome);
    if (other->count < LETTERS / 2)
        post(other, action->ticket, &outcome);
    pthread_mutex_unlock(&office->lock);
}

static void take_actions(struct clerk *clerk)
{
    struct bk_action action;
    while (bk_agent_next(clerk->agent, &action)) {
        if (action.kind == BK_ACT_ACK) {
            clerk->acknowledged++;
            pthread_mutex_lock(&clerk->office->lock);
            clerk->lost += clerk->office->stored[action.row.sequence] != action.bucket + 1;
            pthread_mutex_unlock(&clerk->office->lock);
        } else if (action.kind == BK_ACT_DONE) {
            clerk->ended++;
        } else {
            ask(clerk, &action);
        }
    }
}

static bool take_letter(struct clerk *clerk, struct letter *letter)
{
    struct mailbox *mailbox = &clerk->office->mailboxes[clerk->number];
    pthread_mutex_lock(&clerk->office->lock);
    bool is_any = mailbox->count > 0;
    if (is_any) {
        size_t at = (size_t)draw_below(&clerk->draw, mailbox->count);
        *letter = mailbox->letters[at];
        mailbox->letters[at] = mailbox->letters[--mailbox->count];
    }
    pthread_mutex_unlock(&clerk->office->lock);
    return is_any;
}

static void *work(void *of)
{
    struct clerk *clerk = of;
    struct letter letter;
    for (int64_t now_ns = 1; clerk->ended < clerk->rows; now_ns++) {
        uint32_t operation;
        uint64_t id = clerk->begun * 2 + clerk->number;
        const struct bk_row row = {now_ns, id, draw_bits(&clerk->draw), 1};
        if (clerk->begun < clerk->rows &&
            bk_agent_write(clerk->agent, now_ns, id % KEYS, &row, &operation) == BK_OK)
            clerk->begun++;
        bk_agent_tick(clerk->agent, now_ns);
        take_actions(clerk);
        if (!take_letter(clerk, &letter))
            continue;
        enum bk_status status = bk_agent_report(clerk->agent, now_ns, letter.ticket, &letter.outcome);
        clerk->accepted += status == BK_OK;
        clerk->refused += status == BK_ERROR_OPERATION;
        take_actions(clerk);
    }
    return NULL;
}

static void test_a_late_a_doubled_and_a_foreign_answer_change_nothing(void **state)
{
    (void)state;
    const uint64_t rows = test_part(ROWS);
    static struct office office = {.lock = PTHREAD_MUTEX_INITIALIZER};
    office.stored = calloc((size_t)rows * 2, sizeof *office.stored);
    assert_non_null(office.stored);
    struct clerk clerks[2];
    pthread_t threads[2];
    for (unsigned i = 0; i < 2; i++) {
        struct bk_agent_config config = small_config(BK_SINGLE, BK_COUNTER_RMW);
        config.agent_id = i + 1;
        config.operations = 4;
        config.cache_entries = KEYS;
        clerks[i] = (struct clerk){.office = &office, .draw = {.state = i}, .number = i, .rows = rows};
        clerks[i].agent = make_agent(&config);
    }
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, &clerks[i]), 0);
    for (unsigned i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    for (unsigned i = 0; i < 2; i++) {
        const struct clerk *clerk = &clerks[i];
        assert_int_equal(clerk->accepted, clerk->asked);
        assert_true(clerk->refused > clerk->asked / 2);
        assert_true(clerk->acknowledged > rows * 9 / 10 && clerk->acknowledged <= rows);
        assert_int_equal(clerk->lost, 0);
        free(clerks[i].agent);
    }
    free(office.stored);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_late_a_doubled_and_a_foreign_answer_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
