/* SPDX-License-Identifier: MIT */
/* What all headers share: the version, and C linkage for C++. The shared library exports the functions
 * between BK_BEGIN and BK_END, and hides all others.
 *
 * Versions are MAJOR.MINOR.PATCH. Up to 1.0.0 each MINOR may change functions and structs, and the shared
 * library's name says so: libbucketing.so.0.1 goes with 0.1.x alone. From 1.0.0 on only a MAJOR may. Programs
 * of one PATCH read the checkpoints of another; those of another MINOR may be refused, by
 * BK_ERROR_CHECKPOINT, never misread.
 *
 * Example: a program prints the version that it was compiled with, and the version that it runs with.
 *
 *     printf("libbucketing %s, headers of %s", bk_version(), BK_VERSION);
 */
#ifndef BUCKETING_API_H
#define BUCKETING_API_H

#define BK_VERSION "0.1.0"

#ifdef __GNUC__
#define BK_VISIBLE_BEGIN _Pragma("GCC visibility push(default)")
#define BK_VISIBLE_END   _Pragma("GCC visibility pop")
#else
#define BK_VISIBLE_BEGIN
#define BK_VISIBLE_END
#endif
#ifdef __cplusplus
#define BK_BEGIN                                                                                             \
    extern "C" {                                                                                             \
    BK_VISIBLE_BEGIN
#define BK_END                                                                                               \
    BK_VISIBLE_END                                                                                           \
    }
#else
#define BK_BEGIN BK_VISIBLE_BEGIN
#define BK_END   BK_VISIBLE_END
#endif

BK_BEGIN

/* The library's own version, as BK_VERSION was when it was compiled. Never NULL; the text is the library's.
 * Constant, and safe from any thread. */
const char *bk_version(void);

BK_END
#endif
