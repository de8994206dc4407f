// Sending what the hub wants to say to the agent: a check, or back to work. Refused when the moment does not fit any more.
import type { Checks } from "./check.ts";
import type { Compaction } from "./compaction.ts";
import type { Facts } from "./facts.ts";
import type { Input } from "./input.ts";
import { type Json, MESSAGE_CHECK, MESSAGE_WORK, type Receipt, RECORD_CHECK, RECORD_ONWARD, sent } from "./protocol.ts";
import type { Run } from "./run.ts";
import type { Session } from "./session.ts";

/** The moment the hub decided for. `until` is in milliseconds. */
export interface Fence { settle: number; leaf: string; until?: number }

export class Send {
	constructor(
		private session: Session,
		private run: Run,
		private compaction: Compaction,
		private checks: Checks,
		private input: Input,
		private facts: Facts,
	) {}

	check(params: { fence: Fence; record: { id: string }; text: string }): Receipt {
		const no = this.refusal(params.fence);
		if (no) return no;
		this.checks.open(params.record.id);
		try {
			this.session.append(RECORD_CHECK, params.record);
			this.ask(MESSAGE_CHECK, params.text, params.record.id);
		} catch (cause) {
			this.checks.notAsked();
			this.run.notSent();
			throw cause;
		}
		return sent;
	}

	/** `record` is that of a work message that no check came before. */
	work(params: { fence: Fence; check: string; text: string; record?: Json }): Receipt {
		const no = this.refusal(params.fence);
		if (no) return no;
		if (params.record) this.session.append(RECORD_ONWARD, params.record);
		this.ask(MESSAGE_WORK, params.text, params.check);
		return sent;
	}

	/** Everything is looked at again in the tick of the send. `ending` is for what is sent into a run that ends. */
	refusal(fence: Fence, ending = false): Receipt | undefined {
		const now = this.facts.now();
		const reasons: [boolean, "refused" | "stale", string][] = [
			[this.checks.isOpen, "refused", "a check is open"],
			[this.compaction.on, "refused", "Pi is compacting"],
			[!now.idle && !ending, "refused", "the agent is running"],
			[this.input.justSubmitted, "refused", "a message was just submitted"],
			[now.queued, "refused", "a message is queued"],
			[now.dialog, "refused", "a dialog is open"],
			[now.draft, "refused", "the editor holds a draft"],
			[fence.until !== undefined && Date.now() > fence.until, "stale", "the hub's word is too old"],
			[fence.settle !== now.settle, "stale", "the agent settled again since"],
			[fence.leaf !== now.leaf, "stale", "the session moved on since"],
		];
		const hit = reasons.find(([bad]) => bad);
		return hit && { result: hit[1], reason: hit[2], facts: now };
	}

	private ask(customType: string, content: string, id: string): void {
		this.run.sending();
		this.session.pi.sendMessage(
			{ customType, content, display: true, details: { check: id } },
			{ triggerTurn: true, deliverAs: this.run.early ? "followUp" : undefined },
		);
	}
}
