// SPDX-License-Identifier: MIT

package bucketing

import "math"

// The steps of protocols that take a number before they put a row: add to the counter and read it, or read the state at
// SERIAL and take numbers conditionally.
const (
	numberAdd = stepOwn + iota
	numberTotal
	numberRead
	numberTake
)

var numberActions = []stepAction{{AddCounter, plain}, {ReadCounter, plain}, {ReadState, strict}, {WriteState, strict}}

// FromCounter and FromLWT: a number for each row.
var numberProtocol = protocol{write: (*Agent).numberWrite, read: (*Agent).numberBegin, route: (*Agent).routeNewest,
	actions: numberActions, outcome: (*Agent).numberOutcome}

// FromLease: one update takes many numbers.
var leaseProtocol = protocol{write: (*Agent).leaseResume, read: (*Agent).numberBegin, route: (*Agent).routeNewest,
	actions: numberActions, outcome: (*Agent).numberOutcome,
	asks:     func(o *operation) bool { return o.step == numberRead || o.step == numberTake },
	isServed: (*Agent).leaseServed, resume: (*Agent).leaseResume, view: (*Agent).leaseView}

func (f *filling) bucketIn(number int64) int64 {
	if f.rows == 0 || number < f.first {
		return f.bucket
	}
	if more := (number - f.first) / f.rows; more < bucketLast-f.bucket {
		return f.bucket + more
	}
	return bucketLast
}

func (o *operation) place(bucket int64) {
	o.bucket = bucket
	o.goTo(stepPut)
}

// firstUnchanged is the first number of a bucket if the settings never changed; -1 beyond all numbers.
func (a *Agent) firstUnchanged(bucket int64) int64 {
	rows := a.history.eras[0].Strategy.Rows
	if uint64(bucket) > math.MaxInt64/rows {
		return -1
	}
	return int64(uint64(bucket) * rows)
}

// planTake plans to take numbers by the settings of the row's time. A bucket that is full, or that was not begun by
// these settings, is left.
func (a *Agent) planTake(o *operation) {
	wanted, given := int64(1), o.known.columns[Counted]
	if a.config.Source == FromLease {
		wanted = int64(a.config.LeaseRows)
	}
	rows := int64(min(a.settings(o.row.TimeNs).Rows, math.MaxInt64))
	fill := filling{o.known.columns[Bucket], o.known.columns[numberFirst], rows}
	if fill.first == 0 {
		fill.first = a.firstUnchanged(fill.bucket)
	}
	if fill.first < 0 || fill.first > given || given-fill.first >= rows {
		fill.bucket, fill.first = fill.bucket+1, given
	}
	if given > math.MaxInt64-1-wanted || (given+wanted-1-fill.first)/rows > bucketLast-fill.bucket {
		o.finish(StatusRefused)
		return
	}
	bucket := fill.bucketIn(given + wanted - 1)
	first := fill.first + (bucket-fill.bucket)*rows
	if first == a.firstUnchanged(bucket) {
		first = 0
	}
	o.filling, o.next = fill, o.known
	o.next.mask = columnsAll
	o.next.columns[Counted], o.next.columns[Bucket], o.next.columns[numberFirst] = given+wanted, bucket, first
	o.step, o.isRetry = numberTake, false
}

// takeNumbers uses a cached state of any age, since the condition verifies it.
func (a *Agent) takeNumbers(o *operation) {
	cached := a.peek(o.key)
	if cached == nil || cached.known.columns[Counted] < 0 {
		o.goTo(numberRead)
		return
	}
	o.known = cached.known
	a.planTake(o)
}

func (a *Agent) numberWrite(o *operation, _ int64) {
	if a.config.Source == FromCounter {
		o.fired = true
		o.goTo(numberAdd)
	} else {
		a.takeNumbers(o)
	}
}

func (a *Agent) leaseServed(o *operation, _ int64) bool {
	one := a.peek(o.key)
	return one != nil && one.local.next < one.local.end
}

