// The hands of the guard. At the end of a run the hub is told what the last answers were; where the agent stopped by itself
// it is waited for, since what is sent then, as a follow-up, belongs to the same run, in every mode (measured).
import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { Checks } from "./check.ts";
import type { Facts } from "./facts.ts";
import type { Link } from "./link.ts";
import { GUARD, type Json, type Receipt } from "./protocol.ts";
import type { Run } from "./run.ts";
import type { Fence, Send } from "./send.ts";
import type { Session } from "./session.ts";

const TEXT_MAX = 16_384; // of a text, in characters: whether there is a visible word shows early
const OTHER_MAX = 200; // of all else: thinking, signatures, arguments
const ANSWERS_MAX = 4; // more than one in a row without a tool call is rare
const EVENT_MAX = 500_000; // what fits into a line of the channel, with its escapes

function stoppedByItself(messages: any[]): boolean {
	return messages.findLast((m) => m.role === "assistant")?.stopReason === "stop";
}

/** Whether it is worth waiting for a hub, which decides: the last answer says nothing at first sight, or begins with a tag. */
function mayBeSilent(messages: any[]): boolean {
	const content = messages.findLast((m) => m.role === "assistant")?.content ?? [];
	const blocks: any[] = typeof content === "string" ? [{ type: "text", text: content }] : content;
	const isWord = (b: any): boolean => b.type === "toolCall" || (b.type === "text" && !/^[\s\u200b-\u200d\u2060\ufeff]*(<|$)/.test(b.text ?? ""));
	return stoppedByItself(messages) && !blocks.some(isWord);
}

export class Guard {
	private context: ExtensionContext | undefined; // while the hub is asked
	private sent = false;

	constructor(
		private session: Session,
		private link: Link,
		private run: Run,
		private checks: Checks,
		private send: Send,
		private facts: Facts,
	) {
		link.serve({ guard: (params) => this.ask(params) });
	}

	/** At the end of a run. True: a message was sent into it, so it goes on. */
	async ended(messages: any[], c: ExtensionContext): Promise<boolean> {
		if (!this.link.open && mayBeSilent(messages) && !this.run.interrupted) await this.link.comeback(c.signal);
		if (!this.link.open) return false;
		const event = this.event(messages);
		if (!event) return false;
		if (!stoppedByItself(messages) || this.run.interrupted) {
			this.link.tell("ended", event);
			return false;
		}
		this.context = c;
		this.sent = false;
		await this.link.request("ended", event).catch(() => {});
		this.context = undefined;
		return this.sent;
	}

	/** What the hub is told; undefined when there is nothing to tell, or too much. */
	private event(messages: any[]): Json | undefined {
		const rows = messages.slice(messages.findLastIndex((m) => m.role === "custom" && m.customType === GUARD) + 1);
		const called = rows.findLastIndex((m) => m.role === "toolResult");
		let short = false;
		const cut = (key: string, value: unknown): unknown => {
			if (typeof value !== "string") return value;
			const isText = key === "text" || key === "content";
			if (isText && value.length > TEXT_MAX) short = true;
			return value.slice(0, isText ? TEXT_MAX : OTHER_MAX);
		};
		const answers = rows.slice(called + 1).filter((m) => m.role === "assistant");
		const text = JSON.stringify(answers.slice(-ANSWERS_MAX), cut);
		if (text.length > EVENT_MAX || (called < 0 && answers.length === 0)) return undefined;
		return {
			answers: JSON.parse(text),
			short,
			worked: called >= 0,
			check: this.checks.isOpen || this.checks.endedTurn,
			facts: this.facts.now(),
		};
	}

	/** Asks the agent for its next action, in the tick in which everything is looked at again. */
	private ask(params: { fence: Fence; record: Json; text: string }): Receipt {
		if (!this.context) return { result: "stale", reason: "the run is over" };
		if (this.sent) return { result: "refused", reason: "a message is on its way" };
		if (this.run.interrupted || this.context.signal?.aborted) return { result: "refused", reason: "the run was aborted" };
		const no = this.send.refusal(params.fence, true);
		if (no) return no;
		const { cause, row, total } = params.record;
		this.session.append(GUARD, params.record);
		this.session.pi.sendMessage(
			{ customType: GUARD, content: params.text, display: true, details: { cause, row, total } },
			{ triggerTurn: true, deliverAs: "followUp" },
		);
		this.sent = true;
		return { result: "queued" };
	}
}
