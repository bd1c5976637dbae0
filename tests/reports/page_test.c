/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: a page is complete and self-contained, shows the contents of the database, and never lets a user's
 * text become markup. Method: pages of hand-made results, read by libxml2's strict reader and queried by
 * XPath; every step of writing fails in turn, and so do allocations throughout. */
#define _XOPEN_SOURCE 700

#include "fixture.h"

#include <errno.h>
#include <glib.h>
#include <libxml/parser.h>
#include <libxml/xpath.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../no_disk.h"
#include "../share.h"
#include "reports/page.h"
#include "sheet.h"

static const char *const again[] = {"bucketlab replay 3 --db lab.db", "bucketlab run chat.yaml --seed 1"};
static const char scenario_text[] = "name: chat\n# </pre><script>alert(1)</script> & \x01 \xff\nseed: 1\n";

static struct report_page page_of(const struct lab_result *result)
{
    return (struct report_page){.result = result,
                                .scenario_text = scenario_text,
                                .scenario_file = "/home/somebody/chat.yaml",
                                .overrides = "seed=1\nname=<b>",
                                .version = "0.1.0",
                                .again = again,
                                .again_count = 2};
}

static char *make(const struct report_page *page, size_t *size)
{
    struct report_bytes bytes;
    struct sim_error error = {0};
    assert_true(report_page_make(page, &bytes, &error));
    *size = bytes.size;
    return (char *)bytes.data;
}

struct read_page {
    char *text;
    size_t size;
    xmlDocPtr document;
    xmlXPathContextPtr context;
};

static void open_page(const struct report_page *page, struct read_page *out)
{
    out->text = make(page, &out->size);
    out->document = xmlReadMemory(out->text, (int)out->size, "page", "UTF-8", XML_PARSE_NONET);
    assert_non_null(out->document);
    out->context = xmlXPathNewContext(out->document);
    assert_non_null(out->context);
}

static void close_page(struct read_page *page)
{
    xmlXPathFreeContext(page->context);
    xmlFreeDoc(page->document);
    free(page->text);
}

static xmlXPathObjectPtr ask(const struct read_page *page, const char *path)
{
    xmlXPathObjectPtr found = xmlXPathEvalExpression((const xmlChar *)path, page->context);
    assert_non_null(found);
    return found;
}

static size_t count(const struct read_page *page, const char *path)
{
    xmlXPathObjectPtr found = ask(page, path);
    size_t nodes = found->nodesetval == NULL ? 0 : (size_t)found->nodesetval->nodeNr;
    xmlXPathFreeObject(found);
    return nodes;
}

/* The text of the first match; the caller frees it. */
static char *text_at(const struct read_page *page, const char *path)
{
    xmlXPathObjectPtr found = ask(page, path);
    assert_true(found->nodesetval != NULL && found->nodesetval->nodeNr > 0);
    xmlChar *content = xmlNodeGetContent(found->nodesetval->nodeTab[0]);
    char *copy = strdup((const char *)content);
    xmlFree(content);
    xmlXPathFreeObject(found);
    return copy;
}

static void assert_text(const struct read_page *page, const char *path, const char *expected)
{
    char *text = text_at(page, path);
    assert_string_equal(text, expected);
    free(text);
}

static void assert_holds(const struct read_page *page, const char *path, const char *part)
{
    char *text = text_at(page, path);
    if (strstr(text, part) == NULL) {
        print_error("no '%s' in '%s'\n", part, text);
        fail();
    }
    free(text);
}

static int compare_texts(const void *one, const void *other)
{
    return strcmp(*(const char *const *)one, *(const char *const *)other);
}

static size_t ids_below(xmlNode *node, const char **ids, size_t count, size_t room)
{
    for (; node != NULL; node = node->next) {
        const xmlAttr *id = node->type == XML_ELEMENT_NODE ? xmlHasProp(node, (const xmlChar *)"id") : NULL;
        if (id != NULL) {
            assert_true(count < room);
            assert_non_null(id->children);
            ids[count++] = (const char *)id->children->content;
        }
        count = ids_below(node->children, ids, count, room);
    }
    return count;
}

/* After sorting, equal ids are neighbours; XPath would compare each id with all that follow. */
static void assert_ids_differ(const struct read_page *page)
{
    enum { ROOM = 1 << 16 };
    const char **ids = malloc(ROOM * sizeof *ids);
    assert_non_null(ids);
    const size_t found = ids_below(xmlDocGetRootElement(page->document), ids, 0, ROOM);
    assert_true(found > 10);
    qsort(ids, found, sizeof *ids, compare_texts);
    for (size_t i = 1; i < found; i++) {
        assert_string_not_equal(ids[i - 1], ids[i]);
    }
    free(ids);
}

