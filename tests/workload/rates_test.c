/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: rows arrive as a Poisson process whose rate follows popularity, bursts, the daily curve and spikes
 * as workload.h defines them. Method: counts within 7 standard deviations of their exact means (false
 * alarm below 1e-11 each), and chi-square and Kolmogorov-Smirnov tests of whole distributions
 * (tests/kernel/fit.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "made.h"

#include "../kernel/fit.h"

#define PI 3.14159265358979323846

static double seconds(int64_t ns)
{
    return (double)ns * 1e-9;
}

static void test_plain_rows_are_a_poisson_stream(void **state)
{
    (void)state;
    struct wl_workload workload = made_plain(1, 10, 120000 * SIM_SECOND);
    struct made_rows rows = made_all(&workload, 0);
    assert_near((double)rows.count, 1.2e6, 1.2e6);
    struct fit gaps, places;
    fit_init(&gaps, 1024);
    fit_init(&places, 1024);
    /* Gaps are exponential; the times are uniform, given their number; counts per second have a variance
     * equal to their mean. */
    for (size_t i = 0; i < rows.count; i++) {
        fit_add(&places, (double)(rows.times_ns[i] - workload.start_ns) / (double)workload.duration_ns);
        if (i > 0)
            fit_add(&gaps, -expm1(-10 * seconds(rows.times_ns[i] - rows.times_ns[i - 1])));
    }
    fit_check(&gaps);
    fit_check(&places);
    double squares = 0, in_second = 0, windows = 120000;
    for (size_t i = 0, second = 0; second < 120000; second++, in_second = 0) {
        for (; i < rows.count && rows.times_ns[i] - workload.start_ns < (int64_t)(second + 1) * SIM_SECOND;
             i++)
            in_second++;
        squares += (in_second - 10) * (in_second - 10);
    }
    /* The fourth central moment of a Poisson count is m + 3 m^2. */
    assert_near(squares, 10 * windows, windows * (10 + 2 * 100));
    made_rows_free(&rows);
}

static void test_row_ids_have_64_even_bits(void **state)
{
    (void)state;
    struct wl_workload workload = made_plain(1, 10, 10000 * SIM_SECOND);
    struct made_rows rows = made_all(&workload, 0);
    double ones[64] = {0}, n = (double)rows.count;
    for (size_t i = 0; i < rows.count; i++) {
        for (int bit = 0; bit < 64; bit++)
            ones[bit] += (double)(rows.ids[i] >> bit & 1);
    }
    for (int bit = 0; bit < 64; bit++)
        assert_near(ones[bit], n / 2, n / 4);
    made_rows_free(&rows);
}

static void test_popularity_sets_the_keys_rates(void **state)
{
    (void)state;
    static const double exponents[] = {0, 0.5, 1.1, 3};
    for (size_t e = 0; e < sizeof exponents / sizeof *exponents; e++) {
        struct wl_workload workload = made_plain(50, 2, SIM_DAY);
        sim_zipf_init(&workload.popularity, exponents[e], workload.key_count);
        double weights = 0, all = 0;
        for (int rank = 50; rank >= 1; rank--)
            weights += pow(rank, -exponents[e]);
        for (uint64_t index = 0; index < 50; index++) {
            struct made_rows rows = made_all(&workload, index);
            double mean = 2 * 86400 * pow((double)index + 1, -exponents[e]) / weights;
            /* With a small mean the tail is heavier than that of the normal distribution. */
            assert_near((double)rows.count, mean, mean + 20);
            all += (double)rows.count;
            made_rows_free(&rows);
        }
        assert_near(all, 2 * 86400, 2 * 86400);
    }
}

static void check_daily(int64_t start_ns, int64_t peak_ns, double amplitude)
{
    enum { STEPS = 96, DAYS = 40 };
    struct wl_workload workload = made_plain(1, 0.2, DAYS * SIM_DAY);
    workload.start_ns = start_ns;
    workload.has_daily = true;
    workload.daily_amplitude = amplitude;
    workload.daily_peak_ns = peak_ns;
    struct made_rows rows = made_all(&workload, 0);
    double mean = 0.2 * 86400 * DAYS, counts[STEPS] = {0}, square = 0;
    assert_near((double)rows.count, mean, mean);
    /* Step 0 is centred on the peak. */
    for (size_t i = 0; i < rows.count; i++) {
        int64_t since_peak = (rows.times_ns[i] - peak_ns + SIM_DAY / STEPS / 2) % SIM_DAY;
        counts[(since_peak + SIM_DAY) % SIM_DAY / (SIM_DAY / STEPS)]++;
    }
    for (int step = 0; step < STEPS; step++) {
        double wanted = mean / STEPS * (1 + amplitude * cos(2 * PI * step / STEPS));
        if (wanted > 1)
            square += (counts[step] - wanted) * (counts[step] - wanted) / wanted;
        else
            assert_true(counts[step] <= 20);
        if (wanted < 1e-9)
            assert_true(counts[step] == 0);
    }
    double spread = 2.0 / (9 * STEPS), z = (cbrt(square / STEPS) - (1 - spread)) / sqrt(spread);
    if (!(fabs(z) < 6.8))
        fail_msg("amplitude %g: chi-square %g of %d degrees", amplitude, square, STEPS);
    made_rows_free(&rows);
}

static void test_daily_curve_has_its_peak_depth_and_mean(void **state)
{
    (void)state;
    check_daily(YEAR_2026, 20 * SIM_HOUR, 0.6);
    check_daily(YEAR_2026, 0, 0.6);
    check_daily(YEAR_2026 + 5 * SIM_HOUR + 7, SIM_DAY - 1, 0.3);
    check_daily(YEAR_2026, 12 * SIM_HOUR + 7 * SIM_MINUTE + 3, 0);
    /* No rows at all in the trough, and rows again after it. */
    check_daily(YEAR_2026, 8 * SIM_HOUR, 1);
    /* A start before 1970. */
    check_daily(-4000 * SIM_DAY - 12345, 20 * SIM_HOUR, 0.8);
}

static void test_daily_curve_is_a_cosine_in_steps_of_a_quarter_hour(void **state)
{
    (void)state;
    struct wl_workload workload = made_plain(1, 1e-9, SIM_DAY); /* no row arrives */
    workload.has_daily = true;
    workload.daily_amplitude = 0.75;
    workload.daily_peak_ns = 20 * SIM_HOUR;
    struct wl_key key;
    wl_key_init(&key, &workload, 0);
    int64_t at_ns = workload.start_ns, step_ns = 15 * SIM_MINUTE, times_ns[1];
    uint64_t ids[1];
    for (int step = 0; step <= 96; step++) {
        /* The first and the last step are halves, since midnight is in the middle of a step. */
        int64_t until_ns =
            step == 96 ? workload.start_ns + SIM_DAY : workload.start_ns + step * step_ns + step_ns / 2;
        assert_true(key.segment_begin_ns == at_ns && key.segment_end_ns == until_ns);
        double wanted = 1e-18 * (1 + 0.75 * cos(2 * PI * (step - 80) / 96));
        assert_true(fabs(key.rate_per_ns / wanted - 1) <= 1e-14);
        at_ns = until_ns;
        if (step < 96)
            assert_int_equal(wl_key_rows(&key, until_ns + 1, 1, times_ns, ids, NULL), 0);
    }
}

static struct wl_workload made_bursty(uint64_t key_count, double rate_per_s, int64_t duration_ns)
{
    struct wl_workload made = made_plain(key_count, rate_per_s, duration_ns);
    made.has_bursts = true;
    made.burst_on_ns = 10 * SIM_MINUTE;
    made.burst_off_ns = 50 * SIM_MINUTE;
    made.burst_factor = 50;
    return made;
}

static void test_bursts_keep_the_mean_rate(void **state)
{
    (void)state;
    static const double factors[] = {0, 0.25, 1, 50, 1e6};
    for (size_t i = 0; i < sizeof factors / sizeof *factors; i++) {
        struct wl_workload workload = made_bursty(100, 1, 10 * SIM_DAY);
        workload.burst_factor = factors[i];
        double mean = 10 * 86400, on = 1.0 / 6, f = factors[i];
        /* The integral over [0, T] of a two-state chain has approximately the variance 2 p (1 - p) T / (a +
         * b). */
        double relative = (f - 1) / (1 + on * (f - 1)), relaxation_s = 1 / (1 / 600.0 + 1 / 3000.0);
        double wander = 2 * on * (1 - on) * relative * relative * relaxation_s * mean / 100;
        assert_near(made_count(&workload, INT64_MIN, INT64_MAX), mean, mean + wander);
    }
}

static void test_bursts_come_and_go_as_a_stationary_chain(void **state)
{
    (void)state;
    enum { KEYS = 4000, PERIODS = 40 };
    struct wl_workload workload = made_bursty(KEYS, 0, 1000 * SIM_DAY);
    struct fit lengths[2];
    fit_init(&lengths[0], 256);
    fit_init(&lengths[1], 256);
    double on_at_start = 0, on_in_an_hour = 0;
    for (uint64_t index = 0; index < KEYS; index++) {
        struct wl_key key;
        int64_t times_ns[1];
        uint64_t ids[1];
        wl_key_init(&key, &workload, index);
        on_at_start += key.burst_is_on;
        bool is_hour_seen = false;
        for (int period = 0; period < PERIODS; period++) {
            if (!is_hour_seen && key.segment_end_ns > workload.start_ns + SIM_HOUR) {
                is_hour_seen = true;
                on_in_an_hour += key.burst_is_on;
            }
            bool is_on = key.burst_is_on;
            double mean = (double)(is_on ? workload.burst_on_ns : workload.burst_off_ns);
            fit_add(&lengths[is_on], -expm1(-(double)(key.segment_end_ns - key.segment_begin_ns) / mean));
            assert_int_equal(wl_key_rows(&key, key.segment_end_ns + 1, 1, times_ns, ids, NULL), 0);
            assert_true(key.burst_is_on != is_on);
        }
        assert_true(is_hour_seen);
    }
    fit_check(&lengths[0]);
    fit_check(&lengths[1]);
    assert_near(on_at_start, KEYS / 6.0, KEYS * 5 / 36.0);
    assert_near(on_in_an_hour, KEYS / 6.0, KEYS * 5 / 36.0);
}

static void test_bursts_raise_the_rate_by_their_factor(void **state)
{
    (void)state;
    struct wl_workload workload = made_bursty(1, 1, 30 * SIM_DAY);
    struct wl_key key;
    wl_key_init(&key, &workload, 0);
    int64_t end_ns = workload.start_ns + workload.duration_ns;
    double rows[2] = {0, 0}, lasted_s[2] = {0, 0};
    while (key.segment_begin_ns < end_ns) {
        static int64_t times_ns[1000];
        static uint64_t ids[1000];
        bool is_on = key.burst_is_on;
        int64_t until_ns = key.segment_end_ns;
        lasted_s[is_on] += seconds(until_ns - key.segment_begin_ns);
        size_t count;
        do {
            count = wl_key_rows(&key, until_ns, 1000, times_ns, ids, NULL);
            rows[is_on] += (double)count;
        } while (count == 1000);
    }
    double off_rate = 1 / (1 + (50 - 1) / 6.0);
    assert_near(rows[0], lasted_s[0] * off_rate, lasted_s[0] * off_rate);
    assert_near(rows[1], lasted_s[1] * off_rate * 50, lasted_s[1] * off_rate * 50);
}

static void test_daily_curve_and_bursts_together_keep_the_mean(void **state)
{
    (void)state;
    struct wl_workload workload = made_bursty(100, 1, 10 * SIM_DAY);
    workload.has_daily = true;
    workload.daily_amplitude = 0.8;
    double mean = 10 * 86400, relative = 49 / (1 + 49 / 6.0);
    double wander = 2 * 5 / 36.0 * relative * relative * 500 * mean / 100 * (1 + 0.8 * 0.8 / 2);
    assert_near(made_count(&workload, INT64_MIN, INT64_MAX), mean, mean + wander);
}

static void test_spikes_strike_their_share_of_the_keys(void **state)
{
    (void)state;
    enum { KEYS = 20000 };
    struct wl_spike spikes[] = {{.factor = 2, .keys_share = 0.01},
                                {.factor = 2, .keys_share = 0.3},
                                {.factor = 2, .keys_share = 0.3},
                                {.factor = 2, .keys_share = 0},
                                {.factor = 2, .keys_share = 1}};
    struct wl_workload workload = made_plain(KEYS, 1, SIM_DAY);
    workload.spikes = spikes;
    workload.spike_count = 5;
    double struck[5] = {0}, both = 0;
    for (uint64_t key = 0; key < KEYS; key++) {
        for (size_t i = 0; i < 5; i++)
            struck[i] += wl_spike_strikes(&workload, i, key);
        both += wl_spike_strikes(&workload, 1, key) && wl_spike_strikes(&workload, 2, key);
    }
    assert_near(struck[0], KEYS * 0.01, KEYS * 0.0099);
    assert_near(struck[1], KEYS * 0.3, KEYS * 0.21);
    assert_near(struck[2], KEYS * 0.3, KEYS * 0.21);
    assert_near(both, KEYS * 0.09, KEYS * 0.09 * 0.91);
    assert_true(struck[3] == 0 && struck[4] == KEYS);
}

static void test_spikes_of_so_many_keys_strike_exactly_these(void **state)
{
    (void)state;
    static const uint64_t counts[] = {1, 2, 3, 4, 5, 50, 1000, 4096, 4097};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        for (uint64_t wanted = 1; wanted <= counts[i]; wanted += 1 + counts[i] / 7) {
            struct wl_spike spikes[] = {{.factor = 2, .keys_count = wanted},
                                        {.factor = 2, .keys_count = wanted}};
            struct wl_workload workload = made_plain(counts[i], 1, SIM_DAY);
            workload.spikes = spikes;
            workload.spike_count = 2;
            uint64_t struck = 0, both = 0;
            for (uint64_t key = 0; key < counts[i]; key++) {
                struck += wl_spike_strikes(&workload, 0, key);
                both += wl_spike_strikes(&workload, 0, key) && wl_spike_strikes(&workload, 1, key);
            }
            assert_int_equal(struck, wanted);
            assert_true(both < wanted || counts[i] < 50 || wanted < 2);
        }
    }
}

