// Sends what piwatch would send, without piwatch: the control of the tests that compare bytes.
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

export default function control(pi: ExtensionAPI): void {
	pi.registerCommand("say", {
		description: "send a message of an extension that starts a run",
		handler: async (args) => {
			pi.sendMessage({ customType: "control.say", content: JSON.parse(args), display: true }, { triggerTurn: true });
		},
	});
	pi.registerCommand("anew", {
		description: "reload what Pi has loaded",
		handler: async (_args, ctx) => {
			await ctx.reload();
		},
	});
}