func (a *Agent) leaseResume(o *operation, nowNs int64) {
	switch {
	case a.leaseServed(o, nowNs):
		one := &a.peek(o.key).local
		one.next++
		o.place(one.filling.bucketIn(one.next - 1))
	case a.isTaken(o):
		o.step = stepParked
	default:
		a.takeNumbers(o)
	}
}

func (a *Agent) numberBegin(o *operation, _ int64) {
	if a.config.Source == FromCounter {
		o.goTo(numberTotal)
	} else {
		o.goTo(stepLook)
	}
}

func (a *Agent) numberTaken(o *operation, nowNs int64) {
	first, state := o.known.columns[Counted], o.stored()
	a.learn(o, &state, nowNs)
	if one := a.peek(o.key); a.config.Source == FromLease && one != nil {
		one.local.next, one.local.end, one.local.filling = first+1, state.columns[Counted], o.filling
	}
	o.place(o.filling.bucketIn(first))
}

func (a *Agent) numberFail(o *operation, nowNs int64, isUnknown bool) {
	if o.step == numberAdd && isUnknown { // a second try may count twice
		if !a.tryAgain(o, nowNs, isUnknown, a.config.CounterRetries) {
			o.goTo(numberTotal)
		}
		return
	}
	isConditional := o.step == numberTake
	switch {
	case !a.tryAgain(o, nowNs, isUnknown, a.config.Retries):
		if o.isRead {
			o.finish(StatusUnknown)
		} else {
			o.finish(StatusRefused)
		}
	case isConditional && isUnknown: // it may have been applied: read, and take other numbers
		o.step, o.isRetry = numberRead, false
	}
}

func (a *Agent) numberOutcome(o *operation, nowNs int64, outcome *Outcome) {
	isApplied := outcome.Kind == Applied
	state, isPossible := readKnown(outcome, o.askedNs)
	isPossible = isPossible && state.columns[Counted] >= 0
	switch {
	case o.step == numberAdd && isApplied:
		o.counted = true
		o.goTo(numberTotal)
	case o.step == numberTotal && isApplied:
		to, _ := a.config.Strategy.routeWhole(&KeyState{}, &Row{Sequence: uint64(max(outcome.Counter-1, 0))})
		if o.isRead {
			a.startReader(o, to.Bucket)
		} else {
			o.place(to.Bucket)
		}
	case o.step == numberRead && isApplied && isPossible:
		a.learn(o, &state, nowNs)
		a.planTake(o)
	case o.step == numberTake && isApplied:
		a.numberTaken(o, nowNs)
	case o.step == numberTake && outcome.Kind == NotApplied && isPossible:
		a.learn(o, &state, nowNs)
		if o.lost++; o.lost < triesMax {
			a.planTake(o)
		} else {
			o.finish(StatusRefused)
		}
	default:
		a.numberFail(o, nowNs, outcome.Kind == Unknown)
	}
}

func (a *Agent) leaseView(_ int64, key uint64) (int64, bool, bool) {
	one := a.peek(key)
	if one == nil || one.local.next >= one.local.end {
		return 0, false, false
	}
	return one.local.filling.bucketIn(one.local.next), false, true
}

const (
	sumRows  = stepOwn + iota // counts the rows of the bucket, or those since the last count
	sumFresh                  // Scan: reads the state again
	sumStore
)

// Incremental and Scan: rows are counted after they are stored, from time to time.
var sumProtocol = protocol{write: (*Agent).findBucket, read: (*Agent).look, route: (*Agent).routeNewest,
	placed: (*Agent).sumPlaced, actions: []stepAction{{CountRows, plain}, {ReadState, plain}, {WriteState, strictBySource}},
	fill: (*Agent).sumFill, outcome: (*Agent).sumOutcome}

func (k *known) forgetLast() { k.columns[sumTime], k.columns[sumID] = math.MinInt64, math.MinInt64 }

func (a *Agent) isEnough(o *operation, rows uint64) bool {
	return rows >= a.settings(o.row.TimeNs).Rows
}

