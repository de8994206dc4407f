package ui

import (
	"time"

	"piwatch/internal/watchdog"
	"piwatch/themes"
)

// env is what the panes are drawn with. It is passed down; there are no
// globals.
type env struct {
	styles themes.Styles
	signs  signs
	now    time.Time
	still  bool // nothing moves by itself
	// look counts the changes of theme and signs: drawings of another look are
	// stale.
	look int
}

// signs are the signs of the screen, apart from those of the status text. All
// of them are one cell wide, also where emoji are two.
type signs struct {
	status                           watchdog.Glyphs
	vertical, horizontal, rule       string
	cardTop, cardSide, cardEnd       string
	cursor, closed, opened, more     string
	full, empty                      string // of the countdown bar
	waits, failed, counting, working string
	paused, idle, done, ended        string
	stuck, capped, child             string
	ok, bad, pending, up, down, dot  string
}

var symbolSigns = signs{
	status:   watchdog.Symbols,
	vertical: "│", horizontal: "─", rule: "─",
	cardTop: "╭", cardSide: "│", cardEnd: "╰",
	cursor: "▌", closed: "▸", opened: "▾", more: "…",
	full: "━", empty: "─",
	waits: "◆", failed: "✗", counting: "◔", working: "●",
	paused: "‖", idle: "○", done: "✓", ended: "·",
	stuck: "◇", capped: "■", child: "└",
	ok: "✓", bad: "✗", pending: "…", up: "↑", down: "↓", dot: "·",
}

var asciiSigns = signs{
	status:   watchdog.ASCII,
	vertical: "|", horizontal: "-", rule: "-",
	cardTop: "+", cardSide: "|", cardEnd: "+",
	cursor: ">", closed: "+", opened: "-", more: "~",
	full: "=", empty: "-",
	waits: "?", failed: "x", counting: "c", working: "*",
	paused: "=", idle: "o", done: "v", ended: ".",
	stuck: "!", capped: "#", child: "\\",
	ok: "ok", bad: "x", pending: "..", up: "^", down: "v", dot: "-",
}
