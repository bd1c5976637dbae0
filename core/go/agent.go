// SPDX-License-Identifier: MIT

package bucketing

import (
	"math"
	"slices"
)

// Coordination is how agents agree on the next bucket of a key that fires.
type Coordination int

// The coordinations, as in agent.h.
const (
	Single Coordination = iota
	Locked
	ThreeState
	Guarded
)

// Counter is how a counter is kept.
type Counter int

// RMW reads and writes back, LWT compares and sets, Native is a counter column.
const (
	RMW Counter = iota
	LWT
	Native
)

// Source is where a row of Count has its number from, or how rows are counted.
type Source int

// The sources, as in agent.h.
const (
	FromRow Source = iota
	FromCounter
	FromLWT
	FromLease
	Incremental
	Scan
	Memory
)

// The columns of a state, of a lock, of the place of a row, and their number.
const (
	Bucket     = 0
	Counted    = 1 // the counter, or the numbers given so far
	LastChange = 2
	NextChange = 3
	columnsAll = 15

	numberFirst                               = LastChange
	sumTime, sumID                            = LastChange, NextChange
	guardedBefore, guardedStart, guardedUntil = 1, 2, 3
	lockOwner, lockUntil                      = 0, 1
)

// ActionKind is what an agent asks its host to do.
type ActionKind int

// The actions, as in agent.h.
const (
	PutRow ActionKind = iota
	ReadState
	WriteState
	CASState
	AddCounter
	ReadCounter
	ReadStart
	WriteStart
	CASLockRow
	CountRows
	ReadRows
	Ack
	Done
)

// OutcomeKind is what became of an action; the zero value acknowledges nothing.
type OutcomeKind int

// The kinds of outcomes.
const (
	Unknown OutcomeKind = iota
	Applied
	NotApplied
	Refused
)

// Status is how an operation ended.
type Status int

// The statuses.
const (
	OK Status = iota
	StatusRefused
	StatusUnknown
	StatusTooLong
)

// Columns are those of a state row.
type Columns [4]int64

// Config is as struct bk_agent_config of agent.h; History may be nil.
type Config struct {
	Strategy                            Strategy
	History                             *History
	Coordination                        Coordination
	Counter                             Counter
	Source                              Source
	LeaseRows, EveryRows                uint64
	EveryNs, LeadNs, CacheTTLNs         int64
	CacheEntries, Operations            uint32
	Retries, CounterRetries             uint32
	RetryBackoffNs                      int64
	LockLastsNs, LockBackoffNs, GrantNs int64
	RememberKeys                        uint32
	LateNs, ClockBoundNs                int64
	AgentID                             uint64
}

// DefaultConfig has the values of bk_agent_config_default().
func DefaultConfig(strategy Strategy) Config {
	const ms, second = 1_000_000, 1_000_000_000
	return Config{Strategy: strategy, LeaseRows: 100, EveryRows: 1, LeadNs: 10 * second, CacheTTLNs: 5 * second,
		CacheEntries: 100000, Operations: 64, Retries: 3, RetryBackoffNs: 10 * ms, LockLastsNs: 5 * second,
		LockBackoffNs: 100 * ms, GrantNs: 10 * second, LateNs: 60 * second}
}

// Action is as struct bk_action of agent.h.
type Action struct {
	Kind                                         ActionKind
	Operation                                    uint32
	Ticket, Key                                  uint64
	Bucket                                       int64
	Row                                          Row
	IsRetry, Serial                              bool
	IfNullMask, Mask, IfMask                     uint32
	Amount                                       int64
	Columns, Expected                            Columns
	Step                                         Step
	Status                                       Status
	Fired, Counted                               bool
	RowsFound, PartitionsAsked, PartitionsSpared uint64
	Order                                        Order
}

// Outcome is as struct bk_outcome of agent.h.
type Outcome struct {
	Kind     OutcomeKind
	Mask     uint32
	Columns  Columns
	Counter  int64
	Rows     uint64
	SawOlder bool
	Empty    uint64
}

// Stats is as struct bk_agent_stats of agent.h.
type Stats struct {
	RowsStored, RowsRefused, RowsUnknown, ReadsComplete, ReadsIncomplete uint64
	CacheHits, Rolls, Retries, Unknown                                   uint64
	UnderWay, Parked, Asleep                                             uint32
	OldestNs                                                             int64
}

