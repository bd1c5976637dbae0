/* SPDX-License-Identifier: MIT */
/* A setting as a small text: the chosen strategy, and how its agents and readers work. `bucketlab tune --emit
 * FILE` writes it, and a service reads it at its start, so that the tested setting is the deployed one. The
 * caller reads the file. These calls take bytes, allocate nothing, keep no pointer, may be made from any
 * thread, and cost one pass over the text.
 *
 *     bucketing-setting 1
 *     # a line that begins with # is a comment
 *     scenario_digest = 0123456789abcdef
 *     kind = probabilistic
 *     bits = 9
 *     threshold = 40
 *     end
 *
 * Lines end with \n or \r\n. The first line has the version of the format. Then come scenario_digest and
 * kind, in this order; then the settings of that kind, each once and in any order; and last `end`, so that a
 * truncated text is never taken for a whole one. The settings' names are those of a scenario
 * (docs/scenario.md), with a dot below a group: lock.lasts, read.plan. Values are spelled as in a scenario,
 * but always with a whole number: 90d, 512KB, 1/300, true, 2026-01-31T12:00:00Z. A setting that a scenario
 * may leave out may be left out here, except for those whose default is not zero or the first choice: batch,
 * lock.lasts, lock.backoff, grant, every_rows of scan, read.late.
 *
 * Example: the text comes from a file that the host has read.
 *
 *     struct bk_setting setting;
 *     struct bk_setting_error error;
 *     if (bk_strategy_parse(text, size, &setting, &error) != BK_OK)
 *         fprintf(out, "setting.bk:%u: %s\n", (unsigned)error.line, error.text);
 */
#ifndef BUCKETING_SETTING_H
#define BUCKETING_SETTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bucketing/agent.h"
#include "bucketing/api.h"
#include "bucketing/read.h"
#include "bucketing/status.h"
#include "bucketing/strategy.h"

BK_BEGIN

/* A member means the same as the member of that name in struct bk_agent_config; it is 0 where the strategy
 * has no such setting. A struct of zeros is an unbucketed setting. */
struct bk_setting {
    uint64_t scenario_digest; /* digest of the scenario with which the setting was tested; 0: not known */
    struct bk_strategy strategy;
    enum bk_coordination coordination;
    enum bk_counter counter; /* BK_COUNTER_COLUMN for BK_GUARDED */
    enum bk_source source;
    uint64_t lease_rows, every_rows;
    int64_t every_ns;
    int64_t lead_ns;
    int64_t lock_lasts_ns, lock_backoff_ns;
    int64_t grant_ns;
    enum bk_plan read_plan;   /* BK_PLAN_DEFAULT: the usual plan of the strategy */
    uint32_t read_at_once;    /* BK_PLAN_PARALLEL; 0: BK_AT_ONCE_DEFAULT */
    bool read_remember_empty; /* BK_TIME */
    int64_t read_late_ns;     /* with read_remember_empty: for bk_empties_learn() */
};

#define BK_SETTING_ERROR_SIZE 160u
struct bk_setting_error {
    uint32_t line;                    /* counted from 1; for something missing, the last line; 0: no line */
    char text[BK_SETTING_ERROR_SIZE]; /* one line, without line break; "" after success */
};

/* Reads a setting.
 *
 * @param text   `size` bytes, not ended by a 0; read only. May be NULL when size is 0
 * @param out    set whole; zeroed on errors
 * @param error  set to the first wrong line and the reason; may be NULL
 * @return       BK_OK; BK_ERROR_NULL (out, or text); BK_ERROR_SETTING, and the error says why */
enum bk_status bk_strategy_parse(const char *text, size_t size, struct bk_setting *out,
                                 struct bk_setting_error *error);

/* Writes a setting as bk_strategy_parse() reads it. Members that the strategy does not have are not written,
 * so the text reads back as the same setting when such members are 0.
 *
 * @param buffer  gets the text, ended by a 0
 * @param size    of the buffer; BK_SETTING_TEXT_SIZE is enough for every setting
 * @param length  set to the length of the text without its final 0; may be NULL
 * @return        BK_OK; BK_ERROR_NULL, those of bk_strategy_check(), BK_ERROR_SETTING (a member that
 *                bk_strategy_parse() would refuse), BK_ERROR_MEMORY (the buffer is too small); the buffer
 *                then holds "", where its size is not 0, and length is 0 */
#define BK_SETTING_TEXT_SIZE 1024u
enum bk_status bk_strategy_print(const struct bk_setting *setting, char *buffer, size_t size, size_t *length);

/* bk_agent_config_default() with the members of the setting, for a host that shares its keys. The caller
 * still sets agent_id, clock_bound_ns and its caches. NULL: the configuration of BK_UNBUCKETED. Costs a copy
 * of 0.7 kB. */
struct bk_agent_config bk_setting_agent_config(const struct bk_setting *setting);

BK_END
#endif
