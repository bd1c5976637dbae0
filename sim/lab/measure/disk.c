/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Counts the rows that a partition has on disk, in a ring of compaction windows. */
#include "lab/disk.h"

#include <stdlib.h>
#include <string.h>

#include "lab/tally.h"

/* Compaction windows per time to live, as Cassandra's documentation recommends. Where gc_grace_seconds is far
 * longer, windows are longer than that, so that a ring has room for all that are kept. */
#define WINDOWS_MEANT 25

/* The longest time during which a partition of the strategy gets rows; INT64_MAX: it has no bound. */
static int64_t written_ns(const struct lab_strategy *strategy, int64_t start_ns)
{
    const struct bk_strategy *core = &strategy->settings.strategy;
    const struct bk_row row = {.time_ns = start_ns};
    struct bk_route route;
    if (strategy->settings.change_count > 0)
        return INT64_MAX;
    if (core->kind == BK_TIME && bk_route(core, NULL, &row, &route) == BK_OK)
        return route.until_ns - route.from_ns;
    return core->max_age_ns > 0 ? core->max_age_ns : INT64_MAX;
}

void lab_disk_windows_init(struct lab_disk_windows *out, const struct lab_scenario *scenario,
                           const struct lab_strategy *strategy, int64_t start_ns, int64_t end_ns)
{
    const int64_t ttl_ns = scenario->row_ttl_ns;
    *out = (struct lab_disk_windows){0, 0};
    if (ttl_ns <= 0 || ttl_ns > INT64_MAX - LAB_GC_GRACE_NS)
        return;
    const int64_t kept_ns = ttl_ns + LAB_GC_GRACE_NS, most = LAB_DISK_WINDOWS - 2;
    if ((uint64_t)end_ns - (uint64_t)start_ns <= (uint64_t)kept_ns ||
        (strategy != NULL && written_ns(strategy, start_ns) <= kept_ns))
        return;
    out->kept = kept_ns / (ttl_ns / WINDOWS_MEANT + 1);
    out->kept = out->kept < most ? out->kept : most;
    out->window_ns = kept_ns / out->kept + 1;
}

static int64_t window_of(const struct lab_disk_windows *windows, int64_t time_ns)
{
    return time_ns / windows->window_ns - (time_ns % windows->window_ns < 0);
}

int64_t lab_disk_until(const struct lab_disk_windows *windows, int64_t time_ns)
{
    const int64_t window = window_of(windows, time_ns) + 1;
    return window > INT64_MAX / windows->window_ns ? INT64_MAX : window * windows->window_ns;
}

bool lab_disk_add(struct lab_disk **held, const struct lab_disk_windows *windows, int64_t time_ns,
                  uint64_t rows, uint64_t bytes)
{
    const int64_t window = window_of(windows, time_ns);
    struct lab_disk *disk = *held;
    if (disk == NULL) {
        disk = *held = calloc(1, sizeof *disk);
        if (disk == NULL)
            return false;
        disk->window = window;
    }
    if (window - disk->window > (int64_t)LAB_DISK_WINDOWS) {
        memset(disk->in, 0, sizeof disk->in);
        disk->now = (struct cass_partition){0, 0};
        disk->window = window;
    }
    while (disk->window < window) {
        disk->window++;
        struct cass_partition *gone =
            &disk->in[(uint64_t)(disk->window - windows->kept - 1) % LAB_DISK_WINDOWS];
        disk->now.rows -= gone->rows;
        disk->now.bytes -= gone->bytes < disk->now.bytes ? gone->bytes : disk->now.bytes;
        *gone = (struct cass_partition){0, 0};
    }
    struct cass_partition *in = &disk->in[(uint64_t)disk->window % LAB_DISK_WINDOWS];
    in->rows += rows;
    lab_bytes_add(&in->bytes, bytes);
    disk->now.rows += rows;
    lab_bytes_add(&disk->now.bytes, bytes);
    disk->most.rows = disk->now.rows > disk->most.rows ? disk->now.rows : disk->most.rows;
    disk->most.bytes = disk->now.bytes > disk->most.bytes ? disk->now.bytes : disk->most.bytes;
    return true;
}