const (
	ways                 = 4
	bucketLast           = math.MaxInt64 - 1
	weightMax            = math.MaxInt64 - 1
	triesMax             = 64 // lost conditional updates
	never, lastNs  int64 = math.MaxInt64, math.MaxInt64 - 1
	grantDoublings       = 3
)

// known is a state row at learnedNs; no mask: the key has none.
type known struct {
	mask      uint32
	columns   Columns
	learnedNs int64
}

// filling maps numbers to buckets: number first is the first of bucket.
type filling struct{ bucket, first, rows int64 }

type operation struct {
	step                                                                 step
	isRead, ackDue, isRetry, fired, counted, wasUnknown                  bool
	isListed, isOutdated, adds, isPlaced, isNewKey, startIsKept, isInUse bool
	tries, lost, recounts, waits                                         uint32
	ticket, key                                                          uint64
	bucket                                                               int64
	row                                                                  Row
	weight, begunNs, askedNs, wakeNs, total, endNs                       int64
	known, next                                                          known
	filling                                                              filling
	lock                                                                 [2]int64
	status                                                               Status
	query                                                                Query
	reader                                                               HistoryReader
}

type memory struct {
	key, used uint64
	empties   Empties
}

// local is what only this agent knows of a key.
type local struct {
	next, end         int64
	filling           filling
	rows              uint64
	bucket, countedNs int64
	isCounted, isCold bool
}

type entry struct {
	isUsed bool
	key    uint64
	known  known
	local  local
}

// Agent routes the rows of many keys. It has no clock and no connection: its host passes times and outcomes, and performs
// its actions. It is not safe for concurrent use.
type Agent struct {
	config     Config
	history    *History
	protocol   *protocol
	ready      []uint32
	free       []uint32
	operations []operation
	met        int
	cache      []entry
	memory     []memory
	wakeNs     int64
	memoryUses uint64
	actions    uint64
	stats      Stats
}

type step int

const (
	stepFree step = iota
	stepParked
	stepLook
	stepPut
	stepRows
	stepDone
	stepOwn
)

// how an own step reads or writes the state: strictly is at SERIAL, or conditionally.
type how int

const (
	plain how = iota
	strict
	strictByCounter
	strictBySource
)

type stepAction struct {
	kind ActionKind
	how  how
}

// protocol is how the rows of a key find their bucket, and how agents agree on the next one; see docs/porting.md.
type protocol struct {
	write, read, route, placed func(*Agent, *operation, int64)
	actions                    []stepAction
	fill                       func(*Agent, *operation, *Action)
	outcome                    func(*Agent, *operation, int64, *Outcome)
	asks                       func(*operation) bool
	isServed                   func(*Agent, *operation, int64) bool
	resume                     func(*Agent, *operation, int64)
	isLocking                  func(*operation) bool
	count, written             func(*Agent, *operation, int64)
	view                       func(*Agent, int64, uint64) (int64, bool, bool)
}

func (c *Config) check() error {
	if err := c.Strategy.Check(); err != nil {
		return err
	}
	isCount, fires := c.Strategy.Kind == Count, c.Strategy.fires()
	counts := c.Source == Incremental || c.Source == Scan
	switch {
	case c.Strategy.MaxAgeNs != 0 && isCount:
		return ErrAge
	case c.Coordination < Single || c.Coordination > Guarded || c.Counter < RMW || c.Counter > Native,
		!fires && c.Coordination != Single:
		return ErrCoordination
	case c.History != nil && c.historyFits(c.History) != nil:
		return c.historyFits(c.History)
	case c.Source < FromRow || c.Source > Memory || (!isCount && c.Source != FromRow),
		counts && (c.EveryNs < 0 || (c.EveryRows == 0 && c.EveryNs == 0)),
		c.Source == FromLease && (c.LeaseRows < 1 || c.LeaseRows >= math.MaxInt64):
		return ErrSource
	case c.History == nil && !c.shardsFit(&c.Strategy):
		return ErrShards
	case c.Coordination == ThreeState && c.LeadNs < 0:
		return ErrLead
	case c.CacheEntries < 1 || c.CacheTTLNs < 0:
		return ErrCache
	case c.Operations < 1 || c.Operations > 65535:
		return ErrOperations
	case c.Coordination == Locked && (c.AgentID == 0 || c.LockLastsNs <= 0 || c.LockBackoffNs <= 0):
		return ErrLock
	case c.Coordination == Guarded && (c.GrantNs <= 0 || c.ClockBoundNs < 0 || c.Counter != Native):
		return ErrGrant
	case c.LateNs < 0:
		return ErrRange
	case c.RetryBackoffNs < 0:
		return ErrBackoff
	}
	return nil
}

