// SPDX-License-Identifier: MIT
package bucketing;

import com.sun.jna.Library;
import com.sun.jna.Pointer;
import com.sun.jna.Structure;
import com.sun.jna.Structure.FieldOrder;
import com.sun.jna.ptr.IntByReference;
import com.sun.jna.ptr.LongByReference;
import com.sun.jna.ptr.PointerByReference;

/** The functions and structs of libbucketing, with their names in C; the C headers document them. A bool is a byte. */
public interface Core extends Library {
    int ERAS_MAX = 8;

    /** Opaque: made only by the functions below. */
    @FieldOrder("words")
    class Strategy extends Structure {
        public long[] words = new long[6];
    }

    @FieldOrder("words")
    class History extends Structure {
        public long[] words = new long[1 + 8 * ERAS_MAX];
    }

    @FieldOrder({"time_ns", "sequence", "id", "bytes"})
    class Row extends Structure {
        public long time_ns, sequence, id, bytes;
    }

    @FieldOrder({"bucket", "counter", "last_change_ns", "is_begun", "until_ns", "first_sequence"})
    class KeyState extends Structure {
        public long bucket, counter, last_change_ns;
        public byte is_begun;
        public long until_ns, first_sequence;
    }

    @FieldOrder({"bucket", "scope", "begins", "from_ns", "until_ns", "sequence_low", "sequence_high"})
    class Placement extends Structure {
        public long bucket;
        public int scope;
        public byte begins;
        public long from_ns, until_ns, sequence_low, sequence_high;
    }

    @FieldOrder({"counter_increments", "state_writes", "rolled"})
    class Effect extends Structure {
        public int counter_increments, state_writes;
        public byte rolled;
    }

    @FieldOrder({"h1", "h2"})
    class Hash128 extends Structure implements Structure.ByValue {
        public long h1, h2;
    }

    @FieldOrder({"kind", "plan", "at_once", "rows", "from_ns", "until_ns", "now_ns", "birth_ns", "partitions_max",
                 "starts", "start_count"})
    class Query extends Structure {
        public int kind, plan, at_once;
        public long rows, from_ns, until_ns, now_ns, birth_ns, partitions_max;
        public Pointer starts;
        public long start_count;
    }

    @FieldOrder({"kind", "order", "status", "next", "floor", "width", "step_low", "from_ns", "until_ns", "rows_wanted",
                 "rows_found", "rows_each", "partitions_asked", "partitions_max", "partitions_spared", "step_open",
                 "asks_all", "ends_at_older"})
    class Reader extends Structure {
        public int kind, order, status;
        public long next, floor, width, step_low, from_ns, until_ns, rows_wanted, rows_found, rows_each, partitions_asked,
            partitions_max, partitions_spared;
        public byte step_open, asks_all, ends_at_older;
    }

    /** runs: the low and the high end of each run, alternating. */
    @FieldOrder({"count", "shards", "runs"})
    class Empties extends Structure {
        public int count, shards;
        public long[] runs = new long[2 * 32];
    }

    /** starts: the sequence number and the bucket of each era, alternating. */
    @FieldOrder({"key", "has_rows", "opened", "starts"})
    class HistoryState extends Structure {
        public KeyState key = new KeyState();
        public byte has_rows;
        public int opened;
        public long[] starts = new long[2 * ERAS_MAX];
    }

    @FieldOrder({"reader", "era", "rows_before", "partitions_before", "query"})
    class HistoryReader extends Structure {
        public Reader reader = new Reader();
        public int era;
        public long rows_before, partitions_before;
        public Query query = new Query();
    }

    @FieldOrder({"bucket_low", "bucket_high", "rows", "from_ns", "until_ns"})
    class Step extends Structure {
        public long bucket_low, bucket_high, rows, from_ns, until_ns;
    }

