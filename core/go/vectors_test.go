// SPDX-License-Identifier: MIT

package bucketing

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// number reads a JSON number or a string of digits, as int64 or uint64; a missing one is 0.
type number json.RawMessage

func (n *number) UnmarshalJSON(text []byte) error {
	*n = append((*n)[:0], bytes.Trim(text, `"`)...)
	return nil
}

func (n number) u() uint64 {
	if strings.HasPrefix(string(n), "-") {
		return uint64(n.i())
	}
	value, _ := strconv.ParseUint(string(n), 10, 64)
	return value
}

func (n number) i() int64 {
	value, _ := strconv.ParseInt(string(n), 10, 64)
	return value
}

func is(n []number, values ...any) bool {
	texts := make([]string, len(n))
	for i, one := range n {
		texts[i] = string(one)
	}
	return fmt.Sprintf("%v", texts) == fmt.Sprintf("%v", values)
}

type vector struct {
	Bytes, Kind, Status, Ended                                          string
	Seed, H1, H2, CassandraH1, CassandraH2, Input, Buckets, U64H1, Bits number
	ConsistentHash, BucketOfID, Weight                                  number
	Strategy                                                            map[string]number
	State, Row, Route, Sequences, Effect, End, PassTop, Empties, Step   []number
	Rows                                                                json.RawMessage
	Reads, Steps                                                        []vector
	Learn, Skip, Forget                                                 []number
	SawOlder                                                            number
	Query                                                               struct {
		Kind, Plan                                                   string
		AtOnce, Rows, FromNs, UntilNs, NowNs, BirthNs, PartitionsMax number
	}
	Starts [][2]number
}

var kinds = map[string]Kind{"unbucketed": Unbucketed, "time": Time, "count": Count, "probabilistic": Probabilistic,
	"hash": Hash, "weighted": Weighted}

func (v *vector) strategy() Strategy {
	get := func(name string) number { return v.Strategy[strings.ReplaceAll(name, "_", "")] }
	return Strategy{Kind: kinds[string(v.Strategy["kind"])], Calendar: Calendar(get("calendar").i()),
		WindowNs: get("window_ns").i(), EpochNs: get("epoch_ns").i(), Rows: get("rows").u(),
		Shards: uint32(get("shards").u()),
		Bits:   uint32(get("bits").u()), ChanceNumerator: get("chance_numerator").u(),
		ChanceDenominator: get("chance_denominator").u(), Threshold: get("threshold").u(),
		Buckets: uint32(get("buckets").u()), Bytes: get("bytes").u(), MaxAgeNs: get("max_age_ns").i()}
}

func (v *vector) state() KeyState {
	s := v.State
	return KeyState{s[0].i(), s[1].u(), s[2].i(), s[3].i() != 0, s[4].i(), s[5].u()}
}

func bit(value bool) int {
	if value {
		return 1
	}
	return 0
}

func status(err error) string {
	if err == nil {
		return "BKOK"
	}
	return strings.ReplaceAll(err.Error(), "_", "")
}

func checkHash(t *testing.T, v *vector) {
	data, _ := hex.DecodeString(v.Bytes)
	h1, h2 := Murmur3(data, v.Seed.u(), false)
	g1, g2 := Murmur3(data, v.Seed.u(), true)
	buckets := uint32(v.Buckets.u())
	if h1 != v.H1.u() || h2 != v.H2.u() || g1 != v.CassandraH1.u() || g2 != v.CassandraH2.u() ||
		int64(ConsistentHash(v.Input.u(), buckets)) != v.ConsistentHash.i() ||
		int64(BucketOfID(v.Input.u(), buckets)) != v.BucketOfID.i() {
		t.Errorf("hash of %s", v.Bytes)
	}
}

func checkID(t *testing.T, v *vector) {
	names := []string{"timeuuid", "UUID v4", "UUID v7", "ULID", "Snowflake", "bytes"}
	data, _ := hex.DecodeString(v.Bytes)
	for kind, name := range names {
		if bits, err := IDBits(IDKind(kind), data); name == v.Kind && (bits != v.Bits.u() || status(err) != v.Status) {
			t.Errorf("%s %s", v.Kind, v.Bytes)
		}
	}
}

func checkRoute(t *testing.T, v *vector) {
	strategy, state := v.strategy(), v.state()
	var rows []vector
	if err := json.Unmarshal(v.Rows, &rows); err != nil {
		t.Fatal(err)
	}
	for i := range rows {
		want := &rows[i]
		row := Row{want.Row[0].i(), want.Row[1].u(), want.Row[2].u(), want.Row[3].u()}
		to, err := strategy.Route(&state, &row)
		if status(err) != want.Status || !is(want.Sequences, to.SequenceLow, to.SequenceHigh) ||
			!is(want.Route, to.Bucket, bit(to.OnlyThisRow), bit(to.Begins), to.FromNs, to.UntilNs) ||
			strategy.Weight(&row) != want.Weight.u() {
			t.Fatalf("row %d of %v: %+v, %v", i, v.Strategy, to, err)
		}
		done, _ := strategy.Advance(&state, &row)
		if !is(want.Effect, done.CounterIncrements, done.StateWrites, bit(done.Rolled)) || state != want.state() {
			t.Fatalf("after row %d of %v: %+v, %+v", i, v.Strategy, done, state)
		}
	}
}

