// SPDX-License-Identifier: MIT

package bucketing

import "math"

// The steps that Single, Locked and ThreeState share: read the state again, add to a counter column, read it, and write.
const (
	countedFresh = stepOwn + iota
	countedAdd
	countedTotal
	countedWrite
	stepOfCounted
)

var countedActions = []stepAction{{ReadState, strictByCounter}, {AddCounter, plain}, {ReadCounter, plain},
	{WriteState, strictByCounter}}

// startOf is the start of the newest bucket.
func (a *Agent) startOf(state *known) int64 {
	switch {
	case state.mask == 0:
		return math.MinInt64
	case a.config.Coordination == ThreeState && state.columns[NextChange] != 0:
		return state.columns[NextChange]
	}
	return state.columns[LastChange]
}

func (a *Agent) countedLine(state *known) int64 { return a.lineAbove(a.startOf(state)) }

func (a *Agent) isBeyond(state *known, timeNs int64) bool {
	if a.history.eras[0].Strategy.MaxAgeNs == 0 {
		return false
	}
	lineNs := a.countedLine(state)
	return lineNs < never && timeNs >= lineNs
}

// countBefore is the count since the last roll without this row, and countWith with it.
func (a *Agent) countBefore(o *operation) int64 {
	if a.config.Counter == Native {
		return o.total - o.known.columns[Counted]
	}
	return o.known.columns[Counted]
}

func (a *Agent) countWith(o *operation) int64 {
	count := a.countBefore(o)
	switch {
	case a.config.Counter == Native:
		return count
	case count > weightMax-o.weight:
		return weightMax
	}
	return count + o.weight
}

// storedAs is the state's counter when the bucket's count is this one.
func (a *Agent) storedAs(o *operation, count int64) int64 {
	if a.config.Counter == Native {
		count = o.total - count
	}
	return min(count, weightMax)
}

func (a *Agent) mayRoll(o *operation, count int64) bool {
	return a.isFull(o, count) && o.known.columns[Bucket] < bucketLast
}

// standsHere: a row of an older bucket neither counts for a new bucket nor closes it.
func (a *Agent) standsHere(o *operation) bool {
	return (o.known.mask != 0 || a.countedLine(&o.known) == never) && o.bucket >= o.known.columns[Bucket]
}

func (a *Agent) countedPlan(o *operation, count int64) {
	o.next = o.known
	o.next.mask = 0
	if a.config.Counter != Native {
		o.next.columns[Counted], o.next.mask = count, 1<<Counted
	}
}

func (a *Agent) countedPlanRow(o *operation) (int64, bool) {
	count := a.countWith(o)
	if o.adds = a.standsHere(o); o.adds {
		a.countedPlan(o, count)
	} else {
		o.finish(OK)
	}
	return count, o.adds
}

// countedPlanRoll dates the change before the line that ends the bucket.
func (a *Agent) countedPlanRoll(o *operation, nowNs int64) {
	startNs := a.startOf(&o.known)
	if lineNs := a.lineAbove(startNs); lineNs < never {
		if nowNs < startNs {
			nowNs = startNs
		} else if nowNs >= lineNs {
			nowNs = lineNs - 1
		}
	}
	o.next = o.known
	o.next.columns[Bucket]++
	o.next.columns[Counted], o.next.columns[LastChange] = a.storedAs(o, 0), nowNs
	o.next.mask = 1<<Bucket | 1<<Counted | 1<<LastChange
}

func (o *operation) writePlan() {
	if o.next.mask != 0 {
		o.goTo(countedWrite)
	} else {
		o.finish(OK)
	}
}

// keepWritten: an applied conditional write also proves the columns that it did not write.
func (a *Agent) keepWritten(o *operation, nowNs int64) {
	state := o.next
	if a.config.Counter == LWT {
		state.learnedNs = o.askedNs
	} else {
		if cached := a.find(nowNs, o.key); cached != nil {
			state = cached.known
		}
		for i := range state.columns {
			if o.writtenMask()>>i&1 != 0 {
				state.columns[i] = o.next.columns[i]
			}
		}
	}
	state.mask = columnsAll
	a.learn(o, &state, nowNs)
}

