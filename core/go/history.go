// SPDX-License-Identifier: MIT

package bucketing

import "math"

const erasMax = 8

// Era is a strategy and the first time of its rows.
type Era struct {
	FromNs   int64 // math.MinInt64 in the first era
	Strategy Strategy
	shift    int64 // added to the buckets of the strategy
}

// History is up to eight strategies that follow one another in time.
type History struct{ eras []Era }

// EraStart is where an era of Count begins in a key.
type EraStart struct {
	Sequence uint64
	Bucket   int64
}

// HistoryState is stored per key; a new key's is zero.
type HistoryState struct {
	Key     KeyState // its bucket is the number before the era's shift is added
	HasRows bool     // Count
	Opened  int      // Count: the newest era with an entry in Starts
	Starts  [erasMax]EraStart
}

func (s *Strategy) checkForHistory() error {
	if err := s.Check(); err != nil {
		return err
	}
	if s.Kind == Count && s.MaxAgeNs != 0 {
		return ErrAge
	}
	return nil
}

// NewHistory makes a history of one era.
func NewHistory(first Strategy) (*History, error) {
	if err := first.checkForHistory(); err != nil {
		return nil, err
	}
	return &History{[]Era{{math.MinInt64, first, 0}}}, nil
}

func (s *Strategy) keepsState() bool { return s.Kind == Count || s.fires() }

// Change adds an era.
func (h *History) Change(fromNs int64, next Strategy) error {
	if err := next.checkForHistory(); err != nil {
		return err
	}
	last := &h.eras[len(h.eras)-1]
	switch {
	case len(h.eras) == erasMax:
		return ErrEras
	case fromNs <= last.FromNs:
		return ErrEraTime
	case last.Strategy.keepsState() && next.Kind != last.Strategy.Kind:
		return ErrEraKind
	case last.Strategy.keepsState() && last.Strategy.MaxAgeNs == 0 && next.MaxAgeNs != 0:
		return ErrAge
	case last.Strategy.keepsState() && last.Strategy.shards() != next.shards():
		return ErrShards // the eras share their bucket numbers
	}
	shift := last.shift
	if !last.Strategy.keepsState() {
		switch last.Strategy.Kind {
		case Time:
			shift += (last.Strategy.window(fromNs-1).index+1)*last.Strategy.shards() - 1
		case Hash:
			shift += int64(last.Strategy.Buckets) - 1
		}
		shift++
		if next.Kind == Time {
			shift -= next.window(fromNs).index * next.shards()
		}
	}
	h.eras = append(h.eras[:len(h.eras):len(h.eras)], Era{fromNs, next, shift})
	return nil
}

// EraAt is the number of the era that a row's time belongs to.
func (h *History) EraAt(timeNs int64) int {
	era := len(h.eras) - 1
	for era > 0 && timeNs < h.eras[era].FromNs {
		era--
	}
	return era
}

// firstOfKind is the first of the eras that share their bucket numbers with the last one.
func (h *History) firstOfKind() int {
	era := len(h.eras) - 1
	for era > 0 && h.eras[era-1].Strategy.Kind == h.eras[era].Strategy.Kind {
		era--
	}
	return era
}

func (h *History) untilOf(era int) int64 {
	if era+1 < len(h.eras) {
		return h.eras[era+1].FromNs
	}
	return math.MaxInt64
}

func addBucket(bucket, more int64) (int64, error) {
	if more > 0 && bucket > math.MaxInt64-more {
		return 0, ErrBucket
	}
	return bucket + more, nil
}

// place is where a row of Count belongs.
type place struct {
	era   int
	opens bool
	start EraStart
}

func (h *History) countIn(era int, start EraStart, sequence uint64) (Placement, error) {
	out := h.eras[era].Strategy.routeCount(sequence - start.Sequence)
	out.SequenceLow += start.Sequence
	out.SequenceHigh = endOf(out.SequenceHigh, start.Sequence)
	bucket, err := addBucket(out.Bucket, start.Bucket)
	out.Bucket = bucket
	return out, err
}

// beginEra begins an era with this row, in a bucket above all that the key has used.
func (h *History) beginEra(state *HistoryState, newest int, row *Row) (place, error) {
	first := h.firstOfKind()
	before, start := max(state.Opened, first), EraStart{}
	if before != first {
		start = state.Starts[before]
	}
	if state.Key.Bucket < 0 || start.Bucket < 0 {
		return place{}, ErrState
	}
	last := start.Bucket - 1
	if row.Sequence > start.Sequence {
		to, err := h.countIn(before, start, row.Sequence-1)
		if err != nil {
			return place{}, err
		}
		last = to.Bucket
	}
	if state.HasRows && state.Key.Bucket > last {
		last = state.Key.Bucket
	}
	bucket, err := addBucket(last, 1)
	return place{newest, true, EraStart{row.Sequence, bucket}}, err
}

