/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads YAML into a tree of nodes with their places, by libfyaml. What the program itself writes to read it
 * again (drawn scenarios, values of --set) is one line of flow collections and plain scalars, which a
 * recursive descent reads ten times as fast; it leaves everything else, and every error, to the library. In:
 * bytes. Kept: nodes in the chunks of the tree. Out: the top node, or an error with its place. */
#include <libfyaml.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/text.h"
#include "lab/fields.h"

#define NODES_MAX  20000
#define DEPTH_MAX  32
#define FIELDS_MAX 500 /* of a mapping */
#define CHUNK_SIZE 16384
#define YAML_CURE  "check brackets, quotes, indentation and the space after each colon"

static bool count_value(struct lab_tree *tree)
{
    return ++tree->node_count <= NODES_MAX;
}

struct lab_chunk {
    struct lab_chunk *next;
    size_t used, size;
    alignas(max_align_t) char memory[];
};

/* The stream of libfyaml's events; the current one is `event`. */
struct yaml {
    struct lab_tree *tree;
    struct fy_parser *parser;
    struct fy_diag *diag;
    struct fy_event *event;
    const char *argument, *text;
    size_t size;
};

/* Input that is not text is refused before the YAML parser sees it. */
static bool check_bytes(struct lab_tree *tree, const char *argument, const char *text, size_t size)
{
    struct lab_place place = {argument, 1, 1};
    for (size_t i = 0; i < size;) {
        unsigned code = 0;
        size_t length = sim_utf8(text + i, size - i, &code);
        if (length == 0)
            return lab_fail_at(tree, &place, "byte 0x%02x is not UTF-8; save the scenario as UTF-8",
                               (unsigned char)text[i]);
        if (lab_is_control(code) && code != '\t' && code != '\n' && code != '\r')
            return lab_fail_at(tree, &place, "control character 0x%02x; a scenario is plain text, remove it",
                               code);
        bool is_break = code == '\n' || (code == '\r' && (i + 1 == size || text[i + 1] != '\n'));
        place.line += is_break;
        place.column = is_break ? 1 : place.column + 1;
        i += length;
    }
    return true;
}

static bool open_yaml(struct yaml *yaml, const char *text, size_t size)
{
    struct fy_diag_cfg diag_config;
    fy_diag_cfg_default(&diag_config);
    diag_config.fp = NULL;
    diag_config.output_fn = NULL;
    diag_config.colorize = false;
    diag_config.level = FYET_ERROR;
    yaml->diag = fy_diag_create(&diag_config);
    if (yaml->diag == NULL)
        return sim_fail_memory(yaml->tree->error);
    fy_diag_set_collect_errors(yaml->diag, true);
    struct fy_parse_cfg config = {
        .search_path = "", .flags = FYPCF_QUIET | FYPCF_COLLECT_DIAG | FYPCF_JSON_NONE, .diag = yaml->diag};
    yaml->parser = fy_parser_create(&config);
    if (yaml->parser == NULL || fy_parser_set_string(yaml->parser, text, size) != 0)
        return sim_fail_memory(yaml->tree->error);
    return true;
}

static void close_yaml(struct yaml *yaml)
{
    if (yaml->event != NULL)
        fy_parser_event_free(yaml->parser, yaml->event);
    if (yaml->parser != NULL)
        fy_parser_destroy(yaml->parser);
    if (yaml->diag != NULL)
        fy_diag_destroy(yaml->diag);
}

/* Finds a tab in the indentation of this line of the file, or of the next one that is not empty: the library
 * may report the line before it. */
static bool find_tab(const struct yaml *yaml, struct lab_place *place)
{
    struct lab_place here = {yaml->argument, 1, 1};
    bool is_indentation = true;
    for (size_t i = 0; yaml->argument == NULL && i < yaml->size; i++) {
        char c = yaml->text[i];
        if (c == '\n') {
            here.line++;
            here.column = 1;
            is_indentation = true;
            continue;
        }
        if (is_indentation && c == '\t' && here.line >= place->line) {
            *place = here;
            return true;
        }
        is_indentation = is_indentation && (c == ' ' || c == '\r');
        if (!is_indentation && here.line > place->line)
            return false;
        here.column++;
    }
    return false;
}

