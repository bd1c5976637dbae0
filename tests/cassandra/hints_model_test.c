/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: a hint that the mock has stored is kept until its replica has what it carries, and each write that
 * ends leaves no replica without the write or a hint for it. Method: after each event the lists of hints are
 * read, entry by entry, and held against what they were before: an entry may go only when the replica's own
 * storage has its row or cells, new entries come last and within the window for hints, and a write that ended
 * owes nothing to anybody. At the end all faults are gone, and after ten minutes all lists are empty and all
 * rows are everywhere. Random writes under losses, partitions, crashes, pauses and lost hints; fixed seeds,
 * and a list of situations that must have come up. */
#include "cluster_private.h"
#include "model.h"

#define NODES     3
#define STEPS     60
#define HINTS_MAX 1024
#define OPEN_MAX  1024
#define PAGE      128

enum situation {
    STORED,
    OUT_OF_ORDER,
    PART_OF_PAGE,
    LATE_ACK,
    CRASH_WHILE_SENDING,
    MORE_THAN_A_PAGE,
    AT_WINDOW,
    BEYOND_WINDOW,
    REPLICA_FAILED,
    DROPPED,
    SITUATIONS
};
static struct model_situation situations[SITUATIONS] = {
    [STORED] = {"a hint stored", 0},
    [OUT_OF_ORDER] = {"a hint acknowledged before an older one", 0},
    [PART_OF_PAGE] = {"a page sent again of which a part had arrived", 0},
    [LATE_ACK] = {"an acknowledgement of an earlier page", 0},
    [CRASH_WHILE_SENDING] = {"a node that crashes while it sends hints", 0},
    [MORE_THAN_A_PAGE] = {"more hints than a page", 0},
    [AT_WINDOW] = {"a hint stored at the very end of the window", 0},
    [BEYOND_WINDOW] = {"a write after the window", 0},
    [REPLICA_FAILED] = {"a hint for a replica that failed", 0},
    [DROPPED] = {"hints lost with a disk", 0},
};

struct known_hint {
    uint32_t index, entity, replica;
    bool is_row;
    uint64_t row_id;
    struct image image;
};

struct known_list {
    struct known_hint hints[HINTS_MAX];
    size_t count;
    uint32_t in_flight, page_left; /* of the page that was sent last: those that have not arrived */
};

/* A write that its coordinator is still busy with. */
struct open_write {
    bool is_open;
    uint32_t generation, place, entity, position;
    uint32_t asked, excused; /* excused: gone for longer than hints are kept when the write was sent */
    bool is_row;
    uint64_t row_id;
    struct image image;
};

struct written {
    bool is_owed; /* its write ended, so all replicas are to have it */
    uint32_t partition, excused;
};

struct model {
    struct harness h;
    struct sim_random random;
    struct model_run *run;
    struct known_list lists[NODES][NODES];
    struct open_write open[OPEN_MAX];
    struct written rows[REPLIES_MAX]; /* by id, which is the tag */
    bool lost_cells;                  /* some hints of cells were dropped */
};

/* --- what the mock has */

static bool has_row(const struct cass_cluster *cluster, uint32_t partition, uint64_t row_id, uint32_t replica)
{
    uint32_t row = cass_row_find(cluster, partition, row_id);
    return row == CASS_NONE || (row_at(cluster, row)->held >> replica & 1) != 0;
}

static bool has_cells(const struct cass_cluster *cluster, uint32_t entity, const struct image *image,
                      uint32_t replica)
{
    const struct image *own = image_at(cluster, entity, replica);
    for (int i = 0; i < CASS_COLUMNS; i++) {
        if (image->cells[i].timestamp_us > own->cells[i].timestamp_us)
            return false;
    }
    return true;
}

static bool has_it(const struct cass_cluster *cluster, const struct known_hint *hint)
{
    return hint->is_row ? has_row(cluster, hint->entity, hint->row_id, hint->replica)
                        : has_cells(cluster, hint->entity, &hint->image, hint->replica);
}

