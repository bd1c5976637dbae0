/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes the vectors, one file per family, or chooses their seeds.
 *
 *   core_vectors FOLDER      writes FOLDER/NAME.json
 *   core_vectors --family F --seeds A..B   prints the cases of these seeds as a file of family F
 *   core_vectors --choose    prints seeds.h: for each family the seeds, from 1 on, that take an edge of the
 *                            core's code that no earlier seed took. This needs a core that clang built with
 *                            -fsanitize-coverage=inline-8bit-counters, which counts edges. */
#include <inttypes.h>

#include "vectors.h"

#define SEEDS_MIN 2 /* per family */
#define SEEDS_MAX 6000

struct family {
    const char *name;
    vectors_case *draw_case;
    int which;
};

static const struct family families[] = {
    {"hash", vectors_hash, 0},
    {"id", vectors_id, 0},
    {"route-unbucketed", vectors_route, BK_KIND_UNBUCKETED},
    {"route-time", vectors_route, BK_KIND_TIME},
    {"route-count", vectors_route, BK_KIND_COUNT},
    {"route-probabilistic", vectors_route, BK_KIND_PROBABILISTIC},
    {"route-hash", vectors_route, BK_KIND_HASH},
    {"route-weighted", vectors_route, BK_KIND_WEIGHTED},
    {"read-unbucketed", vectors_read, BK_KIND_UNBUCKETED},
    {"read-time", vectors_read, BK_KIND_TIME},
    {"read-count", vectors_read, BK_KIND_COUNT},
    {"read-probabilistic", vectors_read, BK_KIND_PROBABILISTIC},
    {"read-hash", vectors_read, BK_KIND_HASH},
    {"read-weighted", vectors_read, BK_KIND_WEIGHTED},
    {"history-unbucketed", vectors_history, BK_KIND_UNBUCKETED},
    {"history-time", vectors_history, BK_KIND_TIME},
    {"history-count", vectors_history, BK_KIND_COUNT},
    {"history-probabilistic", vectors_history, BK_KIND_PROBABILISTIC},
    {"history-hash", vectors_history, BK_KIND_HASH},
    {"history-weighted", vectors_history, BK_KIND_WEIGHTED},
    {"agent-single-rmw", vectors_agent, 0},
    {"agent-single-lwt", vectors_agent, 1},
    {"agent-single-column", vectors_agent, 2},
    {"agent-locked-rmw", vectors_agent, 3},
    {"agent-locked-lwt", vectors_agent, 4},
    {"agent-locked-column", vectors_agent, 5},
    {"agent-three-state-rmw", vectors_agent, 6},
    {"agent-three-state-lwt", vectors_agent, 7},
    {"agent-three-state-column", vectors_agent, 8},
    {"agent-guarded", vectors_agent, 9},
    {"agent-count-external", vectors_agent, 10},
    {"agent-count-counter", vectors_agent, 11},
    {"agent-count-lwt", vectors_agent, 12},
    {"agent-count-lease", vectors_agent, 13},
    {"agent-count-incremental", vectors_agent, 14},
    {"agent-count-scan", vectors_agent, 15},
    {"agent-count-memory", vectors_agent, 16},
    {"agent-unbucketed", vectors_agent, 17},
    {"agent-time", vectors_agent, 18},
    {"agent-hash", vectors_agent, 19},
    {"idgen-columns", vectors_idgen, BK_IDGEN_LOCK_COLUMNS},
    {"idgen-lwt", vectors_idgen, BK_IDGEN_LOCK_LWT},
    {"agent-guarded-lines", vectors_agent, 20},
    {"agent-single-rmw-lines", vectors_agent, 21},
    {"agent-single-lwt-lines", vectors_agent, 22},
    {"agent-single-column-lines", vectors_agent, 23},
    {"agent-three-state-rmw-lines", vectors_agent, 24},
    {"agent-three-state-lwt-lines", vectors_agent, 25},
    {"agent-three-state-column-lines", vectors_agent, 26},
    {"agent-locked-rmw-lines", vectors_agent, 27},
    {"agent-locked-lwt-lines", vectors_agent, 28},
    {"agent-locked-column-lines", vectors_agent, 29},
    {"route-shards", vectors_route, VECTORS_SHARDS},
    {"read-shards", vectors_read, VECTORS_SHARDS},
    {"history-shards", vectors_history, VECTORS_SHARDS},
    {"agent-shards", vectors_agent, 30},
};
#define FAMILIES (sizeof families / sizeof *families)

static const struct {
    const char *family;
    uint32_t seed;
} chosen[] = {
#include "seeds.h"
};

static void draw_case(FILE *out, const struct family *family, uint32_t seed)
{
    struct draw draw = {(seed * UINT64_C(1000003)) + (uint64_t)(family - families)};
    family->draw_case(out, &draw, family->which);
}