// planLine begins the next bucket at the line that ends the newest one, or at the last line before the row.
func (a *Agent) planLine(o *operation) {
	state, lineNs := &o.known, a.countedLine(&o.known)
	isNew := state.mask == 0
	isDated := a.config.Coordination == ThreeState && !isNew
	hasSlept := isNew || a.lineAbove(lineNs) <= o.row.TimeNs
	startNs := lineNs
	if hasSlept {
		startNs = a.lineAt(o.row.TimeNs)
	}
	o.next = *state
	next := &o.next.columns
	if !isNew {
		next[Bucket]++
	}
	if isDated {
		o.next.mask = 1<<Bucket | 1<<LastChange | 1<<NextChange
		next[LastChange], next[NextChange] = a.startOf(state), startNs
		if hasSlept { // the times between the lines belong to a bucket that stays empty
			next[Bucket]++
			next[LastChange] = lineNs
		}
		if startNs == 0 {
			next[NextChange] = 1
		}
		return
	}
	o.next.mask = 1<<Bucket | 1<<LastChange | 1<<Counted
	next[Counted], next[LastChange] = 0, startNs
	if !isNew {
		next[Counted] = a.storedAs(o, 0)
	}
}

// crossLine: a row beyond the line of the newest bucket writes the next bucket first.
func (a *Agent) crossLine(o *operation) bool {
	if !a.isBeyond(&o.known, o.row.TimeNs) {
		return false
	}
	hasTotal := o.step == countedTotal
	isRead := hasTotal || o.step == stepLook || o.step == countedFresh
	switch {
	case o.known.columns[Bucket] > bucketLast-2:
		o.finish(StatusRefused)
	case a.config.Counter != LWT && !isRead:
		o.goTo(countedFresh)
	case a.config.Counter == Native && a.config.Coordination != ThreeState && o.known.mask != 0 && !hasTotal:
		o.goTo(countedTotal)
	default:
		a.planLine(o)
		o.goTo(countedWrite)
	}
	return true
}

func (a *Agent) countedRoute(o *operation, nowNs int64) {
	if !a.crossLine(o) {
		a.routeNewest(o, nowNs)
	}
}

func (a *Agent) countedWriteRow(o *operation, nowNs int64) {
	a.weigh(o)
	a.findBucket(o, nowNs)
}

func (a *Agent) countedRead(o *operation, nowNs int64) {
	if cached := a.find(nowNs, o.key); cached != nil {
		o.known = cached.known
		a.startReader(o, o.known.columns[Bucket])
	} else {
		o.goTo(stepLook)
	}
}

func (a *Agent) countedPlaced(o *operation, nowNs int64) {
	if cached := a.find(nowNs, o.key); cached != nil {
		o.known = cached.known
	}
	if !o.fired {
		return
	}
	o.lost, o.recounts = 0, 0
	if a.config.Counter == LWT {
		a.protocol.count(a, o, nowNs)
	} else {
		o.goTo(countedFresh)
	}
}

func (a *Agent) countedView(nowNs int64, key uint64) (int64, bool, bool) {
	cached := a.find(nowNs, key)
	if cached == nil || a.isBeyond(&cached.known, nowNs) {
		return 0, false, false
	}
	columns := &cached.known.columns
	return columns[Bucket], columns[NextChange] != 0 && nowNs < columns[NextChange], true
}

// hasLost: another agent's conditional write was first; the outcome has the current state.
func (a *Agent) hasLost(o *operation, nowNs int64, outcome *Outcome) bool {
	state, isPossible := readKnown(outcome, o.askedNs)
	if outcome.Kind != NotApplied || a.config.Counter != LWT || !isPossible {
		return false
	}
	a.learn(o, &state, nowNs)
	o.lost++
	return true
}

