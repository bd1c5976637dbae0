/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the files of the reference model of the mock's coordinators (answers_model_test.c). */
#ifndef TESTS_CASSANDRA_ANSWERS_MODEL_H
#define TESTS_CASSANDRA_ANSWERS_MODEL_H

#include "model.h"
#include "state.h"

#define KEYS         3 /* of each storage kind */
#define BUCKETS      2
#define TAGS         1024
#define OPERATIONS   512
#define NODES_MOST   16
#define PLACES       (NODES_MOST + 3)
#define COLUMNS      4 /* named columns */
#define MESSAGES     4096
#define BODIES       4096
#define SERVERS_MOST 32
#define REGISTER     100
#define NAMED        200
#define COUNTER      300

enum situation {
    TOLD_OK,
    TOLD_UNAVAILABLE,
    TOLD_WRITE_TIMEOUT,
    TOLD_WRITE_FAILURE,
    TOLD_READ_TIMEOUT,
    TOLD_READ_FAILURE,
    TOLD_INVALID,
    LOCAL_BESIDE_OTHERS,
    ANY_BY_HINTS,
    REPAIRED,
    EDGE_READ,
    EXPIRED_SEEN,
    DELETED_SEEN,
    RANGE_SEEN,
    CUT_AT_LIMIT,
    LEADER_ELSEWHERE,
    CLOCK_BACK,
    CAME_TWICE,
    QUEUED,
    SITUATIONS
};
extern struct model_situation answers_situations[SITUATIONS];

/* A statement, by its tag, that wrote a row, or that deleted a row, a range or a partition. */
struct known_write {
    bool is_row; /* the statement is one of these four kinds */
    uint32_t held;
    int64_t expires_s, timestamp_us, sent_s;
    uint64_t deleted_by; /* the tag that deleted this row; 0: none */
};

struct copy {
    struct image image, named; /* `named`: the named columns as the cells of an image */
    struct shard shards[CASS_CLUSTER_REPLICAS_MAX + 1];
    struct cass_seen seen; /* of a repair of rows */
};

/* When a request will be served, unless something delays it. */
struct planned {
    int64_t at_ns, frozen_ns;
    uint32_t crashes; /* crashes of its node at that time */
};

enum phase { WRITING, READING, READING_AGAIN, REPAIRING, LEADING, COUNTING };

struct known_operation {
    bool is_open, is_leader, is_answered;
    enum phase phase;
    uint32_t generation, place, position, entity, round;
    uint64_t tag;
    enum cass_consistency level;
    uint32_t counted, required, asked, acked, failed, hinted, repairing, leader;
    uint32_t parent, parent_generation, parent_place;
    int64_t started_ns, deadline_ns, delta;
    struct copy answers[CASS_CLUSTER_REPLICAS_MAX], merged;
    int64_t cost_ns[CASS_CLUSTER_REPLICAS_MAX];
    uint64_t tombstones[CASS_CLUSTER_REPLICAS_MAX];
    uint32_t led;       /* of an increment: the results that its leaders reported, a bit per result */
    struct planned own; /* of the coordinator's request to its own node */
};

struct told {
    bool is_known;
    struct cass_reply reply;
    uint32_t named_mask;
    int64_t named[COLUMNS];
};

struct answers {
    struct harness h;
    struct cass_cluster_config config;
    struct sim_random random;
    struct model_run *run;
    struct cass_statement statements[TAGS];
    struct known_write writes[TAGS];
    struct told told[TAGS];
    uint32_t coordinators[TAGS]; /* the nodes that the driver may choose; 0: any node */
    struct known_operation operations[OPERATIONS];
    struct copy copies[3 * KEYS][CASS_CLUSTER_REPLICAS_MAX]; /* registers, named columns, counters */
    bool is_down[NODES_MOST], is_failing[NODES_MOST], is_cut[PLACES][NODES_MOST];
    int64_t gone_since[PLACES][NODES_MOST]; /* NEVER: believed up */
    int64_t paused_until_ns[NODES_MOST], clock_ns[NODES_MOST], last_us[NODES_MOST];
    double slow[NODES_MOST];
    uint32_t crashes[NODES_MOST];
    struct cass_node_stats stats[NODES_MOST];
    int64_t free_ns[NODES_MOST][SERVERS_MOST], frozen_ns[NODES_MOST];
    bool has_own_hints; /* a node has hints for itself; the model does not follow their sending */
    struct planned planned[MESSAGES];
    bool is_put_off[MESSAGES];     /* by a pause of the node at which the message arrived */
    struct copy snapshots[BODIES]; /* the copy that an answer carries, by the answer's body */
    bool has_ttl, has_deletes, has_invalid, is_on_grid;
};

