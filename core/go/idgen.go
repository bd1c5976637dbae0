// SPDX-License-Identifier: MIT

package bucketing

import (
	"encoding/binary"
	"math"
)

// IDLock is how clients exclude each other.
type IDLock int

// A lock row of columns, or one with conditional updates.
const (
	LockColumns IDLock = iota
	LockLWT
)

// IDChoice is the stripe of an attempt.
type IDChoice int

// FixedStripe is the config's Stripe, RotateStripe the next one at each attempt, RandomStripe a drawn one.
const (
	FixedStripe IDChoice = iota
	RotateStripe
	RandomStripe
)

// IDBackoff is the wait after a failed attempt.
type IDBackoff int

// ConstantWait is the base, ExponentialWait doubles, RandomTimes is n times a drawn first wait.
const (
	ConstantWait IDBackoff = iota
	ExponentialWait
	RandomTimes
)

// IDConfig is as struct bk_idgen_config of idgen.h.
type IDConfig struct {
	ClientID                                    uint64
	Batch, Stripes, Stripe                      uint32
	Choice                                      IDChoice
	Lock                                        IDLock
	LockLastsNs, LeaseNs                        int64
	Backoff                                     IDBackoff
	BackoffBaseNs, BackoffCapNs, BackoffLimitNs int64
	Attempts, Retries                           uint32
}

// IDColumn is a column of a lock row.
type IDColumn struct {
	Client  uint64
	UntilNs int64
}

// IDActionKind is what a client asks its host to do.
type IDActionKind int

// The actions, as in idgen.h.
const (
	WriteColumn IDActionKind = iota
	ReadColumns
	DeleteColumns
	CASLock
	ReadLast
	WriteLast
	CASLast
	IDsReady
	IDsFailed
)

// IDAction is as struct bk_idgen_action of idgen.h.
type IDAction struct {
	Kind          IDActionKind
	Ticket        uint64
	Stripe        uint32
	Columns       []IDColumn
	IfAbsent      bool
	Expected, Set [2]int64
	IsRetry       bool
	Err           error // of IDsFailed
}

// IDOutcome is as struct bk_idgen_outcome of idgen.h.
type IDOutcome struct {
	Kind    OutcomeKind
	Found   bool
	Values  [2]int64
	Columns []IDColumn
}

type idStep int

const (
	idIdle idStep = iota
	idSleep
	idWriteColumn
	idReadColumns
	idLock
	idReadLast
	idStore
	idRelease
)

type idAfter int

const (
	thenIdle idAfter = iota
	thenWait
	thenFail
)

const racesMax, columnsMax = 8, 8

// IDs leases unique numbers. It is not safe for concurrent use.
type IDs struct {
	config                                           IDConfig
	next                                             int64
	inHand, actions, draws                           uint64
	step                                             idStep
	after                                            idAfter
	toAsk, waiting, wanted, readyDue, failDue, again bool
	err                                              error
	stripe, attempts, tries, races                   uint32
	begunNs, untilNs, wakeNs, firstWaitNs            int64
	lockAbsent, hasLast                              bool
	lock                                             [2]int64
	last, stored                                     int64
	columns                                          []IDColumn
}

func murmurOf(number uint64) uint64 {
	h1, _ := Murmur3(binary.LittleEndian.AppendUint64(nil, number), 0, false)
	return h1
}

func (c *IDConfig) check() error {
	isFixed := c.Choice != RandomStripe
	switch {
	case c.ClientID == 0:
		return ErrClient
	case c.Batch < 1:
		return ErrBatch
	case c.Stripes < 1 || c.Stripes > 65536 || c.Choice < FixedStripe || c.Choice > RandomStripe,
		isFixed && (c.Stripe < 1 || c.Stripe > c.Stripes):
		return ErrStripe
	case c.Lock < LockColumns || c.Lock > LockLWT:
		return ErrLock
	case c.LeaseNs <= 0 || c.LeaseNs >= c.LockLastsNs:
		return ErrLease
	case c.Backoff < ConstantWait || c.Backoff > RandomTimes || c.BackoffBaseNs <= 0,
		c.BackoffCapNs != 0 && c.BackoffCapNs < c.BackoffBaseNs,
		c.BackoffLimitNs != 0 && c.BackoffLimitNs < c.BackoffBaseNs:
		return ErrBackoff
	}
	return nil
}