static int write_family(const char *folder, const struct family *family)
{
    char name[4096];
    snprintf(name, sizeof name, "%s/%s.json", folder, family->name);
    FILE *out = fopen(name, "w");
    if (out == NULL) {
        perror(name);
        return 1;
    }
    const char *before = "[\n";
    for (size_t i = 0; i < sizeof chosen / sizeof *chosen; i++) {
        if (strcmp(chosen[i].family, family->name) != 0)
            continue;
        fputs(before, out);
        draw_case(out, family, chosen[i].seed);
        before = ",\n";
    }
    fputs("\n]\n", out);
    return fclose(out) != 0;
}

/* The counters of edges, which the compiler's code increments. */
static unsigned char *edges_begin, *edges_end;
void __sanitizer_cov_8bit_counters_init(unsigned char *begin, unsigned char *end);
void __sanitizer_cov_8bit_counters_init(unsigned char *begin, unsigned char *end)
{
    if (edges_begin == NULL || begin < edges_begin)
        edges_begin = begin;
    if (end > edges_end)
        edges_end = end;
}

struct candidate {
    const struct family *family;
    uint32_t seed, among;
    unsigned char *edges;
    bool is_dropped;
};

/* A family always keeps SEEDS_MIN of its seeds. */
static bool is_needed(const struct candidate *candidate, const uint32_t *takers, size_t count)
{
    if (candidate->among < SEEDS_MIN)
        return true;
    for (size_t j = 0; j < count; j++)
        if (candidate->edges[j] != 0 && takers[j] == 1)
            return true;
    return false;
}

/* Greedily forwards, then backwards: a seed whose edges later seeds take too is dropped. */
static int choose(void)
{
    static struct candidate taken[FAMILIES * 256];
    size_t count = (size_t)(edges_end - edges_begin), taken_count = 0, edge_count = 0;
    uint32_t *takers = calloc(count + 1, sizeof *takers);
    FILE *nowhere = fopen("/dev/null", "w");
    if (count == 0 || takers == NULL || nowhere == NULL) {
        fprintf(stderr, "the core was not built to count edges\n");
        return 1;
    }
    for (size_t i = 0; i < FAMILIES; i++) {
        uint32_t among = 0;
        for (uint32_t seed = 1; seed <= SEEDS_MAX; seed++) {
            size_t before = edge_count;
            memset(edges_begin, 0, count);
            draw_case(nowhere, &families[i], seed);
            for (size_t j = 0; j < count; j++)
                edge_count += edges_begin[j] != 0 && takers[j] == 0;
            if (edge_count == before && seed > SEEDS_MIN)
                continue;
            struct candidate *candidate = &taken[taken_count++];
            *candidate = (struct candidate){&families[i], seed, among++, malloc(count), false};
            if (candidate->edges == NULL || taken_count == sizeof taken / sizeof *taken)
                abort();
            memcpy(candidate->edges, edges_begin, count);
            for (size_t j = 0; j < count; j++)
                takers[j] += edges_begin[j] != 0;
        }
    }
    for (size_t i = taken_count; i-- > 0;) {
        taken[i].is_dropped = !is_needed(&taken[i], takers, count);
        for (size_t j = 0; taken[i].is_dropped && j < count; j++)
            takers[j] -= taken[i].edges[j] != 0;
    }
    puts("/* SPDX-License-Identifier: GPL-3.0-or-later */\n"
         "/* Made by core_vectors --choose: the cases of the vectors. */");
    for (size_t i = 0; i < taken_count; i++) {
        if (!taken[i].is_dropped)
            printf("{\"%s\", %" PRIu32 "},\n", taken[i].family->name, taken[i].seed);
        free(taken[i].edges);
    }
    fprintf(stderr, "%zu of %zu edges\n", edge_count, count);
    free(takers);
    return fclose(nowhere) != 0;
}

/* Prints cases that are not among the vectors, for a port that is compared with the core: --family F --seeds
 * A..B. */
static int print_family(const char *name, const char *seeds)
{
    uint32_t first, last;
    if (sscanf(seeds, "%" SCNu32 "..%" SCNu32, &first, &last) != 2)
        return 2;
    for (size_t i = 0; i < FAMILIES; i++) {
        if (strcmp(families[i].name, name) != 0)
            continue;
        puts("[");
        for (uint32_t seed = first; seed <= last && seed >= first; seed++) {
            fputs(seed > first ? ",\n" : "", stdout);
            draw_case(stdout, &families[i], seed);
        }
        puts("\n]");
        return ferror(stdout) != 0;
    }
    fprintf(stderr, "no such family: %s\n", name);
    return 2;
}

int main(int argc, char **argv)
{
    if (argc == 5 && strcmp(argv[1], "--family") == 0 && strcmp(argv[3], "--seeds") == 0)
        return print_family(argv[2], argv[4]);
    if (argc != 2)
        return 2;
    if (strcmp(argv[1], "--choose") == 0)
        return choose();
    int faults = 0;
    for (size_t i = 0; i < FAMILIES; i++)
        faults += write_family(argv[1], &families[i]);
    return faults != 0;
}
