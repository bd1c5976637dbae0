// SPDX-License-Identifier: MIT
package bucketing;

import static bucketing.Cases.STATUSES;
import static bucketing.Cases.core;
import static bucketing.Cases.equal;
import static bucketing.Cases.fill;
import static bucketing.Cases.history;
import static bucketing.Cases.names;
import static bucketing.Cases.number;
import static bucketing.Cases.numbers;
import static bucketing.Cases.pairs;
import static bucketing.Cases.query;
import static bucketing.Cases.row;
import static bucketing.Cases.same;
import static bucketing.Cases.strategy;

import com.fasterxml.jackson.databind.JsonNode;
import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.IntByReference;
import com.sun.jna.ptr.LongByReference;
import com.sun.jna.ptr.PointerByReference;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Cases of state machines (agents and clients of identifiers): passes events, and compares the resulting actions. */
final class Machines {
    private static final List<String> ACTIONS = names("PUT_ROW READ_STATE WRITE_STATE CAS_STATE ADD_COUNTER READ_COUNTER "
        + "READ_START WRITE_START CAS_LOCK COUNT_ROWS READ_ROWS ACK DONE");
    private static final List<String> OUTCOMES = names("UNKNOWN APPLIED NOT_APPLIED REFUSED");
    private static final List<String> DONE = names("OK REFUSED UNKNOWN TOO_LONG");
    private static final List<String> COORDINATIONS = names("SINGLE LOCKED THREE_STATE GUARDED");
    private static final List<String> COUNTERS = names("RMW LWT NATIVE");
    private static final List<String> SOURCES = names("EXTERNAL COUNTER LWT LEASE INCREMENTAL SCAN MEMORY");
    private static final List<String> IDGEN_CHOICES = names("FIXED ROTATE RANDOM");
    private static final List<String> IDGEN_LOCKS = names("COLUMNS LWT");
    private static final List<String> IDGEN_BACKOFFS = names("CONSTANT EXPONENTIAL RANDOM_TIMES");
    private static final List<String> IDGEN_ACTIONS = names("WRITE_COLUMN READ_COLUMNS DELETE_COLUMNS CAS_LOCK READ_LAST "
        + "WRITE_LAST CAS_LAST READY FAILED");

    private Machines() {
    }

    /** Returns the agent: its memory, which lives as long as a caller has it. */
    private static Memory agentOf(JsonNode node) {
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
        Memory agent = new Memory(size);
        same("status of the agent", 0, core.bk_agent_init(agent, size, config, new PointerByReference()));
        return agent;
    }

    private static int tell(Pointer agent, JsonNode event, long now, IntByReference operation, Map<Integer, Long> tickets) {
        long key = number(event.path("key"));
        switch (event.get("event").asText()) {
        case "write":
            return core.bk_agent_write(agent, now, key, row(event.get("row")), operation);
        case "read":
            return core.bk_agent_read(agent, now, key, number(event.path("newest_sequence")), query(event), operation);
        case "outcome":
            Core.Outcome outcome = new Core.Outcome();
            fill(outcome, event, "mask", "counter", "rows", "saw_older", "empty");
            outcome.kind = OUTCOMES.indexOf(event.get("outcome").asText());
            if (event.has("columns")) {
                outcome.columns = numbers(event.get("columns"));
            }
            operation.setValue(event.path("operation").asInt());
            return core.bk_agent_report(agent, now, tickets.get(operation.getValue()), outcome);
        case "tick":
            return core.bk_agent_tick(agent, now);
        case "change":
            return core.bk_agent_change(agent, history(event.get("history")));
        case "view":
            LongByReference bucket = new LongByReference();
            byte[] changing = new byte[1];
            boolean known = core.bk_agent_view(agent, now, key, bucket, changing) != 0;
            same("is known", event.has("known"), known);
            if (known) {
                equal("view", event.get("known"), bucket.getValue(), changing[0]);
            }
            return 0;
        default:
            return 0;
        }
    }