static struct known_hint hint_of(const struct cass_cluster *cluster, uint32_t index)
{
    const struct hint *hint = hint_at(cluster, index);
    struct known_hint known = {.index = index, .replica = hint->replica};
    known.is_row = hint->kind == MESSAGE_WRITE_ROW;
    if (known.is_row) {
        known.row_id = row_at(cluster, hint->body)->row_id;
        known.entity = row_at(cluster, hint->body)->partition;
    } else {
        known.entity = hint->entity;
        known.image = body_at(cluster, hint->body)->image;
    }
    return known;
}

static bool is_same_hint(const struct known_hint *a, const struct known_hint *b)
{
    return a->index == b->index && a->replica == b->replica && a->is_row == b->is_row &&
           a->entity == b->entity && a->row_id == b->row_id &&
           (a->is_row || memcmp(&a->image, &b->image, sizeof a->image) == 0);
}

/* How long the node has seen the other one gone; -1: it does not. */
static int64_t gone_for(const struct cass_cluster *cluster, uint32_t node, uint32_t target)
{
    int64_t since = cluster->gone_since[(size_t)node * cluster->node_count + target];
    return since == NEVER ? -1 : now_ns(cluster) - since;
}

/* --- the lists */

static void compare_list(struct model *model, uint32_t node, uint32_t target)
{
    const struct cass_cluster *cluster = model->h.cluster;
    struct known_list *known = &model->lists[node][target];
    const struct hint_list *list = &cluster->hints_for[(size_t)node * cluster->node_count + target];
    int64_t gone_ns = gone_for(cluster, node, target), window_ns = cluster->config.hint_window_ns;
    size_t old = 0, count = 0, before = known->count;
    bool is_out_of_order = false;
    uint32_t last = CASS_NONE;
    struct known_hint *fresh = malloc(HINTS_MAX * sizeof *fresh);
    assert_non_null(fresh);
    for (uint32_t at = list->head; at != CASS_NONE && count < HINTS_MAX; at = hint_at(cluster, at)->next) {
        fresh[count] = hint_of(cluster, at);
        last = at;
        for (; old < before && !is_same_hint(&known->hints[old], &fresh[count]); old++) {
            is_out_of_order = is_out_of_order || count > 0;
            MODEL_RULE(model->run, has_it(cluster, &known->hints[old]), "kept",
                       "node %u forgot a hint for node %u, which lacks it", node, target);
        }
        if (old < before) {
            old++;
        } else {
            situations[STORED].count++;
            situations[AT_WINDOW].count += gone_ns == window_ns;
            MODEL_RULE(model->run, gone_ns <= window_ns, "window",
                       "node %u stored a hint for node %u after the window", node, target);
        }
        count++;
    }
    for (; old < before; old++) {
        is_out_of_order = is_out_of_order || count > 0;
        MODEL_RULE(model->run, has_it(cluster, &known->hints[old]), "kept",
                   "node %u forgot a hint for node %u, which lacks it", node, target);
    }
    situations[OUT_OF_ORDER].count += is_out_of_order;
    MODEL_RULE(model->run, count < HINTS_MAX, "list", "a list of hints has no end");
    MODEL_RULE(model->run, list->head == CASS_NONE || list->tail == last, "list",
               "the last hint of node %u for node %u is not the last of its list", node, target);
    memcpy(known->hints, fresh, count * sizeof *fresh);
    known->count = count;
    situations[MORE_THAN_A_PAGE].count += list->in_flight == PAGE && count > PAGE;
    free(fresh);
}

static bool has_hint(const struct model *model, uint32_t node, uint32_t target, bool is_row, uint32_t entity,
                     uint64_t row_id, const struct image *image)
{
    const struct known_list *list = &model->lists[node][target];
    for (size_t i = 0; i < list->count; i++) {
        const struct known_hint *hint = &list->hints[i];
        if (hint->is_row == is_row && hint->entity == entity &&
            (is_row ? hint->row_id == row_id : memcmp(&hint->image, image, sizeof *image) == 0))
            return true;
    }
    return false;
}