static void test_spikes_multiply_the_rate_of_struck_keys_only(void **state)
{
    (void)state;
    enum { KEYS = 200 };
    /* From hour 10 to 13 by 20, from hour 12 to 14 by 3, and in hour 12 by both. */
    struct wl_spike spikes[] = {
        {.at_ns = 10 * SIM_HOUR, .lasts_ns = 3 * SIM_HOUR, .factor = 20, .keys_share = 0.4},
        {.at_ns = 12 * SIM_HOUR, .lasts_ns = 2 * SIM_HOUR, .factor = 3, .keys_share = 0.5}};
    struct wl_workload workload = made_plain(KEYS, KEYS * 0.02, SIM_DAY);
    workload.spikes = spikes;
    workload.spike_count = 2;
    double counts[4][24] = {{0}}, keys[4] = {0};
    for (uint64_t index = 0; index < KEYS; index++) {
        int class = wl_spike_strikes(&workload, 0, index) + 2 * wl_spike_strikes(&workload, 1, index);
        struct made_rows rows = made_all(&workload, index);
        keys[class]++;
        for (size_t i = 0; i < rows.count; i++)
            counts[class][(rows.times_ns[i] - workload.start_ns) / SIM_HOUR]++;
        made_rows_free(&rows);
    }
    for (int class = 0; class < 4; class ++) {
        assert_true(keys[class] > 10);
        for (int hour = 0; hour < 24; hour++) {
            double factor = class % 2 == 1 && hour >= 10 && hour < 13 ? 20 : 1;
            factor *= class / 2 == 1 && hour >= 12 && hour < 14 ? 3 : 1;
            double mean = keys[class] * 72 * factor;
            assert_near(counts[class][hour], mean, mean);
        }
    }
}

