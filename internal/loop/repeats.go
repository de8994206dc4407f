package loop

// repeats counts calls with equal results.
//
// A call with its result is a pair. A pair seen before is a repeat; one that
// was not is new. A circle of any period makes repeats only, once it has been
// gone through; healthy work makes new pairs among them. So a pair counts as
// stuck when it came callRepeat times and the repeats since it first came are
// twice the new pairs or more; or when it came twice as often with no more than
// four new pairs for each repeat.
type repeats struct {
	pairs []pair
	n     int // calls so far
	news  int // new pairs in a row
	fresh int // new pairs in all
	stale int // repeats in all
	// seen holds the pairs since the last change or message: a result that comes
	// back is no change.
	seen memory
}

type pair struct {
	hash   Hash
	call   call
	result result
	count  int
	last   int // number of the call
	period int // calls since the one before
	fresh  int // new pairs and repeats when the count began
	stale  int
	text   string // how the result begins
}

// step is what a call with its result is to what came before.
type step int

const (
	unclear       step = iota // neither a repeat nor progress
	newCall                   // not seen before
	again                     // a repeat
	resultChanged             // the same call has a new result
)

func newRepeats() repeats { return repeats{seen: newMemory(256)} }

// take adds a call with its result and returns its place in pairs.
func (r *repeats) take(c call, res result, text string, lines int) (step, int) {
	r.n++
	if c.loose && !res.says {
		return unclear, -1
	}
	h := hashStart.number(c.hash).number(res.equal)
	known := -1
	for i := range r.pairs {
		p := &r.pairs[i]
		if p.hash == h {
			r.repeat(p)
			return again, i
		}
		if p.call.hash == c.hash {
			if p.result.loose == res.loose && p.result.equal != res.equal {
				return unclear, -1 // it only tells the time, or a hash
			}
			known = i
		}
	}
	was := r.seen.has(h)
	r.seen.add(h)
	at := r.insert(pair{hash: h, call: c, result: res, text: preview(text, min(lines, 3))})
	switch {
	case was:
		r.stale++
		r.news = 0
		return again, at
	case known >= 0:
		r.news = 0
		return resultChanged, at
	}
	r.fresh++
	r.news++
	r.pairs[at].fresh = r.fresh
	return newCall, at
}

func (r *repeats) repeat(p *pair) {
	r.stale++
	r.news = 0
	p.period = r.n - p.last
	p.last = r.n
	if p.count == 0 || p.period > maxGap {
		p.begin(r)
		return
	}
	p.count++
}

// begin starts the count of a pair.
func (p *pair) begin(r *repeats) { p.count, p.fresh, p.stale = 1, r.fresh, r.stale }

func (r *repeats) insert(p pair) int {
	p.last = r.n
	p.begin(r)
	if len(r.pairs) < keepPairs {
		r.pairs = append(r.pairs, p)
		return len(r.pairs) - 1
	}
	oldest := 0
	for i := range r.pairs {
		if r.pairs[i].last < r.pairs[oldest].last {
			oldest = i
		}
	}
	r.pairs[oldest] = p
	return oldest
}

// start forgets all but one pair, whose count begins.
func (r *repeats) start(at int) {
	p := r.pairs[at]
	clear(r.pairs)
	p.begin(r)
	r.pairs, r.news = append(r.pairs[:0], p), 0
}

// forget: after a change or a message, everything is new.
func (r *repeats) forget() {
	clear(r.pairs)
	r.pairs, r.news = r.pairs[:0], 0
	r.seen.clear()
}

// restart begins all counts anew, after a finding.
func (r *repeats) restart() {
	for i := range r.pairs {
		r.pairs[i].count = 0
	}
}

// judge says whether the session is stuck by the pair that just came.
func (r *repeats) judge(at int) (Evidence, Hash, bool) {
	p := &r.pairs[at]
	need := callRepeat
	if p.call.waits { // it polls, and nothing new is what it waits through
		need *= 2
	}
	stale, fresh := r.stale-p.stale, r.fresh-p.fresh
	circle := p.count >= need && stale >= 2*fresh
	strewn := p.count >= 2*need && fresh <= 4*stale
	if !circle && !strewn {
		return Evidence{}, 0, false
	}
	e := Evidence{
		Rule: RepeatedCall, Count: p.count, Tool: p.call.tool, Hash: p.hash, Preview: p.call.preview, Result: p.text,
	}
	if p.period <= maxGap {
		e.Period = p.period
	}
	return e, r.circle(p), true
}

// circle names the circle: the pairs that came about as often.
func (r *repeats) circle(p *pair) Hash {
	key := Hash(0)
	for i := range r.pairs {
		if one := &r.pairs[i]; one.count >= 2 && one.count >= p.count-1 {
			key ^= one.hash
		}
	}
	return key
}