/* Replicas for which a row has a hint: the mock's own note of it is what its views tell. */
static void check_notes(struct model *model)
{
    const struct cass_cluster *cluster = model->h.cluster;
    for (uint64_t id = 0; id < model->h.tags; id++) {
        const struct written *written = &model->rows[id];
        uint32_t row = written->partition == 0 ? CASS_NONE : cass_row_find(cluster, written->partition, id);
        if (row == CASS_NONE)
            continue;
        const uint32_t *replicas = replicas_at(cluster, partition_at(cluster, written->partition)->position);
        for (uint32_t i = 0; i < cluster->factor; i++) {
            bool is_hinted = false;
            for (uint32_t node = 0; node < NODES; node++)
                is_hinted =
                    is_hinted || has_hint(model, node, replicas[i], true, written->partition, id, NULL);
            MODEL_RULE(model->run, !(row_at(cluster, row)->hinted >> i & 1) || is_hinted, "note",
                       "a row is noted as hinted, and no hint waits");
        }
    }
}

/* --- writes */

static bool is_writing(const struct cass_operation *operation)
{
    return operation->generation % 2 == 1 &&
           (operation->stage == STAGE_WRITE || operation->stage == STAGE_COMMIT);
}

static void begin_write(struct model *model, uint32_t index)
{
    const struct cass_cluster *cluster = model->h.cluster;
    const struct cass_operation *operation = operation_at(cluster, index);
    struct open_write *open = &model->open[index];
    *open = (struct open_write){.is_open = true,
                                .generation = operation->generation,
                                .place = operation->place,
                                .entity = operation->entity,
                                .position = operation->position,
                                .asked = operation->asked,
                                .is_row = operation->is_carrying_row};
    if (open->is_row) {
        open->row_id = row_at(cluster, operation->body)->row_id;
        open->entity = row_at(cluster, operation->body)->partition;
        model->rows[open->row_id].partition = open->entity;
    } else {
        open->image = body_at(cluster, operation->body)->image;
    }
    for (uint32_t i = 0; i < cluster->factor; i++) {
        uint32_t target = replicas_at(cluster, open->position)[i];
        if (gone_for(cluster, open->place, target) > cluster->config.hint_window_ns) {
            open->excused |= UINT32_C(1) << i;
            situations[BEYOND_WINDOW].count++;
        }
    }
}

/* It ended: who has it, or is owed it by a hint? */
static void end_write(struct model *model, struct open_write *open)
{
    const struct cass_cluster *cluster = model->h.cluster;
    open->is_open = false;
    for (uint32_t i = 0; i < cluster->factor; i++) {
        uint32_t target = replicas_at(cluster, open->position)[i];
        /* Who was asked may have gone since; who was gone then is judged by the time of then. */
        bool is_late = gone_for(cluster, open->place, target) > cluster->config.hint_window_ns;
        bool is_excused = open->excused >> i & 1 || (open->asked >> i & 1 && is_late);
        bool is_there = open->is_row ? has_row(cluster, open->entity, open->row_id, i)
                                     : has_cells(cluster, open->entity, &open->image, i);
        bool is_hinted =
            has_hint(model, open->place, target, open->is_row, open->entity, open->row_id, &open->image);
        bool is_lost = open->is_row ? model->rows[open->row_id].excused >> i & 1 : model->lost_cells;
        MODEL_RULE(model->run, is_there || is_hinted || is_excused || is_lost, "owed",
                   "a write ended at node %u; node %u has neither it nor a hint for it", open->place, target);
        situations[REPLICA_FAILED].count += is_hinted && cluster->nodes[target].is_failing;
        if (open->is_row && is_excused)
            model->rows[open->row_id].excused |= UINT32_C(1) << i;
    }
    if (open->is_row)
        model->rows[open->row_id].is_owed = true;
}

static void follow_writes(struct model *model)
{
    const struct cass_cluster *cluster = model->h.cluster;
    assert_true(cluster->operations.used < OPEN_MAX);
    for (uint32_t i = 1; i < cluster->operations.used; i++) {
        const struct cass_operation *operation = operation_at(cluster, i);
        struct open_write *open = &model->open[i];
        if (open->is_open && operation->generation != open->generation)
            end_write(model, open);
        if (is_writing(operation) && (!open->is_open || operation->generation != open->generation))
            begin_write(model, i);
    }
}

