/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: agents and clients of identifiers request the right actions, one situation a case. Method: the
 * scripts of tests/core/scripts (script.h), each run twice: moved to other memory after each event, and
 * restored from its checkpoint. */
#include "script.h"

#include "../read_file.h"

#define FOLDER    BUCKETLAB_SOURCE_DIR "/tests/core/scripts/"
#define LINES_MAX 1500

struct script {
    const char *name;
    char *text, *lines[LINES_MAX];
    size_t count, cases;
    const struct script_machine *machine; /* NULL between cases */
    void *of;
    bool is_reloaded;
};

void say(struct said *said, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(said->text + said->length, sizeof said->text - said->length, format, arguments);
    va_end(arguments);
    assert_true(length >= 0 && (size_t)length < sizeof said->text - said->length);
    said->length += (size_t)length;
}

bool skip_word(const char **line, const char *word)
{
    size_t length = strlen(word);
    if (strncmp(*line, word, length) != 0)
        return false;
    *line += length;
    return true;
}

bool skip_number(const char **line, int64_t *out)
{
    *out = INT64_MIN;
    if (skip_word(line, "-inf"))
        return true;
    *out = INT64_MAX;
    if (skip_word(line, "inf"))
        return true;
    char *end;
    *out = strtoll(*line, &end, 10);
    bool is_number = end != *line;
    *line = end;
    return is_number;
}

bool skip_setting(const char **line, const struct script_setting *settings, size_t count, void *config)
{
    for (size_t i = 0; i < count; i++) {
        const char *at = *line;
        int64_t value;
        if (!skip_word(&at, settings[i].name) || !skip_word(&at, "=") || !skip_number(&at, &value))
            continue;
        uint32_t half = (uint32_t)value;
        memcpy((char *)config + settings[i].offset, settings[i].size == sizeof half ? (void *)&half : &value,
               settings[i].size);
        *line = at;
        return true;
    }
    return false;
}

static void end_case(struct script *script, size_t line)
{
    struct said said = {.length = 0};
    if (script->machine == NULL)
        return;
    script->machine->end(script->of, &said);
    if (said.length > 0)
        fail_msg("%s%s:%zu: at the end: %s", FOLDER, script->name, line, said.text);
    script->machine = NULL;
}

static void run_line(struct script *script, size_t number)
{
    static const struct script_machine *const machines[] = {&agent_scripts, &idgen_scripts};
    const char *line = script->lines[number] + strspn(script->lines[number], " ");
    for (size_t i = 0; i < 2 && script->machine == NULL; i++) {
        if (strncmp(line, machines[i]->first_word, strlen(machines[i]->first_word)) == 0) {
            script->machine = machines[i];
            script->of = machines[i]->begin(script->is_reloaded);
        }
    }
    struct said said = {.length = 0};
    const char *colon = strstr(line, ": ");
    char event[512];
    snprintf(event, sizeof event, "%.*s", (int)(colon == NULL ? strlen(line) : (size_t)(colon - line)), line);
    if (script->machine == NULL || !script->machine->run(script->of, event, &said))
        fail_msg("%s%s:%zu: no such event: %s", FOLDER, script->name, number + 1, line);
    const char *expected = colon == NULL ? "" : colon + 2;
    if (strcmp(expected, "...") != 0 && strcmp(expected, said.text) != 0)
        fail_msg("%s%s:%zu:\n%s: %s, not: %s", FOLDER, script->name, number + 1, event, said.text, expected);
}

static void run_script(struct script *script)
{
    for (size_t i = 0; i < script->count; i++) {
        const char *line = script->lines[i];
        unsigned times = 0;
        int length = 0;
        if (strncmp(line, "case ", strlen("case ")) == 0) {
            end_case(script, i);
            script->cases++;
        } else if (sscanf(line, "%u times%n", &times, &length) == 1 && length > 0 && line[length] == '\0') {
            size_t end = i + 1;
            while (end < script->count && script->lines[end][0] == ' ')
                end++;
            for (; times > 0; times--)
                for (size_t j = i + 1; j < end; j++)
                    run_line(script, j);
            i = end - 1;
        } else if (line[0] != '\0') {
            run_line(script, i);
        }
    }
    end_case(script, script->count);
}

/* Splits the file into lines, and cuts off comments. */
static void read_script(struct script *script)
{
    char path[512];
    snprintf(path, sizeof path, "%s%s", FOLDER, script->name);
    size_t size;
    script->text = read_file(path, &size);
    for (char *line = script->text; line != NULL && *line != '\0';) {
        assert_true(script->count < LINES_MAX);
        char *end = strchr(line, '\n');
        if (end != NULL)
            *end++ = '\0';
        char *comment = line[0] == '#' ? line : strstr(line, "  # ");
        if (comment != NULL)
            *comment = '\0';
        script->lines[script->count++] = line;
        line = end;
    }
}

static void test_script(void **state)
{
    for (int is_reloaded = 0; is_reloaded < 2; is_reloaded++) {
        struct script *script = calloc(1, sizeof *script);
        assert_non_null(script);
        script->name = *state;
        script->is_reloaded = is_reloaded;
        read_script(script);
        run_script(script);
        assert_true(script->cases > 0);
        free(script->text);
        free(script);
    }
}

int main(void)
{
#define SCRIPT(name)                                                                                         \
    {                                                                                                        \
        name, test_script, NULL, NULL, (void *)(uintptr_t)name ".txt"                                        \
    }
    const struct CMUnitTest tests[] = {
        SCRIPT("change"),       SCRIPT("count"),        SCRIPT("failure"),      SCRIPT("guarded"),
        SCRIPT("guarded_line"), SCRIPT("guarded_roll"), SCRIPT("guarded_turn"), SCRIPT("lease"),
        SCRIPT("line"),         SCRIPT("local"),        SCRIPT("lock"),         SCRIPT("number"),
        SCRIPT("scan"),         SCRIPT("sum"),          SCRIPT("history"),      SCRIPT("idgen"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
