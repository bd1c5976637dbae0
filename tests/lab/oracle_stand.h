/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A stand on which the oracles are tried: the inside of a cluster run without agents, over a real queue and a
 * real mock cluster in which nothing takes time. A test says itself who places which row where, what is
 * stored and what its client hears; times count from the start of the run. */
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
    uint64_t reply; /* the last one's slot */
    bool is_answered;
    int64_t written_us; /* of the last state */
};

/* One node, one key, one agent and clocks without error: what a test wants otherwise it sets before
 * stand_open(). */
void stand_prepare(struct stand *stand, const struct bk_strategy *strategy,
                   enum bk_coordination coordination);
void stand_prepare_probabilistic(struct stand *stand, enum bk_coordination coordination);
void stand_open(struct stand *stand);
/* The verdict is complete. */
void stand_end(struct stand *stand);
void stand_close(struct stand *stand);
/* The clock moves on, and the cluster with it. */
void stand_wait_until(struct stand *stand, int64_t time_ns);
int64_t stand_time(const struct stand *stand, int64_t time_ns);

/* A row comes when it is placed first, or when a later one is. */
void stand_arrive(struct stand *stand, uint32_t key, uint64_t row);
void stand_place(struct stand *stand, uint32_t key, uint64_t row, int64_t time_ns, int64_t bucket,
                 uint32_t agent);
/* A write at ONE; is_heard: its client takes the answer. */
void stand_store(struct stand *stand, uint32_t key, uint64_t row, int64_t time_ns, int64_t bucket,
                 bool is_heard);
struct lab_host_operation stand_operation(uint32_t key, uint64_t row, int64_t bucket);
void stand_acknowledge(struct stand *stand, struct lab_host_operation *operation);
/* Placed by agent 0, stored and acknowledged. */
void stand_write(struct stand *stand, uint32_t key, uint64_t row, int64_t time_ns, int64_t bucket);
/* The state row of a key, written to all replicas; a date of 0 is none. */
void stand_state(struct stand *stand, uint32_t key, int64_t bucket, int64_t last_change_ns,
                 int64_t next_change_ns);
uint64_t stand_violations(const struct stand *stand, enum lab_oracle oracle);
void assert_violations(const struct stand *stand, enum lab_oracle oracle, uint64_t expected);

#endif
