/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes the vectors, one file per family, or chooses their seeds.
 *
 *   core_vectors FOLDER      writes FOLDER/NAME.json
 *   core_vectors --family F --seeds A..B   prints the cases of these seeds as a file of family F
 *   core_vectors --choose    prints seeds.h: the seeds whose cases find most of the slips of slips.py, first
 * over all, then in each family. This needs a core that slips.py wrote. */
#define _DEFAULT_SOURCE /* mmap() of no file */
#include <inttypes.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "vectors.h"

#define SEEDS_MIN(family) ((family) < 2 ? 20u : 2u) /* hash and id have small cases */
#define SEEDS_MAX         1800
#define SEEDS_EDGE        1500 /* later ones are at limits */
#define BYTES_MAX         1100000

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
    {"route-counted-shards", vectors_route, VECTORS_COUNTED_SHARDS},
    {"read-counted-shards", vectors_read, VECTORS_COUNTED_SHARDS},
    {"history-counted-shards", vectors_history, VECTORS_COUNTED_SHARDS},
    {"agent-counted-shards", vectors_agent, 31},
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
    struct draw draw = {(seed * UINT64_C(1000003)) + (uint64_t)(family - families), seed % 2 == 0,
                        seed > SEEDS_EDGE};
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

/* The slip that the core makes, and those that would have changed a value: see slips.py. */
enum { SLIPS_MAX = 8192, CASES = (int)FAMILIES * SEEDS_MAX, TRIES = 12, TRIES_MAX = 2500, FOUND = 2 };
unsigned slip;
unsigned char slip_differs[SLIPS_MAX];

struct candidate {
    uint64_t digest;
    size_t bytes, slips;
    uint16_t *list; /* the slips that this case finds */
    bool is_taken;
};

/* What a process that makes one slip tells the process that chooses. It may crash at any case. */
struct told {
    size_t at, count;
    uint32_t found[FAMILIES * FOUND * 8];
};

