// SPDX-License-Identifier: MIT

// Package bucketing places rows in buckets and plans reads, as libbucketing does, to the last bit: strategies, histories,
// agents that share keys, and unique numbers. It is pure Go. docs/porting.md and the C headers describe the rules; the
// vectors of core/vectors check them.
package bucketing

import (
	"errors"
	"math"
	"math/bits"
)

// Kind is the kind of a strategy.
type Kind int

// The kinds of strategies.
const (
	Unbucketed Kind = iota
	Time
	Count
	Probabilistic
	Hash
	Weighted
)

// Calendar is a unit of UTC, for Time.
type Calendar int

// NoCalendar means windows of WindowNs, from EpochNs.
const (
	NoCalendar Calendar = iota
	Hour
	Day
	Week
	Month
)

// The errors are the statuses of status.h.
var (
	ErrKind         = errors.New("BK_ERROR_KIND")
	ErrWindow       = errors.New("BK_ERROR_WINDOW")
	ErrCalendar     = errors.New("BK_ERROR_CALENDAR")
	ErrRows         = errors.New("BK_ERROR_ROWS")
	ErrBits         = errors.New("BK_ERROR_BITS")
	ErrChance       = errors.New("BK_ERROR_CHANCE")
	ErrThreshold    = errors.New("BK_ERROR_THRESHOLD")
	ErrBuckets      = errors.New("BK_ERROR_BUCKETS")
	ErrBytes        = errors.New("BK_ERROR_BYTES")
	ErrAge          = errors.New("BK_ERROR_AGE")
	ErrState        = errors.New("BK_ERROR_STATE")
	ErrPlan         = errors.New("BK_ERROR_PLAN")
	ErrQuery        = errors.New("BK_ERROR_QUERY")
	ErrRange        = errors.New("BK_ERROR_RANGE")
	ErrTooLong      = errors.New("BK_ERROR_WALK_TOO_LONG")
	ErrID           = errors.New("BK_ERROR_ID")
	ErrEras         = errors.New("BK_ERROR_ERAS")
	ErrEraTime      = errors.New("BK_ERROR_ERA_TIME")
	ErrEraKind      = errors.New("BK_ERROR_ERA_KIND")
	ErrBucket       = errors.New("BK_ERROR_BUCKET")
	ErrClient       = errors.New("BK_ERROR_CLIENT")
	ErrBatch        = errors.New("BK_ERROR_BATCH")
	ErrStripe       = errors.New("BK_ERROR_STRIPE")
	ErrLock         = errors.New("BK_ERROR_LOCK")
	ErrLease        = errors.New("BK_ERROR_LEASE")
	ErrBackoff      = errors.New("BK_ERROR_BACKOFF")
	ErrContended    = errors.New("BK_ERROR_CONTENDED")
	ErrEmpty        = errors.New("BK_ERROR_EMPTY")
	ErrLast         = errors.New("BK_ERROR_LAST")
	ErrExhausted    = errors.New("BK_ERROR_EXHAUSTED")
	ErrOperation    = errors.New("BK_ERROR_OPERATION")
	ErrOutcome      = errors.New("BK_ERROR_OUTCOME")
	ErrCoordination = errors.New("BK_ERROR_COORDINATION")
	ErrSource       = errors.New("BK_ERROR_SOURCE")
	ErrLead         = errors.New("BK_ERROR_LEAD")
	ErrCache        = errors.New("BK_ERROR_CACHE")
	ErrOperations   = errors.New("BK_ERROR_OPERATIONS")
	ErrGrant        = errors.New("BK_ERROR_GRANT")
	ErrBusy         = errors.New("BK_ERROR_BUSY")
	ErrShards       = errors.New("BK_ERROR_SHARDS")
)