// shardsFit: the rows of a bucket are counted with one request, so they are in one partition.
func (c *Config) shardsFit(s *Strategy) bool {
	return s.Kind == Time || s.Shards < 2 || c.Source < Incremental
}

func (c *Config) historyFits(h *History) error {
	for i := range h.eras {
		if h.eras[i].Strategy.Kind != c.Strategy.Kind {
			return ErrEraKind
		}
	}
	if !c.shardsFit(&h.eras[0].Strategy) {
		return ErrShards
	}
	hasState := c.Source != FromRow && c.Source != FromCounter
	if c.Strategy.Kind == Count && len(h.eras) > 1 && !hasState {
		return ErrEraKind
	}
	return nil
}

// NewAgent makes an agent that knows no key.
func NewAgent(config Config) (*Agent, error) {
	if err := config.check(); err != nil {
		return nil, err
	}
	a := &Agent{config: config, history: config.History, wakeNs: never, actions: murmurOf(config.AgentID) >> 17}
	if a.history == nil {
		history, err := NewHistory(config.Strategy)
		if err != nil {
			return nil, err
		}
		a.history = history
	}
	a.config.Strategy = a.history.eras[len(a.history.eras)-1].Strategy
	switch {
	case config.Strategy.fires():
		a.protocol = []*protocol{&singleProtocol, &lockedProtocol, &threeStateProtocol, &guardedProtocol}[config.Coordination]
	default:
		a.protocol = []*protocol{&routedProtocol, &numberProtocol, &numberProtocol, &leaseProtocol, &sumProtocol, &sumProtocol,
			&memoryProtocol}[config.Source]
	}
	a.operations = make([]operation, config.Operations)
	for i := config.Operations; i > 0; i-- {
		a.free = append(a.free, i-1)
	}
	a.cache = make([]entry, (config.CacheEntries+ways-1)/ways*ways)
	if config.Strategy.Kind == Time {
		a.memory = make([]memory, (config.RememberKeys+ways-1)/ways*ways)
	}
	return a, nil
}

// setAt is the first entry of the key's set, of four, by Fibonacci hashing.
func setAt(key uint64, entries int) int {
	return int(key*0x9e3779b97f4a7c15>>32*uint64(entries/ways)>>32) * ways
}

// addSpan is now + times x span, at most lastNs.
func addSpan(nowNs int64, times uint64, spanNs int64) int64 {
	if spanNs == 0 {
		return nowNs
	}
	if times > uint64(lastNs/spanNs) || nowNs > lastNs-int64(times)*spanNs {
		return lastNs
	}
	return nowNs + int64(times)*spanNs
}

// spread is a pseudorandom wait from 0.5 to 1.5 times the mean.
func (a *Agent) spread(meanNs int64, nth uint32) int64 {
	mean := uint64(meanNs)
	return int64(min(mean/2+murmurOf(a.config.AgentID^uint64(nth)<<32)%(mean+1), math.MaxInt64))
}

// peek finds a key's state of any age, and find one that is not older than the time to live.
func (a *Agent) peek(key uint64) *entry {
	set := a.cache[setAt(key, len(a.cache)):][:ways]
	for i := range set {
		if set[i].isUsed && set[i].key == key {
			return &set[i]
		}
	}
	return nil
}

func (a *Agent) find(nowNs int64, key uint64) *entry {
	one := a.peek(key)
	if one == nil || nowNs < one.known.learnedNs || uint64(nowNs)-uint64(one.known.learnedNs) >= uint64(a.config.CacheTTLNs) {
		return nil
	}
	return one
}

