// SPDX-License-Identifier: MIT

package bucketing

import "math"

// Plan is how a read queries buckets; the zero value is the strategy's own.
type Plan int

// The plans.
const (
	DefaultPlan Plan = iota
	Walk
	Pair
	All
	Lazy
	Parallel
)

// QueryKind is what a read wants.
type QueryKind int

// The kinds of queries.
const (
	Latest QueryKind = iota
	Range
	Everything
)

// Order is the order in which a read's rows arrive.
type Order int

// Merged: rows of a step must be merged.
const (
	NewestFirst Order = iota
	Merged
	NoOrder
)

const windowsMax, runsMax = 100000000, 32

// BucketStart is the time from which rows belong to a bucket.
type BucketStart struct{ Bucket, StartNs int64 }

// Query is a read of a key's rows.
type Query struct {
	Kind                            QueryKind
	Plan                            Plan
	AtOnce                          uint32
	Rows                            uint64
	FromNs, UntilNs, NowNs, BirthNs int64
	PartitionsMax                   uint64
	Starts                          []BucketStart
}

// Step names the buckets to query, each for up to Rows rows with times from FromNs until UntilNs.
type Step struct {
	Low, High       int64
	Rows            uint64
	FromNs, UntilNs int64
}

// Reader plans a read: take a step with Next, and report its rows with Found.
type Reader struct {
	RowsFound, PartitionsAsked, PartitionsSpared uint64
	Order                                        Order
	Err                                          error // ErrTooLong: the limit of partitions was reached

	kind                         QueryKind
	next, floor, width, low      int64
	fromNs, untilNs              int64
	wanted, max                  uint64
	isOpen, asksAll, endsAtOlder bool
}

// run is a run of windows that are known to be empty.
type run struct{ low, high int64 }

// Empties remembers empty windows of a key, each with all its shards, as at most 32 runs with gaps between them.
type Empties struct {
	runs   []run
	shards int64
}

func (e *Empties) at(bucket int64) int {
	at := len(e.runs)
	for at > 0 && e.runs[at-1].low > bucket {
		at--
	}
	return at
}

func (e *Empties) insert(at int, one run) {
	if len(e.runs) == runsMax { // the shortest is forgotten, which costs the fewest queries
		shortest := 0
		for i, other := range e.runs {
			if uint64(other.high)-uint64(other.low) < uint64(e.runs[shortest].high)-uint64(e.runs[shortest].low) {
				shortest = i
			}
		}
		if uint64(one.high)-uint64(one.low) <= uint64(e.runs[shortest].high)-uint64(e.runs[shortest].low) {
			return
		}
		e.runs = append(e.runs[:shortest], e.runs[shortest+1:]...)
		if shortest < at {
			at--
		}
	}
	e.runs = append(e.runs, run{})
	copy(e.runs[at+1:], e.runs[at:])
	e.runs[at] = one
}

// Learn remembers that the windows low to high of a step had no row. Windows that may still get rows, lateNs after their
// end, and those that the read saw in part, are left out.
func (e *Empties) Learn(s *Strategy, r *Reader, nowNs, lateNs, low, high int64) error {
	if s.Kind != Time {
		return ErrKind
	}
	if lateNs < 0 {
		return ErrRange
	}
	settledNs := int64(math.MinInt64)
	if nowNs >= math.MinInt64+lateNs {
		settledNs = nowNs - lateNs
	}
	shards := s.shards()
	if open := s.window(settledNs).index * shards; high >= open {
		high = open - 1
	}
	first := s.window(r.fromNs)
	if r.fromNs > first.fromNs {
		first.index++
	}
	low = max(low, first.index*shards)
	if last := s.window(r.untilNs).index * shards; r.untilNs < math.MaxInt64 && high >= last {
		high = last - 1
	}
	if low > high {
		return nil
	}
	low, high = -floorDivide(-low, shards)*shards, floorDivide(high+1, shards)*shards-1
	e.shards = shards
	if low > high {
		return nil
	}
	end := e.at(high + 1)
	begin := end
	for begin > 0 && (e.runs[begin-1].high == math.MaxInt64 || e.runs[begin-1].high+1 >= low) {
		begin--
	}
	one := run{low, high}
	if begin < end {
		if e.runs[begin].low < low {
			one.low = e.runs[begin].low
		}
		if e.runs[end-1].high > high {
			one.high = e.runs[end-1].high
		}
	}
	e.runs = append(e.runs[:begin], e.runs[end:]...)
	e.insert(begin, one)
	return nil
}