// NewIDs makes a client that has no identifiers yet.
func NewIDs(config IDConfig) (*IDs, error) {
	if err := config.check(); err != nil {
		return nil, err
	}
	return &IDs{config: config, wakeNs: math.MaxInt64, untilNs: math.MinInt64, actions: murmurOf(config.ClientID) >> 1}, nil
}

func (c *IDs) draw(what uint64) uint64 {
	return murmurOf(murmurOf(c.config.ClientID) ^ (c.draws<<1 | what))
}

func addTime(nowNs, spanNs int64) int64 {
	if nowNs > math.MaxInt64-spanNs {
		return math.MaxInt64
	}
	return nowNs + spanNs
}

func (c *IDs) chooseStripe() uint32 {
	config := &c.config
	switch config.Choice {
	case RandomStripe:
		return uint32(c.draw(0)%uint64(config.Stripes)) + 1
	case RotateStripe:
		return uint32((uint64(config.Stripe-1)+c.draws%uint64(config.Stripes))%uint64(config.Stripes)) + 1
	}
	return config.Stripe
}

func (c *IDs) goTo(step idStep) { c.step, c.toAsk, c.again, c.tries = step, true, false, 0 }

func (c *IDs) attempt(nowNs int64) {
	c.stripe = c.chooseStripe()
	c.draws++
	if c.attempts < math.MaxUint32 {
		c.attempts++
	}
	c.races, c.wakeNs, c.begunNs = 0, math.MaxInt64, nowNs
	untilNs := addTime(nowNs, c.config.LockLastsNs)
	if untilNs <= c.untilNs { // it is a timestamp too, so it rises whatever the clock does
		untilNs = addTime(c.untilNs, 1)
	}
	c.untilNs, c.lock, c.lockAbsent = untilNs, [2]int64{}, false
	c.columns = []IDColumn{{c.config.ClientID, untilNs}}
	if c.config.Lock == LockLWT {
		c.goTo(idLock)
	} else {
		c.goTo(idWriteColumn)
	}
}

func (c *IDs) release(after idAfter) {
	c.after = after
	c.goTo(idRelease)
}

// look: the client has the lock if its column is the only one that is not stale.
func (c *IDs) look(outcome *IDOutcome) {
	isThere, isAlone := false, true
	for _, column := range outcome.Columns {
		switch {
		case column.Client == c.config.ClientID:
			isThere = column.UntilNs == c.untilNs
		case column.UntilNs >= c.begunNs:
			isAlone = false
		case len(c.columns) < columnsMax:
			c.columns = append(c.columns, column)
		}
	}
	if isThere && isAlone {
		c.goTo(idReadLast)
	} else {
		c.release(thenWait)
	}
}

func times(spanNs int64, factor uint64) int64 {
	if factor > uint64(math.MaxInt64/spanNs) {
		return math.MaxInt64
	}
	return spanNs * int64(factor)
}

func (c *IDs) wait() int64 {
	config := &c.config
	switch config.Backoff {
	case ConstantWait:
		return config.BackoffBaseNs
	case RandomTimes:
		if c.attempts == 1 || c.firstWaitNs == 0 {
			c.firstWaitNs = 1 + int64(c.draw(1)%uint64(config.BackoffBaseNs))
		}
		return times(c.firstWaitNs, uint64(c.attempts))
	}
	waitNs := times(config.BackoffBaseNs, 1<<min(c.attempts-1, 62))
	if config.BackoffCapNs != 0 {
		waitNs = min(waitNs, config.BackoffCapNs)
	}
	return waitNs
}