static bool fail_syntax(struct yaml *yaml)
{
    void *iterator = NULL;
    struct lab_place place = {yaml->argument, 0, 0};
    struct fy_diag_error *found = fy_diag_errors_iterate(yaml->diag, &iterator);
    if (found == NULL || found->msg == NULL)
        return lab_fail_at(yaml->tree, &place, "not valid YAML; " YAML_CURE);
    place.line = found->line;
    place.column = found->column;
    if (find_tab(yaml, &place))
        return lab_fail_at(yaml->tree, &place, "not valid YAML: line %d is indented with a tab; use spaces",
                           place.line);
    return lab_fail_at(yaml->tree, &place, "not valid YAML: %.200s; " YAML_CURE, found->msg);
}

static bool next_event(struct yaml *yaml)
{
    if (yaml->event != NULL)
        fy_parser_event_free(yaml->parser, yaml->event);
    yaml->event = fy_parser_parse(yaml->parser);
    return yaml->event != NULL || fail_syntax(yaml);
}

static bool read_node(struct yaml *yaml, const char *name, const struct lab_place *name_place, int depth,
                      struct lab_node **out);

static bool read_list(struct yaml *yaml, struct lab_node *list, int depth)
{
    for (;;) {
        struct lab_node *child;
        if (!next_event(yaml))
            return false;
        if (yaml->event->type == FYET_SEQUENCE_END)
            return true;
        if (!read_node(yaml, list->name, &list->place, depth + 1, &child))
            return false;
        lab_node_append(list, child);
    }
}

/* Escapes in a quoted scalar can produce bytes that the file itself must not contain. */
static bool read_scalar(struct yaml *yaml, const struct lab_place *place, const char **out, bool *is_plain)
{
    struct fy_token *token = yaml->event->scalar.value;
    size_t size = 0;
    const char *text = token == NULL ? "" : fy_token_get_text(token, &size);
    if (text == NULL)
        return sim_fail_memory(yaml->tree->error);
    for (size_t i = 0, length; i < size; i += length) {
        unsigned code;
        length = sim_utf8(text + i, size - i, &code);
        if (length == 0 || code == 0)
            return lab_fail_at(
                yaml->tree, place,
                "an escape sequence makes something that is not text; write the character itself");
    }
    *is_plain = token == NULL || fy_token_scalar_style(token) == FYSS_PLAIN;
    *out = lab_tree_text(yaml->tree, text, size);
    return *out != NULL;
}

/* The library's mark is after a quote, * or &; messages should point at that character. */
static struct lab_place place_at(const struct yaml *yaml, const struct fy_mark *mark, const char *sign)
{
    struct lab_place place = {yaml->argument, 0, 0};
    if (mark == NULL)
        return place;
    bool is_after = mark->column > 0 && sign[0] != '\0' && yaml->text[mark->input_pos - 1] == sign[0];
    place.line = mark->line + 1;
    place.column = mark->column + 1 - is_after;
    return place;
}

static bool refuse_extras(struct yaml *yaml, const struct lab_place *place)
{
    struct fy_event *event = yaml->event;
    struct fy_token *anchor = fy_event_get_anchor_token(event), *tag = fy_event_get_tag_token(event);
    if (event->type != FYET_ALIAS && anchor == NULL && tag == NULL)
        return true;
    struct lab_place here =
        event->type == FYET_ALIAS
            ? *place
            : place_at(yaml, fy_token_start_mark(anchor != NULL ? anchor : tag), anchor != NULL ? "&" : "");
    return lab_fail_at(yaml->tree, &here,
                       "anchors (&name), aliases (*name) and tags (!name) are not supported; write the value "
                       "out");
}

static struct lab_place place_of(const struct yaml *yaml)
{
    struct fy_event *event = yaml->event;
    struct fy_token *value = event->type == FYET_SCALAR ? event->scalar.value : NULL;
    const char *sign = event->type == FYET_ALIAS ? "*" : "";
    if (value != NULL && fy_token_scalar_style(value) == FYSS_SINGLE_QUOTED)
        sign = "'";
    if (value != NULL && fy_token_scalar_style(value) == FYSS_DOUBLE_QUOTED)
        sign = "\"";
    return place_at(yaml, fy_event_start_mark(event), sign);
}

