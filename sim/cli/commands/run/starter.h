/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The bytes of starter.yaml, put into the program by the build (bucketlab_embed). */
#ifndef CLI_STARTER_H
#define CLI_STARTER_H

#include <stddef.h>

extern const unsigned char cli_starter[];
extern const size_t cli_starter_size;

#endif