static void test_every_case_gives_the_same_complete_page_twice(void **state)
{
    (void)state;
    for (size_t i = 0; i < FIXTURE_COUNT; i += test_share()) {
        struct lab_result *result = fixture_case(i);
        const struct report_page source = page_of(result);
        struct read_page page;
        size_t size;
        char *other = make(&source, &size);
        open_page(&source, &page);
        assert_int_equal(size, page.size);
        assert_memory_equal(other, page.text, size);
        free(other);
        assert_int_equal(strncmp(page.text, "<!DOCTYPE html>", 15), 0);
        assert_int_equal(count(&page, "/html/head/title"), 1);
        assert_int_equal(count(&page, "/html/body/main"), 1);
        assert_int_equal(count(&page, "//h1"), 1);
        assert_int_equal(count(&page, "//table[@id='strategies']/tbody/tr"), result->strategy_count);
        assert_ids_differ(&page);
        assert_int_equal(count(&page, "//svg[@role='img' or @role='graphics-document' or @role='group']"
                                      "[@class='chart-svg'][ancestor::section[@class='chart']]") +
                             count(&page, "//ul[@class='absent']/li"),
                         REPORT_SUMMARY);
        /* Each chart also has a version for phones, and its figures as CSV. */
        const size_t charts = count(&page, "//svg[@class='chart-svg']");
        assert_int_equal(count(&page, "//svg[@class='chart-svg narrow'][starts-with(@viewBox, '0 0 390 ')]"),
                         charts);
        assert_int_equal(count(&page, "//p[@class='csv']/a[@download][contains(@href, '%0D%0A')]"), charts);
        close_page(&page);
        lab_result_destroy(result);
    }
}

/* No attribute that a content security policy would refuse, nothing to load, and a policy that fits the
 * page. */
static void test_page_needs_nothing_but_itself(void **state)
{
    (void)state;
    struct lab_result *result = fixture_five();
    const struct report_page source = page_of(result);
    struct read_page page;
    open_page(&source, &page);
    assert_int_equal(
        count(&page, "//@src | //@srcset | //@style | //@data | //@action | //link | //iframe | //base"), 0);
    assert_int_equal(count(&page, "//@*[starts-with(name(), 'on')]"), 0);
    assert_int_equal(
        count(&page, "//@href[not(starts-with(., '#') or starts-with(., 'data:text/csv;charset=utf-8,'))]"),
        0);
    assert_int_equal(count(&page, "//script"), 1);
    assert_int_equal(count(&page, "//style"), 1);
    char *style = text_at(&page, "//style");
    assert_null(strstr(style, "url("));
    assert_null(strstr(style, "@import"));
    free(style);
    static const char *const elements[] = {"style", "script"};
    char *policy = text_at(&page, "//meta[@http-equiv='Content-Security-Policy']/@content");
    assert_int_equal(strncmp(policy, "default-src 'none'; ", 20), 0);
    for (size_t i = 0; i < 2; i++) {
        char open[16], close[16], named[128];
        snprintf(open, sizeof open, "<%s>", elements[i]);
        snprintf(close, sizeof close, "</%s>", elements[i]);
        const char *from = strstr(page.text, open) + strlen(open);
        gsize length = (gsize)(strstr(from, close) - from);
        guint8 digest[32];
        gsize digest_size = sizeof digest;
        GChecksum *checksum = g_checksum_new(G_CHECKSUM_SHA256);
        g_checksum_update(checksum, (const guchar *)from, (gssize)length);
        g_checksum_get_digest(checksum, digest, &digest_size);
        g_checksum_free(checksum);
        gchar *base64 = g_base64_encode(digest, digest_size);
        snprintf(named, sizeof named, "%s-src 'sha256-%s';", elements[i], base64);
        assert_non_null(strstr(policy, named));
        g_free(base64);
    }
    free(policy);
    close_page(&page);
    lab_result_destroy(result);
}

