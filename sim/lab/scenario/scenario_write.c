/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes a tree of nodes as YAML. */
#include "lab/scenario_write.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/grow.h"

#define LINE_SIZE 100
#define INDENT    2

static bool reserve(struct lab_writer *writer, size_t size)
{
    if (writer->out_of_memory)
        return false;
    writer->out_of_memory = !sim_grow(&writer->text, &writer->capacity, writer->size + size + 1, 1);
    return !writer->out_of_memory;
}

/* Whether the node in flow style fits into the current line. */
static bool fits(struct lab_writer *writer, const struct lab_node *node)
{
    if (!reserve(writer, 0))
        return true;
    size_t before = writer->size, line = before;
    while (line > 0 && writer->text[line - 1] != '\n')
        line--;
    lab_writer_add_flow(writer, node);
    bool does_fit = writer->size - line < LINE_SIZE;
    if (!writer->out_of_memory)
        writer->text[before] = '\0';
    writer->size = before;
    return does_fit;
}

static void write_value(struct lab_writer *writer, const struct lab_node *node, size_t indent);

/* Whether YAML reads the text as a scalar without quotes, in any position. */
static bool is_plain(const char *text)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    static const char others[] = "._/%+-<>=!*";
    bool is_signed = (text[0] == '-' || text[0] == '.' || text[0] == '/') && text[1] != '\0' &&
                     strchr(letters, text[1]) != NULL;
    if (text[0] == '\0' || (strchr(letters, text[0]) == NULL && !is_signed) || strcmp(text, "null") == 0)
        return false;
    for (const char *c = text + 1; *c != '\0'; c++) {
        bool is_inner = c[1] != '\0' && strchr(letters, c[1]) != NULL;
        bool is_blank_fine = *c == ' ' && c[1] != '\0' && c[1] != ' ';
        if (strchr(letters, *c) == NULL && strchr(others, *c) == NULL && !(*c == ':' && is_inner) &&
            !is_blank_fine)
            return false;
    }
    return true;
}

static void write_text(struct lab_writer *writer, const char *text)
{
    if (is_plain(text)) {
        lab_writer_add(writer, "%s", text);
        return;
    }
    lab_writer_add(writer, "\"");
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '\n')
            lab_writer_add(writer, "\\n");
        else if (*c == '"' || *c == '\\')
            lab_writer_add(writer, "\\%c", *c);
        else if ((unsigned char)*c < 0x20 || *c == 0x7f)
            lab_writer_add(writer, "\\x%02x", (unsigned char)*c);
        else
            lab_writer_add(writer, "%c", *c);
    }
    lab_writer_add(writer, "\"");
}

/* Writes fields on separate lines; the line of the first one may have begun with the dash of a list. */
static void write_fields(struct lab_writer *writer, const struct lab_node *mapping, size_t indent,
                         bool is_first_placed)
{
    for (const struct lab_node *field = mapping->first; field != NULL; field = field->next) {
        if (!is_first_placed)
            lab_writer_add(writer, "%*s", (int)indent, "");
        is_first_placed = false;
        write_text(writer, field->name);
        lab_writer_add(writer, ":");
        write_value(writer, field, indent);
    }
}

/* Writes the value after "name:", with the end of the line. Lists at the top level are long, and have a line
 * per element. */
static void write_value(struct lab_writer *writer, const struct lab_node *node, size_t indent)
{
    bool is_top_list = node->kind == LAB_NODE_LIST && indent == 0 && node->count > 0;
    if (!is_top_list && (node->kind == LAB_NODE_SCALAR || node->count == 0 || fits(writer, node))) {
        lab_writer_add(writer, " ");
        lab_writer_add_flow(writer, node);
        lab_writer_add(writer, "\n");
        return;
    }
    lab_writer_add(writer, "\n");
    if (node->kind == LAB_NODE_MAPPING) {
        write_fields(writer, node, indent + INDENT, false);
        return;
    }
    for (const struct lab_node *item = node->first; item != NULL; item = item->next) {
        lab_writer_add(writer, "%*s- ", (int)(indent + INDENT), "");
        bool is_single = item->kind == LAB_NODE_MAPPING && item->count == 1;
        if (item->kind == LAB_NODE_MAPPING && item->count > 0 && (is_single || !fits(writer, item))) {
            write_fields(writer, item, indent + 2 * INDENT, true);
        } else {
            lab_writer_add_flow(writer, item);
            lab_writer_add(writer, "\n");
        }
    }
}

char *lab_tree_write(const struct lab_node *root)
{
    struct lab_writer writer = {0};
    write_fields(&writer, root, 0, false);
    return lab_writer_take(&writer);
}

void lab_writer_add(struct lab_writer *writer, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    size_t room = writer->capacity - writer->size;
    int size = vsnprintf(room > 0 ? writer->text + writer->size : NULL, room, format, arguments);
    va_end(arguments);
    if (size >= 0 && (size_t)size < room && !writer->out_of_memory) {
        writer->size += (size_t)size;
        return;
    }
    if (size < 0 || !reserve(writer, (size_t)size))
        return;
    va_start(arguments, format);
    vsnprintf(writer->text + writer->size, (size_t)size + 1, format, arguments);
    va_end(arguments);
    writer->size += (size_t)size;
}

static void write_scalar(struct lab_writer *writer, const struct lab_node *node)
{
    if (node->is_null)
        lab_writer_add(writer, "null");
    else if (node->is_empty)
        lab_writer_add(writer, "{}"); /* an empty mapping, as after "unbucketed:" */
    else
        write_text(writer, node->text);
}

void lab_writer_add_flow(struct lab_writer *writer, const struct lab_node *node)
{
    if (node->kind == LAB_NODE_SCALAR) {
        write_scalar(writer, node);
        return;
    }
    bool is_list = node->kind == LAB_NODE_LIST;
    lab_writer_add(writer, is_list ? "[" : "{");
    for (const struct lab_node *child = node->first; child != NULL; child = child->next) {
        if (!is_list) {
            write_text(writer, child->name);
            lab_writer_add(writer, ": ");
        }
        lab_writer_add_flow(writer, child);
        if (child->next != NULL)
            lab_writer_add(writer, ", ");
    }
    lab_writer_add(writer, is_list ? "]" : "}");
}

char *lab_writer_take(struct lab_writer *writer)
{
    lab_writer_add(writer, "%s", "");
    char *text = writer->text;
    if (writer->out_of_memory) {
        free(text);
        text = NULL;
    }
    *writer = (struct lab_writer){0};
    return text;
}
