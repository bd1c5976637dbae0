/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A hash table from tuples of numbers to values. */
#include "lab/tally.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/random.h"

#define SLOTS_MIN 64u

void lab_tuples_init(struct lab_tuples *tuples, uint32_t values)
{
    assert(values > 0);
    memset(tuples, 0, sizeof *tuples);
    tuples->values = values;
    tuples->most = LAB_TUPLES_MAX;
}

static bool is_entry(const struct lab_tuples *tuples, uint32_t number, const uint64_t *tuple)
{
    return memcmp(lab_tuples_at(tuples, number - 1), tuple, LAB_TUPLE_WORDS * sizeof *tuple) == 0;
}

/* The tuple's slot, or the free slot into which it would be inserted. */
static uint32_t slot_of(const struct lab_tuples *tuples, const uint64_t *tuple)
{
    const uint64_t odd[LAB_TUPLE_WORDS] = {UINT64_C(0x9e3779b97f4a7c15), UINT64_C(0xbf58476d1ce4e5b9),
                                           UINT64_C(0x94d049bb133111eb), UINT64_C(0xd1342543de82ef95)};
    uint64_t sum = 0;
    for (size_t i = 0; i < LAB_TUPLE_WORDS; i++)
        sum += tuple[i] * odd[i];
    uint32_t mask = tuples->slot_count - 1, slot = (uint32_t)sim_mix64(sum) & mask;
    while (tuples->slots[slot] != 0 && !is_entry(tuples, tuples->slots[slot], tuple))
        slot = (slot + 1) & mask;
    return slot;
}

/* Makes room for one more tuple: entries grow by half, and there are at least twice as many slots as
 * entries. */
static bool make_room(struct lab_tuples *tuples)
{
    tuples->is_full = tuples->is_full || tuples->count >= tuples->most;
    if (tuples->out_of_memory || tuples->is_full)
        return false;
    if (tuples->count == tuples->capacity) {
        uint32_t capacity = tuples->capacity + tuples->capacity / 2 + SLOTS_MIN / 2;
        size_t size = (size_t)capacity * (LAB_TUPLE_WORDS + tuples->values) * sizeof(uint64_t);
        uint64_t *entries = realloc(tuples->entries, size);
        tuples->out_of_memory = entries == NULL;
        if (entries == NULL)
            return false;
        tuples->entries = entries;
        tuples->capacity = capacity;
    }
    if (tuples->count < tuples->slot_count / 2)
        return true;
    uint32_t slot_count = tuples->slot_count == 0 ? SLOTS_MIN : tuples->slot_count * 2;
    uint32_t *slots = calloc(slot_count, sizeof *slots);
    tuples->out_of_memory = slots == NULL;
    if (slots == NULL)
        return false;
    free(tuples->slots);
    tuples->slots = slots;
    tuples->slot_count = slot_count;
    for (uint32_t i = 0; i < tuples->count; i++)
        slots[slot_of(tuples, lab_tuples_at(tuples, i))] = i + 1;
    return true;
}

uint64_t *lab_tuples_get(struct lab_tuples *tuples, const uint64_t *tuple)
{
    uint64_t *found = lab_tuples_find(tuples, tuple);
    if (found != NULL || !make_room(tuples))
        return found;
    uint64_t *entry = lab_tuples_at(tuples, tuples->count);
    memcpy(entry, tuple, LAB_TUPLE_WORDS * sizeof *tuple);
    memset(entry + LAB_TUPLE_WORDS, 0, tuples->values * sizeof *entry);
    tuples->slots[slot_of(tuples, tuple)] = ++tuples->count;
    return entry + LAB_TUPLE_WORDS;
}

uint64_t *lab_tuples_find(const struct lab_tuples *tuples, const uint64_t *tuple)
{
    if (tuples->count == 0)
        return NULL;
    uint32_t number = tuples->slots[slot_of(tuples, tuple)];
    return number == 0 ? NULL : lab_tuples_at(tuples, number - 1) + LAB_TUPLE_WORDS;
}

/* When there are few entries, freeing their slots one by one is cheaper than clearing all slots. */
void lab_tuples_empty(struct lab_tuples *tuples)
{
    if (tuples->count > tuples->slot_count / 8) {
        memset(tuples->slots, 0, tuples->slot_count * sizeof *tuples->slots);
    } else {
        /* In reverse order of insertion, so that the probe sequences of the remaining entries stay intact. */
        for (uint32_t i = tuples->count; i > 0; i--)
            tuples->slots[slot_of(tuples, lab_tuples_at(tuples, i - 1))] = 0;
    }
    tuples->count = 0;
}

void lab_tuples_clear(struct lab_tuples *tuples)
{
    free(tuples->entries);
    free(tuples->slots);
    lab_tuples_init(tuples, tuples->values);
}

/* Only the entries are archived, since the slots follow from them. */
void lab_tuples_archive(struct lab_tuples *tuples, struct sim_archive *archive)
{
    size_t words = (size_t)tuples->count * (LAB_TUPLE_WORDS + tuples->values);
    sim_archive_mark(archive, 0x5455504c);
    sim_archive_bool(archive, &tuples->out_of_memory);
    sim_archive_bool(archive, &tuples->is_full);
    if (!archive->is_loading) {
        sim_archive_array(archive, tuples->entries, sizeof *tuples->entries, &words, SIZE_MAX);
        return;
    }
    struct lab_tuples loaded;
    lab_tuples_init(&loaded, tuples->values);
    const size_t each = LAB_TUPLE_WORDS + tuples->values;
    uint64_t *entries = sim_archive_array(archive, NULL, sizeof *entries, &words, SIZE_MAX);
    if (sim_archive_is_fine(archive))
        sim_archive_check(archive, words % each == 0 && words / each <= tuples->most);
    for (size_t i = 0; sim_archive_is_fine(archive) && i < words / each; i++) {
        uint64_t *values = lab_tuples_get(&loaded, entries + i * each);
        if (values == NULL)
            sim_archive_fail_memory(archive);
        else
            memcpy(values, entries + i * each + LAB_TUPLE_WORDS, tuples->values * sizeof *values);
    }
    free(entries);
    loaded.out_of_memory = tuples->out_of_memory;
    loaded.is_full = tuples->is_full;
    lab_tuples_clear(tuples);
    *tuples = loaded;
    if (!sim_archive_is_fine(archive))
        lab_tuples_clear(tuples);
}
