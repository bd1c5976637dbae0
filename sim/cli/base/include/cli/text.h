/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints texts and numbers on a terminal: without control characters, wrapped, in few columns. */
#ifndef CLI_TEXT_H
#define CLI_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Prints text, with '?' for bytes that are not UTF-8 and for characters that must not be displayed
 * (sim_text_step()), so that a name cannot control the terminal. */
void cli_print_text(FILE *stream, const char *text);
/* As cli_print_text(), but keeps line breaks. */
void cli_print_lines(FILE *stream, const char *text);
/* A line of two parts, the second as by cli_print_text(). */
void cli_print_line(FILE *stream, const char *before, const char *text);
/* Text quoted as one word for a POSIX shell, if it must be; the caller must free it. */
char *cli_quoted(const char *text);
/* Appends a space and the quoted word to a command line that is malloc'ed. */
char *cli_line_with(char *line, const char *word);
/* The lines of a text, whose last may have a line break; the caller must g_strfreev() them. */
char **cli_lines(const char *text);
/* The number of terminal columns of text as cli_print_text() prints it: two for a wide character, none for a
 * combining one. */
size_t cli_text_width(const char *text);
/* Prints a label that begins at column `indent`, filled up to `columns`; a label that is wider has its own
 * line. */
void cli_print_label(FILE *stream, const char *label, size_t columns, size_t indent);
/* The columns of the terminal that a stream is connected to; 80 when it is none, or they are not known. */
size_t cli_terminal_columns(FILE *stream);
/* The columns of lines on it: cli_terminal_columns(), but from 80 to 120. */
size_t cli_line_columns(FILE *stream);
/* Prints a space and text to stdout, which is at `column`, wrapped at spaces so that lines have at most
 * cli_line_columns(). Returns the column after the text. */
size_t cli_print_wrapped(const char *text, size_t column);
/* As cli_print_wrapped(), with `indent` spaces at the beginning of each further line. */
size_t cli_print_indented(const char *text, size_t column, size_t indent);
/* As cli_print_wrapped(), as a paragraph from column 0 with a final line break. */
void cli_print_paragraph(const char *text);
/* Prints "KIND: TEXT": wrapped on a terminal, otherwise as one line. */
void cli_print_notice(FILE *stream, const char *kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#define CLI_NUMBER_SIZE 32
/* Formats a number with three significant digits in at most `width` columns (4 or more): "12345", "123k",
 * "1.23M". */
void cli_compact(double value, size_t width, char *buffer);
/* Formats bytes in at most 6 columns: "999B", "1.23MB"; 1 KB is 1000 B. */
void cli_compact_bytes(double value, char *buffer);
/* Formats a whole number with separators: 1555200 is "1,555,200". */
void cli_grouped(uint64_t value, char *buffer);
/* Formats a span: "9.2 years", "3.1 days", "40 minutes". */
#define CLI_SPAN_SIZE (CLI_NUMBER_SIZE + 16)
void cli_span(double days, char *buffer);

#endif
