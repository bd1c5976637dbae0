/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Judges of the engine and of the core's agents: second implementations of what follows from a scenario and
 * from the outcomes that an agent got, step by step and field by field. They are one more observer of a run
 * (events.h), which a test program adds to the table, and report through the oracle `available`, with no
 * excuse: their sentences begin with "judge: ". A history, whose events were recorded elsewhere, is not
 * judged. */
#ifndef TESTS_LAB_JUDGES_H
#define TESTS_LAB_JUDGES_H

#include "bucketing/idgen.h"
#include "cluster_view.h"
#include "events.h"
#include "idgen.h"
#include "lab/tally.h"
#include "oracles.h"

/* --- What the judges remember. */

/* The state of an operation of `locked` with respect to its key's lock. */
enum lab_lock_step {
    LAB_LOCK_NONE,
    LAB_LOCK_ASKED,    /* it has requested the lock, and was not told that it has it */
    LAB_LOCK_HELD,     /* it has the lock, and has not read the state since */
    LAB_LOCK_READ,     /* it knows the state under the lock */
    LAB_LOCK_RETURNED, /* it has requested the release of the lock */
};
struct lab_lock_use {
    enum lab_lock_step step;
    uint32_t if_mask;     /* if_mask of its last CAS_LOCK */
    uint32_t failed;      /* failed tries in a row */
    uint32_t held, raced; /* denials: held: another agent held the lock; raced: it was free, but another agent
                             was faster */
    int64_t expected[2];  /* expected values of its last CAS_LOCK */
    int64_t until_ns;     /* end of the lock that it last requested */
    int64_t clock_ns;     /* the agent's clock when the operation got its last outcome */
};

/* A read (reads.c). */
struct lab_walk {
    int64_t now_ns, birth_ns;  /* now_ns and birth_ns of its query */
    int64_t top;               /* the first bucket that it queried */
    uint64_t width;            /* number of buckets of the current step */
    uint64_t rows, partitions; /* sums over the steps that were answered */
    bool is_overtaken;         /* its agent stored a row of the key while an answer was pending */
};

/* An operation of an agent. */
struct judged_operation {
    bool is_awaited; /* it has begun, or got an outcome, and has not acted since */
    bool is_parked;
    bool older_told;    /* a reply to the current action named rows older than its range */
    bool is_state_told; /* the state row existed when it was read to count the row */
    bool is_start_kept; /* it has stored the start of the bucket that its roll removes from the state */
    uint32_t failures;  /* number of its requests that failed so far */
    uint32_t tried;     /* number of failed tries of the current action */
    uint32_t answers;   /* to the requests of the current action */
    uint32_t lost;      /* conditional updates that lost to another one, since it began or was counted */
    uint32_t unknown_updates; /* conditional updates that count the row and have an unknown outcome */
    int64_t came_ns;          /* when its only answer came during a pause; 0: it did not */
    int64_t hold_ns;          /* the end of that pause, as it was known then */
    uint64_t rows_told;       /* rows of the replies to the current action */
    int64_t state_told[BK_COLUMNS];
    struct lab_lock_use lock;
    struct lab_walk walk;
};

/* The last request for a key's state to which the agent has got an answer (copies.c). */
#define LAB_COPIES 16u
struct lab_copy {
    bool is_known;
    bool is_kept; /* the agent's cache has the copy that was requested at kept_ns, or a newer one */
    uint32_t key;
    int64_t asked_ns, kept_ns;
    int64_t bucket; /* the highest one that the agent has learned */
};

struct judged_agent {
    uint32_t parked;       /* operations */
    int64_t held_until_ns; /* the latest end of its pauses */
    int64_t jumped_ns;     /* when its clock last jumped */
    int64_t disturbed_ns;  /* when its clock last jumped, or its last pause ended, whichever is later */
    int64_t deployed_ns;   /* when it got its current settings */
    struct lab_copy copies[LAB_COPIES];
    uint64_t *uncounted; /* steps.c, by key: rows since the last count or, for BK_SOURCE_MEMORY, the rows of
                            the last count; NULL: none yet */
    struct {
        bool is_known;
        uint32_t key;
        int64_t bucket;
    } stored; /* reads.c: the partition of its last stored row, until it is read */
    struct {
        bool is_unknown; /* it is not known which empty windows the agent remembers */
        struct lab_tuples
            windows; /* windows found empty: key and bucket, and whether reads may still skip them */
    } empties;       /* not used by agents that do not remember empty windows */
};

