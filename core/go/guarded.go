// SPDX-License-Identifier: MIT

package bucketing

import "math"

const (
	guardedRead      = stepOwn + iota // reads the state at SERIAL
	guardedExtend                     // extends the grant beyond the row
	guardedKeepStart                  // stores a start before the roll removes it from the state
	guardedRoll
	guardedOldStart // reads the start of an older bucket
	guardedAdd      // adds to the counter of its bucket,
	guardedTotal    // and reads that
)

// Guarded: a row is placed only by a committed grant.
var guardedProtocol = protocol{write: (*Agent).guardedWrite, read: (*Agent).guardedResume, route: (*Agent).guardedResume,
	placed: (*Agent).guardedPlaced, actions: []stepAction{{ReadState, strict}, {WriteState, strict}, {WriteStart, plain},
		{WriteState, strict}, {ReadStart, plain}, {AddCounter, plain}, {ReadCounter, plain}},
	fill: (*Agent).guardedFill, outcome: (*Agent).guardedOutcome, asks: guardedAsks, isServed: (*Agent).guardedServed,
	resume: (*Agent).guardedResume, view: (*Agent).guardedView}

func guardedAsks(o *operation) bool { return o.step >= guardedRead && o.step <= guardedRoll }

func (a *Agent) recall(o *operation) {
	if cached := a.peek(o.key); cached != nil {
		o.known = cached.known
	}
}

// lastLine is the line at which the newest bucket ends.
func (a *Agent) lastLine(o *operation) int64 {
	untilNs := o.known.columns[guardedUntil]
	if untilNs > math.MinInt64 {
		untilNs--
	}
	return a.lineAbove(untilNs)
}

func (a *Agent) guardedServed(o *operation, _ int64) bool {
	a.recall(o)
	untilNs := o.known.columns[guardedUntil]
	switch {
	case o.known.mask == 0:
		return false
	case o.isRead && o.query.Kind == Range && o.query.UntilNs <= untilNs:
		return true
	case o.isPlaced:
		return o.known.columns[Bucket] != o.bucket || untilNs == a.lastLine(o)
	case !o.isRead:
		return o.row.TimeNs < untilNs
	}
	return addSpan(o.row.TimeNs, 3, a.config.ClockBoundNs) < untilNs
}

// lookUp looks for the row's bucket downwards from this one, which ended at beforeNs.
func (o *operation) lookUp(bucket, beforeNs int64) {
	o.bucket, o.endNs = bucket, beforeNs
	if bucket == 0 {
		o.goTo(stepPut)
	} else {
		o.goTo(guardedOldStart)
	}
}

func (a *Agent) guardedProceed(o *operation) {
	columns := &o.known.columns
	o.startIsKept = false
	switch {
	case o.isRead:
		a.startReader(o, columns[Bucket])
	case o.isPlaced: // another operation has rolled the key, or a line will end the bucket
		o.finish(OK)
	case o.row.TimeNs >= columns[guardedBefore]:
		o.bucket = columns[Bucket]
		if o.row.TimeNs < columns[guardedStart] {
			o.bucket--
		}
		o.goTo(stepPut)
	default:
		o.lookUp(columns[Bucket]-2, columns[guardedBefore])
	}
}

func (a *Agent) guardedQuestion(o *operation) step {
	isBeyond := o.known.mask != 0 && !o.isRead && !o.isPlaced && o.row.TimeNs >= a.lastLine(o)
	if isBeyond && o.bucket != o.known.columns[Bucket] {
		o.bucket, o.startIsKept = o.known.columns[Bucket], false
	}
	switch {
	case (o.isPlaced || isBeyond) && o.bucket >= 2 && !o.startIsKept:
		return guardedKeepStart
	case o.isPlaced || isBeyond:
		return guardedRoll
	case o.isRead || (o.known.mask == 0 && !o.isNewKey):
		return guardedRead
	}
	return guardedExtend
}

