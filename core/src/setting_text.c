/* SPDX-License-Identifier: MIT */
/* Parses and writes the values of a setting. Dates are computed by Howard Hinnant's algorithms for the civil
 * calendar. */
#include "setting_text.h"

#include <string.h>

#include "bucketing/strategy.h"
#include "calendar.h"

#define SECOND_NS  INT64_C(1000000000)
#define DAY_S      INT64_C(86400)
#define DIGITS_MAX 20 /* the most decimal digits of a uint64_t */

struct unit {
    const char *name;
    uint64_t size;
};

/* From the largest to the smallest unit, the order in which they are tried for writing. */
static const struct unit times[] = {
    {"d", 86400000000000}, {"h", 3600000000000}, {"m", 60000000000}, {"s", 1000000000},
    {"ms", 1000000},       {"us", 1000},         {"ns", 1},          {NULL, 0}};
static const struct unit sizes[] = {{"TB", 1000000000000}, {"GB", 1000000000}, {"MB", 1000000},
                                    {"KB", 1000},          {"B", 1},           {NULL, 0}};

/* Compares byte by byte: a compiler may replace a loop that only searches for the end by a call of
 * strlen(). */
bool bk_piece_is(struct bk_piece piece, const char *word)
{
    for (size_t i = 0; i < piece.size; i++) {
        if (word[i] == '\0' || word[i] != piece.at[i])
            return false;
    }
    return word[piece.size] == '\0';
}