/* What the host of an agent should do (host.c, settings.c). */
struct lab_host_record {
    double offset_ns, drift; /* of its clock */
    int64_t jumps_ns;        /* the sum of its clock's jumps */
    bool is_exact;           /* its clock shows the true time, apart from jumps */
    bool is_jump_wide;       /* too wide to be judged */
    bool is_kept;            /* its crash declares a checkpoint */
    bool is_unsure;          /* it crashed at the moment at which another crash ended */
    bool has_checkpoint;     /* one was saved */
    bool has_memory;         /* it began from a checkpoint */
    int64_t down_until_ns;
    uint64_t heard;               /* number of the event that it handled in its pause; 0: none */
    uint32_t era_count, next_era; /* next_era: the next one to be deployed */
    struct {
        uint32_t era; /* 0: the settings of the strategy; n: its n-th change */
        int64_t from_ns;
    } eras[BK_ERAS_MAX];
};

/* A client of identifiers since its last restart (clients.c). */
struct lab_id_watch {
    int64_t heard_ns; /* true time when it got its last outcome, or began */
    int64_t clock_ns; /* the same by its own clock */
    int64_t until_ns,
        begun_ns;          /* its last attempt at a lock: the end of the lock, and its clock when it began */
    int64_t came_ns;       /* when the answer to its request came during a pause; 0: it did not */
    int64_t hold_ns;       /* the end of that pause, as it was known then */
    int64_t first_wait_ns; /* first wait number of attempts of this lease; 0: not known */
    enum bk_idgen_outcome_kind outcome;
    uint32_t failed;   /* consecutive failed tries of its last request */
    uint32_t attempts; /* of this lease */
    bool owes;         /* it has requested a lock, and not its release */
    bool is_holder, is_releasing;
    bool is_blurred;      /* it was paused, or its clock jumped, when the attempt began */
    bool is_late;         /* its batch was acknowledged after the end of its lease */
    bool is_found;        /* the last identifier exists, as reported to it */
    bool has_batch;       /* it has a batch, and has not handed out all of it */
    int64_t last;         /* the last identifier, as reported to it */
    int64_t next, stored; /* the identifier to hand out next, and the last one of its batch */
};

/* The current bucket of a key according to an agent. */
struct lab_known_bucket {
    bool is_known;
    int64_t bucket;
};

struct judge {
    struct judged_operation *operations; /* of all agents, as run->operations */
    struct judged_agent *agents;
    struct lab_host_record *records; /* by agent */
    struct lab_id_watch *clients;    /* of a run of identifiers, which has only these and agents */
    uint64_t *draws;                 /* by key: the seed of the draws of its agents */
    int64_t *born_ns;                /* by key: the earliest time of a row */
    uint64_t *acknowledged;          /* by key: rows */
    int64_t *due_ns;                 /* by slot of the delete: when it is repeated, or given up */
    size_t due_count;
    struct lab_backup *backups;    /* by fault of the scenario */
    struct lab_known_bucket known; /* before the agent gets the outcome */
    struct judge_waits {
        uint64_t seen;                  /* bits by agent and try */
        uint32_t least_ppm, most_ppm;   /* relative to their means */
    } waits;                            /* those observed so far, which are drawn at random around a mean */
    uint64_t requests[BK_ACT_DONE + 1]; /* by kind of action */
    uint64_t spent_ns[LAB_LATENCY_COUNT], spent[LAB_LATENCY_COUNT]; /* by kind of latency */
    uint64_t fault_changes;                                         /* changes of active faults */
    uint64_t paxos_kept; /* what must be left by the loss of Paxos state that begins */
    uint64_t uncounted;  /* acknowledged rows that fired, and whose increment is unresolved */
    uint32_t agent_count;
};

