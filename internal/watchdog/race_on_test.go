//go:build race

package watchdog

// raceCosts is by how much a walk is less deep under the race detector.
const raceCosts = 1
