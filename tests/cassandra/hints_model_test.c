/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: the mock keeps a stored hint until the target replica has the hint's content, and when a write ends,
 * each replica either has the write or is the target of a hint. Method: after each event the test reads the
 * lists of hints entry by entry and compares them with their former state. An entry may be removed only when
 * the target replica has stored its row or cells; new entries are appended, within the window for hints; and
 * a write that has ended leaves no replica without the write or a hint. A hint delivers what was written: a
 * column's value has the timestamp of its write wherever it is stored, and a leader's shard of a counter is
 * one that the leader had. At the end all faults are healed, and after ten minutes all lists are empty and
 * all replicas have all rows. The writes are random, at several levels: rows, columns, counters and
 * conditional updates, under message loss, network partitions, crashes, pauses and lost hints. The seeds are
 * fixed, and a list of situations must all have occurred. */
#include "model.h"
#include "state.h"

#define NODES     3
#define STEPS     60
#define HINTS_MAX 1024
#define OPEN_MAX  1024
#define PAGE      128
#define COUNTER   9
#define ADDS_MAX  2048

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
    SHARD_HINTED,
    COMMIT_HINTED,
    ANY_BY_HINTS,
    PAGE_AT_ONCE,
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
    [SHARD_HINTED] = {"a hint of a counter's shard", 0},
    [COMMIT_HINTED] = {"a hint of a decided update", 0},
    [ANY_BY_HINTS] = {"a write at ANY that has hints alone", 0},
    [PAGE_AT_ONCE] = {"a page sent because the one before it had arrived", 0},
};

enum what { ROW, CELLS, SHARD };

/* The content of a write: a row, cells of a register, or a leader's shard of a counter. */
struct content {
    enum what what;
    uint32_t entity, leader;
    uint64_t row_id;
    struct image image;
    struct shard shard;
};

struct known_hint {
    uint32_t index, replica;
    struct content content;
};

struct known_list {
    struct known_hint hints[HINTS_MAX];
    size_t count;
    int64_t looked_ns; /* when a page was last sent, or sending was last impossible */
    uint32_t page;
    uint32_t in_flight, page_left; /* entries of the last page sent that have not arrived yet */
};

/* A write that is still open at its coordinator. */
struct open_write {
    bool is_open, is_commit;
    uint32_t generation, place, position;
    uint32_t asked, excused; /* excused: down for longer than the hint window when the write was sent */
    struct content content;
};

struct written {
    bool is_owed; /* its write has ended, so all replicas must receive it */
    uint32_t partition, excused;
    bool is_sent;
    enum cass_consistency level;
};

struct model {
    struct harness h;
    struct sim_random random;
    struct model_run *run;
    struct known_list lists[NODES][NODES];
    const struct hint_list *looks_after; /* the list whose time has come; NULL: none */
    struct open_write open[OPEN_MAX];
    struct written rows[REPLIES_MAX];     /* by row id, which equals the tag */
    bool lost_others;                     /* some hints of cells or shards were dropped */
    int64_t written_us[REPLIES_MAX];      /* of a plain column write, whose value is its tag; 0: not seen */
    struct shard shards[NODES][ADDS_MAX]; /* the shards that a leader has had, in order */
    size_t shard_count[NODES];
};

/* --- the state of the mock */

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

static bool has_it(const struct cass_cluster *cluster, const struct content *content, uint32_t replica)
{
    switch (content->what) {
    case ROW:
        return has_row(cluster, content->entity, content->row_id, replica);
    case CELLS:
        return has_cells(cluster, content->entity, &content->image, replica);
    default:
        return shard_at(cluster, content->entity, replica, content->leader)->clock >= content->shard.clock;
    }
}

static struct content content_of(const struct cass_cluster *cluster, enum message_kind kind, uint32_t entity,
                                 uint32_t body)
{
    struct content content = {.what = CELLS, .entity = entity};
    if (kind == MESSAGE_WRITE_ROW) {
        content.what = ROW;
        content.row_id = row_at(cluster, body)->row_id;
        content.entity = row_at(cluster, body)->partition;
    } else if (kind == MESSAGE_WRITE_SHARD) {
        content.what = SHARD;
        content.leader = body_at(cluster, body)->leader;
        content.shard = body_at(cluster, body)->shard;
    } else {
        content.image = body_at(cluster, body)->image;
    }
    return content;
}