    @FieldOrder({"strategy", "history", "coordination", "counter", "source", "lease_rows", "every_rows", "every_ns", "lead_ns",
                 "cache_ttl_ns", "cache_entries", "operations", "retries", "counter_retries", "retry_backoff_ns",
                 "lock_lasts_ns", "lock_backoff_ns", "grant_ns", "remember_keys", "late_ns", "clock_bound_ns", "agent_id", "reserved"})
    class AgentConfig extends Structure {
        public Strategy strategy = new Strategy();
        public History history = new History();
        public int coordination, counter, source;
        public long lease_rows, every_rows, every_ns, lead_ns, cache_ttl_ns;
        public int cache_entries, operations, retries, counter_retries;
        public long retry_backoff_ns, lock_lasts_ns, lock_backoff_ns, grant_ns;
        public int remember_keys;
        public long late_ns, clock_bound_ns, agent_id;
        public long[] reserved = new long[8];
    }

    @FieldOrder({"kind", "operation", "ticket", "key", "bucket", "row", "is_retry", "serial", "if_null_mask", "amount", "mask",
                 "if_mask", "columns", "expected", "step", "status", "fired", "counted", "rows_found", "partitions_asked", "partitions_spared",
                 "order"})
    class Action extends Structure {
        public int kind, operation;
        public long ticket, key, bucket;
        public Row row = new Row();
        public byte is_retry, serial;
        public int if_null_mask;
        public long amount;
        public int mask, if_mask;
        public long[] columns = new long[4], expected = new long[4];
        public Step step = new Step();
        public int status;
        public byte fired, counted;
        public long rows_found, partitions_asked, partitions_spared;
        public int order;
    }

    @FieldOrder({"kind", "mask", "columns", "counter", "rows", "saw_older", "empty"})
    class Outcome extends Structure {
        public int kind, mask;
        public long[] columns = new long[4];
        public long counter, rows;
        public byte saw_older;
        public long empty;
    }

    @FieldOrder({"rows_stored", "rows_refused", "rows_unknown", "reads_complete", "reads_incomplete", "cache_hits", "rolls",
                 "retries", "unknown", "under_way", "parked", "asleep", "oldest_ns"})
    class AgentStats extends Structure {
        public long rows_stored, rows_refused, rows_unknown, reads_complete, reads_incomplete, cache_hits, rolls, retries,
            unknown;
        public int under_way, parked, asleep;
        public long oldest_ns;
    }

    @FieldOrder({"client_id", "batch", "stripes", "stripe", "choice", "lock", "lock_lasts_ns", "lease_ns", "backoff",
                 "backoff_base_ns", "backoff_cap_ns", "backoff_limit_ns", "attempts", "retries", "reserved"})
    class IdgenConfig extends Structure {
        public long client_id;
        public int batch, stripes, stripe, choice, lock;
        public long lock_lasts_ns, lease_ns;
        public int backoff;
        public long backoff_base_ns, backoff_cap_ns, backoff_limit_ns;
        public int attempts, retries;
        public long[] reserved = new long[4];
    }

    /** Opaque: at least as large as struct bk_idgen. */
    @FieldOrder("words")
    class Idgen extends Structure {
        public long[] words = new long[96];
    }

    /** columns: the client and the end of each column, alternating. */
    @FieldOrder({"kind", "ticket", "stripe", "column_count", "columns", "if_absent", "expected", "set", "is_retry", "status"})
    class IdgenAction extends Structure {
        public int kind;
        public long ticket;
        public int stripe, column_count;
        public long[] columns = new long[2 * 8];
        public byte if_absent;
        public long[] expected = new long[2], set = new long[2];
        public byte is_retry;
        public int status;
    }

    @FieldOrder({"kind", "found", "values", "columns", "column_count"})
    class IdgenOutcome extends Structure {
        public int kind;
        public byte found;
        public long[] values = new long[2];
        public Pointer columns;
        public long column_count;
    }