// store replaces an unused entry, one from the future, or the oldest.
func (a *Agent) store(nowNs int64, key uint64, state *known) {
	one := a.peek(key)
	if one == nil {
		worth := func(e *entry) int64 {
			switch {
			case !e.isUsed:
				return math.MinInt64
			case e.known.learnedNs > nowNs:
				return math.MinInt64 + 1
			}
			return e.known.learnedNs
		}
		set := a.cache[setAt(key, len(a.cache)):][:ways]
		one = &set[0]
		for i := range set[1:] {
			if worth(&set[i+1]) < worth(one) {
				one = &set[i+1]
			}
		}
		one.local = local{isCold: one.isUsed}
	}
	one.isUsed, one.key, one.known = true, key, *state
}

func (a *Agent) forget(key uint64) {
	if one := a.peek(key); one != nil {
		one.isUsed = false
	}
}

// Change replaces the history.
func (a *Agent) Change(h *History) error {
	if err := a.config.historyFits(h); err != nil {
		return err
	}
	a.history, a.config.Strategy = h, h.eras[len(h.eras)-1].Strategy
	clear(a.memory)
	for i := range a.operations[:a.met] {
		a.operations[i].isOutdated = true
	}
	return nil
}

func (a *Agent) settings(timeNs int64) *Strategy {
	return &a.history.eras[a.history.EraAt(timeNs)].Strategy
}

// lineAbove is the first line of a greatest age after a time, and lineAt the last one at or before it.
func (a *Agent) lineAbove(timeNs int64) int64 {
	eras := a.history.eras
	for era := a.history.EraAt(timeNs); era < len(eras); era++ {
		current := &eras[era]
		if current.Strategy.MaxAgeNs == 0 {
			continue
		}
		at := timeNs
		if current.FromNs > timeNs {
			at = current.FromNs - 1
		}
		if lineNs := fixedWindow(current.Strategy.MaxAgeNs, 0, at).untilNs; lineNs < a.history.untilOf(era) || era+1 == len(eras) {
			return lineNs
		}
	}
	return never
}

func (a *Agent) lineAt(timeNs int64) int64 {
	for era := a.history.EraAt(timeNs); ; era-- {
		current, lineNs := &a.history.eras[era], int64(math.MinInt64)
		if current.Strategy.MaxAgeNs != 0 {
			lineNs = fixedWindow(current.Strategy.MaxAgeNs, 0, timeNs).fromNs
		}
		if lineNs >= current.FromNs {
			return lineNs
		}
		timeNs = current.FromNs - 1
	}
}

// starts are the starts of buckets that are exact.
func (a *Agent) starts(state *known) (out []BucketStart) {
	add := func(bucket, startNs int64) {
		if bucket >= 1 {
			out = append(out, BucketStart{bucket, startNs})
		}
	}
	columns, bucket := &state.columns, state.columns[Bucket]
	if state.mask == 0 || !a.config.Strategy.fires() {
		return nil
	}
	switch {
	case a.config.Coordination == Guarded:
		add(bucket-1, columns[guardedBefore])
		add(bucket, columns[guardedStart])
	case a.config.Coordination == ThreeState && columns[NextChange] != 0:
		add(bucket-1, columns[LastChange])
		add(bucket, columns[NextChange])
	case a.config.Coordination == ThreeState:
		add(bucket, columns[LastChange])
	}
	return out
}

func (a *Agent) memoryFind(key uint64) *memory {
	if len(a.memory) == 0 {
		return nil
	}
	set := a.memory[setAt(key, len(a.memory)):][:ways]
	for i := range set {
		if set[i].used != 0 && set[i].key == key {
			return &set[i]
		}
	}
	return nil
}

func (a *Agent) askNextRows(o *operation) {
	var empties *Empties
	if one := a.memoryFind(o.key); one != nil && !o.isOutdated {
		empties = &one.empties
	}
	if _, ok := o.reader.NextOf(a.history, empties); ok {
		o.goTo(stepRows)
	} else if o.reader.Err == nil {
		o.finish(OK)
	} else {
		o.finish(StatusTooLong)
	}
}

func (a *Agent) startReader(o *operation, bucket int64) {
	state, query := HistoryState{Key: KeyState{Bucket: bucket}}, o.query
	query.Starts = a.starts(&o.known)
	reader, err := a.history.Read(&state, &query)
	if err != nil { // racing writers may make starts that contradict each other
		query.Starts = nil
		if reader, err = a.history.Read(&state, &query); err != nil {
			o.reader = HistoryReader{}
			o.finish(StatusRefused)
			return
		}
	}
	o.reader = reader
	a.askNextRows(o)
}

