/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Protects text in a CSV file that may be opened by a spreadsheet. */
#ifndef CLI_CSV_H
#define CLI_CSV_H

/* The prefix of a text field. A spreadsheet interprets text that begins with = + - @, tab, CR or LF as a
 * formula, even if it is quoted. The prefix of such a text is an apostrophe, as OWASP recommends ("CSV
 * Injection"). All other texts, and plain numbers such as -5 or +1.5e3, have the prefix "". */
const char *cli_csv_guard(const char *text);

#endif