static struct known_hint hint_of(const struct cass_cluster *cluster, uint32_t index)
{
    const struct hint *hint = hint_at(cluster, index);
    return (struct known_hint){index, hint->replica,
                               content_of(cluster, (enum message_kind)hint->kind, hint->entity, hint->body)};
}

static bool is_same_content(const struct content *a, const struct content *b)
{
    if (a->what != b->what || a->entity != b->entity)
        return false;
    if (a->what == ROW)
        return a->row_id == b->row_id;
    if (a->what == CELLS)
        return memcmp(&a->image, &b->image, sizeof a->image) == 0;
    return a->leader == b->leader && a->shard.clock == b->shard.clock && a->shard.count == b->shard.count;
}

static bool is_same_hint(const struct known_hint *a, const struct known_hint *b)
{
    return a->index == b->index && a->replica == b->replica && is_same_content(&a->content, &b->content);
}

/* How long the node has believed the target down; -1: it believes the target up. */
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
            MODEL_RULE(model->run, has_it(cluster, &known->hints[old].content, known->hints[old].replica),
                       "kept", "node %u forgot a hint for node %u, which lacks it", node, target);
        }
        if (old < before) {
            old++;
        } else {
            situations[STORED].count++;
            situations[SHARD_HINTED].count += fresh[count].content.what == SHARD;
            situations[AT_WINDOW].count += gone_ns == window_ns;
            MODEL_RULE(model->run, gone_ns <= window_ns, "window",
                       "node %u stored a hint for node %u after the window", node, target);
        }
        count++;
    }
    for (; old < before; old++) {
        is_out_of_order = is_out_of_order || count > 0;
        MODEL_RULE(model->run, has_it(cluster, &known->hints[old].content, known->hints[old].replica), "kept",
                   "node %u forgot a hint for node %u, which lacks it", node, target);
    }
    situations[OUT_OF_ORDER].count += is_out_of_order;
    MODEL_RULE(model->run, count < HINTS_MAX, "list", "a list of hints has no end");
    MODEL_RULE(model->run, list->in_flight <= PAGE, "page", "node %u sends more than a page of hints", node);
    /* A node with hints checks periodically whether they can be delivered. */
    int64_t due_ns = known->looked_ns + cluster->config.hint_retry_ns, now = now_ns(cluster);
    due_ns = due_ns > cluster->nodes[node].paused_until_ns ? due_ns : cluster->nodes[node].paused_until_ns;
    bool is_fresh = list->head == CASS_NONE || before == 0 || list->page != known->page;
    /* A page follows when its time has come, or at once when the whole page before it has arrived. */
    bool is_at_once = list->page != known->page && model->looks_after != list;
    MODEL_RULE(model->run, !is_at_once || known->in_flight == 1, "page",
               "node %u sends a page of hints to node %u, and %u of the page before have not arrived", node,
               target, known->in_flight);
    MODEL_RULE(model->run,
               list->head == CASS_NONE || list->page != known->page || list->in_flight > 0 ||
                   known->in_flight == 0,
               "due", "node %u does not send the next page of hints to node %u", node, target);
    situations[PAGE_AT_ONCE].count += is_at_once;
    known->looked_ns = is_fresh ? now : known->looked_ns;
    known->page = list->page;
    known->in_flight = list->in_flight;
    MODEL_RULE(model->run, is_fresh || now <= due_ns, "due",
               "node %u does not look after its hints for node %u in time", node, target);
    MODEL_RULE(model->run, list->head == CASS_NONE || list->tail == last, "list",
               "the last hint of node %u for node %u is not the last of its list", node, target);
    memcpy(known->hints, fresh, count * sizeof *fresh);
    known->count = count;
    situations[MORE_THAN_A_PAGE].count += list->in_flight == PAGE && count > PAGE;
    free(fresh);
}

static bool has_hint(const struct model *model, uint32_t node, uint32_t target, const struct content *content)
{
    const struct known_list *list = &model->lists[node][target];
    for (size_t i = 0; i < list->count; i++) {
        if (is_same_content(&list->hints[i].content, content))
            return true;
    }
    return false;
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
                                .is_commit = operation->stage == STAGE_COMMIT,
                                .generation = operation->generation,
                                .place = operation->place,
                                .position = operation->position,
                                .asked = operation->asked};
    open->content = content_of(cluster, cass_write_kind(operation), operation->entity, operation->body);
    if (open->content.what == ROW)
        model->rows[open->content.row_id].partition = open->content.entity;
    for (uint32_t i = 0; i < cluster->factor; i++) {
        uint32_t target = replicas_at(cluster, open->position)[i];
        if (gone_for(cluster, open->place, target) > cluster->config.hint_window_ns) {
            open->excused |= UINT32_C(1) << i;
            situations[BEYOND_WINDOW].count++;
        }
    }
}