static void test_markup_of_a_user_stays_text(void **state)
{
    (void)state;
    static const char label[] = "<b>&amp;</b> <i> & \"quotes\" %s %n </span>";
    struct lab_result *result = fixture_five();
    free(result->strategies[0].label);
    result->strategies[0].label = strdup(label);
    free(result->about);
    result->about = strdup("<script>alert(2)</script> ]]> <!-- & \xff");
    struct report_page source = page_of(result);
    static const char *const why[] = {"<img src=x onerror=alert(3)>", "not: ]]></script>"};
    source.why = why;
    source.why_count = 2;
    struct read_page page;
    open_page(&source, &page);
    assert_text(&page, "//table[@id='strategies']/tbody/tr[1]/th/span[@class='label']", label);
    assert_text(&page, "//table[@id='strategies']/tbody/tr[1]/@data-label", label);
    assert_text(&page, "//p[@class='about']", "<script>alert(2)</script> ]]> <!-- & \uFFFD");
    assert_text(&page, "//p[@class='verdict']", "<img src=x onerror=alert(3)>");
    assert_text(&page, "//dl[@class='lines']//dd", "]]></script>");
    assert_text(&page, "//pre[@id='run-scenario']",
                "name: chat\n# </pre><script>alert(1)</script> & \uFFFD \uFFFD\nseed: 1\n");
    assert_text(&page, "//pre[@id='run-overrides']", "seed=1\nname=<b>");
    assert_int_equal(count(&page, "//script"), 1);
    assert_int_equal(count(&page, "//b | //img | //i"), 0);
    close_page(&page);
    lab_result_destroy(result);
}

/* Each cell shows its figure to the last bit, and each metric of a strategy that has a column is shown. */
static void test_table_has_full_figures_and_marks_the_choice(void **state)
{
    (void)state;
    struct lab_result *result = fixture_five();
    const struct report_page source = page_of(result);
    struct read_page page;
    open_page(&source, &page);
    size_t columns = count(&page, "//table[@id='strategies']/thead/tr[2]/th"), metrics = 0;
    assert_int_equal(count(&page, "//table[@id='strategies']/thead/tr[2]/th[@aria-sort='none'][button]"),
                     columns);
    for (size_t column = 1; column <= columns; column++) {
        char path[160];
        snprintf(path, sizeof path, "//table[@id='strategies']/thead/tr[2]/th[%zu][@data-metric]", column);
        if (count(&page, path) == 0) {
            continue;
        }
        strcat(path, "/@data-metric");
        char *metric = text_at(&page, path);
        for (size_t row = 0; row < result->strategy_count; row++) {
            snprintf(path, sizeof path, "//table[@id='strategies']/tbody/tr[%zu]/*[%zu]/@data-value", row + 1,
                     column);
            char *value = text_at(&page, path);
            const struct lab_metric *found = lab_metrics_find(&result->strategies[row].metrics, metric);
            assert_int_equal(found == NULL, value[0] == 0);
            assert_true(found == NULL || strtod(value, NULL) == found->value);
            metrics += found != NULL;
            free(value);
        }
        free(metric);
    }
    assert_true(metrics > 20);
    assert_int_equal(count(&page, "//tr[@class='chosen']"), 0);
    close_page(&page);
    struct report_page recommended = source;
    recommended.recommended = result->strategies[2].label;
    open_page(&recommended, &page);
    assert_int_equal(count(&page, "//tr[@class='chosen']"), 1);
    assert_text(&page, "//tr[@class='chosen']/@data-label", result->strategies[2].label);
    assert_holds(&page, "//tr[@class='chosen']/td[1]", "chosen");
    close_page(&page);
    lab_result_destroy(result);
}

/* The metric counts all rows of the run, so it is not among the costs per 1000 rows. */
static void test_rows_read_to_be_counted_are_no_cost_per_1000_rows(void **state)
{
    (void)state;
    struct lab_result *result = fixture_five();
    assert_true(lab_metrics_add(&result->strategies[0].metrics, "writes.rows_scanned", 123456));
    const struct report_page source = page_of(result);
    struct read_page page;
    open_page(&source, &page);
    assert_text(&page, "//tr[@class='groups']/th[.='Cost per 1000 rows']/@colspan", "1");
    assert_text(&page, "//tr[@class='groups']/th[.='Read to be counted']/@colspan", "1");
    close_page(&page);
    lab_result_destroy(result);
}

static void test_page_shows_the_question_and_the_command(void **state)
{
    (void)state;
    struct lab_result *result = fixture_five();
    const struct report_page source = page_of(result);
    struct read_page page;
    open_page(&source, &page);
    assert_holds(&page, "//p[@class='asked']", "chat-channels tries 5 strategies, each on ");
    assert_text(&page, "//dd[@id='run-file']", "chat.yaml");
    assert_text(&page, "//pre[@id='run-again']",
                "bucketlab replay 3 --db lab.db\nbucketlab run chat.yaml --seed 1\n");
    assert_null(strstr(page.text, "/home/"));
    char digest[17];
    snprintf(digest, sizeof digest, "%016llx", (unsigned long long)result->digest);
    assert_text(&page, "//dd[@id='run-digest']", digest);
    close_page(&page);
    lab_result_destroy(result);
}

