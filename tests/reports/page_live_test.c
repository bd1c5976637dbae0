/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: the live calculator begins with the run's values (setting, limits, row size), shows its figures
 * without scripts, and keeps a label as text. Method: the XML writer writes fixture results, and the test
 * searches the markup; tests/page tests the script. */
#include "fixture.h"

#include "reports/page.h"
#include "sheet.h"

static void add_probabilistic(struct lab_result *result, uint32_t bits, uint64_t threshold, const char *label)
{
    struct bk_strategy strategy;
    assert_int_equal(bk_strategy_probabilistic(bits, threshold, &strategy), BK_OK);
    struct lab_strategy_result *added = fixture_add(result, label, &strategy);
    fixture_put(added, false, 1500, 10);
    fixture_metrics(result, added, 1, 0, 0);
}

static struct lab_result *result_with(uint32_t bits, uint64_t threshold, const char *label)
{
    struct lab_result *result = fixture_result("live", "synthetic");
    add_probabilistic(result, bits, threshold, label);
    return result;
}

static xmlBufferPtr write_corner(const struct lab_result *result)
{
    struct report_arena arena;
    report_arena_init(&arena);
    xmlBufferPtr page = xmlBufferCreate();
    xmlTextWriterPtr writer = xmlNewTextWriterMemory(page, 0);
    assert_non_null(writer);
    const struct report_page of = {.result = result};
    struct report_sheet sheet = {.writer = writer, .arena = &arena, .page = &of, .is_fine = true};
    report_page_live(&sheet);
    assert_true(sheet.is_fine);
    xmlFreeTextWriter(writer);
    report_arena_free(&arena);
    return page;
}

static void assert_has(xmlBufferPtr page, const char *text)
{
    if (strstr((const char *)xmlBufferContent(page), text) == NULL)
        fail_msg("no '%s' in:\n%s", text, (const char *)xmlBufferContent(page));
}

static void assert_lacks(xmlBufferPtr page, const char *text)
{
    if (strstr((const char *)xmlBufferContent(page), text) != NULL)
        fail_msg("'%s' in:\n%s", text, (const char *)xmlBufferContent(page));
}

static void test_corner_begins_with_the_run(void **state)
{
    (void)state;
    struct lab_result *result = result_with(4, 100, NULL);
    result->keys = 10;
    result->rows = 16000;
    result->end_ns = result->start_ns + INT64_C(1000) * 1000000000;
    xmlBufferPtr page = write_corner(result);
    assert_has(page, "<input type=\"range\" id=\"live-bits\" min=\"0\" max=\"32\" value=\"4\"/>");
    assert_has(page,
               "id=\"live-threshold-number\" aria-label=\"Threshold as a number\" min=\"1\" max=\"1000000\" "
               "required=\"\" value=\"100\"/>");
    assert_has(
        page,
        "<tr data-figure=\"mean\"><th scope=\"row\">mean</th><td><data value=\"1600\">1,600 rows</data>");
    assert_has(page, "id=\"live-limit-rows\" inputmode=\"numeric\" autocomplete=\"off\" value=\"100000\"/>");
    assert_has(page, "id=\"live-limit-bytes\" inputmode=\"text\" autocomplete=\"off\" value=\"100 MB\"/>");
    assert_has(page, "id=\"live-row-bytes\" inputmode=\"text\" autocomplete=\"off\" value=\"350 B\"/>");
    assert_has(page, "<th scope=\"row\">P(bytes &gt; 100 MB), above 285,714 rows</th>");
    assert_has(page, "id=\"live-rate\" inputmode=\"decimal\" autocomplete=\"off\" value=\"1.6\"/>");
    assert_has(page, "<data value=\"1000\">1,000 s</data>");
    assert_has(page,
               "bucketlab odds --bits 4 --threshold 100 --below 24 --above 100000 --above 285714</code>");
    assert_lacks(page, "<select");
    xmlBufferFree(page);
    lab_result_destroy(result);
}

static void test_corner_without_a_probabilistic_strategy_begins_with_9_and_40(void **state)
{
    (void)state;
    struct lab_result *result = fixture_result("bare", "synthetic");
    result->limits = (struct lab_limits){0};
    struct bk_strategy strategy;
    assert_int_equal(bk_strategy_unbucketed(&strategy), BK_OK);
    fixture_add(result, NULL, &strategy);
    /* A threshold that the page's fields do not accept. */
    add_probabilistic(result, 3, 1000001, "beyond");
    xmlBufferPtr page = write_corner(result);
    assert_has(page, "<data value=\"20480\">20,480 rows</data>");
    assert_has(page, "<data value=\"3235.008500761628");
    assert_has(page, "<tr data-figure=\"above\" hidden=\"\">");
    assert_has(page, "<tr data-figure=\"above-bytes\" hidden=\"\">");
    assert_has(page, "<tr data-figure=\"below\" hidden=\"\">");
    assert_has(page, "bucketlab odds --bits 9 --threshold 40</code>");
    xmlBufferFree(page);
    lab_result_destroy(result);
}

static void test_corner_offers_each_setting_of_the_run_and_labels_stay_text(void **state)
{
    (void)state;
    struct lab_result *result = result_with(7, 160, "<img src=x onerror=alert(1)>\"&");
    add_probabilistic(result, 8, 80, "</script>");
    struct bk_strategy strategy;
    assert_int_equal(bk_strategy_probabilistic_chance(1, 300, 70, &strategy), BK_OK);
    fixture_add(result, "rare", &strategy);
    xmlBufferPtr page = write_corner(result);
    assert_has(page, "<option value=\"7 160\">&lt;img src=x onerror=alert(1)&gt;");
    assert_has(
        page, "<option value=\"8 80\">&lt;/script&gt;</option><option value=\"8 70\">rare</option></select>");
    assert_lacks(page, "<img");
    assert_lacks(page, "</script");
    xmlBufferFree(page);
    lab_result_destroy(result);
}

static void test_corner_of_a_run_of_identifiers_is_left_out(void **state)
{
    (void)state;
    struct lab_result *result = result_with(7, 160, NULL);
    result->strategies[0].settings.is_idgen = true;
    xmlBufferPtr page = write_corner(result);
    assert_int_equal(xmlBufferLength(page), 0);
    xmlBufferFree(page);
    lab_result_destroy(result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_corner_begins_with_the_run),
        cmocka_unit_test(test_corner_without_a_probabilistic_strategy_begins_with_9_and_40),
        cmocka_unit_test(test_corner_offers_each_setting_of_the_run_and_labels_stay_text),
        cmocka_unit_test(test_corner_of_a_run_of_identifiers_is_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