// findPlace finds the newest era that began at or below the row's number; the row may begin the era of its time.
func (h *History) findPlace(state *HistoryState, row *Row) (place, error) {
	first := h.firstOfKind()
	opened := max(state.Opened, first)
	if opened >= len(h.eras) {
		return place{}, ErrState
	}
	era := opened
	for era > first && row.Sequence < state.Starts[era].Sequence {
		era--
	}
	if due := h.EraAt(row.TimeNs); era == opened && due > opened {
		return h.beginEra(state, due, row)
	}
	out := place{era: era}
	if era != first {
		out.start = state.Starts[era]
	}
	if out.start.Bucket < 0 {
		return place{}, ErrState
	}
	return out, nil
}

// routeCount finds the bucket as the state has it, without the era's shift and its shards.
func (h *History) routeCount(state *HistoryState, row *Row) (Placement, place, error) {
	at, err := h.findPlace(state, row)
	if err != nil {
		return Placement{}, at, err
	}
	out, err := h.countIn(at.era, at.start, row.Sequence)
	if err != nil {
		return Placement{}, at, err
	}
	first := h.firstOfKind()
	opened := max(state.Opened, first)
	switch {
	case at.opens:
		out.SequenceLow, out.SequenceHigh = row.Sequence, endOf(row.Sequence, 1)
		out.FromNs, out.UntilNs = h.eras[at.era].FromNs, h.untilOf(at.era)
	case at.era < opened:
		out.SequenceHigh = min(out.SequenceHigh, state.Starts[at.era+1].Sequence)
	default:
		out.UntilNs = h.untilOf(opened)
	}
	if first > 0 {
		out.FromNs = max(out.FromNs, h.eras[first].FromNs)
	}
	if out.Bucket > h.eras[at.era].Strategy.lastBucket() {
		err = ErrBucket
	}
	return out, at, err
}

func (s *Strategy) threshold() uint64 {
	if s.fires() {
		return s.Threshold
	}
	return 0
}

// clamp limits a count that an era with a higher threshold made to one below this era's.
func (h *History) clamp(era int, key KeyState) (KeyState, bool) {
	highest := uint64(0)
	for i := h.firstOfKind(); i < len(h.eras); i++ {
		highest = max(highest, h.eras[i].Strategy.threshold())
	}
	isPossible := key.Counter < highest
	if threshold := h.eras[era].Strategy.threshold(); threshold > 0 && key.Counter >= threshold && isPossible {
		key.Counter = threshold - 1
	}
	return key, isPossible
}

// Route places a row by the settings of its time.
func (h *History) Route(state *HistoryState, row *Row) (Placement, error) {
	number := h.EraAt(row.TimeNs)
	era := &h.eras[number]
	if era.Strategy.Kind == Count {
		out, at, err := h.routeCount(state, row)
		if err == nil {
			h.eras[at.era].Strategy.divide(row, &out)
			out.Bucket, err = addBucket(out.Bucket, h.eras[at.era].shift)
		}
		if err != nil {
			return Placement{}, err
		}
		return out, nil
	}
	key := KeyState{}
	if era.Strategy.fires() {
		clamped, isPossible := h.clamp(number, state.Key)
		if !isPossible {
			return Placement{}, ErrState
		}
		key = clamped
	}
	out, err := era.Strategy.Route(&key, row)
	if err == nil {
		out.Bucket, err = addBucket(out.Bucket, era.shift)
	}
	if err != nil {
		return Placement{}, err
	}
	if !out.OnlyThisRow {
		out.FromNs, out.UntilNs = max(out.FromNs, era.FromNs), min(out.UntilNs, h.untilOf(number))
	}
	return out, nil
}

// Fires tells whether Advance must be called for the row.
func (h *History) Fires(state *HistoryState, row *Row) bool {
	strategy := &h.eras[h.EraAt(row.TimeNs)].Strategy
	if strategy.Kind == Count {
		at, err := h.findPlace(state, row)
		return err == nil && at.opens
	}
	return strategy.Weight(row) > 0
}