static void test_omitted_chart_is_named_with_its_reason(void **state)
{
    (void)state;
    struct lab_result *result = fixture_five();
    for (size_t i = 0; i < result->strategy_count; i++) {
        free(result->strategies[i].views.key);
        free(result->strategies[i].views.items);
        memset(&result->strategies[i].views, 0, sizeof result->strategies[i].views);
    }
    const struct report_page source = page_of(result);
    struct read_page page;
    open_page(&source, &page);
    assert_int_equal(count(&page, "//section[@id='chart-bucket-changes']"), 0);
    assert_text(&page, "//li[@data-chart='bucket-changes']",
                "Each agent's view of a key's bucket is left out: no agent was seen while a key's bucket "
                "changed.");
    close_page(&page);
    lab_result_destroy(result);
}

static void assert_start(const struct read_page *page, const char *name, const char *expected)
{
    char path[64];
    snprintf(path, sizeof path, "//section[@id='live']/@data-%s", name);
    assert_text(page, path, expected);
}

static void test_calculator_begins_with_the_run(void **state)
{
    (void)state;
    static const struct {
        uint32_t bits;
        uint64_t threshold;
        const char *label;
    } settings[] = {{3, 1000001, "beyond the fields"}, {4, 100, "<img src=x>\"&"}, {8, 80, "</script>"}};
    struct lab_result *result = fixture_result("live", "synthetic");
    struct bk_strategy strategy;
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(bk_strategy_probabilistic(settings[i].bits, settings[i].threshold, &strategy),
                         BK_OK);
        struct lab_strategy_result *added = fixture_add(result, settings[i].label, &strategy);
        fixture_put(added, false, 1500, 10);
        fixture_metrics(result, added, 1, 0, 0);
    }
    assert_int_equal(bk_strategy_probabilistic_chance(1, 300, 70, &strategy), BK_OK);
    fixture_add(result, "rare", &strategy);
    result->keys = 10;
    result->rows = 16000;
    result->end_ns = result->start_ns + INT64_C(1000) * 1000000000;
    const struct report_page source = page_of(result);
    struct read_page page;
    open_page(&source, &page);
    assert_start(&page, "bits-number", "4");
    assert_start(&page, "threshold-number", "100");
    assert_start(&page, "limit-rows", "100000");
    assert_start(&page, "limit-bytes", "100\u202fMB");
    assert_start(&page, "row-bytes", "350 B");
    assert_start(&page, "tiny", "24");
    assert_start(&page, "rate", "1.6");
    assert_text(&page, "//option[@value='4 100']", settings[1].label);
    assert_text(&page, "//option[@value='8 80']", settings[2].label);
    assert_text(&page, "//option[@value='8 70']", "rare");
    assert_int_equal(count(&page, "//option"), 3);
    close_page(&page);
    result->limits = (struct lab_limits){0};
    result->strategy_count = 1;
    open_page(&source, &page);
    assert_start(&page, "bits-number", "9");
    assert_start(&page, "threshold-number", "40");
    assert_start(&page, "limit-bytes", "");
    assert_int_equal(count(&page, "//option"), 0);
    close_page(&page);
    result->strategy_count = 4;
    lab_result_destroy(result);
}

static void test_run_of_identifiers_has_their_settings_and_no_partitions(void **state)
{
    (void)state;
    struct lab_result *result = fixture_result("ids", "synthetic");
    memset(&result->limits, 0, sizeof result->limits);
    struct bk_strategy strategy;
    assert_int_equal(bk_strategy_unbucketed(&strategy), BK_OK);
    struct lab_strategy_result *added = fixture_add(result, "striped", &strategy);
    added->settings.is_idgen = true;
    added->settings.idgen = (struct bk_idgen_config){.batch = 1500,
                                                     .stripes = 4,
                                                     .lock = BK_IDGEN_LOCK_LWT,
                                                     .backoff = BK_IDGEN_RANDOM_TIMES,
                                                     .backoff_base_ns = 20000000};
    assert_true(lab_metrics_add(&added->metrics, "ids.per_second", 512.5));
    const struct report_page source = page_of(result);
    struct read_page page;
    open_page(&source, &page);
    assert_text(
        &page, "//tbody//span[@class='detail']",
        "idgen: batches of 1.5K, 4 stripes, a lock of conditional updates, back-off random from 20 ms");
    assert_text(&page, "//td[@data-value='512.5']", "512");
    assert_text(&page, "//li[@data-chart='partitions-rows']",
                "Rows per partition is left out: identifiers have no partitions.");
    assert_int_equal(count(&page, "//section[@class='chart']"), 0);
    close_page(&page);
    lab_result_destroy(result);
}

