// Folding: what belongs to an exchange leaves the context, by the way this Pi has for it. How it was folded is noted in
// the outcome of the exchange.
import type { Branch } from "./branch.ts";
import { isRecord, withoutCalls } from "./entry.ts";
import { FoldEdits } from "./fold_edits.ts";
import { FoldHook } from "./fold_hook.ts";
import { type Draft, type Json, RECORD_OUTCOME } from "./protocol.ts";
import type { Session } from "./session.ts";

/** The two generations of Pi have one way each. */
interface FoldWay {
	readonly name: string;
	exchange(rows: any[], outcome: Json, boundary: boolean): Draft[];
	call(row: any, result: any, outcome: Json, rest: any[] | null): Draft[];
	back(rows: any[], outcome: Json): void;
	unfold(outcome: Json): string;
	refold(outcome: Json): void;
}

export class Fold {
	constructor(
		private session: Session,
		private branch: Branch,
		private edits: FoldEdits,
		private hook: FoldHook,
	) {}

	/** Folds the rows of a closed check. With `boundary` the edits are returned for Pi to commit. */
	exchange(rows: any[], outcome: Json, boundary: boolean): Draft[] {
		outcome.tokens = rows.reduce((sum, e) => sum + (e.message?.usage?.output ?? 0), 0) || undefined;
		outcome.rows = rows.map((e) => e.id);
		return rows.length ? this.way.exchange(rows, outcome, boundary) : [];
	}

	/** Folds a call and its result; text, and calls beside it, stay. The edits are for the boundary. */
	call(callId: string, outcome: Json): Draft[] {
		const { entries } = this.branch;
		const isCall = (b: any): boolean => b.type === "toolCall" && b.id === callId;
		const row = entries.findLast((e) => e.message?.role === "assistant" && e.message.content.some(isCall));
		const result = entries.findLast((e) => e.message?.role === "toolResult" && e.message.toolCallId === callId);
		if (!row || !result) return [];
		const rest = withoutCalls(row.message.content, isCall);
		outcome.fold = this.way.name;
		outcome.rows = rest ? [result.id] : [row.id, result.id];
		outcome.kept = rest ? [row.id] : undefined;
		return this.way.call(row, result, outcome, rest);
	}

	/** Folds again what a move in the tree brought back: rows of exchanges whose folds are on another branch. */
	here(): void {
		const { entries } = this.branch;
		const here = new Set(entries.map((e) => e.id));
		const ends = new Map<string, any[]>(); // the outcomes of each exchange
		for (const e of this.session.manager.getEntries()) {
			if (!isRecord(e, RECORD_OUTCOME) || !e.data?.rows?.length) continue;
			ends.set(e.data.rows.at(-1), [...(ends.get(e.data.rows.at(-1)) ?? []), e]);
		}
		for (const all of ends.values()) {
			const outcome: Json = { ...all.at(-1).data, again: true };
			const back = entries.filter((e) => outcome.rows.includes(e.id) || outcome.kept?.includes(e.id));
			if (!outcome.fold || back.length === 0 || all.some((e) => here.has(e.id))) continue;
			this.way.back(back, outcome);
			this.session.append(RECORD_OUTCOME, outcome);
		}
	}

	/** Brings an exchange back into the context that was folded in this way. Returns why not. */
	unfold(outcome: Json): string {
		const way = this.wayOf(outcome.fold);
		return way ? way.unfold(outcome) : "the exchange is not folded";
	}

	/** Folds an exchange again that was unfolded. Returns how. */
	refold(outcome: Json): string {
		this.wayOf(outcome.unfolded)?.refold(outcome);
		return outcome.unfolded === "branch" ? this.hook.name : outcome.unfolded;
	}

	private get way(): FoldWay {
		return this.session.hasEdits ? this.edits : this.hook;
	}

	private wayOf(fold: string | undefined): FoldWay | undefined {
		if (fold === this.edits.name) return this.edits;
		return fold === this.hook.name || fold === "branch" ? this.hook : undefined;
	}
}