// Forget: the bucket has a row.
func (e *Empties) Forget(bucket int64) {
	at := e.at(bucket)
	if at == 0 || e.runs[at-1].high < bucket {
		return
	}
	one := &e.runs[at-1]
	shards := max(1, e.shards)
	low := floorDivide(bucket, shards) * shards
	high := low + shards - 1
	switch {
	case one.low == low && one.high == high:
		e.runs = append(e.runs[:at-1], e.runs[at:]...)
	case one.low == low:
		one.low = high + 1
	case one.high == high:
		one.high = low - 1
	default:
		above := run{high + 1, one.high}
		one.high = low - 1
		e.insert(at, above)
	}
}

// Pass is the highest bucket at or below this one that may have rows.
func (e *Empties) Pass(bucket int64) int64 {
	at := e.at(bucket)
	if at == 0 || e.runs[at-1].high < bucket {
		return bucket
	}
	if e.runs[at-1].low == math.MinInt64 {
		return math.MinInt64
	}
	return e.runs[at-1].low - 1
}

// Top is the highest bucket at or below this one that is known to be empty; math.MinInt64: none.
func (e *Empties) Top(bucket int64) int64 {
	at := e.at(bucket)
	if at == 0 {
		return math.MinInt64
	}
	return min(e.runs[at-1].high, bucket)
}

func (r *Reader) bound(s *Strategy, state *KeyState, q *Query) error {
	switch s.Kind {
	case Time:
		newestNs, oldestNs := q.NowNs, min(q.BirthNs, q.NowNs)
		if q.Kind == Range {
			newestNs, oldestNs = min(q.UntilNs-1, newestNs), max(q.FromNs, oldestNs)
		}
		if oldestNs > newestNs {
			r.next = -1
			return nil
		}
		r.next, r.floor = (s.window(newestNs).index+1)*s.shards()-1, s.window(oldestNs).index*s.shards()
		if r.next-r.floor > windowsMax {
			return ErrTooLong
		}
	case Count, Probabilistic, Weighted:
		if state.Bucket < 0 || state.Bucket > s.lastBucket() {
			return ErrState
		}
		r.next = (state.Bucket+1)*s.shards() - 1
		r.endsAtOlder = q.Kind == Range
		for i, start := range q.Starts {
			if q.Kind != Range {
				break
			}
			if start.Bucket < 0 || start.Bucket > state.Bucket ||
				(i > 0 && (start.Bucket <= q.Starts[i-1].Bucket || start.StartNs < q.Starts[i-1].StartNs)) {
				return ErrState
			}
			if q.FromNs > start.StartNs {
				r.floor = start.Bucket * s.shards()
			}
			if first := start.Bucket * s.shards(); q.UntilNs <= start.StartNs && first <= r.next {
				r.next = first - 1
			}
		}
	case Hash:
		r.next = int64(s.Buckets) - 1
	}
	return nil
}

func (q *Query) limit() uint64 {
	if q.PartitionsMax != 0 {
		return q.PartitionsMax
	}
	return windowsMax + 1
}