/* The front of tune: a row's name occurs only once. */
static void test_front_of_tune_is_a_chart_and_a_table(void **state)
{
    (void)state;
    struct lab_result *result = fixture_five();
    struct report_page source = page_of(result);
    const struct report_front_point points[] = {{"one", 10, 2000, 2000, 2000, true, false},
                                                {"other", 20, 1000, 1000, 1000, true, false}};
    const struct report_front front = {
        .scenario = "chat-channels", .points = points, .count = 2, .has_recommended = true};
    source.front = &front;
    struct read_page page;
    open_page(&source, &page);
    assert_text(&page, "//section[@id='chart-tune-front']/h3", "The settings that stay within the limits");
    assert_int_equal(count(&page, "//section[@id='chart-tune-front']//tbody/tr"), 2);
    assert_text(&page, "//section[@id='chart-tune-front']//tbody/tr[2]/th", "other");
    assert_text(&page, "//section[@id='chart-tune-front']//tbody/tr[2]/td[1]", "20");
    assert_text(&page, "//section[@id='chart-tune-front']//tbody/tr[1]/td[5]", "recommended");
    close_page(&page);
    lab_result_destroy(result);
}

static void test_answer_of_tune_replaces_that_of_the_run(void **state)
{
    (void)state;
    struct lab_result *result = fixture_five();
    struct report_page source = page_of(result);
    struct read_page page;
    static const char *const why[] = {"Use x-1.5.", "size: 9 rows: few", "cost: 62.9 operations"};
    source.why = why;
    source.why_count = 3;
    open_page(&source, &page);
    assert_text(&page, "//p[@class='verdict']", "Use x-1.5.");
    assert_int_equal(count(&page, "//dl[@class='lines']/div"), 2);
    assert_text(&page, "//dl[@class='lines']/div[1]/dt", "size");
    assert_text(&page, "//dl[@class='lines']/div[1]/dd", "9 rows: few");
    assert_text(&page, "//dl[@class='lines']/div[2]/dt", "cost");
    close_page(&page);
    lab_result_destroy(result);
}

static void test_page_appears_whole_or_not_at_all(void **state)
{
    (void)state;
    char folder[] = "report_page_XXXXXX", inner[64];
    assert_non_null(mkdtemp(folder));
    snprintf(inner, sizeof inner, "%s/made", folder);
    struct lab_result *result = fixture_five();
    const struct report_page source = page_of(result);
    struct sim_error error;
    char *path;
    for (disk_kind_failing = DISK_FOLDER; disk_kind_failing < DISK_KIND_COUNT; disk_kind_failing++) {
        assert_false(report_page_write(&source, inner, &path, &error));
        assert_null(path);
        assert_int_equal(error.class, SIM_ERROR_ENVIRONMENT);
        assert_int_equal(access(inner, F_OK), -1);
    }
    assert_true(report_page_write(&source, inner, &path, &error));
    assert_non_null(strstr(path, "/made/chat-channels.html"));
    assert_int_equal(remove(path), 0);
    assert_int_equal(rmdir(inner), 0);
    assert_int_equal(rmdir(folder), 0);
    free(path);
    lab_result_destroy(result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_case_gives_the_same_complete_page_twice),
        cmocka_unit_test(test_page_needs_nothing_but_itself),
        cmocka_unit_test(test_markup_of_a_user_stays_text),
        cmocka_unit_test(test_table_has_full_figures_and_marks_the_choice),
        cmocka_unit_test(test_rows_read_to_be_counted_are_no_cost_per_1000_rows),
        cmocka_unit_test(test_page_shows_the_question_and_the_command),
        cmocka_unit_test(test_omitted_chart_is_named_with_its_reason),
        cmocka_unit_test(test_calculator_begins_with_the_run),
        cmocka_unit_test(test_run_of_identifiers_has_their_settings_and_no_partitions),
        cmocka_unit_test(test_front_of_tune_is_a_chart_and_a_table),
        cmocka_unit_test(test_answer_of_tune_replaces_that_of_the_run),
        cmocka_unit_test(test_page_appears_whole_or_not_at_all),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    xmlCleanupParser();
    return failed;
}
