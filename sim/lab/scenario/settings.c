/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The kind of a strategy's settings, and the protocol by which its agents agree. */
#include "lab/settings.h"

#include <assert.h>

enum bk_kind lab_settings_kind(const struct lab_settings *settings)
{
    if (settings->observed != WL_OBSERVED_AUTO)
        return LAB_KIND_OBSERVED;
    return settings->is_idgen ? LAB_KIND_IDGEN : settings->strategy.kind;
}

const char *lab_kind_name(enum bk_kind kind)
{
    assert((unsigned)kind < LAB_KIND_COUNT);
    if (kind == LAB_KIND_OBSERVED)
        return "observed";
    return kind == LAB_KIND_IDGEN ? "idgen" : bk_kind_name(kind);
}

unsigned lab_settings_protocol(const struct lab_settings *settings)
{
    if (settings->is_idgen)
        return (unsigned)settings->idgen.lock;
    return settings->strategy.kind == BK_COUNT ? (unsigned)settings->source
                                               : (unsigned)settings->coordination;
}
