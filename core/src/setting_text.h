/* SPDX-License-Identifier: MIT */
/* Parses and prints values of settings: whole numbers, durations, sizes, chances, times. Pieces of text have
 * no final NUL. */
#ifndef BUCKETING_SETTING_TEXT_H
#define BUCKETING_SETTING_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bk_piece {
    const char *at;
    size_t size;
};

/* A text in a buffer of limited size; what does not fit is left out, and is_full is set. */
struct bk_text {
    char *at;
    size_t size, used; /* one byte of `size` is for the final NUL */
    bool is_full;
};

bool bk_piece_is(struct bk_piece piece, const char *word);
/* The piece without spaces and tabs at both ends. */
struct bk_piece bk_piece_trimmed(struct bk_piece piece);

/* Each returns NULL and sets *out, or returns the problem as a text that follows "'name = value': ". */
const char *bk_piece_number(struct bk_piece piece, uint64_t *out);
const char *bk_piece_digest(struct bk_piece piece, uint64_t *out);
const char *bk_piece_duration(struct bk_piece piece, int64_t *out_ns);
const char *bk_piece_bytes(struct bk_piece piece, uint64_t *out);
const char *bk_piece_chance(struct bk_piece piece, uint64_t *numerator, uint64_t *denominator);
const char *bk_piece_time(struct bk_piece piece, int64_t *out_ns);

void bk_text_word(struct bk_text *text, const char *word);
void bk_text_number(struct bk_text *text, uint64_t value);
void bk_text_digest(struct bk_text *text, uint64_t value);
/* Prints a duration with the largest unit in which it is whole. */
void bk_text_duration(struct bk_text *text, int64_t span_ns);
void bk_text_bytes(struct bk_text *text, uint64_t bytes);
void bk_text_time(struct bk_text *text, int64_t time_ns);

#endif
