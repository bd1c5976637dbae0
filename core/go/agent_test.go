// SPDX-License-Identifier: MIT

package bucketing

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// object is an object of a vector, by the names of the C headers.
type object map[string]any

func text(value any) string {
	if value == nil {
		return "0"
	}
	return fmt.Sprint(value)
}

func (o object) i(name string) int64 { return number(text(o[name])).i() }

func (o object) u(name string) uint64 { return number(text(o[name])).u() }

func (o object) n(name string) uint32 { return uint32(o.u(name)) }

func (o object) list(name string) (out []number) {
	list, _ := o[name].([]any)
	for _, one := range list {
		out = append(out, number(text(one)))
	}
	return out
}

func objects(value any) (out []object) {
	list, _ := value.([]any)
	for _, one := range list {
		out = append(out, object(one.(map[string]any)))
	}
	return out
}

func (o object) row(name string) Row {
	row := o.list(name)
	return Row{row[0].i(), row[1].u(), row[2].u(), row[3].u()}
}

func (o object) columns(name string) (out Columns) {
	for i, one := range o.list(name) {
		out[i] = one.i()
	}
	return out
}

func strategyOf(value any) Strategy {
	settings := map[string]number{}
	for name, one := range value.(map[string]any) {
		settings[strings.ReplaceAll(name, "_", "")] = number(text(one))
	}
	return (&vector{Strategy: settings}).strategy()
}

