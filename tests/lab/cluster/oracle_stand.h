/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A test stand for the oracles: the inside of a cluster run without agents, over a real queue and a real mock
 * cluster in which nothing takes time. A test states itself which agent places which row where, what is
 * stored, and what the row's client receives. Times count from the start of the run. */
#ifndef TESTS_LAB_ORACLE_STAND_H
#define TESTS_LAB_ORACLE_STAND_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cluster_run.h"
#include "kernel/time.h"

struct stand {
    struct lab_scenario scenario;
    struct lab_strategy strategy;
    struct lab_cluster_run run;
    uint64_t reply; /* the slot of the last reply */
    bool is_answered;
    int64_t written_us; /* of the last state */
};

/* Closes the stand that is open, if any; so does the preparation of the next one. */
void stand_close(void);
int stand_teardown(void **state);
/* One node, one key, one agent and clocks without error. A test changes these settings before stand_open().
 */
void stand_prepare(struct stand *stand, const struct bk_strategy *strategy,
                   enum bk_coordination coordination);
void stand_prepare_probabilistic(struct stand *stand, enum bk_coordination coordination);
void stand_open(struct stand *stand);
void stand_open_probabilistic(struct stand *stand, enum bk_coordination coordination);
/* Completes the verdict. */
void stand_end(struct stand *stand);
/* Advances the clock and the cluster. */
void stand_wait_until(struct stand *stand, int64_t time_ns);
int64_t stand_time(const struct stand *stand, int64_t time_ns);

/* A row arrives when it is placed first, or when a later row is placed. */
void stand_arrive(struct stand *stand, uint32_t key, uint64_t row);
void stand_place(struct stand *stand, uint32_t key, uint64_t row, int64_t time_ns, int64_t bucket,
                 uint32_t agent);
/* Writes at ONE; is_heard: the client receives the answer. */
void stand_store(struct stand *stand, uint32_t key, uint64_t row, int64_t time_ns, int64_t bucket,
                 bool is_heard);
struct lab_host_operation stand_operation(uint32_t key, uint64_t row, int64_t bucket);
void stand_acknowledge(struct stand *stand, struct lab_host_operation *operation);
/* The operation ends. */
void stand_finish(struct stand *stand, struct lab_host_operation *operation, bool is_counted,
                  bool is_refused);
/* The row is placed by agent 0, stored and acknowledged. */
void stand_write(struct stand *stand, uint32_t key, uint64_t row, int64_t time_ns, int64_t bucket);
/* Writes the state row of a key to all replicas; a date of 0 means none. */
void stand_state(struct stand *stand, uint32_t key, int64_t bucket, int64_t last_change_ns,
                 int64_t next_change_ns);
uint64_t stand_violations(const struct stand *stand, enum lab_oracle oracle);
void assert_violations(const struct stand *stand, enum lab_oracle oracle, uint64_t expected);

#endif
