/* SPDX-License-Identifier: MIT */
/* Puts a stream into buckets: reads a key per line from stdin, writes "bucket,key" per line to stdout. It is
 * the only writer of its keys, so bk_route() is sufficient, and no agent is needed.
 *
 *     cc route.c $(pkg-config --cflags --libs bucketing) -o route
 *     yes room-7 | head -100000 | ./route | sort | uniq -c
 *     bucketlab tune scenario.yaml --emit setting.bk && yes room-7 | head -100000 | ./route setting.bk
 *
 * The strategy is read from the file. Without a file, a bucket ends after 40 rows whose nine random bits are
 * all 1, which is 20,480 rows on average. */
#include <bucketing/bucketing.h>
#include <search.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

struct key {
    char name[256];
    uint64_t rows;
    struct bk_key_state state; /* all 0 for a new key; a service stores it with the rows */
};

static int by_name(const void *left, const void *right)
{
    return strcmp(((const struct key *)left)->name, ((const struct key *)right)->name);
}

/* The key with that name, created at its first row; NULL when out of memory. */
static struct key *find(void **keys, const char *name)
{
    struct key *made = calloc(1, sizeof *made);
    struct key **found;
    if (made == NULL)
        return NULL;
    strcpy(made->name, name);
    found = tsearch(made, keys, by_name);
    if (found == NULL || *found != made)
        free(made);
    return found == NULL ? NULL : *found;
}

static int fail(const char *what)
{
    fprintf(stderr, "route: %s\n", what);
    return 1;
}

/* Loads a file that `bucketlab tune --emit` wrote. */
static bool load(const char *path, struct bk_setting *setting)
{
    char text[4096];
    struct bk_setting_error error = {.line = 1, .text = "cannot be read, or is too large"};
    FILE *file = fopen(path, "rb");
    size_t size = file == NULL ? sizeof text : fread(text, 1, sizeof text, file);
    bool is_fine =
        size < sizeof text && !ferror(file) && bk_strategy_parse(text, size, setting, &error) == BK_OK;
    if (!is_fine)
        fprintf(stderr, "%s:%u: %s\n", path, (unsigned)error.line, error.text);
    if (file != NULL)
        fclose(file);
    return is_fine;
}

int main(int count, char **arguments)
{
    struct bk_setting setting = {0};
    struct bk_strategy *strategy = &setting.strategy;
    void *keys = NULL;
    char name[256];
    enum bk_status status = bk_strategy_probabilistic(9, 40, strategy);
    if (count > 1 && !load(arguments[1], &setting))
        return 1;
    while (status == BK_OK && fgets(name, sizeof name, stdin) != NULL) {
        struct timespec now;
        struct bk_row row = {0};
        struct bk_placement route;
        name[strcspn(name, "\n")] = '\0';
        struct key *key = find(&keys, name);
        if (key == NULL || getrandom(&row.id, sizeof row.id, 0) != (ssize_t)sizeof row.id)
            return fail("no memory, or no random bits");
        clock_gettime(CLOCK_REALTIME, &now);
        row.time_ns = now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
        row.bytes = strlen(name);
        row.sequence = key->rows++;
        status = bk_route(strategy, &key->state, &row, &route);
        if (status == BK_OK)
            printf("%lld,%s\n", (long long)route.bucket, name);
        if (status == BK_OK && bk_fires(strategy, &row))
            status = bk_advance(strategy, &key->state, &row, NULL);
    }
    return status == BK_OK ? 0 : fail(bk_status_text(status));
}