func checkRead(t *testing.T, v *vector) {
	strategy, state, known := v.strategy(), v.state(), Empties{}
	plans := map[string]Plan{"DEFAULT": DefaultPlan, "WALK": Walk, "PAIR": Pair, "ALL": All, "LAZY": Lazy,
		"PARALLEL": Parallel}
	queries := map[string]QueryKind{"LATEST": Latest, "RANGE": Range, "ALL": Everything}
	for i := range v.Reads {
		want := &v.Reads[i]
		q := &want.Query
		query := Query{queries[q.Kind], plans[q.Plan], uint32(q.AtOnce.u()), q.Rows.u(), q.FromNs.i(), q.UntilNs.i(),
			q.NowNs.i(), q.BirthNs.i(), q.PartitionsMax.u(), nil}
		for _, start := range want.Starts {
			query.Starts = append(query.Starts, BucketStart{start[0].i(), start[1].i()})
		}
		reader, err := strategy.Read(&state, &query)
		if status(err) != want.Status {
			t.Fatalf("read %d of %v: %v instead of %s", i, v.Strategy, err, want.Status)
		}
		if err != nil {
			reader.next = 0
		}
		for j := range want.Steps {
			step, ok := reader.Next(&known)
			one := &want.Steps[j]
			same := is(one.Step, step.Low, step.High, step.Rows)
			if step.FromNs != math.MinInt64 || step.UntilNs != math.MaxInt64 {
				same = is(one.Step, step.Low, step.High, step.Rows, step.FromNs, step.UntilNs)
			}
			if !ok || !same {
				t.Fatalf("step %d of read %d of %v: %+v", j, i, v.Strategy, step)
			}
			var rows number
			_ = json.Unmarshal(one.Rows, &rows)
			reader.Found(rows.u(), string(one.SawOlder) == "1" || string(one.SawOlder) == "true")
			if one.Learn != nil {
				_ = known.Learn(&strategy, &reader, q.NowNs.i(), one.Learn[0].i(), one.Step[0].i(), one.Step[1].i())
			}
			if one.Skip != nil && reader.SkipTo(one.Skip[0].i()) != one.Skip[1].u() {
				t.Fatalf("skip after step %d of read %d of %v", j, i, v.Strategy)
			}
			if one.Forget != nil {
				known.Forget(one.Forget[0].i())
			}
		}
		if len(want.Steps) < 30 { // the generator takes no more
			if _, ok := reader.Next(&known); ok {
				t.Fatalf("read %d of %v goes on", i, v.Strategy)
			}
		}
		runs := []any{}
		for _, one := range known.runs {
			runs = append(runs, one.low, one.high)
		}
		probe := want.PassTop[0].i()
		if !is(want.End, reader.RowsFound, reader.PartitionsAsked, reader.PartitionsSpared, int(reader.Order)) ||
			status(reader.Err) != want.Ended || !is(want.Empties, runs...) ||
			!is(want.PassTop, probe, known.Pass(probe), known.Top(probe)) {
			t.Fatalf("read %d of %v ends with %+v, %v", i, v.Strategy, reader, known)
		}
	}
}

func families() map[string]func(*testing.T, *vector) {
	out := map[string]func(*testing.T, *vector){"hash": checkHash, "id": checkID, "route-shards": checkRoute,
		"read-shards": checkRead, "route-counted-shards": checkRoute, "read-counted-shards": checkRead}
	for kind := range kinds {
		out["route-"+kind], out["read-"+kind] = checkRoute, checkRead
	}
	return out
}

// decode leaves out the _ of names, so that from_ns is the member FromNs, and that of BK_OK.
func decode(t *testing.T, text []byte) (cases []vector) {
	if err := json.Unmarshal(bytes.ReplaceAll(text, []byte("_"), nil), &cases); err != nil {
		t.Fatal(err)
	}
	return cases
}

// casesOf reads ../vectors; with GENERATOR, a core_vectors, it makes the cases of SEEDS, as in 1..1000.
func casesOf(t *testing.T, family string) []byte {
	text, err := os.ReadFile("../vectors/" + family + ".json")
	if generator := os.Getenv("GENERATOR"); generator != "" {
		text, err = exec.Command(generator, "--family", family, "--seeds", os.Getenv("SEEDS")).Output()
	}
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// protocolFamilies are the files that families() has no check for.
func protocolFamilies(t *testing.T) (out []string) {
	files, _ := filepath.Glob("../vectors/*.json")
	for _, file := range files {
		if name := strings.TrimSuffix(filepath.Base(file), ".json"); families()[name] == nil {
			out = append(out, name)
		}
	}
	if len(out) < 30 {
		t.Fatal("vectors are missing")
	}
	return out
}

// TestVectors checks values, routes and reads.
func TestVectors(t *testing.T) {
	for family, check := range families() {
		cases := decode(t, casesOf(t, family))
		if len(cases) == 0 {
			t.Fatalf("%s has no cases", family)
		}
		t.Run(family, func(t *testing.T) {
			for i := range cases {
				check(t, &cases[i])
			}
		})
	}
}