func (a *Agent) failToWrite(o *operation, nowNs int64, isUnknown bool) {
	mayHaveCounted, retries := isUnknown && a.config.Counter == LWT, a.config.Retries
	if mayHaveCounted && o.recounts < a.config.CounterRetries {
		o.recounts++
		o.goTo(countedFresh)
		return
	}
	if mayHaveCounted {
		retries = 0
	}
	a.tryAgainOrEnd(o, nowNs, isUnknown, retries)
}

// takeLine handles the steps of a row that crosses a line; it is refused when its last try has failed.
func (a *Agent) takeLine(o *operation, nowNs int64, outcome *Outcome) {
	isApplied, isUnknown, isWrite := outcome.Kind == Applied, outcome.Kind == Unknown, o.step == countedWrite
	state, isPossible := readKnown(outcome, o.askedNs)
	switch {
	case o.step == countedFresh && isApplied && isPossible:
		a.learn(o, &state, nowNs)
		a.protocol.route(a, o, nowNs)
	case o.step == countedTotal && isApplied:
		o.total = outcome.Counter
		a.protocol.route(a, o, nowNs)
	case isWrite && isApplied:
		a.keepWritten(o, nowNs)
		a.protocol.route(a, o, nowNs)
	case isWrite && a.hasLost(o, nowNs, outcome):
		if o.lost < triesMax {
			a.protocol.route(a, o, nowNs)
		} else {
			o.finish(StatusRefused)
		}
	case isWrite && isUnknown && o.recounts < a.config.Retries:
		o.recounts++
		o.goTo(countedFresh)
	case (isWrite && isUnknown) || !a.tryAgain(o, nowNs, isUnknown, a.config.Retries):
		a.forget(o.key)
		o.finish(StatusRefused)
	}
}

func (a *Agent) countedOutcome(o *operation, nowNs int64, outcome *Outcome) {
	isApplied, isUnknown, retries := outcome.Kind == Applied, outcome.Kind == Unknown, a.config.Retries
	if !o.isPlaced {
		a.takeLine(o, nowNs, outcome)
		return
	}
	state, isPossible := readKnown(outcome, o.askedNs)
	switch {
	case o.step == countedFresh && isApplied && isPossible:
		a.learn(o, &state, nowNs)
		if a.config.Counter == Native {
			o.goTo(countedAdd)
		} else {
			a.protocol.count(a, o, nowNs)
		}
	case o.step == countedAdd && isApplied:
		o.counted = true
		o.goTo(countedTotal)
	case o.step == countedTotal && isApplied:
		o.total = outcome.Counter
		a.protocol.count(a, o, nowNs)
	case o.step == countedWrite && isApplied:
		o.counted = o.counted || o.adds
		a.keepWritten(o, nowNs)
		if a.protocol.written == nil {
			o.finish(OK)
		} else {
			a.protocol.written(a, o, nowNs)
		}
	case o.step == countedWrite && !a.hasLost(o, nowNs, outcome):
		a.failToWrite(o, nowNs, isUnknown)
	case o.step == countedWrite && o.lost < triesMax:
		a.protocol.count(a, o, nowNs)
	case o.step == countedWrite:
		o.finish(OK)
	default:
		if o.step == countedAdd && isUnknown { // a second try may count the row twice
			retries = a.config.CounterRetries
		}
		a.tryAgainOrEnd(o, nowNs, isUnknown, retries)
	}
}

var singleProtocol = protocol{write: (*Agent).countedWriteRow, read: (*Agent).countedRead, route: (*Agent).countedRoute,
	placed: (*Agent).countedPlaced, actions: countedActions, outcome: (*Agent).countedOutcome,
	count: (*Agent).countSingle, view: (*Agent).countedView}

func (a *Agent) countSingle(o *operation, nowNs int64) {
	count, adds := a.countedPlanRow(o)
	if !adds {
		return
	}
	if a.mayRoll(o, count) {
		a.countedPlanRoll(o, nowNs)
	}
	o.writePlan()
}