    private static void action(JsonNode wanted, Core.Action got) {
        same("kind", wanted.get("kind").asText(), ACTIONS.get(got.kind));
        for (String name : new String[] {"operation", "key", "bucket", "is_retry", "serial", "if_null_mask", "amount", "mask",
                                         "if_mask", "fired", "counted", "rows_found", "partitions_asked", "partitions_spared",
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
            equal("step", wanted.get("step"), got.step);
        }
    }

    static void agent(JsonNode node) {
        Memory agent = agentOf(node.get("config"));
        String at = Cases.place;
        int number = 0;
        Map<Integer, Long> tickets = new HashMap<>();
        for (JsonNode event : node.get("events")) {
            Cases.place = at + ", event " + number++;
            IntByReference operation = new IntByReference();
            int status = tell(agent, event, number(event.path("now")), operation, tickets);
            same("status", event.path("status").asText("BK_OK"), STATUSES.get(status));
            if (status == 0) {
                equal("operation", event.path("operation"), operation.getValue());
            }
            Core.Action action = new Core.Action();
            int count = 0;
            for (; core.bk_agent_next(agent, action) != 0; count++) {
                tickets.put(action.operation, action.ticket);
                if (event.path("actions").has(count)) {
                    action(event.get("actions").get(count), action);
                }
            }
            same("number of actions", event.path("actions").size(), count);
            same("deadline", deadline(event), core.bk_agent_deadline(agent));
        }
        Core.AgentStats stats = new Core.AgentStats();
        core.bk_agent_get_stats(agent, number(node.path("now")), stats);
        equal("stats", node.get("stats"), stats.rows_stored, stats.rows_refused, stats.rows_unknown, stats.reads_complete,
              stats.reads_incomplete, stats.cache_hits, stats.rolls, stats.retries, stats.unknown, stats.under_way,
              stats.parked, stats.asleep, stats.oldest_ns);
    }

    private static long deadline(JsonNode event) {
        return event.has("deadline") ? number(event.get("deadline")) : Long.MAX_VALUE;
    }

    private static Core.Idgen idgenOf(JsonNode node) {
        Core.IdgenConfig config = new Core.IdgenConfig();
        fill(config, node, "client_id", "batch", "stripes", "stripe", "lock_lasts_ns", "lease_ns", "backoff_base_ns",
             "backoff_cap_ns", "backoff_limit_ns", "attempts", "retries");
        config.choice = IDGEN_CHOICES.indexOf(node.get("choice").asText());
        config.lock = IDGEN_LOCKS.indexOf(node.get("lock").asText());
        config.backoff = IDGEN_BACKOFFS.indexOf(node.get("backoff").asText());
        Core.Idgen out = new Core.Idgen();
        same("status of the client", 0, core.bk_idgen_init(config, out));
        return out;
    }

    private static int tell(Core.Idgen idgen, JsonNode event, long now, long ticket) {
        switch (event.get("event").asText()) {
        case "take":
            LongByReference id = new LongByReference();
            int status = core.bk_idgen_take(idgen, now, id);
            equal("id", event.path("id"), id.getValue());
            return status;
        case "outcome":
            Core.IdgenOutcome outcome = new Core.IdgenOutcome();
            outcome.kind = OUTCOMES.indexOf(event.get("outcome").asText());
            outcome.found = (byte) event.path("found").asInt();
            if (event.has("values")) {
                outcome.values = numbers(event.get("values"));
            }
            outcome.column_count = event.path("columns").size();
            outcome.columns = pairs(event.path("columns"));
            return core.bk_idgen_report(idgen, now, ticket, outcome);
        case "tick":
            return core.bk_idgen_tick(idgen, now);
        default:
            return 0;
        }
    }

    private static void action(JsonNode wanted, Core.IdgenAction got) {
        same("kind", wanted.get("kind").asText(), IDGEN_ACTIONS.get(got.kind));
        equal("stripe", wanted.path("stripe"), got.stripe);
        equal("if_absent", wanted.path("if_absent"), got.if_absent);
        equal("is_retry", wanted.path("is_retry"), got.is_retry);
        same("status", wanted.path("status").asText("BK_OK"), STATUSES.get(got.status));
        equal("expected", wanted.path("expected"), got.expected);
        equal("set", wanted.path("set"), got.set);
        equal("columns", wanted.path("columns"), Arrays.copyOf(got.columns, 2 * got.column_count));
    }

    static void idgen(JsonNode node) {
        Core.Idgen idgen = idgenOf(node.get("config"));
        String at = Cases.place;
        int number = 0;
        long ticket = 0;
        for (JsonNode event : node.get("events")) {
            Cases.place = at + ", event " + number++;
            int status = tell(idgen, event, number(event.path("now")), ticket);
            same("status", event.path("status").asText("BK_OK"), STATUSES.get(status));
            Core.IdgenAction action = new Core.IdgenAction();
            int count = 0;
            for (; core.bk_idgen_next(idgen, action) != 0; count++) {
                ticket = action.ticket != 0 ? action.ticket : ticket;
                if (event.path("actions").has(count)) {
                    action(event.get("actions").get(count), action);
                }
            }
            same("number of actions", event.path("actions").size(), count);
            same("deadline", deadline(event), core.bk_idgen_deadline(idgen));
        }
    }
}
