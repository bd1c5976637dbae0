// SPDX-License-Identifier: MIT
package bucketing;

import static bucketing.Cases.QUERIES;
import static bucketing.Cases.STATUSES;
import static bucketing.Cases.bytes;
import static bucketing.Cases.core;
import static bucketing.Cases.equal;
import static bucketing.Cases.number;
import static bucketing.Cases.query;
import static bucketing.Cases.row;
import static bucketing.Cases.same;
import static bucketing.Cases.state;
import static bucketing.Cases.strategy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.jna.ptr.LongByReference;
import java.io.File;
import java.util.Arrays;

/**
 * Checks the shared library with the vectors of core/vectors: Vectors FOLDER, with -Djna.library.path. Exits with 1
 * if an answer differs. docs/porting.md describes the files. This class has the pure functions; agents are in Machines.
 */
public final class Vectors {
    private static final int STEPS_MAX = 30; // the most steps of a read in the vectors

    private Vectors() {
    }

    private static void hash(JsonNode node) {
        int buckets = node.path("buckets").asInt();
        long input = number(node.path("input")), seed = number(node.path("seed"));
        byte[] bytes = bytes(node.get("bytes"));
        Core.Hash128 plain = core.bk_murmur3_128(bytes, bytes.length, seed);
        Core.Hash128 cassandra = core.bk_murmur3_128_cassandra(bytes, bytes.length, seed);
        equal("h1", node.get("h1"), plain.h1);
        equal("h2", node.get("h2"), plain.h2);
        equal("cassandra_h1", node.get("cassandra_h1"), cassandra.h1);
        equal("cassandra_h2", node.get("cassandra_h2"), cassandra.h2);
        equal("consistent_hash", node.path("consistent_hash"), core.bk_consistent_hash(input, buckets));
        equal("u64_h1", node.get("u64_h1"), core.bk_murmur3_128_u64(input).h1);
        equal("bucket_of_id", node.path("bucket_of_id"), core.bk_bucket_of_id(input, buckets));
    }

    private static void id(JsonNode node) {
        int kind = 0;
        while (!core.bk_id_kind_name(kind).equals(node.get("kind").asText())) {
            kind++;
        }
        byte[] bytes = bytes(node.path("bytes"));
        LongByReference bits = new LongByReference();
        same("status", node.get("status").asText(), STATUSES.get(core.bk_id_bits(kind, bytes, bytes.length, bits)));
        equal("bits", node.path("bits"), bits.getValue());
    }

    private static void route(JsonNode step, Core.Placement route, Core.Effect effect) {
        equal("route", step.get("route"), route.bucket, route.scope, route.begins, route.from_ns, route.until_ns);
        equal("sequences", step.get("sequences"), route.sequence_low, route.sequence_high);
        equal("effect", step.get("effect"), effect.counter_increments, effect.state_writes, effect.rolled);
    }

    private static void route(JsonNode node) {
        Core.Strategy strategy = strategy(node.get("strategy"));
        Core.KeyState state = state(node.get("state"));
        for (JsonNode step : node.get("rows")) {
            Core.Row row = row(step.get("row"));
            Core.Placement route = new Core.Placement();
            Core.Effect effect = new Core.Effect();
            same("status", step.get("status").asText(), STATUSES.get(core.bk_route(strategy, state, row, route)));
            equal("weight", step.path("weight"), core.bk_weight(strategy, row));
            core.bk_advance(strategy, state, row, effect);
            route(step, route, effect);
            equal("state", step.get("state"), state);
        }
    }

    /** Passes the result of a step to the reader, as a host does. */
    private static void answer(JsonNode told, Core.Reader reader, Core.Step step) {
        equal("step", told.get("step"), step);
        if (QUERIES.get(reader.kind).equals("RANGE")) {
            core.bk_read_found_range(reader, number(told.path("rows")), (byte) told.path("saw_older").asInt());
        } else {
            core.bk_read_found(reader, number(told.path("rows")));
        }
    }