func (c *IDs) ended(err error) {
	c.step, c.err, c.attempts, c.wanted, c.failDue = idIdle, err, 0, false, true
}

func (c *IDs) backOff(nowNs int64) {
	waitNs := c.wait()
	if (c.config.Attempts != 0 && c.attempts >= c.config.Attempts) ||
		(c.config.BackoffLimitNs != 0 && waitNs > c.config.BackoffLimitNs) {
		c.ended(ErrContended)
		return
	}
	c.step, c.wakeNs = idSleep, addTime(nowNs, waitNs)
}

func (c *IDs) denied(nowNs int64, outcome *IDOutcome) {
	owner, untilNs := int64(0), int64(0)
	if outcome.Found {
		owner, untilNs = outcome.Values[0], outcome.Values[1]
	}
	isOwn := owner == int64(c.config.ClientID)
	if isOwn && untilNs == c.untilNs { // taken by an earlier try of unknown outcome
		c.goTo(idReadLast)
		return
	}
	isHeld := owner != 0 && !isOwn && untilNs >= c.begunNs
	if !isHeld {
		c.races++
	}
	if isHeld || c.races >= racesMax {
		c.backOff(nowNs)
		return
	}
	c.lock, c.lockAbsent = [2]int64{owner, untilNs}, !outcome.Found
	c.goTo(idLock)
}

func (c *IDs) released(nowNs int64) {
	c.step = idIdle
	switch {
	case c.after == thenWait:
		c.backOff(nowNs)
	case c.after == thenFail:
		c.ended(c.err)
	case c.wanted:
		c.attempt(nowNs)
	}
}

func (c *IDs) tryAgain() bool {
	if c.tries >= c.config.Retries {
		return false
	}
	c.tries++
	c.again, c.toAsk = true, true
	return true
}

func (c *IDs) fail(err error) {
	c.err = err
	c.release(thenFail)
}

// Take returns the next identifier; ErrEmpty: actions follow, until IDsReady or IDsFailed.
func (c *IDs) Take(nowNs int64) (int64, error) {
	if c.inHand > 0 {
		id := c.next
		if c.inHand--; c.inHand > 0 {
			c.next += int64(c.config.Stripes)
		}
		return id, nil
	}
	c.failDue = false
	if c.step == idIdle {
		c.attempt(nowNs)
	}
	c.wanted = true
	return 0, ErrEmpty
}

func (c *IDs) inLease(nowNs int64) bool {
	return nowNs >= c.begunNs && nowNs < addTime(c.begunNs, c.config.LeaseNs)
}

// plan plans the store of the new last identifier; the last batch of a stripe may be shorter.
func (c *IDs) plan(nowNs int64) {
	stripes, stripe := int64(c.config.Stripes), int64(c.stripe)
	last := stripe - stripes
	if c.hasLast {
		last = c.last
		if last < 1 || (last-stripe)%stripes != 0 {
			c.fail(ErrLast)
			return
		}
	}
	left := (math.MaxInt64 - max(last, 0)) / stripes
	if last < 0 {
		left = (math.MaxInt64-stripe)/stripes + 1
	}
	batch := min(left, int64(c.config.Batch))
	switch {
	case batch == 0:
		c.fail(ErrExhausted)
	case !c.inLease(nowNs):
		c.release(thenWait)
	default:
		c.stored = last + batch*stripes
		c.goTo(idStore)
	}
}

func (c *IDs) takeInHand() {
	stripes := int64(c.config.Stripes)
	c.next = int64(c.stripe)
	if c.hasLast {
		c.next = c.last + stripes
	}
	c.inHand = uint64((c.stored-c.next)/stripes) + 1
	c.attempts, c.wanted, c.readyDue = 0, false, true
}

func (c *IDs) reRead(nowNs int64, outcome *IDOutcome) {
	c.hasLast, c.last = outcome.Found, outcome.Values[0]
	c.plan(nowNs)
}