static void compare(struct model *model)
{
    for (uint32_t node = 0; node < NODES; node++) {
        for (uint32_t target = 0; target < NODES; target++)
            compare_list(model, node, target);
    }
    follow_writes(model);
}

static void run_for(struct model *model, int64_t lasts_ns)
{
    struct harness *h = &model->h;
    struct sim_event marker = {.kind = 1}, event;
    int64_t end_ns = sim_queue_now(&h->queue) + lasts_ns, time_ns;
    sim_queue_push(&h->queue, end_ns, &marker);
    while (!model->run->is_broken && sim_queue_pop(&h->queue, &time_ns, &event) && event.kind != 1) {
        struct cass_reply reply;
        if (event.kind == CASS_EVENT_REPLY) {
            cass_reply_take(h->cluster, event.b, &reply);
            continue;
        }
        if (event.kind == EVENT_HINTS) {
            const struct hint_list *list =
                &h->cluster->hints_for[(size_t)event.target * h->cluster->node_count + event.a];
            situations[PART_OF_PAGE].count += list->in_flight > 0 && list->head != CASS_NONE &&
                                              list->in_flight < model->lists[event.target][event.a].page_left;
        }
        if (event.kind == EVENT_ARRIVE) {
            const struct message *message = message_at(h->cluster, (uint32_t)event.a);
            situations[LATE_ACK].count +=
                message->kind == MESSAGE_HINT_ACK &&
                message->round !=
                    h->cluster->hints_for[(size_t)message->to * h->cluster->node_count + message->from].page;
        }
        cass_handle(h->cluster, &event);
        if (event.kind == EVENT_HINTS)
            model->lists[event.target][event.a].page_left =
                h->cluster->hints_for[(size_t)event.target * h->cluster->node_count + event.a].in_flight;
        compare(model);
    }
    check_notes(model);
}

/* --- what happens */

static void crash(struct model *model, uint32_t node)
{
    const struct cass_cluster *cluster = model->h.cluster;
    for (uint32_t target = 0; target < NODES; target++)
        situations[CRASH_WHILE_SENDING].count +=
            cluster->hints_for[(size_t)node * cluster->node_count + target].in_flight > 0;
    cass_set_down(model->h.cluster, node, true);
    /* What it was busy with is over, and owes nothing to anybody. */
    for (uint32_t i = 1; i < cluster->operations.used; i++) {
        if (model->open[i].is_open && model->open[i].place == node)
            model->open[i].is_open = false;
    }
}

static void drop_hints(struct model *model, uint32_t node)
{
    for (uint32_t target = 0; target < NODES; target++) {
        struct known_list *list = &model->lists[node][target];
        for (size_t i = 0; i < list->count; i++) {
            situations[DROPPED].count++;
            if (list->hints[i].is_row)
                model->rows[list->hints[i].row_id].excused |= UINT32_C(1) << list->hints[i].replica;
            else
                model->lost_cells = true;
        }
        list->count = 0;
    }
    cass_drop_hints(model->h.cluster, node);
}

static void disturb(struct model *model)
{
    struct cass_cluster *cluster = model->h.cluster;
    uint32_t node = (uint32_t)sim_random_below(&model->random, NODES);
    uint32_t other = (uint32_t)sim_random_below(&model->random, NODES);
    switch (sim_random_below(&model->random, 10)) {
    case 0:
    case 1:
        crash(model, node);
        break;
    case 2:
        cass_set_loss(cluster, sim_random_unit(&model->random) * 0.4, 0.1);
        break;
    case 3:
        if (node != other)
            cut_node(&model->h, node, other, true);
        break;
    case 4:
        cass_pause(cluster, node, (int64_t)sim_random_below(&model->random, 3000) * SIM_MS);
        break;
    case 5:
        cass_set_failing(cluster, node, true);
        break;
    case 6:
        if (sim_random_below(&model->random, 3) == 0)
            drop_hints(model, node);
        break;
    case 7:
        cass_set_delay(cluster, (double)(1 + sim_random_below(&model->random, 1000)));
        break;
    default:
        cass_heal(cluster);
    }
}