// learnEmpties: a window counts as ended if it had ended when it was queried.
func (a *Agent) learnEmpties(o *operation, empty uint64) {
	if len(a.memory) == 0 || len(a.history.eras) > 1 || o.isOutdated {
		return
	}
	one := a.memoryFind(o.key)
	if one == nil {
		set := a.memory[setAt(o.key, len(a.memory)):][:ways]
		one = &set[0]
		for i := range set[1:] {
			if set[i+1].used < one.used {
				one = &set[i+1]
			}
		}
		*one = memory{key: o.key}
	}
	a.memoryUses++
	one.used = a.memoryUses
	shards, count := a.config.Strategy.shards(), o.reader.next-o.reader.low+1
	all := uint64(math.MaxUint64) >> (64 - shards)
	for i := int64(0); i+shards <= min(count, 64); i += shards {
		if bucket := o.reader.low + i; empty>>i&all == all {
			_ = one.empties.Learn(&a.config.Strategy, &o.reader.Reader, o.askedNs, a.config.LateNs, bucket, bucket+shards-1)
		}
	}
}

func (a *Agent) forgetEmpty(key uint64, bucket int64) {
	if one := a.memoryFind(key); one != nil {
		one.empties.Forget(bucket)
	}
	for i := range a.operations[:a.met] { // a read under way may miss the row
		if o := &a.operations[i]; o.isRead && o.ticket != 0 && o.key == key {
			o.isOutdated = true
		}
	}
}

func (a *Agent) begin(nowNs int64, key uint64) (uint32, *operation) {
	if len(a.free) == 0 {
		return 0, nil
	}
	number := a.free[len(a.free)-1]
	a.free = a.free[:len(a.free)-1]
	a.met = max(a.met, int(number)+1)
	o := &a.operations[number]
	*o = operation{key: key, begunNs: nowNs, askedNs: nowNs, wakeNs: never}
	return number, o
}

// after queues an operation after its step changed, unless it sleeps or is parked.
func (a *Agent) after(number uint32, nowNs int64) {
	o := &a.operations[number]
	if a.protocol.asks != nil || a.protocol.isLocking != nil {
		o.isListed = o.step == stepParked || (a.protocol.isLocking != nil && a.protocol.isLocking(o)) || a.asks(o)
	}
	if o.wakeNs != never {
		a.wakeNs = min(a.wakeNs, o.wakeNs)
	} else if o.step != stepParked {
		o.askedNs = nowNs
		a.ready = append(a.ready, number)
	}
}

// Write begins to store a row, and returns the operation's number.
func (a *Agent) Write(nowNs int64, key uint64, row Row) (uint32, error) {
	number, o := a.begin(nowNs, key)
	if o == nil {
		return 0, ErrBusy
	}
	o.row = row
	a.protocol.write(a, o, nowNs)
	if o.step == stepPut {
		a.stats.CacheHits++
	}
	a.after(number, nowNs)
	return number, nil
}

// Read begins a read; newestSequence is that of the key's newest row, for FromRow.
func (a *Agent) Read(nowNs int64, key, newestSequence uint64, query Query) (uint32, error) {
	query.NowNs, query.Starts = nowNs, nil
	if _, err := a.history.Read(&HistoryState{}, &query); err != nil {
		return 0, err
	}
	number, o := a.begin(nowNs, key)
	if o == nil {
		return 0, ErrBusy
	}
	o.isRead, o.query, o.row = true, query, Row{TimeNs: nowNs, Sequence: newestSequence}
	a.protocol.read(a, o, nowNs)
	a.after(number, nowNs)
	return number, nil
}

func (a *Agent) asks(o *operation) bool { return a.protocol.asks != nil && a.protocol.asks(o) }

// others visits the listed operations on the key, in the order of their numbers, until visit returns false.
func (a *Agent) others(key uint64, visit func(uint32, *operation) bool) {
	for i := range a.operations[:a.met] {
		if o := &a.operations[i]; o.isListed && o.key == key && !visit(uint32(i), o) {
			return
		}
	}
}

// isTaken tells whether another operation of the key asks for all of them, and isLocked whether one uses its lock row.
func (a *Agent) isTaken(o *operation) (found bool) {
	a.others(o.key, func(_ uint32, other *operation) bool {
		found = other != o && a.asks(other)
		return !found
	})
	return found
}