/* Cases are ordered by seed, then by family. Returns a digest of the case's text. */
static uint64_t run_case(size_t number, size_t *bytes)
{
    static char text[1 << 20];
    FILE *out = fmemopen(text, sizeof text, "w");
    if (out == NULL)
        abort();
    draw_case(out, &families[number % FAMILIES], 1 + (uint32_t)(number / FAMILIES));
    *bytes = (size_t)ftell(out);
    fclose(out);
    uint64_t digest = UINT64_C(0xcbf29ce484222325); /* FNV-1a, since the slips change the core's own hash */
    for (size_t i = 0; i < *bytes; i++)
        digest = (digest ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    return digest;
}

/* Each family tries at most TRIES of its cases, or up to TRIES_MAX together while no case of any finds the
 * slip. */
static void seek(struct told *told, const struct candidate *all, const uint32_t *cases, size_t count)
{
    static unsigned tries[FAMILIES], found[FAMILIES], tried;
    for (; told->at < count && tried < TRIES_MAX; told->at++) {
        size_t number = cases[told->at], family = number % FAMILIES, bytes;
        if (found[family] >= FOUND || (told->count > 0 && tries[family] >= TRIES))
            continue;
        tries[family]++;
        tried++;
        setitimer(ITIMER_REAL, &(struct itimerval){.it_value.tv_usec = 30000}, NULL);
        if (run_case(number, &bytes) == all[number].digest)
            continue;
        told->found[told->count++] = (uint32_t)number;
        found[family]++;
    }
}

/* Finds cases whose text the slip changes. A case that crashes or never ends finds it too. */
static void try_slip(struct told *told, const struct candidate *all, const uint32_t *cases, size_t count)
{
    told->at = told->count = 0;
    for (int faults = 0; told->at < count && faults < 2 * FOUND; faults++) {
        pid_t child = fork();
        if (child == 0) {
            seek(told, all, cases, count);
            _exit(0);
        }
        int status;
        if (child < 0 || waitpid(child, &status, 0) != child)
            abort();
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
            return;
        told->found[told->count++] = cases[told->at++];
    }
}

/* What a case adds: above all slips that no case finds yet, then those that only one finds, or none of its
 * family. */
static double worth(const struct candidate *candidate, const unsigned char *of_family,
                    const unsigned char *of_all)
{
    double sum = 0;
    for (size_t i = 0; i < candidate->slips; i++) {
        unsigned at = candidate->list[i];
        sum += (of_all[at] == 0 ? 100000 : of_all[at] == 1 ? 2 : 0) + (of_family[at] == 0);
    }
    return sum / (double)(candidate->bytes + 100);
}

/* Marks all slips that a case finds, also those that it was not tried with. */
static void mark(struct told *told, const struct candidate *all, uint32_t number, unsigned char *of_family,
                 unsigned char *of_all)
{
    static unsigned char differs[SLIPS_MAX];
    size_t bytes;
    slip = 0;
    memset(slip_differs, 0, sizeof slip_differs);
    run_case(number, &bytes);
    memcpy(differs, slip_differs, sizeof differs);
    for (slip = 1; slip < SLIPS_MAX; slip++) {
        if (differs[slip] == 0 || (of_all[slip] == 2 && of_family[slip] == 1))
            continue;
        try_slip(told, all, &number, 1);
        if (told->count == 0)
            continue;
        of_family[slip] = 1;
        of_all[slip] = of_all[slip] == 0 ? 1 : 2;
    }
}

/* Greedily: the case that finds most per byte, until BYTES_MAX are used. */
static void take(struct told *told, struct candidate *all)
{
    static unsigned char of_family[FAMILIES][SLIPS_MAX], of_all[SLIPS_MAX];
    for (size_t bytes = 0; bytes < BYTES_MAX;) {
        size_t best = CASES;
        double most = 0;
        for (size_t i = 0; i < CASES; i++) {
            if (all[i].is_taken)
                continue;
            double value = i / FAMILIES < SEEDS_MIN(i % FAMILIES)
                               ? 1e6
                               : worth(&all[i], of_family[i % FAMILIES], of_all);
            if (value > most) {
                most = value;
                best = i;
            }
        }
        if (best == CASES)
            return;
        all[best].is_taken = true;
        bytes += all[best].bytes;
        mark(told, all, (uint32_t)best, of_family[best % FAMILIES], of_all);
    }
}

static void *map(size_t size, int how)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | how, -1, 0);
    if (memory == MAP_FAILED)
        abort();
    return memory;
}

static void found_by(struct candidate *candidate)
{
    uint16_t *list = realloc(candidate->list, (candidate->slips + 1) * sizeof *list);
    if (list == NULL)
        abort();
    candidate->list = list;
    list[candidate->slips++] = (uint16_t)slip;
}

static int choose(void)
{
    static struct candidate all[CASES];
    static size_t counts[SLIPS_MAX], found;
    struct told *told = map(sizeof *told, MAP_SHARED);
    uint32_t(*cases)[CASES] = map(SLIPS_MAX * sizeof *cases, MAP_SHARED | MAP_NORESERVE);
    for (uint32_t i = 0; i < CASES; i++) {
        memset(slip_differs, 0, sizeof slip_differs);
        all[i].digest = run_case(i, &all[i].bytes);
        for (size_t j = 1; j < SLIPS_MAX; j++) {
            if (slip_differs[j] != 0)
                cases[j][counts[j]++] = i;
        }
    }
    for (slip = 1; slip < SLIPS_MAX; slip++) {
        try_slip(told, all, cases[slip], counts[slip]);
        found += told->count > 0;
        for (size_t i = 0; i < told->count; i++)
            found_by(&all[told->found[i]]);
    }
    take(told, all);
    puts("/* SPDX-License-Identifier: GPL-3.0-or-later */\n"
         "/* Made by vectors_test.py --choose: the cases of the vectors. */");
    for (size_t family = 0; family < FAMILIES; family++) {
        for (size_t i = family; i < CASES; i += FAMILIES) {
            if (all[i].is_taken)
                printf("{\"%s\", %zu},\n", families[family].name, 1 + i / FAMILIES);
        }
    }
    fprintf(stderr, "%zu slips are found\n", found);
    return found == 0;
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