const (
	lockedTake = stepOfCounted + iota
	lockedTakeOver
	lockedFresh
	lockedRoll
	lockedRelease
)

var lockedProtocol = protocol{write: (*Agent).countedWriteRow, read: (*Agent).countedRead, route: (*Agent).countedRoute,
	placed: (*Agent).countedPlaced, actions: append(countedActions[:4:4], stepAction{CASLockRow, plain},
		stepAction{CASLockRow, plain}, stepAction{ReadState, strictByCounter}, stepAction{WriteState, strictByCounter},
		stepAction{CASLockRow, plain}),
	fill: (*Agent).fillLocked, outcome: (*Agent).takeLocked, count: (*Agent).countLocked, written: (*Agent).writtenLocked,
	isLocking: func(o *operation) bool { return o.step >= lockedTake }, view: (*Agent).countedView}

func (a *Agent) takeLock(o *operation, next step, atNs int64) {
	o.goTo(next)
	o.next.columns[lockOwner], o.next.columns[lockUntil] = int64(a.config.AgentID), addSpan(atNs, 1, a.config.LockLastsNs)
}

func (o *operation) releaseLock() {
	o.next.columns[lockOwner], o.next.columns[lockUntil] = 0, 0
	o.goTo(lockedRelease)
}

// beginRoll: only one operation of an agent uses a lock at a time.
func (a *Agent) beginRoll(o *operation, nowNs int64) {
	if a.isLocked(o) {
		o.finish(OK)
		return
	}
	o.lost, o.waits = 0, 0
	a.takeLock(o, lockedTake, nowNs)
}

func (a *Agent) countLocked(o *operation, nowNs int64) {
	count, adds := a.countedPlanRow(o)
	switch {
	case !adds:
	case o.next.mask == 0 && a.mayRoll(o, count):
		a.beginRoll(o, nowNs)
	default:
		o.writePlan()
	}
}

func (a *Agent) writtenLocked(o *operation, nowNs int64) {
	if a.isFull(o, o.known.columns[Counted]) {
		a.beginRoll(o, nowNs)
	} else {
		o.finish(OK)
	}
}

func (o *operation) lockTaken() {
	o.lock = [2]int64{o.next.columns[lockOwner], o.next.columns[lockUntil]}
	o.goTo(lockedFresh)
}

func (a *Agent) lockDenied(o *operation, nowNs int64, outcome *Outcome) {
	owner, untilNs := int64(0), int64(0)
	if outcome.Mask != 0 {
		owner, untilNs = outcome.Columns[lockOwner], outcome.Columns[lockUntil]
	}
	if owner == o.next.columns[lockOwner] && untilNs == o.next.columns[lockUntil] {
		o.lockTaken()
		return
	}
	isHeld, atNs := owner != 0 && untilNs > nowNs, nowNs
	if !isHeld {
		o.lost++
	}
	if (isHeld && o.waits >= a.config.Retries) || (!isHeld && o.lost >= triesMax) {
		o.finish(OK) // the next row that fires finds the count full too
		return
	}
	if isHeld {
		o.waits++
		atNs = addSpan(nowNs, 1, a.spread(a.config.LockBackoffNs, o.waits))
		o.wakeNs = atNs
	}
	o.lock = [2]int64{owner, untilNs}
	if outcome.Mask != 0 && (owner == 0 || untilNs <= atNs) {
		a.takeLock(o, lockedTakeOver, atNs)
	} else {
		a.takeLock(o, lockedTake, atNs)
	}
}

// planLockedRoll: the lock is held, and the state was read again, now including this row.
func (a *Agent) planLockedRoll(o *operation, nowNs int64) {
	if !a.mayRoll(o, a.countBefore(o)) || !a.standsHere(o) || nowNs >= o.lock[lockUntil] {
		o.releaseLock()
		return
	}
	a.countedPlanRoll(o, nowNs)
	o.goTo(lockedRoll)
}