// countIsDue: a key that the cache has evicted begins with a random number of rows.
func (a *Agent) countIsDue(o *operation, nowNs int64) bool {
	config, one := &a.config, &local{isCold: true}
	if cached := a.peek(o.key); cached != nil {
		one = &cached.local
	}
	isCold := one.isCold
	if !one.isCounted {
		one.countedNs = nowNs
	}
	if isCold && config.EveryRows != 0 {
		one.rows = murmurOf(o.row.ID^uint64(o.row.TimeNs)) % config.EveryRows
	}
	one.isCounted, one.isCold = true, false
	one.rows++
	byRows := config.EveryRows != 0 && one.rows >= config.EveryRows
	byTime := config.EveryNs != 0 && (isCold || nowNs < one.countedNs ||
		uint64(nowNs)-uint64(one.countedNs) >= uint64(config.EveryNs))
	if byRows || byTime {
		one.rows, one.countedNs = 0, nowNs
	}
	return byRows || byTime
}

func (a *Agent) sumPlaced(o *operation, nowNs int64) {
	if cached := a.find(nowNs, o.key); cached != nil {
		o.known = cached.known
	}
	if o.known.mask == 0 {
		o.known.forgetLast()
	}
	if o.bucket == o.known.columns[Bucket] && a.countIsDue(o, nowNs) {
		o.goTo(sumRows)
	}
}

func (a *Agent) planSum(o *operation, outcome *Outcome) {
	counted := max(o.known.columns[Counted], 0)
	sum := counted + int64(min(outcome.Rows, uint64(weightMax-counted)))
	o.next = o.known
	o.next.mask = columnsAll
	o.next.columns[Counted] = sum
	o.next.columns[sumTime], o.next.columns[sumID] = outcome.Columns[0], outcome.Columns[1]
	if o.known.columns[Bucket] < bucketLast && a.isEnough(o, uint64(sum)) {
		o.next.columns[Bucket]++
		o.next.columns[Counted] = 0
		o.next.forgetLast()
	}
	o.goTo(sumStore)
}

func (a *Agent) sumOutcome(o *operation, nowNs int64, outcome *Outcome) {
	isApplied, isUnknown, isConditional := outcome.Kind == Applied, outcome.Kind == Unknown, a.config.Source == Incremental
	isCount := outcome.Rows == 0 || outcome.Mask&3 == 3 || !isConditional
	state, isPossible := readKnown(outcome, o.askedNs)
	switch {
	case o.step == sumRows && isApplied && isCount:
		switch {
		case isConditional && outcome.Rows > 0:
			a.planSum(o, outcome)
		case !isConditional && a.isEnough(o, outcome.Rows):
			o.goTo(sumFresh)
		default:
			o.finish(OK)
		}
	case o.step == sumFresh && isApplied && isPossible:
		a.learn(o, &state, nowNs)
		if o.known.columns[Bucket] != o.bucket || o.bucket >= bucketLast {
			o.finish(OK) // another agent has raised the bucket
			return
		}
		o.planRaise(nowNs)
		o.goTo(sumStore)
	case o.step == sumStore && isApplied:
		stored := o.stored()
		a.learn(o, &stored, nowNs)
		o.finish(OK)
	case o.step == sumStore && isConditional && outcome.Kind == NotApplied && isPossible: // another agent has counted more
		a.learn(o, &state, nowNs)
		o.finish(OK)
	case o.step == sumStore && isConditional && isUnknown: // the next count begins from the stored state
		a.forget(o.key)
		o.finish(OK)
	default:
		a.tryAgainOrEnd(o, nowNs, isUnknown, a.config.Retries)
	}
}

func (a *Agent) sumFill(o *operation, out *Action) {
	lastNs, lastID := o.known.columns[sumTime], o.known.columns[sumID]
	if out.Kind == CountRows && a.config.Source == Incremental && (lastNs != math.MinInt64 || lastID != math.MinInt64) {
		out.Mask, out.Columns[0], out.Columns[1] = 3, lastNs, lastID
	}
}

