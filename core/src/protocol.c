/* SPDX-License-Identifier: MIT */
/* Selects the protocol of an agent by its configuration. */
#include "protocol.h"

enum protocol_number {
    PROTOCOL_ROUTED,
    PROTOCOL_SINGLE,
    PROTOCOL_LOCKED,
    PROTOCOL_THREE_STATE,
    PROTOCOL_GUARDED,
    PROTOCOL_NUMBER,
    PROTOCOL_LEASE,
    PROTOCOL_SUM,
    PROTOCOL_MEMORY
};

const struct protocol *const bk_protocols[] = {
    [PROTOCOL_ROUTED] = &bk_protocol_routed,   [PROTOCOL_SINGLE] = &bk_protocol_single,
    [PROTOCOL_LOCKED] = &bk_protocol_locked,   [PROTOCOL_THREE_STATE] = &bk_protocol_three_state,
    [PROTOCOL_GUARDED] = &bk_protocol_guarded, [PROTOCOL_NUMBER] = &bk_protocol_number,
    [PROTOCOL_LEASE] = &bk_protocol_lease,     [PROTOCOL_SUM] = &bk_protocol_sum,
    [PROTOCOL_MEMORY] = &bk_protocol_memory,
};

static enum protocol_number of_source(enum bk_source source)
{
    switch (source) { /* checked before, so GCOVR_EXCL_BR_LINE */
    case BK_SOURCE_EXTERNAL:
        break;
    case BK_SOURCE_COUNTER:
    case BK_SOURCE_LWT:
        return PROTOCOL_NUMBER;
    case BK_SOURCE_LEASE:
        return PROTOCOL_LEASE;
    case BK_SOURCE_INCREMENTAL:
    case BK_SOURCE_SCAN:
        return PROTOCOL_SUM;
    case BK_SOURCE_MEMORY:
        return PROTOCOL_MEMORY;
    }
    return PROTOCOL_ROUTED;
}

static enum protocol_number of_coordination(enum bk_coordination coordination)
{
    switch (coordination) { /* checked before, so GCOVR_EXCL_BR_LINE */
    case BK_SINGLE:
        break;
    case BK_LOCKED:
        return PROTOCOL_LOCKED;
    case BK_THREE_STATE:
        return PROTOCOL_THREE_STATE;
    case BK_GUARDED:
        return PROTOCOL_GUARDED;
    }
    return PROTOCOL_SINGLE;
}

uint32_t bk_protocol_of(const struct bk_agent_config *config)
{
    return bk_kind_fires(config->strategy.kind) ? of_coordination(config->coordination)
                                                : of_source(config->source);
}
