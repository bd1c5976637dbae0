/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parser of expectations: a valid text gives an expectation whose number is finite; any other text gives
 * a constant message that names the problem and its remedy. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fuzzing.h"
#include "lab/scenario.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    fuzzing_require(text != NULL, "memory can be had");
    memcpy(text, data, size);
    text[size] = '\0';
    struct lab_expect expect;
    const char *trouble = lab_expect_parse(text, &expect);
    if (trouble != NULL) {
        fuzzing_require(trouble == LAB_EXPECT_NO_MEMORY || strchr(trouble, ';') != NULL,
                        "trouble has a cure");
    } else {
        fuzzing_require(!isnan(expect.value), "the number is one");
        fuzzing_require(strcmp(expect.text, text) == 0, "the text is kept");
        fuzzing_require(strstr(text, expect.metric) != NULL && expect.metric[0] != '\0',
                        "the metric is named");
        bool is_below = lab_expect_holds(&expect, -HUGE_VAL), is_above = lab_expect_holds(&expect, HUGE_VAL);
        fuzzing_require(isinf(expect.value) || is_below != is_above || expect.compare >= LAB_EQUAL,
                        "an order has two sides");
        lab_expect_clear(&expect);
    }
    free(text);
    return 0;
}
