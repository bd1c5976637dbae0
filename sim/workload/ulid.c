/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parses ULIDs. */
#include "workload/ulid.h"

#include <string.h>

#define ULID_TEXT 26u

__extension__ typedef unsigned __int128 wide;

/* The value of a digit; -1 when the character is not a digit. */
static int digit_of(char c)
{
    static const char digits[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    const char upper = c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
    const char *at = upper == '\0' ? NULL : strchr(digits, upper);
    return at == NULL ? -1 : (int)(at - digits);
}

/* 26 digits of 5 bits, of which the first has only 3. */
bool wl_ulid_parse(const char *text, size_t size, uint8_t out[WL_ULID_BYTES])
{
    wide value = 0;
    if (size != ULID_TEXT || text[0] > '7')
        return false;
    for (size_t i = 0; i < ULID_TEXT; i++) {
        int digit = digit_of(text[i]);
        if (digit < 0)
            return false;
        value = value << 5 | (unsigned)digit;
    }
    for (size_t i = WL_ULID_BYTES; i > 0; i--, value >>= 8)
        out[i - 1] = (uint8_t)value;
    return true;
}
