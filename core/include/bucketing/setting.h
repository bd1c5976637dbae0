/* SPDX-License-Identifier: MIT */
/* A setting as a short text: the chosen strategy, and how its agents and readers work. `bucketlab tune
 * --emit FILE` writes the text, and a service reads it when it starts, so that the deployed setting is the
 * tested one. The caller reads the file; these functions take its bytes. They allocate nothing, keep no
 * pointer, may be called from any thread, and cost one pass over the text.
 *
 *     bucketing-setting 1
 *     # a line that begins with # is a comment
 *     scenario_digest = 0123456789abcdef
 *     kind = probabilistic
 *     bits = 9
 *     threshold = 40
 *     end
 *
 * Lines end with \n or \r\n. The first line has the version of the format. It is followed by scenario_digest
 * and kind, in this order; then by the settings of that kind, each once and in any order; and finally by
 * `end`, so that a truncated text is never taken for a complete one. The settings' names are those of a
 * scenario of bucketlab, where a dot separates a group from its member: lock.lasts, read.plan. Values
 * are written as in a scenario, but numbers are always whole: 90d, 512KB, 1/300, true, 2026-01-31T12:00:00Z.
 * A setting that a scenario may leave out may be left out here, except for those whose default is not zero or
 * the first choice: batch, lock.lasts, lock.backoff, grant, every_rows of scan, read.late.
 *
 * Example: a host parses the text of a file that it has read.
 *
 *     struct bk_setting setting;
 *     struct bk_setting_error error;
 *     if (bk_strategy_parse(text, size, &setting, &error) != BK_OK)
 *         fprintf(out, "setting.bk:%u: %s\n", (unsigned)error.line, error.text);
 * */
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

/** Each member has the meaning of the member with the same name in struct bk_agent_config; it is 0 where the
 * strategy has no such setting. A struct of zeros is the setting `unbucketed`. */
struct bk_setting {
    uint64_t scenario_digest; /**< digest of the scenario with which the setting was tested; 0: not known */
    struct bk_strategy strategy;
    enum bk_coordination coordination;
    enum bk_counter counter; /**< BK_COUNTER_NATIVE for BK_GUARDED */
    enum bk_source source;
    uint64_t lease_rows, every_rows;
    int64_t every_ns;
    int64_t lead_ns;
    int64_t lock_lasts_ns, lock_backoff_ns;
    int64_t grant_ns;
    enum bk_plan read_plan;   /**< BK_PLAN_DEFAULT: the default plan of the strategy */
    uint32_t read_at_once;    /**< BK_PLAN_PARALLEL: buckets per step; 0: BK_AT_ONCE_DEFAULT */
    bool read_remember_empty; /**< BK_KIND_TIME */
    int64_t read_late_ns;     /**< with read_remember_empty: the late_ns of bk_empties_learn() */
    uint64_t reserved[8];     /**< 0: room for settings of later versions */
};

/** The words of settings that are choices, in a setting's text and in a scenario: X(word, value). */
#define BK_CALENDAR_WORDS(X)                                                                                 \
    X("hour", BK_CALENDAR_HOUR)                                                                              \
    X("day", BK_CALENDAR_DAY) X("week", BK_CALENDAR_WEEK) X("month", BK_CALENDAR_MONTH)
#define BK_SOURCE_WORDS(X)                                                                                   \
    X("external", BK_SOURCE_EXTERNAL)                                                                        \
    X("counter", BK_SOURCE_COUNTER)                                                                          \
    X("lwt", BK_SOURCE_LWT)                                                                                  \
    X("lease", BK_SOURCE_LEASE)                                                                              \
    X("incremental", BK_SOURCE_INCREMENTAL) X("scan", BK_SOURCE_SCAN) X("memory", BK_SOURCE_MEMORY)
#define BK_COORDINATION_WORDS(X)                                                                             \
    X("single", BK_SINGLE) X("locked", BK_LOCKED) X("three-state", BK_THREE_STATE) X("guarded", BK_GUARDED)
#define BK_COUNTER_WORDS(X) X("rmw", BK_COUNTER_RMW) X("lwt", BK_COUNTER_LWT) X("counter", BK_COUNTER_NATIVE)
#define BK_PLAN_WORDS(X)                                                                                     \
    X("walk", BK_PLAN_WALK)                                                                                  \
    X("pair", BK_PLAN_PAIR) X("all", BK_PLAN_ALL) X("lazy", BK_PLAN_LAZY) X("parallel", BK_PLAN_PARALLEL)

#define BK_SETTING_ERROR_SIZE 160u
struct bk_setting_error {
    uint32_t
        line; /**< number of the wrong line, from 1; the last line when something is missing; 0: no line */
    char text[BK_SETTING_ERROR_SIZE]; /**< the reason, one line without a line break; "" after success */
};

/** Parses the text of a setting.
 *
 * @param text   `size` bytes, which need no final NUL; read only. May be NULL when size is 0
 * @param out    every member is set; zeroed on errors
 * @param error  set to the first wrong line and the reason; may be NULL
 * @return       BK_OK; BK_ERROR_NULL (out or text); BK_ERROR_SETTING (the text is invalid; *error says
 * why) */
enum bk_status bk_strategy_parse(const char *text, size_t size, struct bk_setting *out,
                                 struct bk_setting_error *error);

/** Writes a setting as bk_strategy_parse() reads it. Members that the strategy does not have are not written,
 * so the text reads back as the same setting when such members are 0.
 *
 * @param buffer  set to the text, with a final NUL
 * @param size    size of the buffer in bytes; BK_SETTING_TEXT_SIZE is enough for every setting
 * @param length  set to the length of the text without its final NUL; 0 on errors; may be NULL
 * @return        BK_OK; BK_ERROR_NULL, an error of bk_strategy_check(), BK_ERROR_SETTING (a member that
 *                bk_strategy_parse() would refuse), BK_ERROR_MEMORY (the buffer is too small). On errors the
 *                buffer holds "" if its size is above 0 */
#define BK_SETTING_TEXT_SIZE 1024u
enum bk_status bk_strategy_print(const struct bk_setting *setting, char *buffer, size_t size, size_t *length);

/** Returns bk_agent_config_default() with the members of the setting, for a host that shares its keys with
 * other agents. The caller must still set agent_id and clock_bound_ns, and the size of its caches. NULL: the
 * default configuration of BK_KIND_UNBUCKETED. The struct has 0.7 kB. */
struct bk_agent_config bk_setting_agent_config(const struct bk_setting *setting);

BK_END
#endif