static bool read_name(struct yaml *yaml, const struct lab_node *mapping, const char **name,
                      struct lab_place *place)
{
    bool is_plain;
    *place = place_of(yaml);
    if (place->line == 0)
        *place = mapping->place;
    if (!refuse_extras(yaml, place))
        return false;
    if (yaml->event->type != FYET_SCALAR)
        return lab_fail_at(yaml->tree, place, "a list or mapping as the name of a field; write a plain name");
    if (!read_scalar(yaml, place, name, &is_plain))
        return false;
    if (is_plain && strcmp(*name, "<<") == 0)
        return lab_fail_at(yaml->tree, place, "merge keys '<<' are not supported; write the fields out");
    for (const struct lab_node *node = mapping->first; node != NULL; node = node->next) {
        char where[LAB_PLACE_SIZE], shown[LAB_SHOWN_SIZE];
        if (strcmp(node->name, *name) == 0)
            return lab_fail_at(yaml->tree, place, "field '%s' appears twice, first at %s; remove one",
                               lab_show(*name, shown), lab_place_text(&node->name_place, where));
    }
    return true;
}

static bool read_mapping(struct yaml *yaml, struct lab_node *mapping, int depth)
{
    for (;;) {
        struct lab_node *child;
        const char *name;
        struct lab_place name_place;
        if (!next_event(yaml))
            return false;
        if (yaml->event->type == FYET_MAPPING_END)
            return true;
        if (mapping->count == FIELDS_MAX)
            return lab_fail_at(yaml->tree, &mapping->place,
                               "more than %d fields, which no mapping of a scenario has; remove some",
                               FIELDS_MAX);
        if (!read_name(yaml, mapping, &name, &name_place) || !next_event(yaml) ||
            !read_node(yaml, name, &name_place, depth + 1, &child))
            return false;
        lab_node_append(mapping, child);
    }
}

/* Reads the value whose first event is the current one; afterwards its last event is the current one. */
static bool read_node(struct yaml *yaml, const char *name, const struct lab_place *name_place, int depth,
                      struct lab_node **out)
{
    struct lab_tree *tree = yaml->tree;
    struct lab_place place = place_of(yaml);
    if (place.line == 0)
        place = *name_place;
    if (!refuse_extras(yaml, &place))
        return false;
    if (depth > DEPTH_MAX)
        return lab_fail_at(tree, &place, "nested more than %d deep; a scenario needs less, remove brackets",
                           DEPTH_MAX);
    if (!count_value(tree))
        return lab_fail_at(tree, &place, "more than %d values; make the scenario smaller", NODES_MAX);
    struct lab_node *node = lab_tree_mapping(tree, &place, name);
    if (node == NULL)
        return false;
    node->name_place = *name_place;
    *out = node;
    bool is_plain;
    switch (yaml->event->type) {
    case FYET_SCALAR:
        node->kind = LAB_NODE_SCALAR;
        if (!read_scalar(yaml, &place, &node->text, &is_plain))
            return false;
        node->is_empty = is_plain && node->text[0] == '\0';
        /* For an empty document, the place depends on the version of the library. */
        if (node->is_empty)
            node->place = *name_place;
        node->is_null = is_plain && (strcmp(node->text, "null") == 0 || strcmp(node->text, "~") == 0);
        return true;
    case FYET_SEQUENCE_START:
        node->kind = LAB_NODE_LIST;
        return read_list(yaml, node, depth);
    case FYET_MAPPING_START:
        return read_mapping(yaml, node, depth);
    default:
        return fail_syntax(yaml);
    }
}

static bool read_document(struct yaml *yaml, const char *name, struct lab_node **out)
{
    struct lab_place place = {yaml->argument, 0, 0};
    if (!next_event(yaml) || !next_event(yaml))
        return false;
    if (yaml->event->type != FYET_DOCUMENT_START)
        return lab_fail_at(yaml->tree, &place,
                           "nothing in it; write a scenario, or let 'bucketlab init' write one");
    if (!next_event(yaml) || !read_node(yaml, name, &place, 0, out))
        return false;
    /* Reads the end of the document, then the end of the stream. */
    if (!next_event(yaml) || !next_event(yaml))
        return false;
    place = place_of(yaml);
    if (yaml->event->type != FYET_STREAM_END)
        return lab_fail_at(yaml->tree, &place, "a second document begins here; keep one scenario per file");
    return true;
}

void lab_tree_clear(struct lab_tree *tree)
{
    while (tree->chunks != NULL) {
        struct lab_chunk *next = tree->chunks->next;
        free(tree->chunks);
        tree->chunks = next;
    }
}