func (a *Agent) isLocked(o *operation) (found bool) {
	a.others(o.key, func(_ uint32, other *operation) bool {
		found = other != o && a.protocol.isLocking(other)
		return !found
	})
	return found
}

// Report reports the outcome of the action with this ticket.
func (a *Agent) Report(nowNs int64, ticket uint64, outcome *Outcome) error {
	number := int(ticket&0xffff) - 1
	if number < 0 || number >= a.met || a.operations[number].ticket != ticket {
		return ErrOperation
	}
	if outcome.Kind < Unknown || outcome.Kind > Refused {
		return ErrOutcome
	}
	o := &a.operations[number]
	if o.step >= stepOwn && outcome.Kind == Applied {
		out := Action{}
		a.fill(o, &out)
		if (out.Kind == WriteState || out.Kind == CASState) && out.Mask&1 != 0 && out.Columns[Bucket] > o.known.columns[Bucket] {
			a.stats.Rolls++
		}
	}
	if outcome.Kind == Unknown {
		a.stats.Unknown++
	}
	asked := a.asks(o)
	learns := asked || o.step == stepLook
	o.ticket = 0
	a.take(o, nowNs, outcome)
	a.after(uint32(number), nowNs)
	if a.protocol.asks == nil || !learns {
		return nil
	}
	// Parked operations resume that what is known now serves; if none asks any more, also the first that has to ask.
	isTaken := !asked || a.asks(o)
	a.others(o.key, func(i uint32, other *operation) bool {
		if other.step == stepParked && (!isTaken || a.protocol.isServed(a, other, nowNs)) {
			a.protocol.resume(a, other, nowNs)
			a.after(i, nowNs)
			isTaken = isTaken || a.protocol.asks(other)
		}
		return true
	})
	return nil
}

// Next returns the next action; false when there is none.
func (a *Agent) Next() (Action, bool) {
	if len(a.ready) == 0 {
		return Action{}, false
	}
	number := a.ready[0]
	o := &a.operations[number]
	out := Action{Operation: number, Key: o.key, Bucket: o.bucket, Row: o.row}
	if s := &a.config.Strategy; s.Kind != Time && s.Shards > 1 && (o.ackDue || o.step == stepPut) {
		to := Placement{Bucket: min(o.bucket, s.lastBucket())}
		s.divide(&o.row, &to)
		out.Bucket = to.Bucket
	}
	if o.ackDue {
		o.ackDue = false
		out.Kind = Ack
		return out, true
	}
	a.ready = slices.Delete(a.ready, 0, 1)
	if o.step == stepDone {
		a.end(number, o, &out)
		return out, true
	}
	a.actions++
	out.Ticket = a.actions<<16 | uint64(number+1)
	o.ticket = out.Ticket
	if o.isRetry {
		a.stats.Retries++
	}
	a.fill(o, &out)
	return out, true
}

func (a *Agent) end(number uint32, o *operation, out *Action) {
	out.Kind, out.Status, out.Fired, out.Counted = Done, o.status, o.fired, o.counted
	o.step = stepFree
	a.free = append(a.free, number)
	switch {
	case o.isRead:
		out.RowsFound, out.PartitionsAsked = o.reader.AllRowsFound(), o.reader.AllPartitionsAsked()
		out.PartitionsSpared, out.Order = o.reader.PartitionsSpared, o.reader.Order
		if o.status == OK {
			a.stats.ReadsComplete++
		} else {
			a.stats.ReadsIncomplete++
		}
	case o.status == OK:
		a.stats.RowsStored++
	case o.status == StatusRefused:
		a.stats.RowsRefused++
	default:
		a.stats.RowsUnknown++
	}
}

// Deadline is when Tick must be called; math.MaxInt64: the agent waits for no time.
func (a *Agent) Deadline() int64 { return a.wakeNs }

// Tick wakes the operations whose wait is over.
func (a *Agent) Tick(nowNs int64) {
	if nowNs < a.wakeNs {
		return
	}
	a.wakeNs = never
	for i := range a.operations[:a.met] {
		o := &a.operations[i]
		if o.step == stepFree || o.wakeNs == never {
			continue
		}
		if o.wakeNs <= nowNs {
			o.wakeNs = never
		}
		a.after(uint32(i), nowNs)
	}
}

