/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes the regimes of a strategy: which settings apply from which date on. */
#include "lab/change.h"

bool lab_regimes_make(const struct lab_strategy *strategy, int64_t start_ns, struct lab_regimes *out)
{
    *out = (struct lab_regimes){.count = 1};
    struct lab_regime *regime = &out->items[0];
    regime->from_ns = INT64_MIN;
    enum bk_status status = bk_history_begin(&strategy->settings.strategy, &regime->history);
    for (uint32_t i = 0; status == BK_OK && i < strategy->settings.change_count; i++) {
        const struct lab_change *change = &strategy->settings.changes[i];
        if (start_ns > INT64_MAX - change->at_ns)
            return false;
        int64_t from_ns = start_ns + change->at_ns;
        if (change->keeps_old) {
            status = bk_history_change(&regime->history, from_ns, &change->strategy);
            continue;
        }
        regime = &out->items[out->count++];
        regime->from_ns = from_ns;
        status = bk_history_begin(&change->strategy, &regime->history);
    }
    return status == BK_OK;
}

uint32_t lab_regime_at(const struct lab_regimes *regimes, int64_t time_ns)
{
    uint32_t regime = regimes->count - 1;
    while (regime > 0 && time_ns < regimes->items[regime].from_ns)
        regime--;
    return regime;
}