// grantedUntil is the end of a grant with this time in it; longer after lost or unknown updates.
func (a *Agent) grantedUntil(o *operation, timeNs, nowNs int64) int64 {
	untilNs := addSpan(max(timeNs, nowNs), 1<<min(o.tries+o.lost, grantDoublings), a.config.GrantNs)
	return min(untilNs, a.lineAbove(timeNs))
}

func (a *Agent) planExtension(o *operation, nowNs int64) {
	o.next = o.known
	if o.known.mask == 0 {
		o.next.mask = columnsAll
		o.next.columns = Columns{0, math.MinInt64, math.MinInt64, 0}
	}
	o.next.columns[guardedUntil] = a.grantedUntil(o, o.row.TimeNs, nowNs)
}

// planGuardedRoll: the next bucket starts where the grant ends, or at the line that the row is beyond.
func (a *Agent) planGuardedRoll(o *operation, nowNs int64) {
	columns := o.known.columns
	startNs, timeNs, status := columns[guardedUntil], columns[guardedUntil], OK
	if !o.isPlaced {
		startNs, timeNs, status = a.lastLine(o), o.row.TimeNs, StatusRefused
	}
	if startNs >= lastNs || columns[Bucket] >= bucketLast {
		o.finish(status)
		return
	}
	o.next = o.known
	o.next.columns = Columns{columns[Bucket] + 1, columns[guardedStart], startNs, a.grantedUntil(o, timeNs, nowNs)}
}

func (a *Agent) guardedResume(o *operation, nowNs int64) {
	if a.guardedServed(o, nowNs) {
		a.guardedProceed(o)
		return
	}
	next := a.guardedQuestion(o)
	if !guardedAsks(o) && a.isTaken(o) {
		o.step = stepParked
		return
	}
	o.step, o.isRetry = next, false
	if next == guardedExtend {
		a.planExtension(o, nowNs)
	} else if next == guardedRoll {
		a.planGuardedRoll(o, nowNs)
	}
}

func (a *Agent) guardedWrite(o *operation, nowNs int64) {
	a.weigh(o)
	if o.row.TimeNs > addSpan(nowNs, 1, a.config.ClockBoundNs) || o.row.TimeNs >= lastNs {
		o.finish(StatusRefused)
	} else {
		a.guardedResume(o, nowNs)
	}
}

func (a *Agent) guardedPlaced(o *operation, _ int64) {
	if o.fired {
		o.goTo(guardedAdd)
	}
}

// guardedLearn: grants only grow, so the longer one is the newer one.
func (a *Agent) guardedLearn(o *operation, state known, nowNs int64) {
	state.learnedNs = o.askedNs
	o.known = state
	if cached := a.peek(o.key); cached == nil || cached.known.columns[guardedUntil] <= state.columns[guardedUntil] {
		a.store(nowNs, o.key, &o.known)
	}
}

func guardedState(outcome *Outcome, askedNs int64) (known, bool) {
	out := known{mask: outcome.Mask & columnsAll, learnedNs: askedNs}
	if out.mask == 0 {
		return out, true
	}
	out.columns = outcome.Columns
	bucket, before, start := out.columns[Bucket], out.columns[guardedBefore], out.columns[guardedStart]
	return out, out.mask == columnsAll && bucket >= 0 && bucket <= bucketLast && start < out.columns[guardedUntil] &&
		(bucket > 0) == (start > before) && (bucket > 1) == (before > math.MinInt64)
}

// pauseOf grows with each try, and is as long as the last try took.
func (a *Agent) pauseOf(o *operation, nowNs int64, isUnknown bool) int64 {
	pauseNs := addSpan(0, 1<<min(o.tries, 6), a.spread(a.config.RetryBackoffNs, o.tries))
	if !isUnknown || pauseNs == 0 || nowNs <= o.askedNs {
		return pauseNs
	}
	most := addSpan(0, 1<<grantDoublings, a.config.GrantNs)
	spent := int64(min(uint64(nowNs)-uint64(o.askedNs), uint64(most)))
	return max(a.spread(spent, o.tries), pauseNs)
}