static void test_spikes_beyond_the_end_change_nothing(void **state)
{
    (void)state;
    struct wl_spike spikes[] = {
        {.at_ns = SIM_DAY, .lasts_ns = SIM_DAY, .factor = 1e9, .keys_share = 1},
        {.at_ns = 5 * SIM_DAY, .lasts_ns = SIM_DAY, .factor = 1e9, .keys_share = 1},
    };
    struct wl_workload workload = made_plain(4, 1, SIM_DAY), struck = workload;
    struck.spikes = spikes;
    struck.spike_count = 2;
    for (uint64_t key = 0; key < 4; key++) {
        struct made_rows a = made_all(&workload, key), b = made_all(&struck, key);
        assert_int_equal(a.count, b.count);
        assert_memory_equal(a.times_ns, b.times_ns, a.count * sizeof *a.times_ns);
        made_rows_free(&a);
        made_rows_free(&b);
    }
    /* A spike that would outlast the end is truncated there. */
    spikes[0].at_ns = SIM_DAY - SIM_HOUR;
    spikes[0].factor = 100;
    double mean = 86400 - 3600 + 100 * 3600.0;
    assert_near(made_count(&struck, INT64_MIN, INT64_MAX), mean, mean);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain_rows_are_a_poisson_stream),
        cmocka_unit_test(test_row_ids_have_64_even_bits),
        cmocka_unit_test(test_popularity_sets_the_keys_rates),
        cmocka_unit_test(test_daily_curve_has_its_peak_depth_and_mean),
        cmocka_unit_test(test_daily_curve_is_a_cosine_in_steps_of_a_quarter_hour),
        cmocka_unit_test(test_bursts_keep_the_mean_rate),
        cmocka_unit_test(test_bursts_come_and_go_as_a_stationary_chain),
        cmocka_unit_test(test_bursts_raise_the_rate_by_their_factor),
        cmocka_unit_test(test_daily_curve_and_bursts_together_keep_the_mean),
        cmocka_unit_test(test_spikes_strike_their_share_of_the_keys),
        cmocka_unit_test(test_spikes_of_so_many_keys_strike_exactly_these),
        cmocka_unit_test(test_spikes_multiply_the_rate_of_struck_keys_only),
        cmocka_unit_test(test_spikes_beyond_the_end_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
