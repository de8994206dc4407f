// Another extension with a command /watchdog.
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

export default function other(pi: ExtensionAPI): void {
	pi.registerCommand("watchdog", {
		description: "another watchdog",
		handler: async (args, ctx) => ctx.ui.notify(`the other one got ${args}`, "info"),
	});
}
