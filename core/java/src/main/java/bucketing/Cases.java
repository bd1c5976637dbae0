// SPDX-License-Identifier: MIT
package bucketing;

import com.fasterxml.jackson.databind.JsonNode;
import com.sun.jna.Memory;
import com.sun.jna.Native;
import com.sun.jna.Structure;
import com.sun.jna.Structure.FieldOrder;
import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;

/** Shared by all families of cases: the library, the structs that a case describes, and the comparison of answers. */
final class Cases {
    static final List<String> STATUSES = names("BK_OK BK_ERROR_NULL BK_ERROR_KIND BK_ERROR_WINDOW BK_ERROR_CALENDAR "
        + "BK_ERROR_ROWS BK_ERROR_BITS BK_ERROR_CHANCE BK_ERROR_THRESHOLD BK_ERROR_BUCKETS BK_ERROR_BYTES "
        + "BK_ERROR_AGE BK_ERROR_STATE BK_ERROR_PLAN BK_ERROR_QUERY BK_ERROR_RANGE "
        + "BK_ERROR_COORDINATION BK_ERROR_SOURCE BK_ERROR_LEAD BK_ERROR_CACHE BK_ERROR_OPERATIONS "
        + "BK_ERROR_LOCK BK_ERROR_GRANT BK_ERROR_BACKOFF BK_ERROR_MEMORY BK_ERROR_BUSY "
        + "BK_ERROR_OPERATION BK_ERROR_OUTCOME BK_ERROR_ERAS BK_ERROR_ERA_TIME BK_ERROR_ERA_KIND BK_ERROR_BUCKET "
        + "BK_ERROR_BATCH BK_ERROR_STRIPE BK_ERROR_LEASE BK_ERROR_CLIENT BK_ERROR_EMPTY "
        + "BK_ERROR_CONTENDED BK_ERROR_EXHAUSTED BK_ERROR_LAST BK_ERROR_WALK_TOO_LONG BK_ERROR_ID BK_ERROR_RESERVED "
        + "BK_ERROR_SETTING BK_ERROR_CHECKPOINT BK_ERROR_SHARDS");
    static final List<String> QUERIES = names("LATEST RANGE ALL");
    static final List<String> PLANS = names("DEFAULT WALK PAIR ALL LAZY PARALLEL");

    static final Core core = Native.load("bucketing_idgen", Core.class);
    static String place = "";
    static int differing, compared;

    private Cases() {
    }

    static List<String> names(String text) {
        return Arrays.asList(text.split(" "));
    }

    /** A missing member is 0; numbers above 2^53 are strings of digits. */
    static long number(JsonNode node) {
        if (!node.isTextual()) {
            return node.asLong();
        }
        String digits = node.asText();
        return digits.startsWith("-") ? Long.parseLong(digits) : Long.parseUnsignedLong(digits);
    }

    /** The numbers of an array and of nested arrays, in order. */
    static long[] numbers(JsonNode node) {
        LongStream.Builder out = LongStream.builder();
        for (JsonNode item : node) {
            Arrays.stream(item.isArray() ? numbers(item) : new long[] {number(item)}).forEach(out);
        }
        return out.build().toArray();
    }

    static void same(String what, Object wanted, Object got) {
        compared++;
        if (!wanted.equals(got) && differing++ < 10) {
            System.out.println(place + ": " + what + " is " + got + ", and must be " + wanted);
        }
    }

    /** A missing array means zeros. */
    static void equal(String what, JsonNode wanted, long... got) {
        long[] numbers = wanted.isMissingNode() ? new long[got.length]
            : wanted.isArray() ? numbers(wanted) : new long[] {number(wanted)};
        same(what, Arrays.toString(numbers), Arrays.toString(got));
    }

    /** Sets the members with these names from JSON; a missing one becomes 0. */
    static void fill(Structure out, JsonNode node, String... names) {
        for (String name : names) {
            fill(out, name, number(node.path(name)));
        }
    }

    private static void fill(Structure out, String name, long value) {
        Object now = out.readField(name);
        Object same = now instanceof Integer ? (Object) (int) value : now instanceof Byte ? (Object) (byte) value : value;
        out.writeField(name, same);
    }

    /** Sets all members of the struct, in order, from a JSON array. */
    private static <T extends Structure> T filled(T out, JsonNode node) {
        String[] names = out.getClass().getAnnotation(FieldOrder.class).value();
        long[] values = numbers(node);
        for (int i = 0; i < names.length; i++) {
            fill(out, names[i], values[i]);
        }
        return out;
    }

    static Core.Strategy strategy(JsonNode node) {
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
        if (node.has("shards")) {
            core.bk_strategy_shards(node.get("shards").asInt(), out);
        }
        if (node.has("max_age_ns")) {
            core.bk_strategy_max_age(number(node.get("max_age_ns")), out);
        }
        return out;
    }

    static Core.History history(JsonNode eras) {
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

    static Core.Row row(JsonNode node) {
        return filled(new Core.Row(), node);
    }

    static byte[] bytes(JsonNode node) {
        String text = node.asText();
        byte[] out = new byte[text.length() / 2];
        for (int i = 0; i < out.length; i++) {
            out[i] = (byte) Integer.parseInt(text.substring(2 * i, 2 * i + 2), 16);
        }
        return out;
    }

    static Core.KeyState state(JsonNode node) {
        return filled(new Core.KeyState(), node);
    }

    static void equal(String what, JsonNode wanted, Core.KeyState got) {
        equal(what, wanted, got.bucket, got.counter, got.last_change_ns, got.is_begun, got.until_ns, got.first_sequence);
    }

    /** Makes a query from the members "query" and "starts". */
    static Core.Query query(JsonNode node) {
        Core.Query out = new Core.Query();
        JsonNode asked = node.get("query"), starts = node.path("starts");
        fill(out, asked, "at_once", "rows", "from_ns", "until_ns", "now_ns", "birth_ns", "partitions_max");
        out.kind = QUERIES.indexOf(asked.get("kind").asText());
        out.plan = PLANS.indexOf(asked.get("plan").asText());
        out.start_count = starts.size();
        out.starts = pairs(starts);
        return out;
    }

    /** An array of pairs of numbers in C's representation; null if it is empty. */
    static Memory pairs(JsonNode node) {
        long[] values = numbers(node);
        Memory out = values.length == 0 ? null : new Memory(8L * values.length);
        if (out != null) {
            out.write(0, values, 0, values.length);
        }
        return out;
    }

    /** Compares a step of a read. In a case, a step without a span of time is shorter. */
    static void equal(String what, JsonNode wanted, Core.Step got) {
        long[] step = {got.bucket_low, got.bucket_high, got.rows, got.from_ns, got.until_ns};
        equal(what, wanted, Arrays.copyOf(step, wanted.size()));
    }
}