// Advance updates the state for a placed row.
func (h *History) Advance(state *HistoryState, row *Row) (Effect, error) {
	era := h.EraAt(row.TimeNs)
	strategy := &h.eras[era].Strategy
	if strategy.Kind == Count {
		return h.advanceCount(state, row)
	}
	key := state.Key
	if strategy.fires() {
		clamped, isPossible := h.clamp(era, key)
		if !isPossible {
			return Effect{}, ErrState
		}
		key = clamped
	}
	done, err := strategy.Advance(&key, row)
	if err == nil && (done.CounterIncrements > 0 || done.StateWrites > 0) {
		state.Key = key
	}
	return done, err
}

func (h *History) advanceCount(state *HistoryState, row *Row) (Effect, error) {
	to, at, err := h.routeCount(state, row)
	if err != nil {
		return Effect{}, err
	}
	done := Effect{}
	if at.opens { // eras in which the key had no rows begin where this one does
		done.StateWrites = 1
		for i := max(state.Opened, h.firstOfKind()) + 1; i <= at.era; i++ {
			state.Starts[i] = at.start
		}
		state.Opened = at.era
	}
	if to.Bucket > state.Key.Bucket {
		state.Key.Bucket, state.Key.LastChangeNs, done.Rolled = to.Bucket, row.TimeNs, true
	}
	state.HasRows = true
	return done, nil
}

// HistoryReader plans a read of all eras, the newest first.
type HistoryReader struct {
	Reader
	era                          int
	query                        Query
	rowsBefore, partitionsBefore uint64
}

func (h *History) openReader(number int, state *KeyState, query *Query, rowsBefore uint64) (Reader, error) {
	era, untilNs, own := &h.eras[number], h.untilOf(number), *query
	hasState := era.Strategy.keepsState()
	if query.Kind == Latest {
		own.Rows -= min(own.Rows, rowsBefore)
	}
	if !hasState {
		if query.NowNs >= untilNs && number+1 < len(h.eras) {
			own.NowNs = untilNs - 1
		}
		own.BirthNs = max(query.BirthNs, era.FromNs)
	}
	if !hasState || era.shift != 0 {
		own.Starts = nil
	}
	out, err := era.Strategy.Read(state, &own)
	if err == nil {
		out.next, err = addBucket(out.next, era.shift)
	}
	if err == nil {
		out.floor, err = addBucket(out.floor, era.shift)
	}
	if err != nil {
		return Reader{}, err
	}
	if !hasState && query.Kind == Range && (query.UntilNs <= era.FromNs || query.FromNs >= untilNs) {
		out.next = out.floor - 1
	}
	return out, nil
}

// Read begins a read.
func (h *History) Read(state *HistoryState, query *Query) (HistoryReader, error) {
	out := HistoryReader{query: *query, era: h.EraAt(query.NowNs)}
	if h.eras[out.era].Strategy.keepsState() {
		out.era = h.firstOfKind()
	}
	reader, err := h.openReader(out.era, &state.Key, query, 0)
	out.Reader, out.query.Starts = reader, nil
	out.query.BirthNs = min(out.query.BirthNs, out.query.NowNs)
	for era := out.era; err == nil && out.query.BirthNs < h.eras[era].FromNs; era-- {
		_, err = h.openReader(era-1, &KeyState{}, &out.query, 0)
	}
	if err != nil {
		return HistoryReader{}, err
	}
	return out, nil
}

// NextOf returns the next step of the history's eras; false at the end. known may be nil, and is of the newest era.
func (r *HistoryReader) NextOf(h *History, known *Empties) (Step, bool) {
	if step, ok := r.Reader.Next(known); ok {
		return step, true
	}
	for {
		if step, ok := r.Reader.Next(nil); ok {
			return step, true
		}
		rows := r.AllRowsFound()
		if (r.query.Kind == Latest && rows >= r.query.Rows) || r.Err != nil || r.query.BirthNs >= h.eras[r.era].FromNs {
			return Step{}, false
		}
		next, err := h.openReader(r.era-1, &KeyState{}, &r.query, rows)
		if err != nil {
			return Step{}, false
		}
		r.rowsBefore, r.partitionsBefore = rows, r.AllPartitionsAsked()
		next.Order = max(r.Order, next.Order)
		r.Reader = next
		r.era--
		left := r.query.limit() - r.partitionsBefore
		r.Reader.max = left - left%uint64(h.eras[r.era].Strategy.shards())
	}
}

// AllRowsFound counts the rows of all eras.
func (r *HistoryReader) AllRowsFound() uint64 { return endOf(r.RowsFound, r.rowsBefore) }

// AllPartitionsAsked counts the partitions of all eras.
func (r *HistoryReader) AllPartitionsAsked() uint64 {
	return r.Reader.PartitionsAsked + r.partitionsBefore
}
