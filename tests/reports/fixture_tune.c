/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Hand-made fronts. */
#include "fixture.h"

#include <assert.h>

static const char long_label[] =
    "three-state, 9 bits, threshold 40, lead 30 s, at most 7 d, read newest first, "
    "written by sixteen agents";
static const char cyrillic_label[] = "вероятностная, 9 бит, порог 40";

static uint64_t drawn(uint64_t *state, uint64_t below)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (*state >> 33) % below;
}

/* A third of the points lie on the front, the others above it. */
static void fill_front(struct fixture_front *out, size_t count)
{
    uint64_t state = 7;
    for (size_t i = 0; i < count; i++) {
        const bool is_on_front = i % 3 == 0;
        const double x = 0.1 * pow(10, (double)i * 3 / (double)(count + 1));
        const double behind = is_on_front ? 0 : 0.01 + (double)drawn(&state, 200) / 1000;
        const double y = 0.05 + 0.3 / (1 + x / 3) + behind;
        char label[FIXTURE_LABEL_SIZE];
        snprintf(label, sizeof label, "%zu bits, threshold %zu", i % 12, 10 + i);
        fixture_front_add(out, label, x, y, is_on_front);
        out->points[i].low = y - 0.005;
        out->points[i].high = y + 0.005 + behind / 8;
    }
    out->front.has_recommended = count > 3;
}

void fixture_front(size_t index, struct fixture_front *out)
{
    static const size_t counts[FIXTURE_FRONT_COUNT] = {5, 1, 60, REPORT_FRONT_MAX, 3, 8, 2, 12};
    assert(index < FIXTURE_FRONT_COUNT);
    fixture_front_begin(out);
    fill_front(out, counts[index]);
    switch (index) {
    case 1:
        out->front.has_recommended = true;
        break;
    case 4: /* 0 and the largest value in both */
        out->points[0].cost = out->points[0].bytes = out->points[0].low = 0;
        out->points[0].is_on_front = out->points[1].is_on_front = out->points[2].is_on_front = true;
        out->points[1].cost = 0;
        out->points[1].bytes = out->points[1].high = out->points[1].low = 1e9;
        out->points[0].high = 1;
        out->points[2].cost = 1e9;
        out->points[2].bytes = out->points[2].low = out->points[2].high = 0;
        break;
    case 5: /* all points at one place */
        for (size_t i = 0; i < out->front.count; i++) {
            out->points[i] = out->points[0];
        }
        break;
    case 6:
        snprintf(out->labels[0], FIXTURE_LABEL_SIZE, "%s", long_label);
        snprintf(out->labels[1], FIXTURE_LABEL_SIZE, "%s", cyrillic_label);
        out->points[1].is_on_front = false;
        out->front.has_recommended = true;
        break;
    default:
        break;
    }
}

void fixture_front_begin(struct fixture_front *out)
{
    memset(out, 0, sizeof *out);
    out->front = (struct report_front){.scenario = "candidates", .points = out->points};
}

void fixture_front_add(struct fixture_front *fixture, const char *label, double cost, double bytes,
                       bool is_on_front)
{
    const size_t index = fixture->front.count++;
    assert(index < REPORT_FRONT_MAX);
    snprintf(fixture->labels[index], FIXTURE_LABEL_SIZE, "%s", label);
    fixture->points[index] =
        (struct report_front_point){fixture->labels[index], cost, bytes, bytes, bytes, is_on_front, false};
}