struct lab_node *lab_node_find(const struct lab_node *mapping, const char *name)
{
    if (mapping == NULL || mapping->kind != LAB_NODE_MAPPING)
        return NULL;
    for (struct lab_node *node = mapping->first; node != NULL; node = node->next) {
        if (strcmp(node->name, name) == 0)
            return node->is_null ? NULL : node;
    }
    return NULL;
}

struct lab_node *lab_node_at(const struct lab_node *mapping, const char *path)
{
    char name[64];
    for (const char *point; (point = strchr(path, '.')) != NULL; path = point + 1) {
        snprintf(name, sizeof name, "%.*s", (int)(point - path), path);
        mapping = lab_node_find(mapping, name);
    }
    return lab_node_find(mapping, path);
}

static void *take(struct lab_tree *tree, size_t size, size_t align)
{
    struct lab_chunk *chunk = tree->chunks;
    size_t begin = chunk == NULL ? 0 : (chunk->used + align - 1) / align * align;
    if (chunk == NULL || begin > chunk->size || size > chunk->size - begin) {
        size_t room = size > CHUNK_SIZE ? size : CHUNK_SIZE;
        chunk = malloc(sizeof *chunk + room);
        if (chunk == NULL) {
            sim_fail_memory(tree->error);
            return NULL;
        }
        *chunk = (struct lab_chunk){.next = tree->chunks, .size = room};
        tree->chunks = chunk;
        begin = 0;
    }
    chunk->used = begin + size;
    return chunk->memory + begin;
}

struct lab_node *lab_tree_mapping(struct lab_tree *tree, const struct lab_place *place, const char *name)
{
    struct lab_node *node = take(tree, sizeof *node, alignof(struct lab_node));
    if (node != NULL)
        *node = (struct lab_node){
            .kind = LAB_NODE_MAPPING, .name = name, .text = "", .place = *place, .name_place = *place};
    return node;
}

const char *lab_tree_text(struct lab_tree *tree, const char *text, size_t size)
{
    char *copy = take(tree, size + 1, 1);
    if (copy != NULL) {
        memcpy(copy, text, size);
        copy[size] = '\0';
    }
    return copy;
}

void lab_node_append(struct lab_node *parent, struct lab_node *child)
{
    if (parent->last == NULL)
        parent->first = child;
    else
        parent->last->next = child;
    parent->last = child;
    child->next = NULL;
    parent->count++;
}

bool lab_fail_at(const struct lab_tree *tree, const struct lab_place *place, const char *format, ...)
{
    char text[sizeof tree->error->text];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (place != NULL && place->argument != NULL)
        return sim_fail(tree->error, SIM_ERROR_INPUT, "--set %s: %s", place->argument, text);
    if (place == NULL || place->line == 0)
        return sim_fail(tree->error, SIM_ERROR_INPUT, "%s:1:1: %s", tree->path, text);
    return sim_fail(tree->error, SIM_ERROR_INPUT, "%s:%d:%d: %s", tree->path, place->line, place->column,
                    text);
}

const char *lab_place_text(const struct lab_place *place, char *buffer)
{
    if (place->argument != NULL)
        snprintf(buffer, LAB_PLACE_SIZE, "--set %.48s", place->argument);
    else
        snprintf(buffer, LAB_PLACE_SIZE, "line %d", place->line);
    return buffer;
}

const char *lab_show(const char *text, char *buffer)
{
    size_t size = strlen(text), shown = 0;
    while (shown < size) {
        unsigned code;
        size_t length = sim_utf8(text + shown, size - shown, &code);
        if (length == 0 || shown + length > LAB_SHOWN_SIZE - 4)
            break;
        if (lab_is_control(code))
            memset(buffer + shown, '?', length);
        else
            memcpy(buffer + shown, text + shown, length);
        shown += length;
    }
    memcpy(buffer + shown, shown < size ? "..." : "", shown < size ? 4 : 1);
    return buffer;
}

bool lab_is_control(unsigned code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x2028 || code == 0x2029;
}

/* The reader of one line. */
struct plain {
    struct lab_tree *tree;
    const char *argument;
    const char *at, *begin, *end;
    bool is_out_of_memory;
};

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static bool is_inner(char c)
{
    return is_letter(c) || c == '.' || c == '_' || c == '/' || c == '%' || c == '+' || c == '-';
}