/* The write has ended: does each replica have it, or is there a hint for it? */
static void end_write(struct model *model, struct open_write *open)
{
    const struct cass_cluster *cluster = model->h.cluster;
    open->is_open = false;
    for (uint32_t i = 0; i < cluster->factor; i++) {
        uint32_t target = replicas_at(cluster, open->position)[i];
        /* A replica that got the request may have gone down since; a replica that was already down is judged
         * by its state at the time of sending. */
        bool is_late = gone_for(cluster, open->place, target) > cluster->config.hint_window_ns;
        bool is_excused = open->excused >> i & 1 || (open->asked >> i & 1 && is_late);
        bool is_there = has_it(cluster, &open->content, i);
        bool is_hinted = has_hint(model, open->place, target, &open->content);
        bool is_lost = open->content.what == ROW ? model->rows[open->content.row_id].excused >> i & 1
                                                 : model->lost_others;
        MODEL_RULE(model->run, is_there || is_hinted || is_excused || is_lost, "owed",
                   "a write ended at node %u; node %u has neither it nor a hint for it", open->place, target);
        situations[REPLICA_FAILED].count += is_hinted && cluster->nodes[target].is_failing;
        situations[COMMIT_HINTED].count += is_hinted && open->is_commit;
        if (open->content.what == ROW && is_excused)
            model->rows[open->content.row_id].excused |= UINT32_C(1) << i;
    }
    if (open->content.what == ROW)
        model->rows[open->content.row_id].is_owed = true;
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

/* The value of a plain write has the same timestamp by whatever route it arrives. */
static void check_columns(struct model *model)
{
    const struct cass_cluster *cluster = model->h.cluster;
    uint32_t entity = cass_register_find(cluster, 7);
    for (uint32_t i = 0; entity != CASS_NONE && i < cluster->factor; i++) {
        const struct image *image = image_at(cluster, entity, i);
        for (uint32_t column = 0; column < 3; column++) {
            const struct cell *cell = &image->cells[column];
            if (cell->timestamp_us == NO_TIME)
                continue;
            int64_t *written_us = &model->written_us[cell->value];
            if (*written_us == 0)
                *written_us = cell->timestamp_us;
            MODEL_RULE(model->run, *written_us == cell->timestamp_us, "timestamp",
                       "a replica has a value with another timestamp than its write's");
        }
    }
}

/* Each replica has, for each leader's shard, the value that the leader had at that clock; a shard that
 * arrives twice counts once. */
static void check_shards(struct model *model)
{
    const struct cass_cluster *cluster = model->h.cluster;
    uint32_t entity = cass_counter_find(cluster, COUNTER);
    for (uint32_t leader = 0; entity != CASS_NONE && leader < cluster->factor; leader++) {
        struct shard *had = model->shards[leader];
        size_t *count = &model->shard_count[leader];
        const struct shard *own = shard_at(cluster, entity, leader, leader);
        if (*count == 0 || had[*count - 1].clock != own->clock || had[*count - 1].count != own->count) {
            assert_true(*count < ADDS_MAX);
            MODEL_RULE(model->run, *count == 0 || own->clock > had[*count - 1].clock, "shard",
                       "a leader's shard goes back");
            had[(*count)++] = *own;
        }
        for (uint32_t i = 0; i < cluster->factor; i++) {
            const struct shard *copy = shard_at(cluster, entity, i, leader);
            size_t at = *count;
            while (at > 0 && had[at - 1].clock > copy->clock)
                at--;
            MODEL_RULE(model->run,
                       copy->clock == 0 ||
                           (at > 0 && had[at - 1].clock == copy->clock && had[at - 1].count == copy->count),
                       "shard", "replica %u has a shard that its leader never had", (unsigned)i);
        }
    }
}

static void compare(struct model *model)
{
    for (uint32_t node = 0; node < NODES; node++) {
        for (uint32_t target = 0; target < NODES; target++)
            compare_list(model, node, target);
    }
    follow_writes(model);
    check_columns(model);
    check_shards(model);
}

/* Called before an OK for a row is delivered: as many replicas as the level needs have the row; for ANY, a
 * hint is sufficient. */
static void check_told(struct model *model, uint64_t tag, uint64_t slot)
{
    const struct cass_cluster *cluster = model->h.cluster;
    const struct written *written = &model->rows[tag];
    if (!written->is_sent || reply_at(cluster, (uint32_t)slot)->reply.result != CASS_OK)
        return;
    uint32_t held = 0, wanted = written->level == CASS_QUORUM ? 2 : written->level == CASS_ALL ? NODES : 1;
    for (uint32_t i = 0; i < cluster->factor; i++)
        held += has_row(cluster, written->partition, tag, i);
    bool is_hinted = false;
    for (uint32_t i = 0; written->level == CASS_ANY && i < NODES * NODES; i++) {
        struct content content = {.what = ROW, .entity = written->partition, .row_id = tag};
        is_hinted = is_hinted || has_hint(model, i / NODES, i % NODES, &content);
    }
    situations[ANY_BY_HINTS].count += held == 0 && is_hinted;
    MODEL_RULE(model->run, held >= wanted || is_hinted || written->excused != 0, "level",
               "a row is acknowledged at %s, and %u replicas have it", cass_consistency_name(written->level),
               (unsigned)held);
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
            check_told(model, event.a, event.b);
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
        model->looks_after =
            event.kind == EVENT_HINTS
                ? &h->cluster->hints_for[(size_t)event.target * h->cluster->node_count + event.a]
                : NULL;
        cass_handle(h->cluster, &event);
        if (event.kind == EVENT_HINTS)
            model->lists[event.target][event.a].page_left =
                h->cluster->hints_for[(size_t)event.target * h->cluster->node_count + event.a].in_flight;
        compare(model);
    }
}

