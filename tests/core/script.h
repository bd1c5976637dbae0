/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Protocols step by step: scripts in tests/core/scripts. Each line is an event, and after a colon what the
 * agent or the client does then; without a colon, nothing. script_test.c reads the scripts, agent_script.c
 * and idgen_script.c run them.
 *
 *     case put that times out stays in its bucket
 *     # a comment; also at the end of a line, after two spaces
 *     agent A single rmw retries=1
 *     A knows bucket=3 counter=2 last=400 next=0 at 980
 *     1000 A0 writes 7: put 7.3
 *     1010 A0 unknown: put 7.3 again
 *     63 times
 *         1011 A0 refused: ...
 *
 * The indented lines after `N times` are repeated, and `...` stands for any actions. */
#ifndef TESTS_CORE_SCRIPT_H
#define TESTS_CORE_SCRIPT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct said {
    char text[4096];
    size_t length;
};

void say(struct said *said, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Moves *line past `word`, if it begins with it, and returns whether it does. */
bool skip_word(const char **line, const char *word);

/* Moves *line past a number, which may also be -inf for INT64_MIN or inf for INT64_MAX. */
bool skip_number(const char **line, int64_t *out);

/* A setting of a config as a script names it, and where it is stored. */
struct script_setting {
    const char *name;
    size_t offset, size; /* size: 4 or 8 bytes */
};
bool skip_setting(const char **line, const struct script_setting *settings, size_t count, void *config);

/* What runs a case. Each event adds to *said what was done, and returns false for a line that it does not
 * know. An agent is moved to other memory after each event, or with `is_reloaded` restored from its
 * checkpoint. */
struct script_machine {
    const char *first_word; /* of the line that begins it */
    void *(*begin)(bool is_reloaded);
    bool (*run)(void *of, const char *line, struct said *said);
    void (*end)(void *of, struct said *said); /* says what is still due */
};
extern const struct script_machine agent_scripts, idgen_scripts;

#endif