func (a *Agent) fillLocked(o *operation, out *Action) {
	if out.Kind != CASLockRow {
		return
	}
	out.Mask = 1<<lockOwner | 1<<lockUntil
	if o.step != lockedTake {
		out.IfMask = out.Mask
	}
	copy(out.Columns[:2], o.next.columns[:2])
	copy(out.Expected[:2], o.lock[:])
}

func (a *Agent) takeLockedRoll(o *operation, nowNs int64, outcome *Outcome) {
	isUnknown, backoffNs := outcome.Kind == Unknown, a.config.RetryBackoffNs
	switch {
	case outcome.Kind == Applied:
		a.keepWritten(o, nowNs)
		o.releaseLock()
		return
	case a.hasLost(o, nowNs, outcome):
		if o.lost < triesMax {
			a.planLockedRoll(o, nowNs)
		} else {
			o.releaseLock()
		}
		return
	case isUnknown:
		backoffNs = 0
	}
	isStillHeld := addSpan(nowNs, uint64(o.tries)+1, backoffNs) < o.lock[lockUntil]
	if !isStillHeld || !a.tryAgain(o, nowNs, isUnknown, a.config.Retries) {
		a.forget(o.key)
		o.releaseLock()
	}
}

func (a *Agent) takeLocked(o *operation, nowNs int64, outcome *Outcome) {
	isApplied, isUnknown, isDenied := outcome.Kind == Applied, outcome.Kind == Unknown, outcome.Kind == NotApplied
	switch o.step {
	case lockedTake, lockedTakeOver:
		if isApplied {
			o.lockTaken()
		} else if isDenied {
			a.lockDenied(o, nowNs, outcome)
		} else {
			a.tryAgainOrEnd(o, nowNs, isUnknown, a.config.Retries)
		}
	case lockedFresh:
		if state, isPossible := readKnown(outcome, o.askedNs); isApplied && isPossible {
			a.learn(o, &state, nowNs)
			a.planLockedRoll(o, nowNs)
		} else if !a.tryAgain(o, nowNs, isUnknown, a.config.Retries) {
			a.forget(o.key)
			o.releaseLock()
		}
	case lockedRoll:
		a.takeLockedRoll(o, nowNs, outcome)
	case lockedRelease: // denied: an earlier try released it, or another agent took it over
		if isApplied || isDenied {
			o.finish(OK)
		} else {
			a.tryAgainOrEnd(o, nowNs, isUnknown, a.config.Retries)
		}
	default:
		a.countedOutcome(o, nowNs, outcome)
	}
}

const (
	threeFresh = stepOfCounted + iota
	threeTotal
	threeReset
)

var threeStateProtocol = protocol{write: (*Agent).countedWriteRow, read: (*Agent).countedRead,
	route: (*Agent).routeThreeState, placed: (*Agent).placedThreeState, actions: append(countedActions[:4:4],
		stepAction{ReadState, plain}, stepAction{ReadCounter, plain}, stepAction{WriteState, strictByCounter}),
	outcome: (*Agent).takeThreeState, count: (*Agent).countThreeState, view: (*Agent).viewThreeState}

// bucketAt is the bucket of a row's time, before and after the counter was reset.
func (k *known) bucketAt(timeNs int64) int64 {
	bucket, nextNs := k.columns[Bucket], k.columns[NextChange]
	if bucket == 0 || (nextNs != 0 && timeNs >= nextNs) {
		return bucket
	}
	if nextNs != 0 {
		bucket--
	}
	if timeNs >= k.columns[LastChange] || bucket == 0 {
		return bucket
	}
	return bucket - 1
}

// isForgotten: a row that waited for more than a lead, and is more than a lead older than both dates.
func (a *Agent) isForgotten(o *operation, nowNs int64) bool {
	leadNs, timeNs, lastNs := uint64(a.config.LeadNs), o.row.TimeNs, o.known.columns[LastChange]
	return timeNs < nowNs && o.bucket > 0 && leadNs > 0 && uint64(nowNs)-uint64(timeNs) > leadNs && lastNs > timeNs &&
		uint64(lastNs)-uint64(timeNs) > leadNs
}

