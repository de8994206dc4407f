package timeline

import "time"

// Days heads lines that go to one place: a line on another day than the one
// before comes after a line with its date. The zero value knows no day: the first
// line has one.
type Days struct{ last time.Time }

// DaysSince is for a reader who knows the day of a time.
func DaysSince(at time.Time) *Days { return &Days{at} }

// Heading is the line that comes before one of that time, with its end; "" where
// there is none, as before a line without a time.
func (d *Days) Heading(at time.Time) string {
	if at.IsZero() || SameDay(d.last, at) {
		return ""
	}
	d.last = at
	return at.Local().Format(time.DateOnly) + "\n"
}

// SameDay says whether two times are of one day, here.
func SameDay(a, b time.Time) bool {
	a, b = a.Local(), b.Local()
	return a.YearDay() == b.YearDay() && a.Year() == b.Year()
}