// Strategy has the settings by which a key's rows are put into buckets; each kind uses its own.
type Strategy struct {
	Kind                               Kind
	Calendar                           Calendar // Time
	WindowNs, EpochNs                  int64    // Time
	Shards                             uint32   // Time, Count, Probabilistic, Weighted: partitions of a bucket, up to 64; 0 as 1
	Rows                               uint64   // Count
	Bits                               uint32   // Probabilistic: a row fires with probability 2^-Bits, or
	ChanceNumerator, ChanceDenominator uint64   // Probabilistic: with this one, if the denominator is not 0
	Threshold                          uint64   // Probabilistic, Weighted: the key rolls at this sum
	Buckets                            uint32   // Hash
	Bytes                              uint64   // Weighted
	MaxAgeNs                           int64    // 0: no greatest age
}

// Row is what decides about a row's bucket.
type Row struct {
	TimeNs              int64
	Sequence, ID, Bytes uint64
}

// KeyState is stored per key; a new key's is zero.
type KeyState struct {
	Bucket        int64
	Counter       uint64
	LastChangeNs  int64
	IsBegun       bool
	UntilNs       int64
	FirstSequence uint64
}

// Placement is a row's bucket, and the rows for which it is valid too.
type Placement struct {
	Bucket                    int64
	OnlyThisRow, Begins       bool
	FromNs, UntilNs           int64
	SequenceLow, SequenceHigh uint64
}

// Effect is what Advance did: what the host has to write.
type Effect struct {
	CounterIncrements, StateWrites uint32
	Rolled                         bool
}

func (s *Strategy) fires() bool { return s.Kind == Probabilistic || s.Kind == Weighted }

// Check refuses settings that cannot be meant.
func (s *Strategy) Check() error {
	if s.MaxAgeNs != 0 && (s.MaxAgeNs < 1000 || (s.Kind != Count && !s.fires())) {
		return ErrAge
	}
	if s.Shards > 64 || (s.Shards > 0 && (s.Kind == Unbucketed || s.Kind == Hash)) {
		return ErrShards
	}
	switch s.Kind {
	case Unbucketed:
	case Time:
		if s.Calendar < NoCalendar || s.Calendar > Month {
			return ErrCalendar
		}
		if s.Calendar == NoCalendar && s.WindowNs < 1000 {
			return ErrWindow
		}
	case Count:
		if s.Rows < 1 {
			return ErrRows
		}
	case Probabilistic:
		if s.Bits > 32 {
			return ErrBits
		}
		if s.ChanceDenominator != 0 && (s.ChanceNumerator == 0 || s.ChanceNumerator > s.ChanceDenominator) {
			return ErrChance
		}
		if s.Threshold < 1 {
			return ErrThreshold
		}
	case Hash:
		if s.Buckets < 1 || s.Buckets > math.MaxInt32 {
			return ErrBuckets
		}
	case Weighted:
		if s.Bytes < 1 {
			return ErrBytes
		}
		if s.Threshold < 1 {
			return ErrThreshold
		}
	default:
		return ErrKind
	}
	return nil
}

type window struct{ index, fromNs, untilNs int64 }

const hourNs, dayNs, weekNs int64 = 3600_000_000_000, 24 * hourNs, 7 * dayNs

// fixedWindow truncates a window that extends beyond the range of times.
func fixedWindow(size, epoch, at int64) window {
	width := uint64(size)
	if at >= epoch {
		distance := uint64(at) - uint64(epoch)
		into := distance % width
		left := width - into
		out := window{int64(distance / width), int64(uint64(at) - into), math.MaxInt64}
		if left <= uint64(math.MaxInt64)-uint64(at) {
			out.untilNs = at + int64(left)
		}
		return out
	}
	distance := uint64(epoch) - uint64(at)
	left := (distance-1)%width + 1
	into := width - left
	out := window{-int64((distance-1)/width) - 1, math.MinInt64, int64(uint64(at) + left)}
	if into <= uint64(at)-(1<<63) {
		out.fromNs = at - int64(into)
	}
	return out
}

func floorDivide(a, b int64) int64 {
	quotient := a / b
	if a%b < 0 {
		quotient--
	}
	return quotient
}

