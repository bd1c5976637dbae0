/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads YAML into a tree of nodes with their places. Two readers make the same tree: a recursive descent for
 * a subset of YAML in which generated scenarios, values of --set and most files are written (block mappings
 * and lists, flow collections within one line, plain scalars of ASCII, comments on separate lines), and
 * libfyaml for everything else, and for every error. In: bytes. Kept: nodes in the chunks of the tree. Out:
 * the top node, or an error with its place. */
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
    if (event->type == FYET_ALIAS)
        return lab_fail_at(yaml->tree, place, "aliases (*name) are not supported; write the value out");
    struct fy_token *anchor = fy_event_get_anchor_token(event), *tag = fy_event_get_tag_token(event);
    struct lab_place here =
        place_at(yaml, fy_token_start_mark(anchor != NULL ? anchor : tag), anchor != NULL ? "&" : "");
    if (anchor != NULL)
        return lab_fail_at(yaml->tree, &here, "anchors (&name) are not supported; remove it");
    if (tag != NULL)
        return lab_fail_at(yaml->tree, &here, "tags (!name) are not supported; remove it");
    return true;
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

bool lab_tree_read(struct lab_tree *tree, const char *argument, const char *text, size_t size,
                   const char *name, struct lab_node **out)
{
    *out = NULL;
    if (lab_tree_read_plain(tree, argument, text, size, name, out))
        return *out != NULL;
    if (!check_bytes(tree, argument, text, size))
        return false;
    struct yaml yaml = {.tree = tree, .argument = argument, .text = text, .size = size};
    bool ok = open_yaml(&yaml, text, size) && read_document(&yaml, name, out);
    close_yaml(&yaml);
    return ok;
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

struct plain {
    struct lab_tree *tree;
    const char *argument;
    const char *at, *end, *line_begin;
    int line;
    bool is_out_of_memory;
    int indent; /* column of the line's first character that is not a space; -1: there are no more lines */
};

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static bool is_inner(char c)
{
    return is_letter(c) || c == '.' || c == '_' || c == '/' || c == '%' || c == '+' || c == '-';
}

static char peek(const struct plain *plain)
{
    return plain->at < plain->end ? *plain->at : '\n';
}

static char peek_next(const struct plain *plain)
{
    return plain->at + 1 < plain->end ? plain->at[1] : '\n';
}

static struct lab_place here(const struct plain *plain)
{
    return (struct lab_place){plain->argument, plain->line, (int)(plain->at - plain->line_begin) + 1};
}

/* Advances to the first character of the next line that is not empty or a comment; false for a comment
 * outside of the subset. */
static bool next_line(struct plain *plain)
{
    for (;;) {
        while (peek(plain) == ' ')
            plain->at++;
        plain->indent = plain->at < plain->end ? (int)(plain->at - plain->line_begin) : -1;
        if (plain->indent < 0)
            return true;
        for (bool is_comment = peek(plain) == '#'; is_comment && peek(plain) != '\n'; plain->at++) {
            if (*plain->at < ' ' || *plain->at > '~')
                return false;
        }
        if (peek(plain) != '\n')
            return true;
        plain->at += plain->at < plain->end;
        plain->line_begin = plain->at;
        plain->line++;
    }
}

/* Checks that nothing follows in the line. */
static bool end_line(struct plain *plain)
{
    if (peek(plain) != '\n')
        return false;
    plain->at += plain->at < plain->end;
    plain->line_begin = plain->at;
    plain->line++;
    return next_line(plain);
}

/* Reads a scalar, or the name of a field, which ends before ": " or before a colon at the end of the line. */
static const char *read_text(struct plain *plain, bool is_flow)
{
    const char *begin = plain->at, first = peek(plain);
    bool is_signed = (first == '-' || first == '+' || first == '.') && is_letter(peek_next(plain));
    if (!is_letter(first) && !is_signed)
        return NULL;
    plain->at++;
    for (;; plain->at++) {
        char c = peek(plain);
        bool is_word = is_inner(peek_next(plain));
        if (is_inner(c) || (c == ' ' && is_word) || (c == ',' && !is_flow && peek_next(plain) == ' '))
            continue;
        break;
    }
    const char *text = lab_tree_text(plain->tree, begin, (size_t)(plain->at - begin));
    plain->is_out_of_memory = plain->is_out_of_memory || text == NULL;
    return text;
}

static struct lab_node *new_node(struct plain *plain, const struct lab_place *place, const char *name,
                                 const struct lab_place *name_place)
{
    if (!count_value(plain->tree))
        return NULL;
    struct lab_node *node = lab_tree_mapping(plain->tree, place, name);
    plain->is_out_of_memory = plain->is_out_of_memory || node == NULL;
    if (node != NULL)
        node->name_place = *name_place;
    return node;
}

static bool make_scalar(struct lab_node *node, const char *text)
{
    node->kind = LAB_NODE_SCALAR;
    node->text = text;
    node->is_null = text != NULL && strcmp(text, "null") == 0;
    return text != NULL;
}

static bool has_field(const struct lab_node *mapping, const char *name)
{
    for (const struct lab_node *field = mapping->first; field != NULL; field = field->next) {
        if (strcmp(field->name, name) == 0)
            return true;
    }
    return mapping->count == FIELDS_MAX;
}

static void skip_blanks(struct plain *plain)
{
    while (peek(plain) == ' ')
        plain->at++;
}

static bool read_flow(struct plain *plain, const char *name, const struct lab_place *name_place, int depth,
                      struct lab_node **out);

static bool read_flow_item(struct plain *plain, struct lab_node *parent, bool is_list, int depth)
{
    struct lab_place place = here(plain);
    const char *name = parent->name;
    struct lab_node *child;
    if (is_list) {
        place = parent->place;
    } else {
        name = read_text(plain, true);
        if (name == NULL || peek(plain) != ':' || peek_next(plain) != ' ' || has_field(parent, name))
            return false;
        plain->at++;
        skip_blanks(plain);
    }
    if (!read_flow(plain, name, &place, depth + 1, &child))
        return false;
    lab_node_append(parent, child);
    return true;
}

/* Reads a flow collection or a scalar, from its first character on. */
static bool read_flow(struct plain *plain, const char *name, const struct lab_place *name_place, int depth,
                      struct lab_node **out)
{
    struct lab_place place = here(plain);
    bool is_list = peek(plain) == '[';
    struct lab_node *node = depth <= DEPTH_MAX ? new_node(plain, &place, name, name_place) : NULL;
    if (node == NULL)
        return false;
    *out = node;
    if (!is_list && peek(plain) != '{')
        return make_scalar(node, read_text(plain, true));
    const char close = is_list ? ']' : '}';
    node->kind = is_list ? LAB_NODE_LIST : LAB_NODE_MAPPING;
    plain->at++;
    skip_blanks(plain);
    while (peek(plain) != close) {
        if (!read_flow_item(plain, node, is_list, depth))
            return false;
        skip_blanks(plain);
        if (peek(plain) != ',')
            break;
        plain->at++;
        skip_blanks(plain);
        if (peek(plain) == close)
            return false;
    }
    bool is_closed = peek(plain) == close;
    plain->at += is_closed;
    return is_closed;
}

static bool read_block(struct plain *plain, const char *name, const struct lab_place *name_place, int depth,
                       struct lab_node **out);

/* Reads the value after the colon of a name: within the line, or in lines with more indentation than
 * `indent`. */
static bool read_value(struct plain *plain, int indent, const char *name, const struct lab_place *name_place,
                       int depth, struct lab_node **out)
{
    skip_blanks(plain);
    if (peek(plain) == '\n')
        return end_line(plain) && plain->indent > indent && read_block(plain, name, name_place, depth, out);
    if (peek(plain) == '{' || peek(plain) == '[') {
        if (!read_flow(plain, name, name_place, depth, out))
            return false;
    } else {
        struct lab_place place = here(plain);
        struct lab_node *node = depth <= DEPTH_MAX ? new_node(plain, &place, name, name_place) : NULL;
        *out = node;
        if (node == NULL || !make_scalar(node, read_text(plain, false)))
            return false;
    }
    return end_line(plain) && plain->indent <= indent;
}

/* Reads the fields that begin in the column of the first one. */
static bool read_fields(struct plain *plain, struct lab_node *mapping, int column, int depth)
{
    do {
        struct lab_place place = here(plain);
        const char *name = read_text(plain, false);
        struct lab_node *child;
        bool is_name =
            name != NULL && peek(plain) == ':' && (peek_next(plain) == ' ' || peek_next(plain) == '\n');
        if (!is_name || has_field(mapping, name))
            return false;
        plain->at++;
        if (!read_value(plain, column, name, &place, depth + 1, &child))
            return false;
        lab_node_append(mapping, child);
    } while (plain->indent == column);
    return plain->indent < column;
}

/* Reads the elements after dashes: flow collections, scalars, or mappings whose first field follows the
 * dash. */
static bool read_items(struct plain *plain, struct lab_node *list, int depth)
{
    int column = plain->indent;
    do {
        if (peek(plain) != '-' || peek_next(plain) != ' ')
            return false;
        plain->at++;
        skip_blanks(plain);
        int inner = (int)(plain->at - plain->line_begin);
        const char *begin = plain->at;
        struct lab_place place = here(plain);
        struct lab_node *child;
        const char *name = peek(plain) == '{' || peek(plain) == '[' ? NULL : read_text(plain, false);
        bool has_fields = name != NULL && peek(plain) == ':';
        plain->at = begin;
        if (has_fields) {
            child = depth < DEPTH_MAX ? new_node(plain, &place, list->name, &list->place) : NULL;
            if (child == NULL || !read_fields(plain, child, inner, depth + 1))
                return false;
        } else if (!read_value(plain, column, list->name, &list->place, depth + 1, &child)) {
            return false;
        }
        lab_node_append(list, child);
    } while (plain->indent == column);
    return plain->indent < column;
}

/* Reads a block from the first character of its first line on. */
static bool read_block(struct plain *plain, const char *name, const struct lab_place *name_place, int depth,
                       struct lab_node **out)
{
    struct lab_place place = here(plain);
    struct lab_node *node = depth <= DEPTH_MAX ? new_node(plain, &place, name, name_place) : NULL;
    if (node == NULL)
        return false;
    *out = node;
    bool is_list = peek(plain) == '-' && peek_next(plain) == ' ';
    node->kind = is_list ? LAB_NODE_LIST : LAB_NODE_MAPPING;
    return is_list ? read_items(plain, node, depth) : read_fields(plain, node, plain->indent, depth);
}

bool lab_tree_read_plain(struct lab_tree *tree, const char *argument, const char *text, size_t size,
                         const char *name, struct lab_node **out)
{
    struct plain plain = {
        .tree = tree, .argument = argument, .at = text, .end = text + size, .line_begin = text, .line = 1};
    const struct lab_place nowhere = {argument, 0, 0};
    size_t node_count = tree->node_count;
    bool is_read = next_line(&plain) && plain.indent == 0;
    if (is_read && (argument != NULL || peek(&plain) == '{'))
        is_read = read_value(&plain, 0, name, &nowhere, 0, out) && plain.indent < 0;
    else
        is_read =
            is_read && peek(&plain) != '-' && read_block(&plain, name, &nowhere, 0, out) && plain.indent < 0;
    if (is_read)
        return true;
    *out = NULL;
    tree->node_count = node_count;
    return plain.is_out_of_memory;
}