    private static void read(JsonNode node) {
        Core.Strategy strategy = strategy(node.get("strategy"));
        Core.KeyState state = state(node.get("state"));
        Core.Empties known = new Core.Empties();
        for (JsonNode read : node.get("reads")) {
            Core.Query query = query(read);
            Core.Reader reader = new Core.Reader();
            Core.Step step = new Core.Step();
            same("status", read.get("status").asText(), STATUSES.get(core.bk_read_begin(strategy, state, query, reader)));
            for (JsonNode told : read.get("steps")) {
                same("there is a step", 1, (int) core.bk_read_next_known(reader, known, step));
                answer(told, reader, step);
                if (told.has("learn")) {
                    core.bk_empties_learn(known, strategy, reader, query.now_ns, number(told.get("learn").get(0)),
                                          step.bucket_low, step.bucket_high);
                }
                if (told.has("skip")) {
                    equal("skip", told.get("skip").get(1), core.bk_read_skip_to(reader, number(told.get("skip").get(0))));
                }
                if (told.has("forget")) {
                    core.bk_empties_forget(known, number(told.get("forget").get(0)));
                }
            }
            if (read.get("steps").size() < STEPS_MAX) {
                same("there is a step", 0, (int) core.bk_read_next_known(reader, known, step));
            }
            equal("end", read.get("end"), reader.rows_found, reader.partitions_asked, reader.partitions_spared, reader.order);
            same("ended", read.get("ended").asText(), STATUSES.get(reader.status));
            long bucket = number(read.get("pass_top").get(0));
            equal("pass_top", read.get("pass_top"), bucket, core.bk_empties_pass(known, bucket),
                  core.bk_empties_top(known, bucket));
            equal("empties", read.get("empties"), Arrays.copyOf(known.runs, 2 * known.count));
        }
    }

    private static void history(JsonNode node) {
        Core.History history = Cases.history(node.get("history"));
        Core.HistoryState state = new Core.HistoryState();
        for (JsonNode step : node.get("rows")) {
            Core.Row row = row(step.get("row"));
            Core.Placement route = new Core.Placement();
            Core.Effect effect = new Core.Effect();
            same("status", step.get("status").asText(), STATUSES.get(core.bk_history_route(history, state, row, route)));
            equal("era", step.path("era"), core.bk_history_era_at(history, row.time_ns));
            equal("fires", step.path("fires"), core.bk_history_fires(history, state, row));
            core.bk_history_advance(history, state, row, effect);
            route(step, route, effect);
            equal("state", step.get("state"), state.key);
            equal("opened", step.get("opened"), state.has_rows, state.opened);
            equal("starts", step.get("starts"), Arrays.copyOfRange(state.starts, 2, 2 + 2 * state.opened));
            if (step.has("read")) {
                historyRead(step.get("read"), history, state);
            }
        }
    }

    private static void historyRead(JsonNode read, Core.History history, Core.HistoryState state) {
        Core.HistoryReader reader = new Core.HistoryReader();
        Core.Step step = new Core.Step();
        int status = core.bk_history_read_begin(history, state, query(read), reader);
        same("status", read.get("status").asText(), STATUSES.get(status));
        for (JsonNode told : read.get("steps")) {
            same("there is a step", 1, (int) core.bk_history_read_next(history, reader, step));
            answer(told, reader.reader, step);
        }
        if (read.get("steps").size() < STEPS_MAX) {
            same("there is a step", 0, (int) core.bk_history_read_next(history, reader, step));
        }
        equal("end", read.get("end"), core.bk_history_rows_found(reader), core.bk_history_partitions_asked(reader),
              reader.reader.order);
    }

    private static void judge(String family, JsonNode node) {
        switch (family) {
        case "hash":
            hash(node);
            break;
        case "id":
            id(node);
            break;
        case "route":
            route(node);
            break;
        case "read":
            read(node);
            break;
        case "history":
            history(node);
            break;
        case "agent":
            Machines.agent(node);
            break;
        case "idgen":
            Machines.idgen(node);
            break;
        default:
            same("known family", true, false);
        }
    }

    public static void main(String[] arguments) throws java.io.IOException {
        File[] files = new File(arguments[0]).listFiles((folder, name) -> name.endsWith(".json"));
        Arrays.sort(files);
        for (File file : files) {
            int number = 0;
            for (JsonNode node : new ObjectMapper().readTree(file)) {
                Cases.place = file.getName() + ", case " + number++;
                judge(file.getName().split("[-.]")[0], node);
            }
        }
        System.out.println(files.length + " files, " + Cases.compared + " answers, " + Cases.differing + " differ");
        System.exit(Cases.differing == 0 && Cases.compared > 0 ? 0 : 1);
    }
}
