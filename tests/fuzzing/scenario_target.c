/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The scenario parser: any bytes are a scenario or give an error of one line. A valid scenario can be parsed
 * again from the text that a database stores. */
#include <string.h>

#include "fuzzing.h"
#include "lab/scenario.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct lab_scenario *scenario, *again;
    struct sim_error error = {0};
    if (!lab_scenario_parse("x.yaml", (const char *)data, size, NULL, 0, NULL, &scenario, &error)) {
        fuzzing_require(scenario == NULL, "a refused scenario is none");
        fuzzing_require_error(&error);
        return 0;
    }
    fuzzing_require(scenario->strategy_count + scenario->observed_count > 0, "a scenario has strategies");
    bool is_fine = lab_scenario_again(scenario->path, scenario->text, scenario->overrides, NULL, 0,
                                      scenario->seed, &again, &error);
    /* A stored text ends at its first zero byte, which YAML does not allow. */
    fuzzing_require(is_fine, "what is kept of a scenario is one");
    fuzzing_require(strcmp(again->name, scenario->name) == 0, "the name is the same");
    fuzzing_require(again->strategy_count == scenario->strategy_count, "the strategies are the same");
    fuzzing_require(again->engine == scenario->engine, "the engine is the same");
    lab_scenario_destroy(again);
    lab_scenario_destroy(scenario);
    return 0;
}