static void write(struct model *model, uint32_t coordinator)
{
    uint64_t kind = sim_random_below(&model->random, 8);
    struct cass_statement statement = write_row(CASS_ONE, sim_random_below(&model->random, 4), model->h.tags);
    if (kind == 0)
        statement =
            set_column(CASS_ONE, 7, (uint32_t)sim_random_below(&model->random, 3), (int64_t)model->h.tags);
    if (kind == 1)
        statement = cas_column(8, (int64_t)sim_random_below(&model->random, 3),
                               (int64_t)sim_random_below(&model->random, 3));
    statement.if_absent = kind == 1 && model->h.tags % 2 == 0;
    harness_send(&model->h, (uint32_t)(model->h.tags % 2), coordinator, &statement);
}

/* One write arrives at the very end of the window, and one a nanosecond later. */
static void write_at_the_edge(struct model *model)
{
    struct cass_cluster *cluster = model->h.cluster;
    const struct cass_cluster_config *config = &cluster->config;
    int64_t travel_ns = (int64_t)config->latency_ns.a;
    crash(model, 2);
    run_for(model, config->hint_window_ns - travel_ns);
    write(model, 0);
    run_for(model, 1);
    write(model, 0);
    run_for(model, SIM_SECOND);
    cass_heal(cluster);
    run_for(model, 20 * SIM_SECOND);
}

static void begin(struct model *model)
{
    struct cass_cluster_config config = harness_config();
    config.seed = model->run->seed;
    config.hint_window_ns = sim_random_below(&model->random, 2) == 0 ? 15 * SIM_SECOND : 3 * SIM_HOUR;
    if (model->run->seed % 4 != 0) {
        config.latency_ns = (struct sim_size){.kind = SIM_SIZE_UNIFORM, .a = 1e5, .b = 3e7};
        config.detect_ns = (int64_t)sim_random_below(&model->random, 2) * SIM_SECOND;
        config.write_ns = 80 * SIM_US;
    }
    sim_size_prepare(&config.latency_ns);
    harness_start(&model->h, &config);
}

static void settle(struct model *model)
{
    struct cass_cluster *cluster = model->h.cluster;
    cass_heal(cluster);
    run_for(model, 10 * SIM_MINUTE);
    for (uint32_t node = 0; node < NODES; node++) {
        for (uint32_t target = 0; target < NODES; target++)
            MODEL_RULE(model->run, model->lists[node][target].count == 0, "live",
                       "ten minutes after the last fault node %u still has hints for node %u", node, target);
    }
    for (uint64_t id = 0; id < model->h.tags; id++) {
        const struct written *row = &model->rows[id];
        for (uint32_t i = 0; row->is_owed && i < cluster->factor; i++)
            MODEL_RULE(model->run, row->excused >> i & 1 || has_row(cluster, row->partition, id, i), "lost",
                       "ten minutes after the last fault a replica lacks a row");
    }
}

static void check_seed(struct model_run *run)
{
    struct model *model = calloc(1, sizeof *model);
    assert_non_null(model);
    model->run = run;
    sim_random_init(&model->random, run->seed, SIM_FUZZ, 1);
    begin(model);
    if (run->seed % 4 == 0)
        write_at_the_edge(model);
    bool is_bulk = run->seed % 8 == 3;
    for (int step = 0; step < STEPS && !run->is_broken; step++) {
        uint64_t together = is_bulk && step == 10 ? 300 : sim_random_below(&model->random, 6);
        if (is_bulk && step == 9)
            crash(model, 2);
        for (uint64_t i = 0; i < together; i++)
            write(model, (uint32_t)sim_random_below(&model->random, is_bulk ? 2 : NODES));
        if (sim_random_below(&model->random, 4) == 0)
            disturb(model);
        run_for(model, (int64_t)sim_random_below(&model->random, 3000) * SIM_MS + 1);
    }
    if (!run->is_broken)
        settle(model);
    harness_stop(&model->h);
    free(model);
}

int main(int argc, char **argv)
{
    return model_main(argc, argv, 100, check_seed, situations, SITUATIONS);
}