// monthBegin is the first day of a month, both counted from 1970-01 (Hinnant's days_from_civil).
func monthBegin(month int64) int64 {
	fromMarch := month - 2
	year := 1970 + floorDivide(fromMarch, 12)
	monthOfYear := fromMarch - 12*floorDivide(fromMarch, 12)
	era := floorDivide(year, 400)
	yearOfEra := year - era*400
	return era*146097 + yearOfEra*365 + yearOfEra/4 - yearOfEra/100 + (153*monthOfYear+2)/5 - 719468
}

func monthWindow(at int64) window {
	days := floorDivide(at, dayNs)
	month := floorDivide(days*10000, 304369)
	for monthBegin(month) > days {
		month--
	}
	for monthBegin(month+1) <= days {
		month++
	}
	out := window{month, math.MinInt64, math.MaxInt64}
	if from := monthBegin(month); from >= math.MinInt64/dayNs {
		out.fromNs = from * dayNs
	}
	if until := monthBegin(month + 1); until <= math.MaxInt64/dayNs {
		out.untilNs = until * dayNs
	}
	return out
}

// shards is the number of partitions of a bucket.
func (s *Strategy) shards() int64 { return max(1, int64(s.Shards)) }

// lastBucket is the highest bucket whose shards all have a number.
func (s *Strategy) lastBucket() int64 { return (math.MaxInt64 - s.shards() + 1) / s.shards() }

func (s *Strategy) window(at int64) window {
	switch s.Calendar {
	case Hour:
		return fixedWindow(hourNs, 0, at)
	case Day:
		return fixedWindow(dayNs, 0, at)
	case Week:
		return fixedWindow(weekNs, -3*dayNs, at) // weeks begin on Monday
	case Month:
		return monthWindow(at)
	}
	return fixedWindow(s.WindowNs, s.EpochNs, at)
}

// Weight is what the row adds to the key's counter; above 0, the row fires.
func (s *Strategy) Weight(row *Row) uint64 {
	if s.Check() != nil {
		return 0
	}
	switch {
	case s.Kind == Weighted:
		weight := row.Bytes / s.Bytes
		if high, _ := bits.Mul64(row.ID, s.Bytes); high < row.Bytes%s.Bytes {
			weight++
		}
		return weight
	case s.Kind == Probabilistic && s.ChanceDenominator != 0:
		if high, _ := bits.Mul64(row.ID, s.ChanceDenominator); high < s.ChanceNumerator {
			return 1
		}
	case s.Kind == Probabilistic && ^row.ID&(1<<s.Bits-1) == 0:
		return 1
	}
	return 0
}

// checkWith refuses settings that cannot be meant, and a state that does not fit them.
func (s *Strategy) checkWith(state *KeyState) error {
	if err := s.Check(); err != nil || (s.MaxAgeNs == 0 && !s.fires()) {
		return err
	}
	last := s.lastBucket() - 1
	if s.MaxAgeNs != 0 {
		last-- // one row may roll the key twice
	}
	if state.Bucket < 0 || state.Bucket > last || (s.Kind != Count && state.Counter >= s.Threshold) {
		return ErrState
	}
	return nil
}

func endOf(first, rows uint64) uint64 {
	if rows > math.MaxUint64-first {
		return math.MaxUint64
	}
	return first + rows
}

var everywhere = Placement{FromNs: math.MinInt64, UntilNs: math.MaxInt64, SequenceHigh: math.MaxUint64}

