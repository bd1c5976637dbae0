/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Texts and numbers as a terminal shows them: safe, wrapped, in few columns. */
#ifndef CLI_TEXT_H
#define CLI_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Writes text with '?' for bytes that are not UTF-8 and for characters that may not be shown
 * (sim_text_step()), so that a name cannot steer the terminal. */
void cli_print_text(FILE *stream, const char *text);
/* The same for text of several lines, whose line breaks stay. */
void cli_print_lines(FILE *stream, const char *text);
/* Writes text as one word for a POSIX shell; returns its size. A character takes at most four bytes, and
 * three are for the quotes and the end. */
size_t cli_quote(const char *text, char *buffer);
/* The same to a stream, each part of it as cli_print_text() writes it. */
void cli_print_quoted(FILE *stream, const char *text);
/* Columns of a terminal that text takes as cli_print_text() writes it: two a wide character, none a combining
 * one. */
size_t cli_text_width(const char *text);
/* A space and text to stdout, which stands at `column`; broken at spaces so that lines end by column 80.
 * Returns the column after it. */
size_t cli_print_wrapped(const char *text, size_t column);
/* The same, with `indent` spaces at the start of further lines. */
size_t cli_print_indented(const char *text, size_t column, size_t indent);
/* The same from column 0 to the end of the line. */
void cli_print_paragraph(const char *text);

#define CLI_NUMBER_SIZE 32
/* Three significant digits in at most `width` columns (4 or more): "12345", "123k", "1.23M". */
void cli_compact(double value, size_t width, char *buffer);
/* "999B", "1.23MB"; 1 KB is 1000 B. At most 6 columns. */
void cli_compact_bytes(double value, char *buffer);
/* 1555200 -> "1,555,200". */
void cli_grouped(uint64_t value, char *buffer);
/* "9.2 years", "3.1 days", "40 minutes" */
#define CLI_SPAN_SIZE (CLI_NUMBER_SIZE + 16)
void cli_span(double days, char *buffer);

#endif