// View returns the bucket of a row of the present, and whether a change is under way; false if the agent does not know.
func (a *Agent) View(nowNs int64, key uint64) (bucket int64, isChanging, isKnown bool) {
	if a.protocol.view == nil {
		return 0, false, false
	}
	return a.protocol.view(a, nowNs, key)
}

// Stats returns the counters, and the gauges of the present.
func (a *Agent) Stats(nowNs int64) Stats {
	out, oldestNs := a.stats, nowNs
	out.UnderWay = a.config.Operations - uint32(len(a.free))
	for i := range a.operations[:a.met] {
		o := &a.operations[i]
		if o.step == stepFree {
			continue
		}
		if o.step == stepParked {
			out.Parked++
		}
		if o.wakeNs != never {
			out.Asleep++
		}
		oldestNs = min(oldestNs, o.begunNs)
	}
	out.OldestNs = int64(min(uint64(nowNs)-uint64(oldestNs), math.MaxInt64))
	return out
}

func (o *operation) goTo(next step) { o.step, o.tries, o.isRetry = next, 0, false }

func (o *operation) finish(status Status) {
	o.goTo(stepDone)
	o.status = status
}

// tryAgain repeats the action, after a pause if it was refused; false: no retries are left.
func (a *Agent) tryAgain(o *operation, nowNs int64, isUnknown bool, retries uint32) bool {
	if o.tries >= retries {
		return false
	}
	o.tries++
	o.isRetry = true
	if !isUnknown && a.config.RetryBackoffNs > 0 {
		o.wakeNs = addSpan(nowNs, uint64(o.tries), a.config.RetryBackoffNs)
	}
	return true
}

// tryAgainOrEnd ends an operation whose row is stored in any case.
func (a *Agent) tryAgainOrEnd(o *operation, nowNs int64, isUnknown bool, retries uint32) {
	if !a.tryAgain(o, nowNs, isUnknown, retries) {
		a.forget(o.key)
		o.finish(OK)
	}
}

// readKnown takes the state from an outcome; false if it cannot have been stored.
func readKnown(outcome *Outcome, askedNs int64) (known, bool) {
	out := known{mask: outcome.Mask & columnsAll, learnedNs: askedNs}
	for i := range out.columns {
		if out.mask>>i&1 != 0 {
			out.columns[i] = outcome.Columns[i]
		}
	}
	return out, out.mask == 0 || (out.columns[Bucket] >= 0 && out.columns[Bucket] <= bucketLast && out.columns[Counted] < never)
}

// learn keeps the state, and stores it in the cache unless that has a higher bucket.
func (a *Agent) learn(o *operation, state *known, nowNs int64) {
	o.known = *state
	if cached := a.find(nowNs, o.key); cached == nil || cached.known.columns[Bucket] <= state.columns[Bucket] {
		a.store(nowNs, o.key, state)
	}
}

// stored is the complete state that the step has stored.
func (o *operation) stored() known { return known{columnsAll, o.next.columns, o.askedNs} }

func (o *operation) planRaise(nowNs int64) {
	o.next = o.known
	o.next.columns[Bucket]++
	o.next.columns[LastChange] = nowNs
	o.next.mask = 1<<Bucket | 1<<LastChange
}

// writtenMask: a new row gets all columns.
func (o *operation) writtenMask() uint32 {
	if o.known.mask == 0 {
		return columnsAll
	}
	return o.next.mask
}

func fillWrite(o *operation, isConditional bool, out *Action) {
	out.Kind, out.Mask, out.Columns = WriteState, o.writtenMask(), o.next.columns
	if !isConditional {
		return
	}
	out.Kind, out.Expected = CASState, o.known.columns
	if o.known.mask != 0 { // a condition names all columns, so that a failure returns them
		out.IfMask, out.IfNullMask = columnsAll, columnsAll&^o.known.mask
		if out.IfNullMask != 0 {
			out.Mask = columnsAll
		}
	}
}

