// What the branch of the session says: where it stands, which checks are in it, and what the hub needs of it.
import { isAnswerRow, isOwnRecord, isRecord } from "./entry.ts";
import { GUARD, type Json, MESSAGE_CHECK, MESSAGE_WORK, RECORD_CHECK, RECORD_GATEWAY, RECORD_OUTCOME, RECORD_START, RECORD_TOOL } from "./protocol.ts";
import type { Session } from "./session.ts";
import { beginning } from "./text.ts";

export class Branch {
	constructor(private session: Session) {}

	/** From the root to the leaf. */
	get entries(): any[] {
		return this.session.manager.getBranch();
	}

	/** Whether a watchdog was ever started on it. */
	get isWatched(): boolean {
		return this.entries.some((e) => isRecord(e, RECORD_START));
	}

	/** Whether piwatch ever wrote into it: there are sessions that only the guard knows. */
	get hasRecords(): boolean {
		return this.entries.some(isOwnRecord);
	}

	/** The last entry that is neither a record of piwatch nor one of its folds, and no compaction, which does not move the
	 * session on: what a fence compares. */
	get fenceLeaf(): string {
		const manager = this.session.manager;
		let entry = manager.getLeafEntry();
		while (entry && (isOwnRecord(entry) || entry.type === "context_edit" || entry.type === "compaction")) {
			entry = entry.parentId ? manager.getEntry(entry.parentId) : undefined;
		}
		return entry?.id ?? "";
	}

	/** Whether the token limit cut the last answer before any call of a tool. What a check left folded is no answer. */
	get wasCut(): boolean {
		const manager = this.session.manager;
		const folded = new Set<string>();
		for (let e = manager.getLeafEntry(); e; e = e.parentId ? manager.getEntry(e.parentId) : undefined) {
			if (isRecord(e, RECORD_OUTCOME) && !e.data?.unfolded) for (const id of e.data?.rows ?? []) folded.add(id);
			if (folded.has(e.id)) continue;
			if (e.message?.role === "user") return false;
			if (e.message?.role === "assistant") return e.message.stopReason === "length" && !e.message.content.some((b: any) => b.type === "toolCall");
		}
		return false;
	}

	/** The last outcome of an exchange. */
	outcome(check: string): any {
		return this.entries.findLast((e) => isRecord(e, RECORD_OUTCOME) && e.data?.check === check)?.data;
	}

	/** The check that was asked last, when it has no outcome. */
	get orphan(): string | undefined {
		const entries = this.entries;
		const id = entries.findLast((e) => e.type === "custom_message" && e.customType === MESSAGE_CHECK)?.details?.check;
		return id && !entries.some((e) => isRecord(e, RECORD_OUTCOME) && e.data?.check === id) ? id : undefined;
	}

	/** The record of a check, and what follows it; undefined when it is not on the branch. */
	sinceCheck(check: string): { marker: any; after: any[] } | undefined {
		const entries = this.entries;
		const at = entries.findLastIndex((e) => isRecord(e, RECORD_CHECK) && e.data?.id === check);
		return at < 0 ? undefined : { marker: entries[at], after: entries.slice(at + 1) };
	}

	/** The rows of an exchange, from the check message on. Only Pi's answer rows are taken: a row of the user or of another
	 * extension is never folded. None when a call in it did real work. */
	exchange(check: string, isHarmless: (call: any) => boolean): any[] {
		const entries = this.entries;
		const at = entries.findLastIndex((e) => e.type === "custom_message" && e.customType === MESSAGE_CHECK && e.details?.check === check);
		if (at < 0) return [];
		const spoken = entries.findIndex((e, i) => i > at && e.type === "message" && e.message.role === "user");
		const rows = entries
			.slice(at, spoken < 0 ? undefined : spoken)
			.filter((e, i) => i === 0 || (e.type === "message" && isAnswerRow(e)));
		const calls = rows.flatMap((e) => (e.message?.role === "assistant" ? e.message.content.filter((b: any) => b.type === "toolCall") : []));
		const worked = (id: string): boolean => rows.some((e) => e.message?.toolCallId === id && !e.message.isError);
		return calls.every((call: any) => isHarmless(call) || !worked(call.id)) ? rows : [];
	}

	/** What the hub needs to know where watchdog and guard stand: the records since the last start, of checks, outcomes, work
	 * messages and the guard the last each, the last outcome that stopped it, and how the user's last message begins. What else
	 * was said stays in Pi. */
	get essence(): Json[] {
		const entries = this.entries;
		const isUser = (e: any): boolean => e.type === "message" && e.message.role === "user";
		const isWork = (e: any): boolean => e.type === "custom_message" && e.customType === MESSAGE_WORK;
		const isEnd = (e: any): boolean => isRecord(e, RECORD_OUTCOME) && !e.data?.again;
		const start = entries.findLastIndex((e) => isRecord(e, RECORD_START));
		const lasts = new Set([
			entries.findLastIndex(isUser),
			entries.findLastIndex((e) => isRecord(e, RECORD_CHECK)),
			entries.findLastIndex((e) => isRecord(e, GUARD)),
			entries.findLastIndex(isEnd),
			entries.findLastIndex((e) => isEnd(e) && e.data?.end === "answered" && e.data?.decision !== "continue"),
			entries.findLastIndex(isWork),
		]);
		const single = (e: any): boolean => isUser(e) || isWork(e) || [RECORD_CHECK, RECORD_OUTCOME, GUARD].some((type) => isRecord(e, type));
		const bare = (e: any): Json => ({ type: e.type, id: e.id, parentId: e.parentId, timestamp: e.timestamp });
		return entries
			.filter((e, i) => lasts.has(i) || (start >= 0 && i >= start && isOwnRecord(e) && !single(e) && !isRecord(e, RECORD_TOOL) && !isRecord(e, RECORD_GATEWAY)))
			.map((e) => {
				if (isUser(e)) return { ...bare(e), message: { role: "user", content: beginning(e.message.content) } };
				if (isWork(e)) return { ...bare(e), customType: e.customType, content: "" };
				return e;
			});
	}
}
