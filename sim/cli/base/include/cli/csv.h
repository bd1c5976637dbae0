/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text in a CSV file that a spreadsheet may open. */
#ifndef CLI_CSV_H
#define CLI_CSV_H

/* What to write in front of a text field. A spreadsheet takes text that begins with one of = + - @, tab, CR
 * or LF for a formula, whether it is in quotes or not: such text gets an apostrophe in front, as OWASP
 * advises ("CSV Injection"). All else, a plain number as -5 or +1.5e3 too, gets "". */
const char *cli_csv_guard(const char *text);

#endif