// routeAged routes with a greatest age: a bucket begins with its first row, and ends at a multiple of MaxAgeNs.
func (s *Strategy) routeAged(state *KeyState, row *Row) Placement {
	out := everywhere
	over := state.IsBegun && state.UntilNs != math.MaxInt64 && row.TimeNs >= state.UntilNs
	full := s.Kind == Count && state.IsBegun && row.Sequence >= state.FirstSequence &&
		row.Sequence-state.FirstSequence >= s.Rows
	out.Begins = !state.IsBegun || over || full
	out.Bucket = state.Bucket
	if over || full {
		out.Bucket++
	}
	out.UntilNs = state.UntilNs
	if out.Begins {
		span := fixedWindow(s.MaxAgeNs, 0, row.TimeNs)
		if !state.IsBegun || span.untilNs > state.UntilNs {
			out.UntilNs = span.untilNs
		}
		if over {
			out.FromNs = span.fromNs
		}
	}
	if s.Kind == Count {
		if full && !over {
			out.SequenceLow = endOf(state.FirstSequence, s.Rows)
		}
		first := state.FirstSequence
		if out.Begins {
			first = row.Sequence
		}
		out.SequenceHigh = endOf(first, s.Rows)
	}
	return out
}

func (s *Strategy) routeCount(sequence uint64) Placement {
	out := everywhere
	last := uint64(s.lastBucket())
	bucket := min(sequence/s.Rows, last)
	out.Bucket = int64(bucket)
	out.SequenceLow = bucket * s.Rows
	if bucket != last {
		out.SequenceHigh = endOf(out.SequenceLow, s.Rows)
	}
	return out
}

// Route places a row. Only kinds that fire, and those with a greatest age, use the state.
func (s *Strategy) Route(state *KeyState, row *Row) (Placement, error) {
	out, err := s.routeWhole(state, row)
	if err == nil {
		s.divide(row, &out)
	}
	return out, err
}

// divide goes from a bucket as a whole to the row's partition of it; those of Hash are all of bucket 0.
func (s *Strategy) divide(row *Row, out *Placement) {
	parts := uint32(s.shards())
	if s.Kind == Hash {
		parts = s.Buckets
	}
	if parts > 1 || s.Kind == Hash {
		out.Bucket, out.OnlyThisRow = out.Bucket*int64(parts)+int64(BucketOfID(row.ID, parts)), true
	}
}

// routeWhole finds the bucket as states and eras have it.
func (s *Strategy) routeWhole(state *KeyState, row *Row) (Placement, error) {
	if err := s.checkWith(state); err != nil {
		return Placement{}, err
	}
	if s.MaxAgeNs != 0 {
		return s.routeAged(state, row), nil
	}
	out := everywhere
	switch s.Kind {
	case Time:
		in := s.window(row.TimeNs)
		out.Bucket, out.FromNs, out.UntilNs = in.index, in.fromNs, in.untilNs
	case Count:
		out = s.routeCount(row.Sequence)
	case Probabilistic, Weighted:
		out.Bucket = state.Bucket
	}
	return out, nil
}

// Advance updates the state for a placed row: for each that fires, begins a bucket, or is one of Count.
func (s *Strategy) Advance(state *KeyState, row *Row) (Effect, error) {
	if err := s.checkWith(state); err != nil {
		return Effect{}, err
	}
	done := Effect{}
	if s.MaxAgeNs != 0 {
		if to := s.routeAged(state, row); to.Begins {
			done.StateWrites = 1
			if done.Rolled = to.Bucket != state.Bucket; done.Rolled {
				state.Bucket, state.Counter, state.LastChangeNs = to.Bucket, 0, row.TimeNs
			}
			state.IsBegun, state.UntilNs, state.FirstSequence = true, to.UntilNs, 0
			if s.Kind == Count {
				state.FirstSequence = row.Sequence
			}
		}
	} else if s.Kind == Count {
		if to := s.routeCount(row.Sequence); to.Bucket > state.Bucket {
			state.Bucket, state.LastChangeNs, done.Rolled = to.Bucket, row.TimeNs, true
		}
	}
	if s.fires() {
		weight := s.Weight(row)
		if weight > 0 {
			done.CounterIncrements = 1
		}
		if weight >= s.Threshold-state.Counter {
			*state = KeyState{Bucket: state.Bucket + 1, LastChangeNs: row.TimeNs, FirstSequence: state.FirstSequence}
			done.StateWrites, done.Rolled = 1, true
		} else {
			state.Counter += weight
		}
	}
	return done, nil
}