/* --- the actions */

static void crash(struct model *model, uint32_t node)
{
    const struct cass_cluster *cluster = model->h.cluster;
    for (uint32_t target = 0; target < NODES; target++)
        situations[CRASH_WHILE_SENDING].count +=
            cluster->hints_for[(size_t)node * cluster->node_count + target].in_flight > 0;
    cass_set_down(model->h.cluster, node, true);
    /* The node's open writes are lost in the crash and owe no hints. */
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
            const struct content *content = &list->hints[i].content;
            if (content->what == ROW)
                model->rows[content->row_id].excused |= UINT32_C(1) << list->hints[i].replica;
            else
                model->lost_others = true;
        }
        list->count = 0;
    }
    cass_drop_hints(model->h.cluster, node);
    for (uint32_t target = 0; target < NODES; target++) {
        model->lists[node][target].page++;
        model->lists[node][target].in_flight = 0;
    }
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
            separate(&model->h, node, other, true);
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
    static const enum cass_consistency levels[] = {CASS_ANY, CASS_ONE, CASS_ONE, CASS_QUORUM, CASS_ALL};
    uint64_t kind = sim_random_below(&model->random, 8);
    enum cass_consistency level = levels[sim_random_below(&model->random, 5)];
    struct cass_statement statement = write_row(level, sim_random_below(&model->random, 4), model->h.tags);
    if (kind == 0)
        statement =
            set_column(level, 7, (uint32_t)sim_random_below(&model->random, 3), (int64_t)model->h.tags);
    if (kind == 1) {
        statement = cas_column(8, (int64_t)sim_random_below(&model->random, 3),
                               (int64_t)sim_random_below(&model->random, 3));
        statement.consistency = level;
        statement.if_absent = model->h.tags % 2 == 0;
    }
    if (kind == 2) {
        statement = statement_of(CASS_ADD_COUNTER, level == CASS_ANY ? CASS_ONE : level, COUNTER);
        statement.delta = 1 + (int64_t)(model->h.tags % 3);
        statement.row_id = model->h.tags;
    }
    model->rows[model->h.tags].is_sent = statement.kind == CASS_WRITE_ROW;
    model->rows[model->h.tags].level = level;
    harness_send(&model->h, (uint32_t)(model->h.tags % 2), coordinator, &statement);
}

/* One write arrives at the very end of the window, and another one a nanosecond later. */
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
