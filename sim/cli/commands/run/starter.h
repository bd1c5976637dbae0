/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The bytes of starter.yaml, which the build embeds into the program (bucketlab_embed). */
#ifndef CLI_STARTER_H
#define CLI_STARTER_H

#include <stddef.h>

extern const unsigned char cli_starter[];
extern const size_t cli_starter_size;

#endif
