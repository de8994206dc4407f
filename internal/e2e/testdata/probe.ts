// The harness's own test extension: one command that does what the harness
// has to see.
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

export default function (pi: ExtensionAPI) {
	pi.on("session_start", (_event, ctx) => {
		ctx.ui.setStatus("probe", "probe ready");
	});
	pi.registerCommand("probe", {
		description: "set a status, show a message, start a turn",
		handler: async (args, ctx) => {
			ctx.ui.setStatus("probe", "probe 1");
			ctx.ui.setStatus("probe", "probe 2");
			ctx.ui.notify("probe says " + args, "warning");
			pi.appendEntry("probe.mark", { args });
			pi.sendMessage({ customType: "probe.ask", content: "go on: " + args, display: true }, { triggerTurn: true });
		},
	});
	pi.registerCommand("probe-confirm", {
		description: "ask a question",
		handler: async (_args, ctx) => {
			const yes = await ctx.ui.confirm("Sure?", "The probe asks.");
			ctx.ui.setStatus("probe", yes ? "confirmed" : "refused");
		},
	});
}