const (
	memoryRead = stepOwn + iota // reads the state
	memoryRows                  // counts the rows of the bucket
	memoryRaise
)

// Memory: a single writer of a key counts its rows in memory.
var memoryProtocol = protocol{write: (*Agent).memoryResume, read: (*Agent).look, route: (*Agent).routeNewest,
	actions: []stepAction{{ReadState, plain}, {CountRows, plain}, {WriteState, plain}}, outcome: (*Agent).memoryOutcome,
	asks: memoryAsks, isServed: (*Agent).memoryServed, resume: (*Agent).memoryResume, view: (*Agent).memoryView}

func memoryAsks(o *operation) bool { return o.step >= memoryRead }

// freshEntry: a state that the operation itself requested is valid for it, however old it is.
func (a *Agent) freshEntry(o *operation, nowNs int64) *entry {
	if (memoryAsks(o) && o.lost > 0) || a.find(nowNs, o.key) != nil {
		return a.peek(o.key)
	}
	return nil
}

// isCountOf: the local count is of the bucket in the cached state, which a read may have replaced.
func (e *entry) isCountOf() bool {
	return e.local.isCounted && e.local.bucket == e.known.columns[Bucket]
}

func (a *Agent) memoryServed(o *operation, nowNs int64) bool {
	one := a.freshEntry(o, nowNs)
	return one != nil && one.isCountOf() && one.local.rows < a.settings(o.row.TimeNs).Rows
}

func (a *Agent) memoryResume(o *operation, nowNs int64) {
	one := a.freshEntry(o, nowNs)
	switch {
	case a.memoryServed(o, nowNs):
		one.local.rows++
		o.place(one.known.columns[Bucket])
		return
	case !memoryAsks(o) && a.isTaken(o):
		o.step = stepParked
		return
	case one == nil && o.lost >= triesMax: // other keys keep evicting this one
		o.finish(StatusRefused)
		return
	case one == nil:
		o.goTo(memoryRead)
		return
	}
	o.known = one.known
	if !one.isCountOf() {
		o.goTo(memoryRows)
		return
	}
	if o.known.columns[Bucket] < bucketLast {
		o.recounts++
	}
	if o.known.columns[Bucket] >= bucketLast || o.recounts > triesMax {
		o.finish(StatusRefused)
		return
	}
	o.planRaise(nowNs)
	o.goTo(memoryRaise)
}

func (a *Agent) memoryOutcome(o *operation, nowNs int64, outcome *Outcome) {
	isApplied := outcome.Kind == Applied
	state, isPossible := readKnown(outcome, o.askedNs)
	switch {
	case o.step == memoryRead && isApplied && isPossible:
		o.known = state
		o.lost++
		a.store(nowNs, o.key, &state)
	case o.step == memoryRows && isApplied:
		if one := a.peek(o.key); one != nil {
			one.local = local{rows: outcome.Rows, bucket: o.known.columns[Bucket], isCounted: true, isCold: outcome.Rows > 0}
		}
	case o.step == memoryRaise && isApplied:
		// A writer before this one may have gone on in the next bucket, which then has rows already.
		one := a.peek(o.key)
		isCold := one == nil || one.local.isCold
		o.known = o.stored()
		a.store(nowNs, o.key, &o.known)
		a.peek(o.key).local = local{bucket: o.known.columns[Bucket], isCounted: !isCold}
	default:
		if !a.tryAgain(o, nowNs, outcome.Kind == Unknown, a.config.Retries) {
			o.finish(StatusRefused)
		}
		return
	}
	a.memoryResume(o, nowNs)
}

func (a *Agent) memoryView(nowNs int64, key uint64) (int64, bool, bool) {
	one := a.find(nowNs, key)
	if one == nil || !one.isCountOf() || one.local.rows >= a.settings(nowNs).Rows {
		return 0, false, false
	}
	return one.local.bucket, false, true
}
