// The recorder's extension: what a session holds only if an extension does it.
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

export default function (pi: ExtensionAPI) {
	// /record-tree ID: the branch goes on from another entry; with "summary" the
	// branch that is left is summarised.
	pi.registerCommand("record-tree", {
		description: "go to another entry of the tree",
		handler: async (args, ctx) => {
			const [id, summary] = args.split(" ");
			await ctx.navigateTree(id, { summarize: summary === "summary" });
		},
	});
	// /record-custom: an entry with data, and a message to the model.
	pi.registerCommand("record-custom", {
		description: "append an extension's entries",
		handler: async () => {
			pi.appendEntry("recorder.state", { phase: "working", steps: [1, 2, 3], note: "ünï → ✓" });
			pi.sendMessage({ customType: "recorder.hint", content: "a shown hint", display: true, details: { n: 1 } });
			pi.sendMessage(
				{ customType: "recorder.ask", content: "please go on", display: false },
				{ triggerTurn: true },
			);
		},
	});
	// /record-label ID TEXT
	pi.registerCommand("record-label", {
		description: "label an entry",
		handler: async (args) => {
			const [id, text] = args.split(" ");
			pi.setLabel(id, text);
		},
	});
}
