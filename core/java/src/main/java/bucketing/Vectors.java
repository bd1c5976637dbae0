// SPDX-License-Identifier: MIT
package bucketing;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.jna.Memory;
import com.sun.jna.Native;
import com.sun.jna.Pointer;
import com.sun.jna.Structure;
import com.sun.jna.ptr.IntByReference;
import com.sun.jna.ptr.LongByReference;
import com.sun.jna.ptr.PointerByReference;
import java.io.File;
import java.util.Arrays;
import java.util.List;

/**
 * Passes the vectors of core/vectors for hashes, ids, routes and agents through the shared library: Vectors FOLDER, with
 * -Djna.library.path. Ends with 1 where an answer differs. docs/porting.md says what stands in the files.
 */
public final class Vectors {
    private static final List<String> STATUSES = names("BK_OK BK_ERROR_NULL BK_ERROR_KIND "
        + "BK_ERROR_WINDOW BK_ERROR_CALENDAR BK_ERROR_ROWS "
        + "BK_ERROR_BITS BK_ERROR_CHANCE BK_ERROR_THRESHOLD BK_ERROR_BUCKETS BK_ERROR_BYTES "
        + "BK_ERROR_AGE BK_ERROR_STATE BK_ERROR_PLAN BK_ERROR_QUERY BK_ERROR_RANGE "
        + "BK_ERROR_COORDINATION BK_ERROR_SOURCE BK_ERROR_LEAD BK_ERROR_CACHE BK_ERROR_OPERATIONS "
        + "BK_ERROR_LOCK BK_ERROR_GRANT BK_ERROR_BACKOFF BK_ERROR_MEMORY BK_ERROR_BUSY "
        + "BK_ERROR_OPERATION BK_ERROR_ERAS BK_ERROR_ERA_TIME BK_ERROR_ERA_KIND BK_ERROR_BUCKET "
        + "BK_ERROR_BATCH BK_ERROR_STRIPE BK_ERROR_LEASE BK_ERROR_CLIENT BK_ERROR_EMPTY "
        + "BK_ERROR_CONTENDED BK_ERROR_EXHAUSTED BK_ERROR_LAST BK_ERROR_WALK_TOO_LONG BK_ERROR_ID "
        + "BK_ERROR_SETTING BK_ERROR_CHECKPOINT");
    private static final List<String> ACTIONS = names("PUT_ROW READ_STATE WRITE_STATE CAS_STATE ADD_COUNTER READ_COUNTER "
        + "READ_START WRITE_START CAS_LOCK COUNT_ROWS READ_ROWS ACK DONE");
    private static final List<String> OUTCOMES = names("APPLIED NOT_APPLIED REFUSED UNKNOWN");
    private static final List<String> DONE = names("OK REFUSED UNKNOWN TOO_LONG");
    private static final List<String> COORDINATIONS = names("SINGLE LOCKED THREE_STATE GUARDED");
    private static final List<String> COUNTERS = names("RMW LWT COLUMN");
    private static final List<String> SOURCES = names("EXTERNAL COUNTER LWT LEASE INCREMENTAL SCAN MEMORY");
    private static final List<String> QUERIES = names("LATEST RANGE ALL");
    private static final List<String> PLANS = names("DEFAULT WALK PAIR ALL LAZY PARALLEL");

    private final Core core = Native.load("bucketing", Core.class);
    private String place = "";
    private int differing, compared;

    private static List<String> names(String text) {
        return Arrays.asList(text.split(" "));
    }

    /** 0 for what is left out; strings of digits for what is beyond 2^53. */
    private static long number(JsonNode node) {
        if (!node.isTextual()) {
            return node.asLong();
        }
        String digits = node.asText();
        return digits.startsWith("-") ? Long.parseLong(digits) : Long.parseUnsignedLong(digits);
    }

    private static long[] numbers(JsonNode node) {
        long[] out = new long[node.size()];
        Arrays.setAll(out, i -> number(node.get(i)));
        return out;
    }

    private void same(String what, Object wanted, Object got) {
        compared++;
        if (!wanted.equals(got) && differing++ < 10) {
            System.out.println(place + ": " + what + " is " + got + ", and must be " + wanted);
        }
    }

    private void equal(String what, JsonNode wanted, long... got) {
        same(what, Arrays.toString(wanted.isArray() ? numbers(wanted) : new long[] {number(wanted)}), Arrays.toString(got));
    }

    /** Of JSON, or 0, the members of the struct that have such a name. */
    private static void fill(Structure out, JsonNode node, String... names) {
        for (String name : names) {
            long value = number(node.path(name));
            Object now = out.readField(name);
            Object same = now instanceof Integer ? (Object) (int) value : now instanceof Byte ? (Object) (byte) value : value;
            out.writeField(name, same);
        }
    }