/* The result of a read of rows. */
struct found {
    uint64_t rows, tombstones;
    bool saw_older;
    struct clustering last;
    struct cass_seen seen;
};

/* answers_places.c: the replicas of a key, the nodes that are believed up, and the replicas that each level
 * needs. Sets are bit masks of replicas. */
uint32_t answers_node_count(const struct answers *model);
uint32_t answers_datacenter_of(const struct answers *model, uint32_t place);
uint32_t answers_node_of(const struct answers *model, uint32_t position, uint32_t replica);
uint32_t answers_replicas_in(const struct answers *model, uint32_t position, uint32_t datacenter);
bool answers_is_up_to(const struct answers *model, uint32_t place, uint32_t node);
uint32_t answers_alive_to(const struct answers *model, uint32_t place, uint32_t position);
void answers_look_around(struct answers *model);
uint32_t answers_position_of(const struct answers *model, const struct cass_statement *statement);
bool answers_is_local(enum cass_consistency level);
uint32_t answers_counted_at(const struct answers *model, uint32_t place, uint32_t position,
                            enum cass_consistency level);
uint32_t answers_required_at(const struct answers *model, uint32_t counted, enum cass_consistency level);
bool answers_is_enough(const struct answers *model, const struct known_operation *known, uint32_t set);
bool answers_is_read(enum cass_statement_kind kind);
/* Whether it reads or deletes a span without times. */
bool answers_is_nothing(const struct cass_statement *statement);
bool answers_is_allowed(const struct cass_statement *statement);
/* answers_content.c: what the replicas hold, and what a read of some of them returns. */
int64_t answers_now_s(const struct answers *model);
bool answers_is_of(const struct cass_statement *a, const struct cass_statement *b);
struct found answers_find_living(const struct answers *model, const struct cass_statement *read,
                                 uint32_t replicas);
struct found answers_find_stored(const struct answers *model, const struct cass_statement *read,
                                 uint32_t replicas, uint64_t *stored);
/* What a read of these replicas has seen of the rows, and whether that includes what a statement wrote. */
struct cass_seen answers_seen_by(const struct answers *model, const struct cass_statement *read,
                                 uint32_t replicas);
bool answers_is_seen(const struct cass_seen *seen, const struct cass_statement *written);
void answers_expect_rows(const struct answers *model, const struct cass_statement *read, bool exists,
                         uint32_t asked, struct cass_reply *out);
void answers_clear_copy(struct copy *copy);
void answers_merge_copy(struct copy *into, const struct copy *from);
bool answers_is_same_copy(const struct copy *a, const struct copy *b);
struct copy *answers_copy_of(struct answers *model, uint64_t key, uint32_t replica);
struct copy answers_written_by(const struct answers *model, const struct cass_statement *statement,
                               int64_t timestamp_us, uint32_t factor);
void answers_expect_cells(const struct answers *model, const struct copy *copy, struct told *out);
void answers_expect_counter(const struct answers *model, const struct copy *copy, struct cass_reply *reply);
/* answers_operations.c: coordinators, and the cost of requests. */
int64_t answers_cost_of_scan(const struct answers *model, const struct known_operation *known,
                             uint32_t replica, uint64_t *tombstones);
int64_t answers_cost_of_named(struct answers *model, uint64_t key, uint32_t replica);
bool answers_take_up(struct answers *model, uint32_t node, int64_t cost_ns, int64_t sent_ns,
                     int64_t timeout_ns, struct planned *out);
void answers_tell(struct answers *model, struct known_operation *known, enum cass_result result);
void answers_spread(struct answers *model, uint32_t index, uint32_t except);
int64_t answers_clock_us(const struct answers *model, uint32_t node);
struct copy answers_copy_of_body(const struct cass_cluster *cluster, enum message_kind kind,
                                 const struct body *body);
void answers_begin_operation(struct answers *model, uint32_t index, uint32_t generation, uint32_t node);
void answers_begin_leader(struct answers *model, uint32_t index);
void answers_take_answer(struct answers *model, const struct message *message, bool has_failed,
                         const struct copy *snapshot);
void answers_time_out(struct answers *model, uint32_t index);
/* answers_replicas.c: handles the events. */
void answers_run_for(struct answers *model, int64_t lasts_ns);

#endif
