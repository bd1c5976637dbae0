/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes the recommended setting for a service to load. Comments after the first line say with what it was
 * tested, and the digest by which a `run` of it can be recognised. */
#include "tune_emit.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bucketing/hash.h"
#include "bucketing/setting.h"
#include "cli/text_file.h"
#include "kernel/digest.h"
#include "lab/setting.h"
#include "lab/sources.h"

#define COMMENTS_SIZE 2048

static uint64_t add_text(uint64_t digest, const char *text, size_t size)
{
    return sim_digest_chain(digest, bk_murmur3_128(text, size, 0).h1);
}

bool cli_tune_digest(const struct lab_scenario *scenario, uint64_t *out, struct sim_error *error)
{
    uint64_t sources, digest = sim_digest_chain(0, scenario->seed);
    if (!lab_sources(scenario, &sources, error))
        return false;
    digest = add_text(digest, scenario->text, scenario->text_size);
    digest = add_text(digest, scenario->overrides, strlen(scenario->overrides));
    *out = sim_digest_chain(digest, sources);
    return true;
}

bool cli_tune_emit(const char *path, const struct lab_result *result, uint64_t scenario_digest, bool is_shown,
                   struct sim_error *error)
{
    const struct lab_strategy_result *best = &result->strategies[0];
    struct bk_setting setting;
    char text[BK_SETTING_TEXT_SIZE], told[COMMENTS_SIZE / 2], whole[COMMENTS_SIZE + BK_SETTING_TEXT_SIZE];
    lab_settings_core(&best->settings, scenario_digest, &setting);
    enum bk_status status = bk_strategy_print(&setting, text, sizeof text, NULL);
    if (status != BK_OK)
        return sim_fail(error, SIM_ERROR_CHECK,
                        "bucketlab: --emit: the recommended setting cannot be written: %s; leave --emit out",
                        bk_status_text(status));
    const char *rest = strchr(text, '\n') + 1;
    lab_settings_text(&best->settings, told, sizeof told);
    int size = snprintf(whole, sizeof whole,
                        "%.*s# by bucketlab %s: seed %" PRIu64 ", placement digest %016" PRIx64 "%s\n"
                        "# in a scenario: %s: {%s}\n%s",
                        (int)(rest - text), text, BUCKETLAB_VERSION, result->seed, best->placement_digest,
                        is_shown ? "" : "; too few partitions to show that it stays within the limits",
                        lab_kind_name(lab_settings_kind(&best->settings)), told, rest);
    return cli_text_file_write(path, whole, (size_t)size, error);
}