static char peek(const struct plain *plain, size_t ahead)
{
    return ahead < (size_t)(plain->end - plain->at) ? plain->at[ahead] : '\n';
}

/* Whether the character comes next; if so, skips it and the blanks after it. */
static bool take_sign(struct plain *plain, char sign)
{
    if (peek(plain, 0) != sign)
        return false;
    do
        plain->at++;
    while (peek(plain, 0) == ' ');
    return true;
}

/* Reads a scalar, or the name of a field, which ends before ": ". */
static const char *read_text(struct plain *plain)
{
    const char *begin = plain->at, first = peek(plain, 0);
    bool is_signed = (first == '-' || first == '+' || first == '.') && is_letter(peek(plain, 1));
    if (!is_letter(first) && !is_signed)
        return NULL;
    do
        plain->at++;
    while (is_inner(peek(plain, 0)) || (peek(plain, 0) == ' ' && is_inner(peek(plain, 1))));
    const char *text = lab_tree_text(plain->tree, begin, (size_t)(plain->at - begin));
    plain->is_out_of_memory = plain->is_out_of_memory || text == NULL;
    return text;
}

static bool has_field(const struct lab_node *mapping, const char *name)
{
    const struct lab_node *field = mapping->first;
    while (field != NULL && strcmp(field->name, name) != 0)
        field = field->next;
    return field != NULL || mapping->count == FIELDS_MAX;
}

/* Reads a flow collection or a scalar. */
static bool read_flow(struct plain *plain, const char *name, const struct lab_place *name_place, int depth,
                      struct lab_node **out)
{
    struct lab_place place = {plain->argument, 1, (int)(plain->at - plain->begin) + 1};
    bool is_list = peek(plain, 0) == '[', is_scalar = !is_list && peek(plain, 0) != '{';
    const char close = is_list ? ']' : '}';
    if (depth > DEPTH_MAX || !count_value(plain->tree))
        return false;
    struct lab_node *node = *out = lab_tree_mapping(plain->tree, &place, name), *child;
    plain->is_out_of_memory = plain->is_out_of_memory || node == NULL;
    if (node == NULL)
        return false;
    node->name_place = *name_place;
    node->kind = is_scalar ? LAB_NODE_SCALAR : is_list ? LAB_NODE_LIST : LAB_NODE_MAPPING;
    if (is_scalar) {
        node->text = read_text(plain);
        node->is_null = node->text != NULL && strcmp(node->text, "null") == 0;
        return node->text != NULL;
    }
    take_sign(plain, is_list ? '[' : '{');
    for (bool has_next = peek(plain, 0) != close; has_next;) {
        const char *child_name = name;
        place.column = (int)(plain->at - plain->begin) + 1;
        if (!is_list) {
            child_name = read_text(plain);
            if (child_name == NULL || peek(plain, 1) != ' ' || has_field(node, child_name) ||
                !take_sign(plain, ':'))
                return false;
        }
        if (!read_flow(plain, child_name, is_list ? &node->place : &place, depth + 1, &child))
            return false;
        lab_node_append(node, child);
        has_next = take_sign(plain, ',');
    }
    return take_sign(plain, close);
}

/* Returns false, without an error, when the text is not within the subset, and true otherwise; when out of
 * memory the error is set and *out is NULL. */
static bool read_line(struct lab_tree *tree, const char *argument, const char *text, size_t size,
                      const char *name, struct lab_node **out)
{
    struct plain plain = {.tree = tree, .argument = argument, .at = text, .begin = text, .end = text + size};
    const struct lab_place nowhere = {argument, 0, 0};
    size_t node_count = tree->node_count;
    if (read_flow(&plain, name, &nowhere, 0, out) && plain.at == plain.end)
        return true;
    *out = NULL;
    tree->node_count = node_count;
    return plain.is_out_of_memory;
}

bool lab_tree_read(struct lab_tree *tree, const char *argument, const char *text, size_t size,
                   const char *name, struct lab_node **out)
{
    *out = NULL;
    if (read_line(tree, argument, text, size, name, out))
        return *out != NULL;
    if (!check_bytes(tree, argument, text, size))
        return false;
    struct yaml yaml = {.tree = tree, .argument = argument, .text = text, .size = size};
    bool ok = open_yaml(&yaml, text, size) && read_document(&yaml, name, out);
    close_yaml(&yaml);
    return ok;
}
