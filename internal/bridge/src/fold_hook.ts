// Folding in Pi 0.81.1, which has no context edits: the context hook leaves the rows out while this process runs, and the
// branch goes on from before the exchange, so that it is out for good.
import type { Branch } from "./branch.ts";
import { isAnswerRow, isOwnRecord, isRecord, withoutCalls } from "./entry.ts";
import { type Draft, type Json, MESSAGE_CHECK, RECORD_OUTCOME } from "./protocol.ts";
import type { Session } from "./session.ts";

const FREE = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 }; // the cost of a copied row: it was paid for

export class FoldHook {
	readonly name = "hook";
	private assistants = new Set<number>(); // message timestamps
	private calls = new Set<string>();
	private checks = new Set<string>();

	constructor(
		private session: Session,
		private branch: Branch,
	) {}

	/** Leaves out again what the outcomes on the branch say. */
	restore(): void {
		for (const e of this.branch.entries) if (isRecord(e, RECORD_OUTCOME) && e.data?.drop) e.data.unfolded ? this.undrop(e.data) : this.drop(e.data);
	}

	/** The messages of a request without what is folded; undefined when all stay. */
	context(messages: any[]): any[] | undefined {
		if (this.checks.size + this.calls.size === 0 || messages.length === 0) return undefined;
		const rest = this.visible(messages);
		// A request may not end on an assistant row: an exchange that is the tail stays until something follows it.
		return rest.at(-1)?.role === "assistant" ? undefined : rest;
	}

	/** Takes what only the hook leaves out from the messages. */
	visible(messages: any[]): any[] {
		return messages
			.filter((m) => !this.isDropped(m))
			.map((m) => this.strip(m))
			.filter((m) => m !== undefined);
	}

	/** The same for entries that are about to be summarised; the same list is used afterwards. */
	leaveOut(entries: any[]): void {
		const rest = entries.flatMap((e) => {
			if (e.type === "message") return this.visible([e.message]).map((message) => ({ ...e, message }));
			return this.isDropped({ ...e, role: "custom" }) ? [] : [e];
		});
		entries.splice(0, entries.length, ...rest);
	}

	/** Takes the rows of an exchange out of the context. */
	exchange(rows: any[], outcome: Json): Draft[] {
		outcome.drop = {
			assistant: rows.filter((e) => e.message?.role === "assistant").map((e) => e.message.timestamp),
			calls: rows.filter((e) => e.message?.role === "toolResult").map((e) => e.message.toolCallId),
		};
		outcome.fold = this.name;
		this.drop(outcome);
		if (this.branchBack(rows[0])) outcome.fold = "branch";
		return [];
	}

	/** Takes a single call and its result out. */
	call(row: any, result: any, outcome: Json): Draft[] {
		outcome.drop = { calls: [result.message.toolCallId] };
		this.drop(outcome);
		if (this.branchBack(row)) outcome.fold = "branch";
		return [];
	}

	/** Folds rows of an exchange that a move in the tree brought back. */
	back(rows: any[], outcome: Json): void {
		this.drop(outcome);
		outcome.fold = this.branchBack(rows[0]) ? "branch" : this.name;
	}

	/** Brings the rows back into the context. Returns why not. */
	unfold(outcome: Json): string {
		this.undrop(outcome);
		// The rows are off the branch: they can come back to it for good only while nothing follows the exchange.
		const { check } = outcome;
		const since = this.branch.sinceCheck(check)?.after;
		if (outcome.fold !== "branch" || !since?.every(isOwnRecord)) return "";
		this.session.manager.branch(outcome.rows.at(-1));
		// What the records say that came since still holds: the first of them are copies of those that are here.
		const here = this.branch.sinceCheck(check)?.after.filter(isOwnRecord).length ?? 0;
		for (const r of since.slice(here)) this.session.append(r.customType, r.data);
		return "";
	}

	/** Folds an exchange again that was unfolded. */
	refold(outcome: Json): void {
		this.drop(outcome);
	}

	private isDropped(m: any): boolean {
		return (
			(m.role === "custom" && m.customType === MESSAGE_CHECK && this.checks.has(m.details?.check)) ||
			(m.role === "assistant" && this.assistants.has(m.timestamp)) ||
			(m.role === "toolResult" && this.calls.has(m.toolCallId))
		);
	}

	/** A message without the calls that were folded out of it; undefined when nothing of it is left. */
	private strip(m: any): any {
		const isCall = (b: any): boolean => b.type === "toolCall" && this.calls.has(b.id);
		if (m.role !== "assistant" || !m.content.some(isCall)) return m;
		const rest = withoutCalls(m.content, isCall);
		return rest ? { ...m, content: rest } : undefined;
	}

	/** The branch goes on from before the row (unofficial, measured), with copies of the records after it and of what stays.
	 * False when something follows that has no place in an exchange. */
	private branchBack(row: any): boolean {
		const { manager } = this.session;
		const entries = this.branch.entries;
		const exchange = entries.slice(entries.indexOf(row));
		const belongs = (e: any): boolean => e === row || isOwnRecord(e) || isAnswerRow(e);
		if (!row.parentId || typeof manager.branch !== "function" || !exchange.every(belongs)) return false;
		manager.branch(row.parentId);
		for (const e of exchange) {
			if (isOwnRecord(e)) this.session.append(e.customType, e.data);
			else if (e.message) for (const m of this.visible([e.message])) manager.appendMessage(m.usage ? { ...m, usage: { ...m.usage, cost: FREE } } : m);
		}
		return true;
	}

	private drop(outcome: Json): void {
		if (outcome.check) this.checks.add(outcome.check);
		for (const at of outcome.drop?.assistant ?? []) this.assistants.add(at);
		for (const id of outcome.drop?.calls ?? []) this.calls.add(id);
	}

	private undrop(outcome: Json): void {
		this.checks.delete(outcome.check);
		for (const at of outcome.drop?.assistant ?? []) this.assistants.delete(at);
		for (const id of outcome.drop?.calls ?? []) this.calls.delete(id);
	}
}
