package pi

// Kinds of damage.
const (
	DamageMalformed   = "malformed"    // bytes that are no record
	DamageTorn        = "torn"         // a record cut off before its end
	DamageGlued       = "glued"        // more than one record on a line; Pi reads none of them
	DamageNUL         = "nul"          // NUL bytes, as a crash of the machine leaves
	DamageUTF8        = "utf8"         // bytes that are no UTF-8
	DamageField       = "field"        // a field of another kind than Pi writes
	DamageNoType      = "no-type"      // a record without a type
	DamageNoID        = "no-id"        // an entry without an id in a file of version 2 or later
	DamageNoHeader    = "no-header"    // entries, but no header
	DamageLateHeader  = "late-header"  // the header comes after entries
	DamageExtraHeader = "extra-header" // a second header
	DamageTime        = "time"         // an unreadable timestamp
	DamageBackwards   = "backwards"    // a timestamp before that of the entry above
	DamageOrphan      = "orphan"       // the parent is not in the file
	DamageDuplicate   = "duplicate-id" // an id used before
	DamageCycle       = "cycle"        // an entry that is its own ancestor
)

// Damage is one thing wrong with a session file. What could be read was read.
type Damage struct {
	// Kind is one of the Damage constants.
	Kind string
	// Line is the line number from 1, Offset the place in the file in bytes.
	Line   int
	Offset int64
	// Length is the number of bytes that were lost, 0 when none was.
	Length int64
	// Detail says more, in words; it may quote an id from the file.
	Detail string
}

// maxDamage bounds the list of damage, not its counts: a file of another kind
// altogether must not fill the memory.
const maxDamage = 1000

// DamageReport is the damage of a file: every occurrence counted, the first
// thousand in detail.
type DamageReport struct {
	List   []Damage
	Counts map[string]int
}

// Total is the number of things found wrong.
func (r *DamageReport) Total() int {
	n := 0
	for _, c := range r.Counts {
		n += c
	}
	return n
}

func (r *DamageReport) add(d Damage) {
	if r.Counts == nil {
		r.Counts = make(map[string]int)
	}
	r.Counts[d.Kind]++
	if len(r.List) < maxDamage {
		r.List = append(r.List, d)
	}
}

// merge returns the two reports as one.
func (r DamageReport) merge(other DamageReport) DamageReport {
	var sum DamageReport
	sum.Counts = make(map[string]int)
	for _, part := range []DamageReport{r, other} {
		for kind, n := range part.Counts {
			sum.Counts[kind] += n
		}
		room := maxDamage - len(sum.List)
		sum.List = append(sum.List, part.List[:min(room, len(part.List))]...)
	}
	return sum
}
