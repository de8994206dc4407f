// The agent's answer to a check, or a stop of its own: the hub says what comes of it.
import type { Checks } from "./check.ts";
import type { Input } from "./input.ts";
import type { Link } from "./link.ts";
import { clean } from "./text.ts";

/** Answers a call of the tool. */
export async function decide(link: Link, checks: Checks, input: Input, callId: string, params: any): Promise<any> {
	const decision = String(params.decision ?? "");
	const note = clean(String(params.note ?? ""));
	const heard = checks.called(callId, decision, note);
	const reply = await link
		.request("decide", { call: callId, check: checks.id, decision, note })
		.catch(() => ({ text: link.texts.gone ?? "piwatch is gone.", accepted: false, terminate: true }));
	input.listen();
	const { taken, over } = heard(reply);
	return {
		content: [{ type: "text", text: reply.text }],
		details: { line: taken ? [decision, note].filter(Boolean).join(": ") : reply.text },
		terminate: reply.terminate || over,
	};
}