// Read begins a read. Count and the kinds that fire use the state's bucket as the newest.
func (s *Strategy) Read(state *KeyState, q *Query) (Reader, error) {
	r := Reader{kind: q.Kind, wanted: math.MaxUint64, max: q.limit(),
		fromNs: math.MinInt64, untilNs: math.MaxInt64}
	if err := s.Check(); err != nil {
		return Reader{}, err
	}
	switch {
	case q.Kind == Latest && q.Rows == 0:
		return Reader{}, ErrRows
	case q.Kind == Range && q.FromNs >= q.UntilNs:
		return Reader{}, ErrRange
	case q.Kind < Latest || q.Kind > Everything:
		return Reader{}, ErrQuery
	case q.Kind == Latest:
		r.wanted = q.Rows
	case q.Kind == Range:
		r.fromNs, r.untilNs = q.FromNs, q.UntilNs
	}
	if err := r.bound(s, state, q); err != nil {
		return Reader{}, err
	}
	isHash, plan := s.Kind == Hash, q.Plan
	if plan == DefaultPlan && isHash {
		plan = All
	} else if plan == DefaultPlan {
		plan = Walk
	}
	r.asksAll = isHash && plan != Lazy
	if isHash && r.next > 0 {
		r.Order = Merged
		if plan == Lazy {
			r.Order = NoOrder
		}
	}
	shards := s.shards()
	if shards > 1 {
		r.Order = Merged
	}
	r.max -= r.max % uint64(shards)
	r.width = shards
	switch {
	case plan == Parallel:
		r.width = 8
		if q.AtOnce != 0 {
			r.width = int64(q.AtOnce)
		}
		r.width = max(r.width-r.width%shards, shards)
	case (plan == Walk || plan == Pair) == isHash || plan < DefaultPlan || plan > Parallel:
		return Reader{}, ErrPlan
	case plan == Pair:
		r.width = 2 * shards
	case plan == All:
		r.width = r.next + 1
	}
	return r, nil
}

func (r *Reader) isOver() bool {
	return r.next < r.floor || (!r.asksAll && r.RowsFound >= r.wanted)
}

// Next returns the step to query; false at the end. known may be nil.
func (r *Reader) Next(known *Empties) (Step, bool) {
	if r.isOver() {
		return Step{}, false
	}
	if known == nil {
		known = &Empties{}
	}
	if !r.isOpen {
		next := max(known.Pass(r.next), r.floor-1)
		r.PartitionsSpared += uint64(r.next) - uint64(next)
		r.next = next
		if next < r.floor {
			return Step{}, false
		}
		if r.PartitionsAsked >= r.max {
			r.Err = ErrTooLong
			return Step{}, false
		}
		below := min(uint64(r.width), r.max-r.PartitionsAsked) - 1
		r.low = r.floor
		if uint64(next-r.floor) >= below {
			r.low = next - int64(below)
		}
		if empty := known.Top(next); empty >= r.low {
			r.low = empty + 1
		}
		r.isOpen = true
	}
	rows := r.wanted
	if r.kind == Latest && !r.asksAll {
		rows -= r.RowsFound
	}
	return Step{r.low, r.next, rows, r.fromNs, r.untilNs}, true
}

// Found reports the rows of the step; sawOlder, of a range: whether its oldest bucket also has rows before the range.
func (r *Reader) Found(rows uint64, sawOlder bool) {
	if !r.isOpen {
		return
	}
	r.PartitionsAsked += uint64(r.next-r.low) + 1
	r.RowsFound = endOf(r.RowsFound, rows)
	r.next = r.low - 1
	r.isOpen = false
	if sawOlder && rows == 0 && r.endsAtOlder {
		r.floor = r.next + 1
	}
}

// SkipTo skips whole steps above a bucket, and returns how many buckets it skipped.
func (r *Reader) SkipTo(bucket int64) uint64 {
	if r.width < 1 || r.isOver() || bucket >= r.next {
		return 0
	}
	width, left := uint64(r.width), r.max-r.PartitionsAsked
	lowest := max(bucket, r.floor-1)
	skipped := uint64(r.next) - uint64(lowest)
	if lowest >= r.floor {
		skipped -= skipped % width
	}
	if skipped > left {
		skipped = left - left%width
	}
	r.PartitionsAsked += skipped
	r.next = int64(uint64(r.next) - skipped)
	if skipped > 0 {
		r.isOpen = false
	}
	return skipped
}
