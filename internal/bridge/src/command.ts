// The commands /watchdog and /guard: the hub answers them.
import type { ExtensionCommandContext } from "@earendil-works/pi-coding-agent";
import type { Keyboard } from "./keyboard.ts";
import type { Link } from "./link.ts";
import type { Navigator } from "./navigator.ts";
import { COMMAND_SAYS, type Session } from "./session.ts";
import { causeText } from "./text.ts";

const COMMAND_WORDS = ["stop", "status", "pause", "resume", "nudge", "skip", "set ", "mode keep", "mode once", "extend 30", "config", "inspect ", "supervise", "timeout=", "max=", "mode=", "message="];

const GUARD_WORDS = ["status", "on", "off", "reset"];

const ANSWER_MS = 60_000; // a question that nobody answers, as with a host that shows none

/** The hub's answer to a command, shown in Pi; it may ask back first. */
async function answer(link: Link, keyboard: Keyboard, c: ExtensionCommandContext, name: string, args: string): Promise<void> {
	await link.ready(); // the hub may just be starting
	keyboard.report();
	const ask = (sure: boolean): Promise<any> =>
		link
			.request("command", { name, args, sure })
			.catch((cause) => ({ text: link.missing || `piwatch: ${causeText(cause)}. See: piwatch hub status`, level: "error" }));
	let reply = await ask(false);
	if (reply.level === "confirm") {
		if (!(await c.ui.confirm("Watchdog", reply.text, { timeout: ANSWER_MS }))) return c.ui.notify("Watchdog: nothing was done.", "info");
		reply = await ask(true);
	}
	c.ui.notify(reply.text, reply.level);
}

export function registerCommands(session: Session, link: Link, navigator: Navigator, keyboard: Keyboard): void {
	session.pi.registerCommand("watchdog", {
		description: COMMAND_SAYS,
		getArgumentCompletions: (prefix) => {
			// A word that is typed in full is not offered: its pop-up would take the Enter that sends it.
			const words = COMMAND_WORDS.filter((word) => word.startsWith(prefix) && word !== prefix && !COMMAND_WORDS.includes(prefix));
			return words.length ? words.map((word) => ({ value: word, label: word })) : null;
		},
		handler: async (args, c) => {
			navigator.keep(c);
			if (session.isTwin) return c.ui.notify(`piwatch: the bridge is installed twice; type /${session.commandName} in this session`, "warning");
			if (navigator.took(c)) return;
			await answer(link, keyboard, c, "watchdog", args);
		},
	});
	session.pi.registerCommand("guard", {
		description: "The guard against silent stops: status | on | off | reset",
		getArgumentCompletions: (prefix) => {
			const words = GUARD_WORDS.filter((word) => word.startsWith(prefix) && word !== prefix);
			return words.length ? words.map((word) => ({ value: word, label: word })) : null;
		},
		handler: async (args, c) => {
			if (session.isTwin) return c.ui.notify("piwatch: the bridge is installed twice; one of them rests", "warning");
			await answer(link, keyboard, c, "guard", args);
		},
	});
}