func (a *Agent) fill(o *operation, out *Action) {
	out.IsRetry = o.isRetry
	switch o.step {
	case stepLook:
		out.Kind = ReadState
	case stepPut:
		out.Kind = PutRow
	case stepRows:
		out.Kind = ReadRows
		out.Step, _ = o.reader.Reader.Next(nil)
	}
	if o.step < stepOwn {
		return
	}
	action := a.protocol.actions[o.step-stepOwn]
	isStrict := action.how == strict || (action.how == strictByCounter && a.config.Counter == LWT) ||
		(action.how == strictBySource && a.config.Source == Incremental)
	out.Kind = action.kind
	switch action.kind {
	case ReadState:
		out.Serial = isStrict
	case WriteState:
		fillWrite(o, isStrict, out)
	case AddCounter:
		out.Amount = max(o.weight, 1)
	case CountRows:
		out.Bucket = o.known.columns[Bucket]
	}
	if a.protocol.fill != nil {
		a.protocol.fill(a, o, out)
	}
}

func (a *Agent) take(o *operation, nowNs int64, outcome *Outcome) {
	isApplied, isUnknown := outcome.Kind == Applied, outcome.Kind == Unknown
	switch o.step {
	case stepLook:
		if state, isPossible := readKnown(outcome, o.askedNs); isApplied && isPossible {
			a.learn(o, &state, nowNs)
			if o.isRead {
				a.startReader(o, state.columns[Bucket])
			} else {
				a.protocol.route(a, o, nowNs)
			}
		} else if !a.tryAgain(o, nowNs, isUnknown, a.config.Retries) {
			o.finish(StatusRefused)
		}
	case stepPut:
		a.put(o, nowNs, outcome)
	case stepRows:
		if isApplied {
			if outcome.Empty != 0 {
				a.learnEmpties(o, outcome.Empty)
			}
			o.reader.Found(outcome.Rows, outcome.SawOlder)
			a.askNextRows(o)
		} else if !a.tryAgain(o, nowNs, isUnknown, a.config.Retries) {
			o.finish(StatusUnknown)
		}
	default:
		a.protocol.outcome(a, o, nowNs, outcome)
	}
}

func (a *Agent) put(o *operation, nowNs int64, outcome *Outcome) {
	if outcome.Kind == Applied {
		o.ackDue, o.isPlaced = true, true
		o.finish(OK)
		if len(a.memory) != 0 {
			a.forgetEmpty(o.key, o.bucket)
		}
		if a.protocol.placed != nil {
			a.protocol.placed(a, o, nowNs)
		}
		return
	}
	isUnknown := outcome.Kind == Unknown
	o.wasUnknown = o.wasUnknown || isUnknown
	if a.tryAgain(o, nowNs, isUnknown, a.config.Retries) {
		return
	}
	if o.wasUnknown {
		o.finish(StatusUnknown)
	} else {
		o.finish(StatusRefused)
	}
}

// findBucket routes by the cached state, or reads the state first.
func (a *Agent) findBucket(o *operation, nowNs int64) {
	if cached := a.find(nowNs, o.key); cached != nil {
		o.known = cached.known
		a.protocol.route(a, o, nowNs)
	} else {
		o.goTo(stepLook)
	}
}

func (a *Agent) routeNewest(o *operation, _ int64) {
	o.bucket = o.known.columns[Bucket]
	o.goTo(stepPut)
}

func (a *Agent) look(o *operation, _ int64) { o.goTo(stepLook) }

func (a *Agent) weigh(o *operation) {
	weight := a.settings(o.row.TimeNs).Weight(&o.row)
	o.weight, o.fired = int64(min(weight, weightMax)), weight > 0
}

func (a *Agent) isFull(o *operation, count int64) bool {
	return count > 0 && uint64(count) >= a.settings(o.row.TimeNs).threshold()
}

// routedProtocol: the row alone determines its bucket.
var routedProtocol = protocol{write: (*Agent).writeRouted, read: (*Agent).readRouted, route: (*Agent).writeRouted}

func (a *Agent) writeRouted(o *operation, _ int64) {
	to, _ := a.history.Route(&HistoryState{}, &o.row)
	if a.config.Strategy.Kind == Count { // of one era; divided when it is put
		to, _ = a.config.Strategy.routeWhole(&KeyState{}, &o.row)
	}
	o.bucket = to.Bucket
	o.goTo(stepPut)
}

func (a *Agent) readRouted(o *operation, _ int64) {
	to, _ := a.config.Strategy.routeWhole(&KeyState{}, &o.row)
	if a.config.Strategy.Kind != Count {
		to.Bucket = 0
	}
	a.startReader(o, to.Bucket)
}
