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
#include "lab/judgment.h"
#include "lab/setting.h"
#include "lab/context.h"

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

/* "# needs one writer per key, or a protocol for several"; "" when any service can meet it. */
static void say_needs(uint32_t requirements, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (int i = 0; i < LAB_REQUIREMENT_COUNT; i++) {
        if ((requirements >> i & 1) != 0)
            used += (size_t)snprintf(out + used, size - used, "# needs %s\n",
                                     lab_requirement_text((enum lab_requirement)i));
    }
}

bool cli_tune_emit(const char *path, const struct lab_result *result, uint64_t scenario_digest,
                   struct sim_error *error)
{
    const struct lab_strategy_result *best = &result->strategies[0];
    struct bk_setting setting;
    char text[BK_SETTING_TEXT_SIZE], told[COMMENTS_SIZE / 2], needs[COMMENTS_SIZE / 4],
        whole[COMMENTS_SIZE + BK_SETTING_TEXT_SIZE];
    lab_settings_core(&best->settings, scenario_digest, &setting);
    enum bk_status status = bk_strategy_print(&setting, text, sizeof text, NULL);
    if (status != BK_OK)
        return sim_fail(error, SIM_ERROR_CHECK,
                        "bucketlab: --emit: the recommended setting cannot be written: %s; leave --emit out",
                        bk_status_text(status));
    const char *rest = strchr(text, '\n') + 1;
    lab_settings_text(&best->settings, told, sizeof told);
    say_needs(lab_requirements(&best->settings), needs, sizeof needs);
    int size = snprintf(whole, sizeof whole,
                        "%.*s# by bucketlab %s: seed %" PRIu64 ", placement digest %016" PRIx64 "\n"
                        "# in a scenario: %s: {%s}\n%s%s",
                        (int)(rest - text), text, BUCKETLAB_VERSION, result->seed, best->placement_digest,
                        lab_kind_name(lab_settings_kind(&best->settings)), told, needs, rest);
    return cli_text_file_write(path, whole, (size_t)size, error);
}
