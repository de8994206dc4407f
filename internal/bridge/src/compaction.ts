// Compactions: while one runs nothing is sent, and what was folded must not change what Pi summarises.
import type { Branch } from "./branch.ts";
import { isAnswerRow } from "./entry.ts";
import type { FoldHook } from "./fold_hook.ts";
import type { Link } from "./link.ts";
import { safe } from "./safe.ts";
import type { Session } from "./session.ts";

export class Compaction {
	private running = false;

	constructor(
		private session: Session,
		private branch: Branch,
		private link: Link,
		private hook: FoldHook,
	) {}

	/** Whether Pi summarises the session, or a branch that is left. */
	get on(): boolean {
		return this.running;
	}

	/** Pi does what it does not do during a compaction; 0.81.1 does not say when one failed. */
	over(): void {
		this.running = false;
	}

	/** Pi says that it ended. */
	ended(): void {
		this.running = false;
		this.link.tell("compaction", { on: false });
	}

	/** Pi is about to compact; the event is changed in place, Pi uses the same object afterwards. */
	starts(event: any): void {
		this.running = true;
		const { preparation } = event;
		if (!this.session.hasEdits) for (const key of ["messagesToSummarize", "turnPrefixMessages"]) preparation[key] = this.hook.visible(preparation[key]);
		if (this.branch.hasRecords) repairCut(preparation, event.branchEntries);
		this.tellUntilAborted(event.signal);
	}

	/** The summary of a branch that is left is a compaction in all but name. Pi tells of its success alone; Pi 1.6.0 is not
	 * idle while it lasts. */
	summarizes(signal: AbortSignal | undefined): void {
		this.running = true;
		this.tellUntilAborted(signal);
		const lookLater = (): void => void setTimeout(() => safe(look), 250).unref();
		const look = (): void => {
			if (!this.session.live || !this.running) return;
			if (this.session.idle) this.ended();
			else lookLater();
		};
		if (this.session.hasEdits) lookLater();
	}

	private tellUntilAborted(signal: AbortSignal | undefined): void {
		signal?.addEventListener("abort", () => safe(() => this.ended()), { once: true });
		this.link.tell("compaction", { on: true });
	}
}

/** Pi takes the record or the folded row directly before a message at the cut for part of its turn, and an exchange
 * folded at the very end for something to keep. Both would make it summarise more than it would without a check
 * (measured on both generations). */
function repairCut(preparation: any, branch: any[]): void {
	const omitted = new Set<string>();
	for (const e of branch) if (e.type === "context_edit") e.replacement === null ? omitted.add(e.targetId) : omitted.delete(e.targetId);
	const startsTurn = (e: any): boolean =>
		e.type === "custom_message" || e.type === "branch_summary" || e.message?.role === "user" || e.message?.role === "bashExecution";
	const isVisible = (e: any): boolean => !omitted.has(e.id) && (startsTurn(e) || isAnswerRow(e));
	const at = branch.findIndex((e) => e.id === preparation.firstKeptEntryId);
	if (at < 0) return;
	let first = branch.slice(at).find(isVisible);
	if (!first) {
		first = branch.findLast(isVisible);
		if (!first) return;
		preparation.firstKeptEntryId = first.id;
		(preparation.turnPrefixMessages.length ? preparation.turnPrefixMessages : preparation.messagesToSummarize).pop();
	}
	if (preparation.isSplitTurn && startsTurn(first)) {
		preparation.messagesToSummarize.push(...preparation.turnPrefixMessages);
		preparation.turnPrefixMessages = [];
		preparation.isSplitTurn = false;
	}
}
