/* SPDX-License-Identifier: MIT */
/* What all headers share: the version, and C linkage for C++. The shared library exports the functions
 * between BK_BEGIN and BK_END, and hides all others.
 *
 * Versions are MAJOR.MINOR.PATCH. Only a MAJOR may change or remove functions, structs and values. The shared
 * library is libbucketing.so.N: N goes up, whatever the version, with each change that breaks programs
 * compiled before. Functions may be added under the same N.
 *
 * Threads: the library has no state that changes, no locks and no threads of its own, and never blocks. Two
 * calls may run at the same time, on any threads, unless one of them changes a struct that the other uses: a
 * struct passed by a pointer to const is only read, any other may be changed. So strategies, histories and
 * configs may be shared by all threads once they are made; a key state, reader, agent or client of
 * identifiers is used by one thread at a time, and may move from one thread to another where the program
 * orders the two (a mutex, a queue). Nothing is shared between two agents.
 *
 * A checkpoint (bk_agent_save(), bk_idgen_save()) begins with the number of its layout, BK_AGENT_LAYOUT or
 * BK_IDGEN_LAYOUT. A library loads checkpoints with its own layout number, whatever machine and version wrote
 * them. It refuses all others with BK_ERROR_CHECKPOINT, and never misreads one. A new PATCH keeps both
 * numbers.
 *
 *     version   BK_AGENT_LAYOUT   BK_IDGEN_LAYOUT
 *     1.0       4                 2
 *
 * A service that is upgraded to a version with another layout number starts with a new agent or client. A new
 * agent has no operations under way: rows that were not acknowledged are unknown to it, and the host writes
 * them again. The old agent's leased numbers and the old client's identifiers are never used. A new agent of
 * BK_SOURCE_MEMORY counts the rows of its buckets again.
 *
 * Example: a program prints the version that it was compiled with, and the version that it runs with.
 *
 *     printf("libbucketing %s, headers of %s", bk_version(), BK_VERSION);
 * */
#ifndef BUCKETING_API_H
#define BUCKETING_API_H

#define BK_VERSION "1.0.0"
/** The same for the preprocessor: MAJOR * 10000 + MINOR * 100 + PATCH. */
#define BK_VERSION_NUMBER 10000
/** The layout numbers of the checkpoints that this version writes and reads. */
#define BK_AGENT_LAYOUT 4u
#define BK_IDGEN_LAYOUT 2u

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

/** The value of BK_VERSION with which the library itself was compiled. The text is a constant that must not
 * be freed; never NULL. */
const char *bk_version(void);

BK_END
#endif