func (c *IDs) storeEnded(nowNs int64, outcome *IDOutcome) {
	isFenced := c.config.Lock == LockLWT
	switch {
	case outcome.Kind == Applied && (isFenced || c.inLease(nowNs)):
		c.takeInHand()
		c.release(thenIdle)
	case outcome.Kind == NotApplied && isFenced: // those identifiers are another client's, or lost
		c.reRead(nowNs, outcome)
	case !c.inLease(nowNs):
		c.release(thenWait)
	case isFenced && outcome.Kind == Unknown:
		c.goTo(idReadLast)
	case !c.tryAgain():
		c.release(thenWait)
	}
}

// Report reports the outcome of the action with this ticket.
func (c *IDs) Report(nowNs int64, ticket uint64, outcome *IDOutcome) error {
	if !c.waiting || ticket != c.actions {
		return ErrOperation
	}
	if outcome.Kind < Unknown || outcome.Kind > Refused {
		return ErrOutcome
	}
	c.waiting = false
	isApplied := outcome.Kind == Applied
	switch {
	case c.step == idLock && outcome.Kind == NotApplied:
		c.denied(nowNs, outcome)
	case c.step == idWriteColumn && isApplied:
		c.goTo(idReadColumns)
	case c.step == idReadColumns && isApplied:
		c.look(outcome)
	case c.step == idLock && isApplied:
		c.goTo(idReadLast)
	case c.step == idReadLast && isApplied:
		c.reRead(nowNs, outcome)
	case c.step == idStore:
		c.storeEnded(nowNs, outcome)
	case c.step == idRelease:
		if isApplied || outcome.Kind == NotApplied || !c.tryAgain() {
			c.released(nowNs)
		}
	case c.step == idReadLast && !c.inLease(nowNs), !c.tryAgain():
		c.release(thenWait)
	}
	return nil
}

// Next returns the next action; false when there is none.
func (c *IDs) Next() (IDAction, bool) {
	out := IDAction{Stripe: c.stripe}
	switch {
	case c.readyDue || c.failDue:
		out.Kind = IDsReady
		if !c.readyDue {
			out.Kind, out.Err = IDsFailed, c.err
		}
		c.readyDue, c.failDue = false, false
		return out, true
	case !c.toAsk:
		return IDAction{}, false
	}
	c.toAsk, c.waiting = false, true
	c.actions++
	out.Ticket, out.IsRetry = c.actions, c.again
	isRelease, owner := c.step == idRelease, int64(c.config.ClientID)
	switch {
	case c.step == idReadLast:
		out.Kind = ReadLast
	case c.step == idStore:
		out.Kind, out.Set[0] = WriteLast, c.stored
		if c.config.Lock == LockLWT {
			out.Kind, out.IfAbsent = CASLast, !c.hasLast
		}
		if c.hasLast {
			out.Expected[0] = c.last
		}
	case c.config.Lock == LockLWT && isRelease:
		out.Kind, out.Expected = CASLock, [2]int64{owner, c.untilNs}
	case c.config.Lock == LockLWT:
		out.Kind, out.IfAbsent, out.Expected, out.Set = CASLock, c.lockAbsent, c.lock, [2]int64{owner, c.untilNs}
	case isRelease:
		out.Kind, out.Columns = DeleteColumns, c.columns
	case c.step == idWriteColumn:
		out.Kind, out.Columns = WriteColumn, c.columns
	default:
		out.Kind = ReadColumns
	}
	return out, true
}

// Deadline is when Tick must be called; math.MaxInt64: the client waits for no time.
func (c *IDs) Deadline() int64 { return c.wakeNs }

// Tick begins the next attempt if its wait is over.
func (c *IDs) Tick(nowNs int64) {
	if c.step == idSleep && nowNs >= c.wakeNs {
		c.attempt(nowNs)
	}
}

// InHand is the number of identifiers that are left.
func (c *IDs) InHand() uint64 { return c.inHand }
