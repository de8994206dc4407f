// What piwatch shows in Pi's transcript: one line each, more when it is expanded.
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { truncateToWidth } from "@earendil-works/pi-tui";
import { GUARD, MESSAGE_CHECK, MESSAGE_WORK } from "./protocol.ts";

interface Component { render(width: number): string[]; invalidate(): void }

export const lines = (...all: string[]): Component => ({
	render: (width: number) => all.map((line) => truncateToWidth(line, width)),
	invalidate() {},
});

export function showMessages(pi: ExtensionAPI): void {
	pi.registerMessageRenderer(MESSAGE_CHECK, (message, options, theme) =>
		options.expanded ? lines(theme.fg("muted", `⏱ ${message.content}`)) : lines(),
	);
	pi.registerMessageRenderer(MESSAGE_WORK, (message, options, theme) =>
		lines(theme.fg("muted", options.expanded ? `⏱ ${message.content}` : "⏱ back to work")),
	);
	pi.registerMessageRenderer(GUARD, (message, options, theme) =>
		lines(theme.fg("muted", options.expanded ? `⏱ ${message.content}` : "⏱ a silent stop: asked for the next action")),
	);
}