    private Core.Strategy strategy(JsonNode node) {
        Core.Strategy out = new Core.Strategy();
        long threshold = number(node.path("threshold"));
        switch (node.get("kind").asText()) {
        case "time":
            if (node.has("calendar")) {
                core.bk_strategy_calendar(node.get("calendar").asInt(), out);
            } else {
                core.bk_strategy_time(number(node.path("window_ns")), number(node.path("epoch_ns")), out);
            }
            break;
        case "count":
            core.bk_strategy_count(number(node.path("rows")), out);
            break;
        case "probabilistic":
            if (node.has("chance_denominator")) {
                core.bk_strategy_probabilistic_chance(number(node.path("chance_numerator")),
                                                      number(node.path("chance_denominator")), threshold, out);
            } else {
                core.bk_strategy_probabilistic(node.path("bits").asInt(), threshold, out);
            }
            break;
        case "hash":
            core.bk_strategy_hash(node.path("buckets").asInt(), out);
            break;
        case "weighted":
            core.bk_strategy_weighted(number(node.path("bytes")), threshold, out);
            break;
        default:
            core.bk_strategy_unbucketed(out);
        }
        if (node.has("max_age_ns")) {
            core.bk_strategy_max_age(number(node.get("max_age_ns")), out);
        }
        return out;
    }

    private Core.History history(JsonNode eras) {
        Core.History out = new Core.History();
        for (JsonNode era : eras) {
            if (era == eras.get(0)) {
                core.bk_history_begin(strategy(era.get(1)), out);
            } else {
                core.bk_history_change(out, number(era.get(0)), strategy(era.get(1)));
            }
        }
        return out;
    }

    private static Core.Row row(JsonNode node) {
        Core.Row out = new Core.Row();
        long[] values = numbers(node);
        out.time_ns = values[0];
        out.sequence = values[1];
        out.id = values[2];
        out.bytes = values[3];
        return out;
    }

    private static byte[] bytes(JsonNode node) {
        String text = node.asText();
        byte[] out = new byte[text.length() / 2];
        for (int i = 0; i < out.length; i++) {
            out[i] = (byte) Integer.parseInt(text.substring(2 * i, 2 * i + 2), 16);
        }
        return out;
    }

    private void hash(JsonNode node) {
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
        equal("bucket_of_id", node.path("bucket_of_id"), core.bk_bucket_of_id(input, buckets));
    }

    private void id(JsonNode node) {
        int kind = 0;
        while (!core.bk_id_kind_name(kind).equals(node.get("kind").asText())) {
            kind++;
        }
        byte[] bytes = bytes(node.path("bytes"));
        LongByReference bits = new LongByReference();
        same("status", node.get("status").asText(), STATUSES.get(core.bk_id_bits(kind, bytes, bytes.length, bits)));
        equal("bits", node.path("bits"), bits.getValue());
    }

    private void route(JsonNode node) {
        Core.Strategy strategy = strategy(node.get("strategy"));
        Core.KeyState state = new Core.KeyState();
        state.bucket = number(node.get("state").get(0));
        for (JsonNode step : node.get("rows")) {
            Core.Row row = row(step.get("row"));
            Core.Route route = new Core.Route();
            Core.Effect effect = new Core.Effect();
            same("status", step.get("status").asText(), STATUSES.get(core.bk_route(strategy, state, row, route)));
            equal("route", step.get("route"), route.bucket, route.scope, route.begins, route.from_ns, route.until_ns);
            equal("sequences", step.get("sequences"), route.sequence_low, route.sequence_high);
            equal("weight", step.path("weight"), core.bk_weight(strategy, row));
            core.bk_advance(strategy, state, row, effect);
            equal("effect", step.get("effect"), effect.counter_increments, effect.state_writes, effect.rolled);
            equal("state", step.get("state"), state.bucket, state.counter, state.last_change_ns, state.is_begun,
                  state.until_ns, state.first_sequence);
        }
    }

    private Pointer agent(JsonNode node, Memory[] keep) {
        Core.AgentConfig config = new Core.AgentConfig();
        fill(config, node, "lease_rows", "every_rows", "every_ns", "lead_ns", "cache_ttl_ns", "cache_entries", "operations",
             "retries", "counter_retries", "retry_backoff_ns", "lock_lasts_ns", "lock_backoff_ns", "grant_ns",
             "remember_keys", "late_ns", "clock_bound_ns", "agent_id");
        config.strategy = strategy(node.get("strategy"));
        if (node.has("history")) {
            config.history = history(node.get("history"));
        }
        config.coordination = COORDINATIONS.indexOf(node.get("coordination").asText());
        config.counter = COUNTERS.indexOf(node.get("counter").asText());
        config.source = SOURCES.indexOf(node.get("source").asText());
        long size = core.bk_agent_size(config);
        keep[0] = new Memory(size);
        PointerByReference agent = new PointerByReference();
        same("status of the agent", 0, core.bk_agent_init(keep[0], size, config, agent));
        return agent.getValue();
    }

