/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: a valid CQL literal gives Cassandra's bytes; an invalid one gives one line that names it and the
 * expected form. Method: tables of both. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cassandra/token.h"
#include "vectors.h"

static void test_value_good_literals_give_cassandra_bytes(void **state)
{
    (void)state;
    static const struct {
        enum cass_type type;
        const char *text, *hex;
    } rows[] = {
        {CASS_TEXT, "", ""},
        {CASS_TEXT, "Die M\xc3\xb6sch", "446965204dc3b6736368"},
        {CASS_TEXT, "\xf0\x9f\x98\x80", "f09f9880"},
        {CASS_TEXT, "\xf4\x8f\xbf\xbf", "f48fbfbf"},
        {CASS_BLOB, "0x", ""},
        {CASS_BLOB, "0X00fF", "00ff"},
        {CASS_INT, "0", "00000000"},
        {CASS_INT, "-0", "00000000"},
        {CASS_INT, "007", "00000007"},
        {CASS_INT, "143", "0000008f"},
        {CASS_INT, "-1", "ffffffff"},
        {CASS_INT, "2147483647", "7fffffff"},
        {CASS_INT, "-2147483648", "80000000"},
        {CASS_BIGINT, "123456789", "00000000075bcd15"},
        {CASS_BIGINT, "9223372036854775807", "7fffffffffffffff"},
        {CASS_BIGINT, "-9223372036854775808", "8000000000000000"},
        {CASS_UUID, "f6071e72-48ec-4fcb-bf3e-379c8a696488", "f6071e7248ec4fcbbf3e379c8a696488"},
        {CASS_UUID, "F6071E72-48EC-4FCB-BF3E-379C8A696488", "f6071e7248ec4fcbbf3e379c8a696488"},
        {CASS_TIMEUUID, "d8775a70-6ea4-11e4-9fa7-0db22d2a6140", "d8775a706ea411e49fa70db22d2a6140"},
        {CASS_BOOLEAN, "true", "01"},
        {CASS_BOOLEAN, "false", "00"},
        {CASS_TINYINT, "-128", "80"},
        {CASS_SMALLINT, "32767", "7fff"},
        {CASS_TIMESTAMP, "1767225600000", "0000019b76daa800"},
        {CASS_FLOAT, "-0.5", "bf000000"},
        {CASS_DOUBLE, "1e3", "408f400000000000"},
        {CASS_ASCII, "a", "61"},
        {CASS_VARCHAR, "\xc3\xb6", "c3b6"},
        {CASS_DATE, "0x80000000", "80000000"},
        {CASS_INET, "0x7f000001", "7f000001"},
        {CASS_TIMESTAMP, "1970-01-01 01:59:59.9999+0200", "ffffffffffffffff"},
        {CASS_DATE, "1969-12-31", "7fffffff"},
        {CASS_TIME, "08:12:54.123", "00001ae5c31890c0"},
        {CASS_INET, "::1", "00000000000000000000000000000001"},
        {CASS_INET, "::ffff:1.2.3.4", "01020304"},
        {CASS_VARINT, "0", "00"},
        {CASS_VARINT, "-128", "80"},
        {CASS_VARINT, "-129", "ff7f"},
        {CASS_VARINT, "128", "0080"},
        {CASS_VARINT, "123456789012345678901234567890", "018ee90ff6c373e0ee4e3f0ad2"},
        {CASS_DECIMAL, "1.50", "000000020096"},
        {CASS_DECIMAL, "-15e3", "fffffffdf1"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint8_t *bytes;
        size_t size, wanted_size;
        struct sim_error error;
        if (!cass_value_parse(rows[i].type, rows[i].text, &bytes, &size, &error))
            fail_msg("row %zu: %s", i, error.text);
        uint8_t *wanted = vectors_bytes(rows[i].hex, &wanted_size);
        assert_int_equal(size, wanted_size);
        assert_memory_equal(bytes, wanted, size);
        free(wanted);
        free(bytes);
    }
}

static void test_value_bad_literals_are_refused_by_name(void **state)
{
    (void)state;
    static const struct {
        enum cass_type type;
        const char *text, *wanted;
    } rows[] = {
        {CASS_INT, "", "from -2147483648 to 2147483647"},
        {CASS_INT, "-", "from -2147483648 to 2147483647"},
        {CASS_INT, "+1", "'+1' is not an int"},
        {CASS_INT, " 1", "' 1'"},
        {CASS_INT, "1 ", "'1 '"},
        {CASS_INT, "1.0", "'1.0'"},
        {CASS_INT, "0x10", "'0x10'"},
        {CASS_INT, "--1", "'--1'"},
        {CASS_INT, "2147483648", "'2147483648'"},
        {CASS_INT, "-2147483649", "'-2147483649'"},
        {CASS_INT, "99999999999999999999999999999", "'99999999999999999999999999999'"},
        {CASS_BIGINT, "9223372036854775808", "to 9223372036854775807"},
        {CASS_BIGINT, "-9223372036854775809", "'-9223372036854775809'"},
        {CASS_BIGINT, "18446744073709551616", "'18446744073709551616'"},
        {CASS_BLOB, "", "give 0x and two"},
        {CASS_BLOB, "0", "'0'"},
        {CASS_BLOB, "00ff", "'00ff' is not a blob"},
        {CASS_BLOB, "0xabc", "'0xabc'"},
        {CASS_BLOB, "0xgg", "'0xgg'"},
        {CASS_BLOB, "0x0g", "'0x0g'"},
        {CASS_UUID, "", "8-4-4-4-12"},
        {CASS_UUID, "f6071e7248ec4fcbbf3e379c8a696488", "8-4-4-4-12"},
        {CASS_UUID, "f6071e72-48ec-4fcb-bf3e-379c8a69648", "8-4-4-4-12"},
        {CASS_UUID, "f6071e72-48ec-4fcb-bf3e-379c8a6964888", "8-4-4-4-12"},
        {CASS_UUID, "f6071e724-8ec-4fcb-bf3e-379c8a696488", "8-4-4-4-12"},
        {CASS_UUID, "f6071e72-48ec-4fcb-bf3e-379c8a69648g", "8-4-4-4-12"},
        {CASS_UUID, "{6071e72-48ec-4fcb-bf3e-379c8a696488}", "8-4-4-4-12"},
        {CASS_TIMEUUID, "f6071e72-48ec-4fcb-bf3e-379c8a696488", "version 1"},
        {CASS_BOOLEAN, "True", "give true or false"},
        {CASS_TINYINT, "128", "'128' is not a tinyint"},
        {CASS_SMALLINT, "-32769", "from -32768"},
        {CASS_TIMESTAMP, "2026-01-01", "milliseconds"},
        {CASS_FLOAT, "", "give a number"},
        {CASS_FLOAT, "0x1p3", "'0x1p3'"},
        {CASS_DOUBLE, "inf", "'inf' is not a double"},
        {CASS_DOUBLE, "1.5 ", "'1.5 '"},
        {CASS_COUNTER, "1", "no literal"},
        {CASS_DATE, "2026-02-30", "give a day"},
        {CASS_DATE, "2026-01-01T00:00:00Z", "give a day"},
        {CASS_TIME, "24:00:00", "give a time of day"},
        {CASS_INET, "1.2.3", "give an address"},
        {CASS_VARINT, "-", "give a whole number"},
        {CASS_VARINT, "1.0", "give a whole number"},
        {CASS_DECIMAL, "1.0.0", "give a number"},
        {CASS_DECIMAL, "1e", "give a number"},
        {CASS_DURATION, "1h", "no duration in a primary key"},
        {CASS_TEXT, "a\xff", "'a?' is not a text; give UTF-8"},
        {CASS_TEXT, "\xc3", "UTF-8"},
        {CASS_TEXT, "\xc0\x80", "UTF-8"},
        {CASS_TEXT, "\xe0\x9f\xbf", "UTF-8"},
        {CASS_TEXT, "\xed\xa0\x80", "UTF-8"},
        {CASS_TEXT, "\xf0\x8f\xbf\xbf", "UTF-8"},
        {CASS_TEXT, "\xf4\x90\x80\x80", "UTF-8"},
        {CASS_TEXT, "\xf5\x80\x80\x80", "UTF-8"},
        {CASS_TEXT, "\xe2\x82", "UTF-8"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint8_t *bytes = (uint8_t *)&state;
        size_t size = 1;
        struct sim_error error = {0};
        if (cass_value_parse(rows[i].type, rows[i].text, &bytes, &size, &error))
            fail_msg("row %zu: '%s' was taken", i, rows[i].text);
        assert_null(bytes);
        assert_int_equal(size, 0);
        assert_int_equal(error.class, SIM_ERROR_INPUT);
        if (strstr(error.text, rows[i].wanted) == NULL || strchr(error.text, '\n') != NULL)
            fail_msg("row %zu: %s", i, error.text);
    }
}

/* A partition key has at most 65535 bytes; one more is refused, and the error stays short. */
static void test_value_size_is_bounded(void **state)
{
    (void)state;
    static const size_t sizes[] = {CASS_COMPONENT_SIZE_MAX, CASS_COMPONENT_SIZE_MAX + 1};
    char *text = malloc(2 * CASS_COMPONENT_SIZE_MAX + 8);
    assert_non_null(text);
    for (size_t i = 0; i < 2; i++) {
        uint8_t *bytes;
        size_t size;
        struct sim_error error = {0};
        memset(text, 'x', sizes[i]);
        text[sizes[i]] = '\0';
        assert_int_equal(cass_value_parse(CASS_TEXT, text, &bytes, &size, &error), i == 0);
        assert_int_equal(size, i == 0 ? sizes[i] : 0);
        free(bytes);
        memset(text, '0', 2 * sizes[i] + 2);
        text[1] = 'x';
        text[2 * sizes[i] + 2] = '\0';
        assert_int_equal(cass_value_parse(CASS_BLOB, text, &bytes, &size, &error), i == 0);
        assert_int_equal(size, i == 0 ? sizes[i] : 0);
        free(bytes);
        if (i == 1) {
            assert_true(strlen(error.text) < 250);
            assert_non_null(strstr(error.text, "65535"));
            assert_non_null(strstr(error.text, "000..."));
        }
    }
    free(text);
}

static void test_type_names_are_read_back(void **state)
{
    (void)state;
    enum cass_type type;
    for (int i = 0; i < CASS_TYPE_COUNT; i++) {
        assert_true(cass_type_parse(cass_type_name((enum cass_type)i), &type));
        assert_int_equal(type, i);
    }
    assert_false(cass_type_parse("", &type));
    assert_false(cass_type_parse("TEXT", &type));
    assert_false(cass_type_parse("textual", &type));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_value_good_literals_give_cassandra_bytes),
        cmocka_unit_test(test_value_bad_literals_are_refused_by_name),
        cmocka_unit_test(test_value_size_is_bounded),
        cmocka_unit_test(test_type_names_are_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