struct bk_piece bk_piece_trimmed(struct bk_piece piece)
{
    while (piece.size > 0 && (piece.at[0] == ' ' || piece.at[0] == '\t')) {
        piece.at++;
        piece.size--;
    }
    while (piece.size > 0 && (piece.at[piece.size - 1] == ' ' || piece.at[piece.size - 1] == '\t'))
        piece.size--;
    return piece;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Takes the digits from the start of the piece. Returns false if there are none or if the number exceeds 2^64
 * - 1. */
static bool take_digits(struct bk_piece *piece, uint64_t *out)
{
    size_t used = 0;
    uint64_t value = 0;
    for (; used < piece->size && is_digit(piece->at[used]); used++) {
        unsigned digit = (unsigned)(piece->at[used] - '0');
        if (value > (UINT64_MAX - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    piece->at += used;
    piece->size -= used;
    *out = value;
    return used > 0;
}

const char *bk_piece_number(struct bk_piece piece, uint64_t *out)
{
    return take_digits(&piece, out) && piece.size == 0 ? NULL : "not a whole number from 0 to 2^64 - 1";
}

const char *bk_piece_digest(struct bk_piece piece, uint64_t *out)
{
    *out = 0;
    for (size_t i = 0; i < piece.size && piece.size == 16; i++) {
        char c = piece.at[i];
        if (!is_digit(c) && !(c >= 'a' && c <= 'f'))
            return "not 16 digits of 0-9 and a-f";
        *out = *out << 4 | (unsigned)(is_digit(c) ? c - '0' : c - 'a' + 10);
    }
    return piece.size == 16 ? NULL : "not 16 digits of 0-9 and a-f";
}

static bool read_with_unit(struct bk_piece piece, const struct unit *units, uint64_t most, uint64_t *out)
{
    uint64_t value;
    if (!take_digits(&piece, &value))
        return false;
    while (units->name != NULL && !bk_piece_is(piece, units->name))
        units++;
    if (units->name == NULL || value > most / units->size)
        return false;
    *out = value * units->size;
    return true;
}

const char *bk_piece_duration(struct bk_piece piece, int64_t *out_ns)
{
    uint64_t span;
    if (!read_with_unit(piece, times, INT64_MAX, &span))
        return "not a duration; a whole number and ns us ms s m h or d, up to 2^63 - 1 ns, as in 90d";
    *out_ns = (int64_t)span;
    return NULL;
}

const char *bk_piece_bytes(struct bk_piece piece, uint64_t *out)
{
    return read_with_unit(piece, sizes, UINT64_MAX, out)
               ? NULL
               : "not a size; a whole number and B KB MB GB or TB, up to 2^64 - 1 bytes, as in 512KB";
}

const char *bk_piece_chance(struct bk_piece piece, uint64_t *numerator, uint64_t *denominator)
{
    static const char wrong[] = "not a chance; two whole numbers m/n with 0 < m <= n, as in 1/300";
    if (!take_digits(&piece, numerator) || piece.size == 0 || piece.at[0] != '/')
        return wrong;
    piece.at++;
    piece.size--;
    return take_digits(&piece, denominator) && piece.size == 0 && *numerator > 0 && *numerator <= *denominator
               ? NULL
               : wrong;
}

/* Takes `digits` digits and the character `mark` from the start of the piece. */
static bool take_part(struct bk_piece *piece, size_t digits, char mark, int64_t *out)
{
    uint64_t value = 0;
    struct bk_piece part = {piece->at, digits};
    if (piece->size <= digits || piece->at[digits] != mark || !take_digits(&part, &value) || part.size != 0)
        return false;
    *out = (int64_t)value;
    piece->at += digits + 1;
    piece->size -= digits + 1;
    return true;
}

/* Parses ".5Z" or "Z". */
static bool take_fraction(struct bk_piece piece, int64_t *out_ns)
{
    int64_t unit = SECOND_NS;
    *out_ns = 0;
    if (piece.size > 1 && piece.at[0] == '.') {
        size_t i = 1;
        for (; i < piece.size && i <= 9 && is_digit(piece.at[i]); i++) {
            unit /= 10;
            *out_ns += (piece.at[i] - '0') * unit;
        }
        if (i == 1)
            return false;
        piece.at += i;
        piece.size -= i;
    }
    return piece.size == 1 && piece.at[0] == 'Z';
}

/* Returns false if the result does not fit into int64_t. */
static bool add_fraction(int64_t seconds, int64_t fraction_ns, int64_t *out_ns)
{
    int64_t least = INT64_MIN / SECOND_NS - 1, most = INT64_MAX / SECOND_NS;
    if (seconds < least || seconds > most || (seconds == most && fraction_ns > INT64_MAX % SECOND_NS) ||
        (seconds == least && SECOND_NS - fraction_ns > -(INT64_MIN % SECOND_NS)))
        return false;
    *out_ns = seconds < 0 ? (seconds + 1) * SECOND_NS - (SECOND_NS - fraction_ns)
                          : seconds * SECOND_NS + fraction_ns;
    return true;
}

const char *bk_piece_time(struct bk_piece piece, int64_t *out_ns)
{
    static const char wrong[] =
        "not a time of the years 1677 to 2262; give it in UTC, as in 2026-01-31T12:00:00Z";
    int64_t year, month, day, hour, minute, second, fraction_ns;
    /* The character after the seconds is checked together with the fraction. */
    if (piece.size < 20 || !take_part(&piece, 4, '-', &year) || !take_part(&piece, 2, '-', &month) ||
        !take_part(&piece, 2, 'T', &day) || !take_part(&piece, 2, ':', &hour) ||
        !take_part(&piece, 2, ':', &minute) || !take_part(&piece, 2, piece.at[2], &second))
        return wrong;
    piece.at--;
    piece.size++;
    if (!take_fraction(piece, &fraction_ns) || year < 1677 || year > 2262 || month < 1 || month > 12 ||
        hour > 23 || minute > 59 || second > 59)
        return wrong;
    int64_t index = (year - 1970) * 12 + month - 1, days = bk_month_begin_days(index) + day - 1;
    if (day < 1 || days >= bk_month_begin_days(index + 1) ||
        !add_fraction(days * DAY_S + hour * 3600 + minute * 60 + second, fraction_ns, out_ns))
        return wrong;
    return NULL;
}

static void bk_text_piece(struct bk_text *text, struct bk_piece piece)
{
    if (text->size == 0 || text->is_full || piece.size >= text->size - text->used) {
        text->is_full = true;
        return;
    }
    if (piece.size > 0)
        memcpy(text->at + text->used, piece.at, piece.size);
    text->used += piece.size;
    text->at[text->used] = '\0';
}

void bk_text_word(struct bk_text *text, const char *word)
{
    for (; *word != '\0'; word++)
        bk_text_piece(text, (struct bk_piece){word, 1});
}

static void write_digits(struct bk_text *text, uint64_t value, unsigned base, size_t least)
{
    char digits[DIGITS_MAX];
    size_t first = sizeof digits;
    do {
        unsigned digit = (unsigned)(value % base);
        digits[--first] = (char)(digit < 10 ? '0' + digit : 'a' + digit - 10);
        value /= base;
    } while (value != 0 || sizeof digits - first < least);
    bk_text_piece(text, (struct bk_piece){digits + first, sizeof digits - first});
}

void bk_text_number(struct bk_text *text, uint64_t value)
{
    write_digits(text, value, 10, 1);
}

void bk_text_digest(struct bk_text *text, uint64_t value)
{
    write_digits(text, value, 16, 16);
}

static void write_with_unit(struct bk_text *text, const struct unit *units, uint64_t value)
{
    while (value % units->size != 0)
        units++;
    write_digits(text, value / units->size, 10, 1);
    bk_text_word(text, units->name);
}

void bk_text_duration(struct bk_text *text, int64_t span_ns)
{
    write_with_unit(text, span_ns == 0 ? times + 3 : times, (uint64_t)span_ns);
}

void bk_text_bytes(struct bk_text *text, uint64_t bytes)
{
    write_with_unit(text, bytes == 0 ? sizes + 4 : sizes, bytes);
}

static int64_t floor_divide(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

static void write_part(struct bk_text *text, int64_t value, size_t digits, const char *mark)
{
    write_digits(text, (uint64_t)value, 10, digits);
    bk_text_word(text, mark);
}

void bk_text_time(struct bk_text *text, int64_t time_ns)
{
    static const struct bk_strategy months = {.kind = BK_TIME, .of.time = {BK_CALENDAR_MONTH, 0, 0}};
    int64_t month = bk_window_of(&months, time_ns).index, year = 1970 + floor_divide(month, 12);
    int64_t seconds = floor_divide(time_ns, SECOND_NS), days = floor_divide(seconds, DAY_S);
    int64_t of_day = seconds - days * DAY_S, fraction_ns = time_ns % SECOND_NS;
    size_t places = 9;
    fraction_ns += fraction_ns < 0 ? SECOND_NS : 0;
    write_part(text, year, 4, "-");
    write_part(text, month - 12 * (year - 1970) + 1, 2, "-");
    write_part(text, days - bk_month_begin_days(month) + 1, 2, "T");
    write_part(text, of_day / 3600, 2, ":");
    write_part(text, of_day / 60 % 60, 2, ":");
    write_part(text, of_day % 60, 2, fraction_ns == 0 ? "Z" : ".");
    if (fraction_ns == 0)
        return;
    for (; fraction_ns % 10 == 0; fraction_ns /= 10)
        places--;
    write_part(text, fraction_ns, places, "Z");
}
