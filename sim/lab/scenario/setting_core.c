/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Converts a strategy's settings to those that the core's text of a setting has. */
#include <string.h>

#include "lab/setting.h"

void lab_settings_core(const struct lab_settings *settings, uint64_t scenario_digest, struct bk_setting *out)
{
    memset(out, 0, sizeof *out);
    out->scenario_digest = scenario_digest;
    out->strategy = settings->strategy;
    out->coordination = settings->coordination;
    out->counter = settings->counter;
    out->source = settings->source;
    out->lease_rows = settings->lease_rows;
    out->every_rows = settings->every_rows;
    out->every_ns = settings->every_ns;
    out->lead_ns = settings->lead_ns;
    out->lock_lasts_ns = settings->lock_lasts_ns;
    out->lock_backoff_ns = settings->lock_backoff_ns;
    out->grant_ns = settings->grant_ns;
    out->read_plan = settings->reading.plan;
    out->read_at_once = settings->reading.plan == BK_PLAN_PARALLEL ? settings->reading.at_once : 0;
    out->read_remember_empty = settings->reading.remembers_empty;
    out->read_late_ns = settings->reading.remembers_empty ? settings->reading.late_ns : 0;
}
