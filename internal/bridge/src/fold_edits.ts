// Folding in Pi 1.6.0: context edits, entries of the session that Pi obeys, durable and official. Pi commits them at the
// boundary of a turn.
import { withoutCalls } from "./entry.ts";
import type { Draft, Json } from "./protocol.ts";
import type { Session } from "./session.ts";

export class FoldEdits {
	readonly name = "context_edit";
	private pending: Draft[] = []; // wait for the next boundary

	constructor(private session: Session) {}

	/** The edits that wait, for Pi to commit now. */
	take(): Draft[] {
		return this.pending.splice(0);
	}

	/** Takes the rows of an exchange out of the context. With `boundary` the edits are returned for Pi to commit; without,
	 * they are written at once where Pi allows it. */
	exchange(rows: any[], outcome: Json, boundary: boolean): Draft[] {
		outcome.fold = this.name;
		const edits = rows.map((e) => this.edit(e.id, null));
		if (boundary) return edits;
		this.write(edits);
		return [];
	}

	/** Takes a single call and its result out; `rest` is what stays of its row. */
	call(row: any, result: any, _outcome: Json, rest: any[] | null): Draft[] {
		return [this.edit(row.id, rest && { content: rest }), this.edit(result.id, null)];
	}

	/** Folds rows of an exchange that a move in the tree brought back. */
	back(rows: any[], outcome: Json): void {
		const calls = outcome.rows.map((id: string) => this.session.manager.getEntry(id)?.message?.toolCallId);
		const rest = (e: any): any => ({ content: withoutCalls(e.message.content, (b) => b.type === "toolCall" && calls.includes(b.id)) });
		this.write(rows.map((e) => this.edit(e.id, outcome.kept?.includes(e.id) ? rest(e) : null)));
		outcome.fold = this.name;
	}

	/** Brings the rows back into the context: an edit with the original content, since the latest edit counts. Returns why
	 * not. */
	unfold(outcome: Json): string {
		const rows = outcome.rows.map((row: string) => this.session.manager.getEntry(row));
		if (rows.some((e: any) => !e)) return "rows of the exchange are missing";
		this.write(rows.map((e: any) => this.edit(e.id, { content: e.message?.content ?? e.content })));
		return "";
	}

	/** Folds an exchange again that was unfolded. */
	refold(outcome: Json): void {
		this.write(outcome.rows.map((row: string) => this.edit(row, null)));
	}

	private edit(targetId: string, replacement: { content: unknown } | null): Draft {
		return { type: "context_edit", targetId, replacement };
	}

	/** Pi 1.6.0 has no official edit while idle; its session manager takes one (measured). */
	private write(edits: Draft[]): void {
		const manager = this.session.manager;
		if (typeof manager.appendContextEdit !== "function") this.pending.push(...edits);
		else for (const edit of edits) if (edit.type === "context_edit") manager.appendContextEdit(edit.targetId, edit.replacement);
	}
}