func (a *Agent) guardedFail(o *operation, nowNs int64, isUnknown bool) {
	if o.tries >= a.config.Retries {
		o.giveUp()
		return
	}
	o.tries++
	o.isRetry = true
	if isUnknown && (o.step == guardedExtend || o.step == guardedRoll) {
		o.step, o.isRetry = guardedRead, false
	}
	if pauseNs := a.pauseOf(o, nowNs, isUnknown); pauseNs > 0 {
		o.wakeNs = addSpan(nowNs, 1, pauseNs)
	}
}

func (o *operation) giveUp() {
	if o.isPlaced {
		o.finish(OK)
	} else {
		o.finish(StatusRefused)
	}
}

func (a *Agent) guardedApplied(o *operation, nowNs int64, outcome *Outcome) {
	switch o.step {
	case guardedRead:
		state, isPossible := guardedState(outcome, o.askedNs)
		if !isPossible {
			a.guardedFail(o, nowNs, false)
			return
		}
		o.isNewKey = state.mask == 0
		if state.mask != 0 {
			a.guardedLearn(o, state, nowNs)
		}
		if o.isRead && o.known.mask == 0 {
			a.startReader(o, 0)
		} else if o.isRead {
			a.startReader(o, o.known.columns[Bucket])
		} else {
			a.guardedResume(o, nowNs)
		}
	case guardedExtend, guardedRoll:
		a.guardedLearn(o, o.next, nowNs)
		a.guardedResume(o, nowNs)
	case guardedKeepStart:
		o.startIsKept, o.tries = true, 0
		a.guardedResume(o, nowNs)
	case guardedOldStart:
		if startNs := outcome.Columns[0]; outcome.Mask&1 == 0 || startNs >= o.endNs {
			a.guardedFail(o, nowNs, false)
		} else if startNs <= o.row.TimeNs {
			o.goTo(stepPut)
		} else {
			o.lookUp(o.bucket-1, startNs)
		}
	case guardedAdd:
		o.counted = true
		a.recall(o)
		if o.known.columns[Bucket] == o.bucket {
			o.goTo(guardedTotal)
		} else {
			o.finish(OK)
		}
	case guardedTotal:
		o.total = outcome.Counter
		if !a.isFull(o, o.total) {
			o.finish(OK)
			return
		}
		o.tries, o.lost = 0, 0
		a.guardedResume(o, nowNs)
	}
}

func (a *Agent) guardedOutcome(o *operation, nowNs int64, outcome *Outcome) {
	isUnknown, retries := outcome.Kind == Unknown, a.config.Retries
	isConditional := o.step == guardedExtend || o.step == guardedRoll
	state, isPossible := guardedState(outcome, o.askedNs)
	switch {
	case outcome.Kind == Applied:
		a.guardedApplied(o, nowNs, outcome)
	case o.step == guardedAdd || o.step == guardedTotal:
		if o.step == guardedAdd && isUnknown {
			retries = a.config.CounterRetries
		}
		if !a.tryAgain(o, nowNs, isUnknown, retries) {
			o.finish(OK)
		}
	case outcome.Kind == NotApplied && isConditional && isPossible && state.mask != 0:
		a.guardedLearn(o, state, nowNs)
		if o.lost++; o.lost < triesMax {
			a.guardedResume(o, nowNs)
		} else {
			o.giveUp()
		}
	default:
		a.guardedFail(o, nowNs, isUnknown)
	}
}

func (a *Agent) guardedFill(o *operation, out *Action) {
	if out.Kind == WriteStart {
		out.Bucket, out.Mask, out.Columns[0] = o.bucket-1, 1, o.known.columns[guardedBefore]
	}
}

func (a *Agent) guardedView(nowNs int64, key uint64) (int64, bool, bool) {
	cached := a.peek(key)
	if cached == nil || nowNs < cached.known.columns[guardedBefore] || nowNs >= cached.known.columns[guardedUntil] {
		return 0, false, false
	}
	bucket, isChanging := cached.known.columns[Bucket], nowNs < cached.known.columns[guardedStart]
	if isChanging {
		bucket--
	}
	return bucket, isChanging, true
}