func historyOf(t *testing.T, value any) *History {
	var out *History
	for i, one := range value.([]any) {
		era := one.([]any)
		err := error(nil)
		if i == 0 {
			out, err = NewHistory(strategyOf(era[1]))
		} else {
			err = out.Change(number(text(era[0])).i(), strategyOf(era[1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func (o object) query() Query {
	q := object(o["query"].(map[string]any))
	plans := []string{"DEFAULT", "WALK", "PAIR", "ALL", "LAZY", "PARALLEL"}
	out := Query{QueryKind(slices.Index([]string{"LATEST", "RANGE", "ALL"}, text(q["kind"]))),
		Plan(slices.Index(plans, text(q["plan"]))), q.n("at_once"), q.u("rows"), q.i("from_ns"), q.i("until_ns"),
		q.i("now_ns"), q.i("birth_ns"), q.u("partitions_max"), nil}
	starts, _ := o["starts"].([]any)
	for _, one := range starts {
		start := one.([]any)
		out.Starts = append(out.Starts, BucketStart{number(text(start[0])).i(), number(text(start[1])).i()})
	}
	return out
}

// made has the members that are not zero, as the vectors do.
func made(pairs ...any) object {
	out := object{}
	for i := 0; i < len(pairs); i += 2 {
		if value := pairs[i+1]; !slices.Contains([]string{"0", "", "false", "[]"}, fmt.Sprint(value)) {
			out[pairs[i].(string)] = value
		}
	}
	return out
}

// same compares values by their digits; true is 1.
func same(a, b any) bool {
	texts := [2]string{}
	for i, value := range []any{a, b} {
		text, _ := json.Marshal(value)
		texts[i] = strings.ReplaceAll(strings.ReplaceAll(string(text), `"`, ""), "true", "1")
	}
	return texts[0] == texts[1]
}

func stepOf(step Step) []any {
	out := []any{step.Low, step.High, step.Rows}
	if step.FromNs != math.MinInt64 || step.UntilNs != math.MaxInt64 {
		out = append(out, step.FromNs, step.UntilNs)
	}
	return out
}

func checkHistory(t *testing.T, v object) {
	h, state := historyOf(t, v["history"]), HistoryState{}
	code := func(err error) string {
		if err == nil {
			return "BK_OK"
		}
		return err.Error()
	}
	for i, want := range objects(v["rows"]) {
		row := want.row("row")
		to, err := h.Route(&state, &row)
		fires := h.Fires(&state, &row)
		done, _ := h.Advance(&state, &row)
		starts, key := []any{}, &state.Key
		for era := 1; era <= state.Opened; era++ {
			starts = append(starts, state.Starts[era].Sequence, state.Starts[era].Bucket)
		}
		got := made("status", code(err), "era", h.EraAt(row.TimeNs), "fires", fires)
		for name, list := range map[string][]any{
			"row":       {row.TimeNs, row.Sequence, row.ID, row.Bytes},
			"route":     {to.Bucket, bit(to.OnlyThisRow), bit(to.Begins), to.FromNs, to.UntilNs},
			"sequences": {to.SequenceLow, to.SequenceHigh},
			"effect":    {done.CounterIncrements, done.StateWrites, bit(done.Rolled)},
			"state":     {key.Bucket, key.Counter, key.LastChangeNs, bit(key.IsBegun), key.UntilNs, key.FirstSequence},
			"opened":    {bit(state.HasRows), state.Opened}, "starts": starts} {
			got[name] = list
		}
		if read, isRead := want["read"].(map[string]any); isRead {
			query := object(read).query()
			reader, err := h.Read(&state, &query)
			steps := []any{}
			for _, one := range objects(read["steps"]) {
				step, ok := reader.NextOf(h, nil)
				if err != nil || !ok {
					t.Fatalf("row %d: the read ends early", i)
				}
				reader.Found(one.u("rows"), one["saw_older"] != nil)
				taken := made("rows", one["rows"], "saw_older", one["saw_older"])
				if one["rows"] == nil {
					delete(taken, "rows")
				}
				if one["saw_older"] == nil {
					delete(taken, "saw_older")
				}
				taken["step"] = stepOf(step)
				steps = append(steps, taken)
			}
			if _, ok := reader.NextOf(h, nil); err == nil && ok && len(steps) < 30 {
				t.Fatalf("row %d: the read goes on", i)
			}
			result := object{"status": code(err), "steps": steps, "query": read["query"],
				"end": []any{reader.AllRowsFound(), reader.AllPartitionsAsked(), reader.Order}}
			if read["starts"] != nil {
				result["starts"] = read["starts"]
			}
			got["read"] = result
		}
		if !same(got, want) {
			t.Fatalf("row %d: %v instead of %v", i, got, want)
		}
	}
}

var actionNames = []string{"PUT_ROW", "READ_STATE", "WRITE_STATE", "CAS_STATE", "ADD_COUNTER", "READ_COUNTER",
	"READ_START", "WRITE_START", "CAS_LOCK", "COUNT_ROWS", "READ_ROWS", "ACK", "DONE"}

func madeAction(action *Action) object {
	out := made("operation", action.Operation, "key", action.Key, "bucket", action.Bucket, "is_retry",
		action.IsRetry, "serial", action.Serial, "if_null_mask", action.IfNullMask, "amount", action.Amount, "mask",
		action.Mask, "if_mask", action.IfMask, "status", []string{"", "REFUSED", "UNKNOWN", "TOO_LONG"}[action.Status],
		"fired", action.Fired, "counted", action.Counted, "rows_found", action.RowsFound, "partitions_asked",
		action.PartitionsAsked, "partitions_spared", action.PartitionsSpared, "order", int(action.Order))
	out["kind"] = actionNames[action.Kind]
	if action.Kind == PutRow {
		out["row"] = []any{action.Row.TimeNs, action.Row.Sequence, action.Row.ID, action.Row.Bytes}
	}
	if action.Mask != 0 {
		out["columns"] = action.Columns
	}
	if action.IfMask != 0 {
		out["expected"] = action.Expected
	}
	if action.Kind == ReadRows {
		out["step"] = stepOf(action.Step)
	}
	return out
}

var outcomeNames = []string{"UNKNOWN", "APPLIED", "NOT_APPLIED", "REFUSED"}

func configOf(t *testing.T, c object) Config {
	out := Config{Strategy: strategyOf(c["strategy"]),
		Coordination: Coordination(slices.Index([]string{"SINGLE", "LOCKED", "THREE_STATE", "GUARDED"}, text(c["coordination"]))),
		Counter:      Counter(slices.Index([]string{"RMW", "LWT", "NATIVE"}, text(c["counter"]))),
		Source: Source(slices.Index([]string{"EXTERNAL", "COUNTER", "LWT", "LEASE", "INCREMENTAL", "SCAN", "MEMORY"},
			text(c["source"]))),
		LeaseRows: c.u("lease_rows"), EveryRows: c.u("every_rows"), EveryNs: c.i("every_ns"), LeadNs: c.i("lead_ns"),
		CacheTTLNs: c.i("cache_ttl_ns"), CacheEntries: c.n("cache_entries"), Operations: c.n("operations"),
		Retries: c.n("retries"), CounterRetries: c.n("counter_retries"), RetryBackoffNs: c.i("retry_backoff_ns"),
		LockLastsNs: c.i("lock_lasts_ns"), LockBackoffNs: c.i("lock_backoff_ns"), GrantNs: c.i("grant_ns"),
		RememberKeys: c.n("remember_keys"), LateNs: c.i("late_ns"), ClockBoundNs: c.i("clock_bound_ns"),
		AgentID: c.u("agent_id")}
	if c["history"] != nil {
		out.History = historyOf(t, c["history"])
	}
	return out
}

func checkAgent(t *testing.T, v object) {
	agent, err := NewAgent(configOf(t, object(v["config"].(map[string]any))))
	if err != nil {
		t.Fatal(err)
	}
	tickets := map[uint32]uint64{}
	for i, event := range objects(v["events"]) {
		now, got, failed := event.i("now"), object{}, error(nil)
		operation := uint32(0)
		switch event["event"] {
		case "write":
			operation, failed = agent.Write(now, event.u("key"), event.row("row"))
		case "read":
			operation, failed = agent.Read(now, event.u("key"), event.u("newest_sequence"), event.query())
		case "outcome":
			operation = event.n("operation")
			outcome := Outcome{OutcomeKind(slices.Index(outcomeNames, text(event["outcome"]))), event.n("mask"),
				event.columns("columns"), event.i("counter"), event.u("rows"), event["saw_older"] != nil, event.u("empty")}
			if err := agent.Report(now, tickets[operation], &outcome); err != nil {
				t.Fatal(err)
			}
			if agent.Report(now, tickets[operation], &outcome) != ErrOperation {
				t.Fatal("an outcome is accepted twice")
			}
		case "tick":
			agent.Tick(now)
		case "view":
			if bucket, isChanging, isKnown := agent.View(now, event.u("key")); isKnown {
				got["known"] = []any{bucket, bit(isChanging)}
			}
		case "change":
			failed = agent.Change(historyOf(t, event["history"]))
		}
		if failed != nil {
			got["status"] = failed.Error()
		} else if operation != 0 {
			got["operation"] = operation
		}
		actions := []any{}
		for action, ok := agent.Next(); ok; action, ok = agent.Next() {
			actions = append(actions, madeAction(&action))
			if action.Ticket != 0 {
				tickets[action.Operation] = action.Ticket
			}
		}
		if len(actions) > 0 {
			got["actions"] = actions
		}
		if agent.Deadline() != math.MaxInt64 && agent.Deadline() != 0 {
			got["deadline"] = agent.Deadline()
		}
		for _, name := range []string{"known", "status", "operation", "actions", "deadline"} {
			if !same(got[name], event[name]) {
				t.Fatalf("event %d: %s: %v instead of %v", i, name, got[name], event[name])
			}
		}
	}
	s := agent.Stats(v.i("now"))
	if !same(v["stats"], []any{s.RowsStored, s.RowsRefused, s.RowsUnknown, s.ReadsComplete, s.ReadsIncomplete, s.CacheHits,
		s.Rolls, s.Retries, s.Unknown, s.UnderWay, s.Parked, s.Asleep, s.OldestNs}) {
		t.Fatalf("%+v instead of %v", s, v["stats"])
	}
}

func columnsOf(columns []IDColumn) (out []any) {
	for _, column := range columns {
		out = append(out, []any{column.Client, column.UntilNs})
	}
	return out
}

func checkIDs(t *testing.T, v object) {
	c := object(v["config"].(map[string]any))
	ids, err := NewIDs(IDConfig{c.u("client_id"), c.n("batch"), c.n("stripes"), c.n("stripe"),
		IDChoice(slices.Index([]string{"FIXED", "ROTATE", "RANDOM"}, text(c["choice"]))),
		IDLock(slices.Index([]string{"COLUMNS", "LWT"}, text(c["lock"]))), c.i("lock_lasts_ns"), c.i("lease_ns"),
		IDBackoff(slices.Index([]string{"CONSTANT", "EXPONENTIAL", "RANDOM_TIMES"}, text(c["backoff"]))),
		c.i("backoff_base_ns"), c.i("backoff_cap_ns"), c.i("backoff_limit_ns"), c.n("attempts"), c.n("retries")})
	if err != nil {
		t.Fatal(err)
	}
	kinds := []string{"WRITE_COLUMN", "READ_COLUMNS", "DELETE_COLUMNS", "CAS_LOCK", "READ_LAST", "WRITE_LAST", "CAS_LAST",
		"READY", "FAILED"}
	ticket := uint64(0)
	for i, event := range objects(v["events"]) {
		now, got := event.i("now"), object{}
		switch event["event"] {
		case "take":
			id, err := ids.Take(now)
			got = made("id", id)
			if err != nil {
				got["status"] = err.Error()
			}
		case "outcome":
			outcome := IDOutcome{Kind: OutcomeKind(slices.Index(outcomeNames, text(event["outcome"]))), Found: event["found"] != nil}
			for j, one := range event.list("values") {
				outcome.Values[j] = one.i()
			}
			columns, _ := event["columns"].([]any)
			for _, one := range columns {
				pair := one.([]any)
				outcome.Columns = append(outcome.Columns, IDColumn{number(text(pair[0])).u(), number(text(pair[1])).i()})
			}
			if err := ids.Report(now, ticket, &outcome); err != nil {
				t.Fatal(err)
			}
		case "tick":
			ids.Tick(now)
		}
		actions := []any{}
		for action, ok := ids.Next(); ok; action, ok = ids.Next() {
			one := made("stripe", action.Stripe, "columns", columnsOf(action.Columns), "if_absent", action.IfAbsent,
				"is_retry", action.IsRetry)
			one["kind"] = kinds[action.Kind]
			if action.Expected != [2]int64{} {
				one["expected"] = action.Expected
			}
			if action.Set != [2]int64{} {
				one["set"] = action.Set
			}
			if action.Err != nil {
				one["status"] = action.Err.Error()
			}
			ticket = action.Ticket
			actions = append(actions, one)
		}
		if len(actions) > 0 {
			got["actions"] = actions
		}
		if ids.Deadline() != math.MaxInt64 {
			got["deadline"] = ids.Deadline()
		}
		for _, name := range []string{"id", "status", "actions", "deadline"} {
			if !same(got[name], event[name]) {
				t.Fatalf("event %d: %s: %v instead of %v", i, name, got[name], event[name])
			}
		}
	}
}

// TestProtocols checks histories, agents and identifiers, as TestVectors checks the other families.
func TestProtocols(t *testing.T) {
	checks := map[string]func(*testing.T, object){"history": checkHistory, "agent": checkAgent, "idgen": checkIDs}
	for _, family := range protocolFamilies(t) {
		family := family
		t.Run(family, func(t *testing.T) {
			t.Parallel()
			decoder := json.NewDecoder(bytes.NewReader(casesOf(t, family)))
			decoder.UseNumber()
			var cases []object
			if err := decoder.Decode(&cases); err != nil || len(cases) == 0 {
				t.Fatal(err, len(cases))
			}
			check, _, _ := strings.Cut(family, "-")
			for i, one := range cases {
				if checks[check](t, one); t.Failed() {
					t.Fatal("case " + strconv.Itoa(i))
				}
			}
		})
	}
}
