package loop

import "fmt"

// Hash is a 64 bit FNV-1a hash. Two texts that differ have the same one by
// chance alone.
type Hash uint64

func (h Hash) String() string { return fmt.Sprintf("%016x", uint64(h)) }

// MarshalText writes the hash as 16 hexadecimal digits.
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

const hashStart Hash = 14695981039346656037

func (h Hash) byte(b byte) Hash { return (h ^ Hash(b)) * 1099511628211 }

func (h Hash) text(s string) Hash {
	for i := range len(s) {
		h = h.byte(s[i])
	}
	return h
}

func (h Hash) bytes(s []byte) Hash {
	for _, b := range s {
		h = h.byte(b)
	}
	return h
}

// part adds a text that ends: the parts ab, c and a, bc differ.
func (h Hash) part(s string) Hash { return h.text(s).byte(0xff) }

func (h Hash) number(n Hash) Hash {
	for range 8 {
		h, n = h.byte(byte(n)), n>>8
	}
	return h
}

// memory is a set of hashes of a fixed size: a new one takes the place of an
// old one.
type memory struct{ slots []Hash }

func newMemory(size int) memory { return memory{make([]Hash, size)} }

func (m *memory) has(h Hash) bool { return m.slots[m.place(h)] == h }
func (m *memory) add(h Hash)      { m.slots[m.place(h)] = h }
func (m *memory) clear()          { clear(m.slots) }

func (m *memory) place(h Hash) int { return int((h ^ h>>32) % Hash(len(m.slots))) }