    int bk_strategy_unbucketed(Strategy out);
    int bk_strategy_time(long windowNs, long epochNs, Strategy out);
    int bk_strategy_calendar(int unit, Strategy out);
    int bk_strategy_count(long rows, Strategy out);
    int bk_strategy_probabilistic(int bits, long threshold, Strategy out);
    int bk_strategy_probabilistic_chance(long numerator, long denominator, long threshold, Strategy out);
    int bk_strategy_hash(int buckets, Strategy out);
    int bk_strategy_weighted(long bytes, long threshold, Strategy out);
    int bk_strategy_max_age(long maxAgeNs, Strategy strategy);
    int bk_strategy_shards(int shards, Strategy strategy);

    int bk_history_begin(Strategy first, History out);
    int bk_history_change(History history, long fromNs, Strategy next);
    int bk_history_era_at(History history, long timeNs);
    int bk_history_route(History history, HistoryState state, Row row, Placement out);
    byte bk_history_fires(History history, HistoryState state, Row row);
    int bk_history_advance(History history, HistoryState state, Row row, Effect effect);
    int bk_history_read_begin(History history, HistoryState state, Query query, HistoryReader reader);
    byte bk_history_read_next(History history, HistoryReader reader, Step step);
    long bk_history_rows_found(HistoryReader reader);
    long bk_history_partitions_asked(HistoryReader reader);

    int bk_route(Strategy strategy, KeyState state, Row row, Placement out);
    long bk_weight(Strategy strategy, Row row);
    int bk_advance(Strategy strategy, KeyState state, Row row, Effect effect);

    int bk_read_begin(Strategy strategy, KeyState state, Query query, Reader reader);
    byte bk_read_next_known(Reader reader, Empties known, Step step);
    void bk_read_found(Reader reader, long rows);
    void bk_read_found_range(Reader reader, long rows, byte sawOlder);
    long bk_read_skip_to(Reader reader, long bucket);
    int bk_empties_learn(Empties empties, Strategy strategy, Reader reader, long nowNs, long lateNs, long low, long high);
    void bk_empties_forget(Empties empties, long bucket);
    long bk_empties_pass(Empties empties, long bucket);
    long bk_empties_top(Empties empties, long bucket);

    Hash128 bk_murmur3_128(byte[] data, long size, long seed);
    Hash128 bk_murmur3_128_cassandra(byte[] data, long size, long seed);
    Hash128 bk_murmur3_128_u64(long value);
    int bk_consistent_hash(long input, int buckets);
    int bk_bucket_of_id(long id, int buckets);
    int bk_id_bits(int kind, byte[] id, long size, LongByReference out);
    String bk_id_kind_name(int kind);

    long bk_agent_size(AgentConfig config);
    int bk_agent_init(Pointer memory, long size, AgentConfig config, PointerByReference out);
    int bk_agent_write(Pointer agent, long nowNs, long key, Row row, IntByReference operation);
    int bk_agent_read(Pointer agent, long nowNs, long key, long newestSequence, Query query, IntByReference operation);
    int bk_agent_change(Pointer agent, History history);
    int bk_agent_report(Pointer agent, long nowNs, long ticket, Outcome outcome);
    byte bk_agent_next(Pointer agent, Action out);
    long bk_agent_deadline(Pointer agent);
    int bk_agent_tick(Pointer agent, long nowNs);
    byte bk_agent_view(Pointer agent, long nowNs, long key, LongByReference bucket, byte[] isChanging);
    void bk_agent_get_stats(Pointer agent, long nowNs, AgentStats out);

    int bk_idgen_init(IdgenConfig config, Idgen out);
    int bk_idgen_take(Idgen idgen, long nowNs, LongByReference id);
    int bk_idgen_report(Idgen idgen, long nowNs, long ticket, IdgenOutcome outcome);
    byte bk_idgen_next(Idgen idgen, IdgenAction out);
    long bk_idgen_deadline(Idgen idgen);
    int bk_idgen_tick(Idgen idgen, long nowNs);
}