    private int tell(Pointer agent, JsonNode event, long now, IntByReference operation) {
        long key = number(event.path("key"));
        switch (event.get("event").asText()) {
        case "write":
            return core.bk_agent_write(agent, now, key, row(event.get("row")), operation);
        case "read":
            Core.Query query = new Core.Query();
            JsonNode asked = event.get("query");
            fill(query, asked, "at_once", "rows", "from_ns", "until_ns", "now_ns", "birth_ns", "partitions_max");
            query.kind = QUERIES.indexOf(asked.get("kind").asText());
            query.plan = PLANS.indexOf(asked.get("plan").asText());
            return core.bk_agent_read(agent, now, key, number(event.path("newest_sequence")), query, operation);
        case "outcome":
            Core.Outcome outcome = new Core.Outcome();
            fill(outcome, event, "mask", "counter", "rows", "saw_older", "empty");
            outcome.kind = OUTCOMES.indexOf(event.get("outcome").asText());
            if (event.has("columns")) {
                outcome.columns = numbers(event.get("columns"));
            }
            operation.setValue(event.path("operation").asInt());
            return core.bk_agent_outcome(agent, now, operation.getValue(), outcome);
        case "tick":
            return core.bk_agent_tick(agent, now);
        case "change":
            return core.bk_agent_change(agent, history(event.get("history")));
        case "view":
            LongByReference bucket = new LongByReference();
            byte[] changing = new byte[1];
            boolean known = core.bk_agent_view(agent, now, key, bucket, changing);
            same("is known", event.has("known"), known);
            if (known) {
                equal("view", event.get("known"), bucket.getValue(), changing[0]);
            }
            return 0;
        default:
            return 0;
        }
    }

    private void action(JsonNode wanted, Core.Action got) {
        same("kind", wanted.get("kind").asText(), ACTIONS.get(got.kind));
        for (String name : new String[] {"operation", "key", "bucket", "is_retry", "serial", "amount", "mask", "if_mask",
                                         "fired", "counted", "rows_found", "partitions_asked", "partitions_spared",
                                         "order"}) {
            equal(name, wanted.path(name), ((Number) got.readField(name)).longValue());
        }
        same("status", wanted.path("status").asText("OK"), DONE.get(got.status));
        if (wanted.has("row")) {
            equal("row", wanted.get("row"), got.row.time_ns, got.row.sequence, got.row.id, got.row.bytes);
        }
        if (wanted.has("columns")) {
            equal("columns", wanted.get("columns"), got.columns);
        }
        if (wanted.has("expected")) {
            equal("expected", wanted.get("expected"), got.expected);
        }
        if (wanted.has("step")) {
            long[] step = {got.step.bucket_low, got.step.bucket_high, got.step.rows, got.step.from_ns, got.step.until_ns};
            equal("step", wanted.get("step"), Arrays.copyOf(step, wanted.get("step").size()));
        }
    }

    private void events(JsonNode node) {
        Memory[] keep = new Memory[1];
        Pointer agent = agent(node.get("config"), keep);
        String at = place;
        int number = 0;
        for (JsonNode event : node.get("events")) {
            place = at + ", event " + number++;
            IntByReference operation = new IntByReference();
            int status = tell(agent, event, number(event.path("now")), operation);
            same("status", event.path("status").asText("BK_OK"), STATUSES.get(status));
            if (status == 0) {
                equal("operation", event.path("operation"), operation.getValue());
            }
            Core.Action action = new Core.Action();
            int count = 0;
            for (; core.bk_agent_next(agent, action); count++) {
                if (event.path("actions").has(count)) {
                    action(event.get("actions").get(count), action);
                }
            }
            same("number of actions", event.path("actions").size(), count);
            long deadline = event.has("deadline") ? number(event.get("deadline")) : Long.MAX_VALUE;
            same("deadline", deadline, core.bk_agent_deadline(agent));
        }
    }

    private void judge(File file) throws java.io.IOException {
        int number = 0;
        for (JsonNode node : new ObjectMapper().readTree(file)) {
            place = file.getName() + ", case " + number++;
            switch (file.getName().split("[-.]")[0]) {
            case "hash":
                hash(node);
                break;
            case "id":
                id(node);
                break;
            case "route":
                route(node);
                break;
            default:
                events(node);
            }
        }
    }

    public static void main(String[] arguments) throws java.io.IOException {
        Vectors vectors = new Vectors();
        File[] files = new File(arguments[0]).listFiles((folder, name) -> name.matches("(hash|id|route-.*|agent-.*)\\.json"));
        Arrays.sort(files);
        for (File file : files) {
            vectors.judge(file);
        }
        System.out.println(files.length + " files, " + vectors.compared + " answers, " + vectors.differing + " differ");
        System.exit(vectors.differing == 0 && vectors.compared > 0 ? 0 : 1);
    }
}
