package timeline

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// The signs of a trouble in the text of an error: what providers and proxies
// write. They word what is shown, and decide nothing.
var (
	needsHuman = regexp.MustCompile(`(?i)^40[13]\b|invalid[ _]api[ _]key|incorrect api key|no api key|authentication|unauthorized|(expired|invalid|revoked) (token|credential)|token (has )?expired|log ?in again|credit balance|insufficient[ _](credit|quota|funds)|payment required|billing`)
	needsTime  = regexp.MustCompile(`(?i)^429\b|quota|rate[ _-]?limit|usage[ _]limit|too many requests|limit reached`)
)

// trouble says what a failed answer asks for, and until when.
func trouble(text string, at time.Time) (WaitsFor, time.Time) {
	switch {
	case needsHuman.MatchString(text):
		return ForLogin, time.Time{}
	case needsTime.MatchString(text):
		return ForQuota, believable(text, at)
	}
	return ForNothing, time.Time{}
}

// mostQuota is the longest time that a quota takes: a week, and some hours.
const mostQuota = 8 * 24 * time.Hour

// The ways in which a time is named.
var (
	spans  = regexp.MustCompile(`(?i)(?:again|retry|reset|available|wait|after)[^0-9\n]{0,30}((?:[0-9]+(?:\.[0-9]+)?\s*(?:milliseconds?|ms|seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|[smhd])\b[\s,]*(?:and\s+)?)+)`)
	span   = regexp.MustCompile(`(?i)([0-9]+(?:\.[0-9]+)?)\s*(ms|milli|s|m|h|d)`)
	joined = regexp.MustCompile(`(?i)(?:again|retry|reset|available|wait|after)[^0-9\n]{0,30}((?:[0-9]+(?:\.[0-9]+)?(?:ms|[smhd]))+)\b`)
	stamp  = regexp.MustCompile(`[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})?`)
	epoch  = regexp.MustCompile(`(?i)reset[a-z_]*["']?\s*[:=]?\s*"?([0-9]{10})(?:[0-9]{3})?\b`)
	clock  = regexp.MustCompile(`(?i)(?:resets?|again|until)\s+(?:at\s+)?([0-9]{1,2})(?::([0-9]{2}))?\s*(am|pm)?(?:\s*\(?(utc|gmt)\b)?`)
)

// believable reads the time that an error names. One that is past, or too far
// off, is none.
func believable(text string, at time.Time) time.Time {
	for _, read := range []func(string, time.Time) time.Time{readStamp, readEpoch, readSpan, readClock} {
		if until := read(text, at); until.After(at) && until.Sub(at) <= mostQuota {
			return until
		}
	}
	return time.Time{}
}

func readStamp(text string, at time.Time) time.Time {
	found := stamp.FindStringSubmatch(text)
	if found == nil {
		return time.Time{}
	}
	value := strings.Replace(found[0], " ", "T", 1)
	if found[1] != "" {
		until, _ := time.Parse(time.RFC3339Nano, value) // else zero, which is past
		return until
	}
	// Without a zone it is UTC or that of this place: the later one is safe.
	const plain = "2006-01-02T15:04:05.999999999"
	utc, _ := time.Parse(plain, value)
	here, _ := time.ParseInLocation(plain, value, time.Local)
	if here.After(utc) && here.Sub(at) <= mostQuota {
		return here
	}
	return utc
}

func readEpoch(text string, _ time.Time) time.Time {
	if found := epoch.FindStringSubmatch(text); found != nil {
		seconds, _ := strconv.ParseInt(found[1], 10, 64)
		return time.Unix(seconds, 0)
	}
	return time.Time{}
}

var units = map[string]time.Duration{
	"ms": time.Millisecond, "milli": time.Millisecond, "s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour,
}

func readSpan(text string, at time.Time) time.Time {
	found := spans.FindStringSubmatch(text)
	if found == nil {
		if found = joined.FindStringSubmatch(text); found == nil {
			return time.Time{}
		}
	}
	var sum time.Duration
	for _, part := range span.FindAllStringSubmatch(found[1], -1) {
		n, _ := strconv.ParseFloat(part[1], 64)
		sum += time.Duration(n * float64(units[strings.ToLower(part[2])]))
	}
	return at.Add(sum)
}

// readClock reads a time of the day: the next one after the error.
func readClock(text string, at time.Time) time.Time {
	found := clock.FindStringSubmatch(text)
	if found == nil || found[2] == "" && found[3] == "" {
		return time.Time{}
	}
	hour, _ := strconv.Atoi(found[1])
	minute, _ := strconv.Atoi("0" + found[2])
	half := strings.ToLower(found[3])
	if hour > 23 || minute > 59 || half != "" && (hour == 0 || hour > 12) {
		return time.Time{}
	}
	if half != "" {
		hour %= 12
	}
	if half == "pm" {
		hour += 12
	}
	zone := time.Local
	if found[4] != "" {
		zone = time.UTC
	}
	day := at.In(zone)
	until := time.Date(day.Year(), day.Month(), day.Day(), hour, minute, 0, 0, zone)
	if !until.After(at) {
		until = until.AddDate(0, 0, 1)
	}
	return until
}