func (a *Agent) routeThreeState(o *operation, nowNs int64) {
	if a.crossLine(o) {
		return
	}
	o.bucket = o.known.bucketAt(o.row.TimeNs)
	if a.isForgotten(o, nowNs) {
		o.finish(StatusRefused)
	} else {
		o.goTo(stepPut)
	}
}

// planReset plans to reset the counter to what was counted since the change, whose date has passed.
func (a *Agent) planReset(o *operation, count int64) {
	o.next = o.known
	o.next.columns[Counted] = a.storedAs(o, count)
	o.next.columns[LastChange], o.next.columns[NextChange] = o.known.columns[NextChange], 0
	o.next.mask = 1<<Counted | 1<<LastChange | 1<<NextChange
}

// planChange plans a change, unless a line follows within a lead of its date.
func (a *Agent) planChange(o *operation, nowNs int64) {
	changeNs := addSpan(nowNs, 1, a.config.LeadNs)
	if addSpan(changeNs, 1, a.config.LeadNs) > a.countedLine(&o.known) {
		return
	}
	if changeNs == 0 {
		changeNs = 1
	}
	o.next.columns[Bucket]++
	o.next.columns[NextChange] = changeNs
	o.next.mask |= 1<<Bucket | 1<<NextChange
}

func (a *Agent) countThreeState(o *operation, nowNs int64) {
	count, nextNs, standsHere := a.countWith(o), o.known.columns[NextChange], a.standsHere(o)
	isWaiting := nextNs != 0
	if o.adds = standsHere || isWaiting; !o.adds {
		o.finish(OK)
		return
	}
	if isWaiting && nowNs >= nextNs { // reset the counter, and add this row
		o.adds, count = standsHere, 0
		if standsHere {
			count = o.weight
		}
		a.planReset(o, count)
		isWaiting = false
	} else {
		a.countedPlan(o, count)
	}
	if !isWaiting && a.mayRoll(o, count) {
		a.planChange(o, nowNs)
	}
	o.writePlan()
}

func (o *operation) resetIsDue(nowNs int64) bool {
	return o.known.columns[NextChange] != 0 && nowNs >= o.known.columns[NextChange]
}

func (a *Agent) reset(o *operation) {
	a.planReset(o, 0)
	o.goTo(threeReset)
}

func (a *Agent) placedThreeState(o *operation, nowNs int64) {
	a.countedPlaced(o, nowNs)
	if o.fired || !o.resetIsDue(nowNs) {
		return
	}
	if a.config.Counter == LWT {
		a.reset(o)
	} else {
		o.goTo(threeFresh)
	}
}

func (a *Agent) takeThreeState(o *operation, nowNs int64, outcome *Outcome) {
	isApplied := outcome.Kind == Applied
	state, isPossible := readKnown(outcome, o.askedNs)
	switch {
	case o.step < threeFresh:
		a.countedOutcome(o, nowNs, outcome)
	case o.step == threeFresh && isApplied && isPossible:
		a.learn(o, &state, nowNs)
		if !o.resetIsDue(nowNs) {
			o.finish(OK)
		} else if a.config.Counter == Native {
			o.goTo(threeTotal)
		} else {
			a.reset(o)
		}
	case o.step == threeTotal && isApplied:
		o.total = outcome.Counter
		a.reset(o)
	case o.step == threeReset && isApplied:
		a.keepWritten(o, nowNs)
		o.finish(OK)
	case o.step == threeReset && a.hasLost(o, nowNs, outcome):
		o.finish(OK)
	default:
		a.tryAgainOrEnd(o, nowNs, outcome.Kind == Unknown, a.config.Retries)
	}
}

func (a *Agent) viewThreeState(nowNs int64, key uint64) (int64, bool, bool) {
	_, isChanging, isKnown := a.countedView(nowNs, key)
	if !isKnown {
		return 0, false, false
	}
	return a.find(nowNs, key).known.bucketAt(nowNs), isChanging, true
}
