package loop

import "time"

// Once is the cooldown of a key that is told of a single time.
const Once = -1

// keepKeys is how many keys of a target are remembered; the oldest goes.
const keepKeys = 64

// Cooldown remembers what was told of whom. The zero value has told nothing.
type Cooldown struct {
	told map[string][]told // by target, the oldest first
}

type told struct {
	key string
	at  time.Time
}

// Allow says whether a finding may be told of a target, and remembers that it
// was. seconds 0: each time; Once: a single time for each key, whatever was told
// between; more: not again within so many seconds. wait is how long it is still
// held back: 0 with Once.
func (c *Cooldown) Allow(now time.Time, target, key string, seconds int) (ok bool, wait time.Duration) {
	keys := c.told[target]
	for i := range keys {
		if keys[i].key != key {
			continue
		}
		switch passed := now.Sub(keys[i].at); {
		case seconds == Once:
			return false, 0
		case passed < time.Duration(seconds)*time.Second:
			return false, time.Duration(seconds)*time.Second - passed
		}
		keys = append(keys[:i:i], keys[i+1:]...)
		break
	}
	if c.told == nil {
		c.told = map[string][]told{}
	}
	if len(keys) == keepKeys {
		keys = keys[1:]
	}
	c.told[target] = append(keys, told{key, now})
	return true, 0
}

// Forget lets go of a target.
func (c *Cooldown) Forget(target string) { delete(c.told, target) }
