/* SPDX-License-Identifier: MIT */
/* The text of each status, and the version of the library. */
#include "bucketing/status.h"

#include <stddef.h>

const char *bk_status_text(enum bk_status status)
{
    static const char *const texts[] = {
#define BK_STATUS_ROW(name, text) [name] = text,
        BK_STATUS_MAP(BK_STATUS_ROW)
#undef BK_STATUS_ROW
    };
    if ((size_t)status >= sizeof texts / sizeof *texts)
        return "unknown status";
    return texts[status];
}

const char *bk_version(void)
{
    return BK_VERSION;
}