/* The table's row, and the judges' own view of a run. */
extern const struct cluster_observer cluster_judges;
static inline struct judge *judge_of(const struct lab_cluster_run *run)
{
    for (uint32_t i = 0; i < run->listener_count; i++) {
        if (run->listeners[i].observer == &cluster_judges)
            return run->listeners[i].state;
    }
    return NULL;
}
/* How much later than requested the host may wake the agent after a wait of wait_ns, at most. */
static inline int64_t late_most_ns(const struct lab_cluster_run *run, uint32_t agent, int64_t wait_ns)
{
    const struct lab_host_agent *host = &run->agents[agent];
    int64_t step_ns = run->scenario->agents.clock_resolution_ns;
    double drift = (double)(host->drift_ppb < 0 ? -host->drift_ppb : host->drift_ppb) / 1e9;
    return step_ns + 2 + (int64_t)(drift * (double)lab_until(wait_ns, step_ns));
}
static inline struct judged_operation *own(const struct lab_cluster_run *run,
                                           const struct lab_host_operation *operation)
{
    return &judge_of(run)->operations[operation - run->operations];
}
static inline struct judged_agent *of_agent(const struct lab_cluster_run *run, uint32_t agent)
{
    return &judge_of(run)->agents[agent];
}
void judge_violate(struct lab_cluster_run *run, uint32_t key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A row or a read, or a request of one, took from since_ns until now; returns how long. */
static inline int64_t lab_request_spent(struct lab_cluster_run *run, enum lab_latency kind, int64_t since_ns)
{
    int64_t spent_ns = sim_queue_now(&run->queue) - since_ns;
    judge_of(run)->spent_ns[kind] += (uint64_t)spent_ns;
    judge_of(run)->spent[kind]++;
    return spent_ns;
}

/* --- steps.c */
/* Returns a mask of the conditions under which a committed state may be lost, so that two grants of the same
 * bucket may have different starts. */
uint32_t lab_may_go_back(const struct lab_cluster_run *run);
/* Judges whether an operation repeats a failed request as often as it should. `is_again`: `next` repeats it.
 * Call this before operation->tried is updated. */
void lab_steps_tried(struct lab_cluster_run *run, uint32_t agent, struct lab_host_operation *operation,
                     const struct bk_action *next, bool is_again);
/* The operation of a row has ended. */
void lab_steps_ended(struct lab_cluster_run *run, const struct lab_host_operation *operation,
                     enum bk_operation_status status);
void lab_route_acted(struct lab_cluster_run *run, uint32_t agent, const struct lab_host_operation *operation,
                     const struct bk_action *next);
void lab_reads_acted(struct lab_cluster_run *run, uint32_t agent, struct lab_host_operation *operation,
                     const struct bk_action *next);
/* Returns the current bucket of the operation's key according to the agent. is_known is false unless the
 * operation's last request was about the state row. */
struct lab_known_bucket lab_known_bucket(const struct lab_cluster_run *run, uint32_t agent,
                                         const struct lab_host_operation *operation);
/* Judges that the agent's current bucket did not go back by an outcome. `before`: as lab_oracles_heard()
 * returned it. */
void lab_known_heard(struct lab_cluster_run *run, uint32_t agent, const struct lab_host_operation *operation,
                     const struct lab_known_bucket *before);
/* Judges the agent's next action for a row that has not been put, by the state that the agent last read. */
void lab_lines_acted(struct lab_cluster_run *run, uint32_t agent, struct lab_host_operation *operation,
                     const struct bk_action *next);
/* Returns whether the operation's last request must be repeated because it failed or was not answered. With
 * guarded, this also includes an update that found no row, and an answer that no update can have written. */
bool lab_request_failed(const struct lab_cluster_run *run, const struct lab_host_operation *operation);
/* Judges how long the operation waited before the first action since it began or since its last outcome. */
void lab_waits_acted(struct lab_cluster_run *run, uint32_t agent, struct lab_host_operation *operation,
                     const struct bk_action *next);
/* With `locked`: judges the operation's next action by the protocol of the lock. */
void lab_lock_acted(struct lab_cluster_run *run, uint32_t agent, struct lab_host_operation *operation,
                    const struct bk_action *next);
/* With `locked`: the operation has an outcome that the agent has not seen yet. */
void lab_lock_heard(const struct lab_cluster_run *run, uint32_t agent, struct lab_host_operation *operation);
/* Returns true if no other operation of the agent uses the key's lock. */
bool lab_lock_is_alone(const struct lab_cluster_run *run, uint32_t agent,
                       const struct lab_host_operation *operation);
/* The agent stored the operation's row, so its next reads must not skip the row's window. */
void lab_reads_keep(struct lab_cluster_run *run, uint32_t agent, const struct lab_host_operation *operation);
/* --- Which windows an agent remembers as empty. */
/* A step of a read was answered. */
void lab_empties_heard(struct lab_cluster_run *run, uint32_t agent,
                       const struct lab_host_operation *operation);
/* The agent stored a row. */
void lab_empties_stored(struct lab_cluster_run *run, uint32_t agent,
                        const struct lab_host_operation *operation);
/* The agent restarted. `is_known` is false if it restarted with a memory of unknown contents, so that nothing
 * can be judged by it. */
void lab_empties_forgotten(struct lab_cluster_run *run, uint32_t agent, bool is_known);
/* A read of the agent skips the windows from `high` down to `low`. Returns false if the agent cannot know
 * that all of them are empty. */
bool lab_empties_know(const struct lab_cluster_run *run, uint32_t agent, uint32_t key, int64_t low,
                      int64_t high);
void lab_steps_acted(struct lab_cluster_run *run, uint32_t agent, struct lab_host_operation *operation,
                     const struct bk_action *next);
/* Returns whether an agent's copies of states expire, so that it must read the state again. */
bool lab_copies_run_out(const struct lab_cluster_run *run);
/* Returns whether an agent forgets its copy when a request of this kind fails for the last time. */
bool lab_copies_may_go(enum bk_action_kind heard);
/* --- The greatest possible age of an agent's copies of states. */
/* The operation has an outcome that the agent has not acted on yet. */
void lab_copies_heard(struct lab_cluster_run *run, uint32_t agent,
                      const struct lab_host_operation *operation);
/* Returns whether the agent's cache certainly has an entry of the key, unless other keys have evicted it. */
bool lab_copies_has(const struct lab_cluster_run *run, uint32_t agent, uint32_t key);
/* The agent restarted. */
void lab_copies_forgotten(struct lab_cluster_run *run, uint32_t agent);
/* Judges that the agent does not use an expired copy for its next action, unless another key has taken the
 * place of the operation's. */
void lab_copies_judge(struct lab_cluster_run *run, uint32_t agent, const struct lab_host_operation *operation,
                      const struct bk_action *next);
/* Returns whether the operation, which has not acted since its last outcome, may be parked: whether it may
 * wait for the request of another operation on the same key. */
bool lab_may_be_parked(const struct lab_cluster_run *run, const struct lab_host_operation *operation);
/* Judges the outcome of an operation, which includes this reply. The OK to a put has no contents. */
void lab_reply_judge(struct lab_cluster_run *run, uint32_t agent, struct lab_host_operation *operation,
                     const struct cass_reply *reply);
/* Whether other operations may be parked until a request of this kind is answered. */
bool lab_asks_for_key(enum bk_action_kind kind);
/* An operation sends a request of this kind. With guarded, no other operation of the agent on the key may
 * wait for the answer to one that lab_asks_for_key(). */
void lab_parked_acted(struct lab_cluster_run *run, uint32_t agent, const struct lab_host_operation *operation,
                      enum bk_action_kind kind);
/* The operation began or has an outcome, and its agent took all its actions. If the operation may be parked
 * and still waits for an action, it counts as parked. */
void lab_parked_begins(struct lab_cluster_run *run, uint32_t agent, struct lab_host_operation *operation);
void lab_parked_ends(struct lab_cluster_run *run, uint32_t agent, struct lab_host_operation *operation);
/* An operation on the key had the outcome of an action of this kind, and the agent took all its actions. */
void lab_parked_heard(struct lab_cluster_run *run, uint32_t agent, uint32_t key, enum bk_action_kind kind);
/* --- host.c: the host of the agents. */
void lab_host_faulted(struct lab_cluster_run *run, const struct lab_active_fault *fault, int64_t lasts_ns);
/* A copy is made for a fault of the scenario: of an agent, or of a state row. */
void lab_host_kept(struct lab_cluster_run *run, uint32_t fault, bool is_agent);
/* The agent's checkpoint was saved. */
void lab_host_saved(struct lab_cluster_run *run, uint32_t agent);
void lab_host_state_set(struct lab_cluster_run *run, const struct lab_active_fault *fault);
/* The agent is up again; is_kept: with its checkpoint. */
void lab_host_restarted(struct lab_cluster_run *run, uint32_t agent, bool is_kept);
/* The agent was chosen by this draw; UINT32_MAX: none is up. */
void lab_host_chosen(struct lab_cluster_run *run, uint32_t key, uint32_t agent, uint64_t draw);
/* The agent, or UINT32_MAX, gets the key's row with this number, whose own time is time_ns. */
void lab_host_writes(struct lab_cluster_run *run, uint32_t agent, uint32_t key, uint64_t number,
                     const struct lab_arrival *arrival, int64_t time_ns);
/* Whether the agent began without knowledge, as far as is known. */
bool lab_host_is_cold(const struct lab_cluster_run *run, uint32_t agent);
/* The agent, which was chosen by this draw, gets a read, with the key's birth and newest number. */
void lab_host_reads(struct lab_cluster_run *run, uint32_t agent, uint32_t key, uint64_t draw,
                    int64_t birth_ns, uint64_t newest);
/* A read begins; operation->done.due: the rows that it has to find. */
void lab_host_due(struct lab_cluster_run *run, const struct lab_host_operation *operation,
                  const struct bk_query *query);
/* The agent handles an event. */
void lab_host_hears(struct lab_cluster_run *run, uint32_t agent);
/* An event of the agent waits for the end of its pause. */
void lab_host_waits(struct lab_cluster_run *run, uint32_t agent);
/* A reply of the cluster has come to an agent that is paused. */
void lab_host_came(struct lab_cluster_run *run, const struct sim_event *reply);
/* The operation has an outcome. */
void lab_host_answered(struct lab_cluster_run *run, uint32_t agent,
                       const struct lab_host_operation *operation);
/* --- settings.c: the settings of agents. */
void lab_settings_begin(struct lab_cluster_run *run);
/* The agent was given this change of settings. */
void lab_settings_deployed(struct lab_cluster_run *run, uint32_t agent, uint32_t change);
/* The agent begins again with this history. */
void lab_settings_restarted(struct lab_cluster_run *run, uint32_t agent, const struct bk_history *history);
void lab_settings_end(struct lab_cluster_run *run);
/* --- requests.c: the statements of requests. */
void lab_request_sent(struct lab_cluster_run *run, uint32_t agent, struct lab_host_operation *operation,
                      const struct bk_action *action, const struct cass_statement *sent);
/* The result is complete. */
void lab_requests_end(struct lab_cluster_run *run);
/* A try of a delete was sent; it was refused, is not known to be applied, or is_timeout: was not answered. */
void lab_delete_sent(struct lab_cluster_run *run, struct lab_delete *item, const struct cass_statement *sent);
void lab_delete_failed(struct lab_cluster_run *run, struct lab_delete *item, bool is_timeout);
/* A fault begins and lasts for lasts_ns. */
void lab_faults_begun(struct lab_cluster_run *run, const struct lab_active_fault *fault, int64_t lasts_ns);
/* An agent acts for the key. */
void lab_faults_acted(struct lab_cluster_run *run, uint32_t agent, uint32_t key);
/* A fault began or ended, and the cluster has applied it. lasts_ns: how long it lasts; 0: it ended. */
void lab_faults_changed(struct lab_cluster_run *run, const struct lab_active_fault *fault, int64_t lasts_ns);
void lab_faults_ended(struct lab_cluster_run *run, const struct lab_active_fault *fault);
/* A delete ended with this reply, or with NULL if its last try was not answered. */
void lab_delete_ended(struct lab_cluster_run *run, const struct lab_delete *item,
                      const struct cass_reply *reply);
void lab_replicas_end(struct lab_cluster_run *run);
/* --- clients.c: called when a client starts or restarts; when it sends a request or ends a lease;
 * when it gets an outcome. */
void lab_id_begins(struct lab_cluster_run *run, uint32_t client);
void lab_id_acted(struct lab_cluster_run *run, uint32_t client, const struct bk_idgen_action *next);
void lab_id_heard(struct lab_cluster_run *run, uint32_t client, const struct bk_idgen_outcome *outcome);
/* Called when a reply comes to a client that is paused, and when a client has a reply, or gives up waiting.
 */
void lab_id_came(struct lab_cluster_run *run, const struct sim_event *reply);
void lab_id_answered(struct lab_cluster_run *run, uint32_t client, bool is_reply);
/* Called when a client hands out consecutive identifiers of a stripe. */
void lab_id_given(struct lab_cluster_run *run, uint32_t client, int64_t first, int64_t last);
/* Called at the end of a run for each client that is up. in_hand: the identifiers that it still has. */
void lab_id_ends(struct lab_cluster_run *run, uint32_t client, uint64_t in_hand);

#endif
