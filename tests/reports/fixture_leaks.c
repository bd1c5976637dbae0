/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The leaks that LeakSanitizer ignores: memory that font libraries keep. */
#include "fixture.h"

const char *__lsan_default_suppressions(void)
{
    return "leak:libfontconfig\n";
}

const char *__lsan_default_options(void)
{
    return "print_suppressions=0";
}
