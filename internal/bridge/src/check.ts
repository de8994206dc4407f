// The open check: the only place that opens one, takes its answer, makes it void, and closes it. While one is open, all
// tools but its own are blocked.
import type { Branch } from "./branch.ts";
import type { Fold } from "./fold.ts";
import type { Link } from "./link.ts";
import { type Draft, type Json, MESSAGE_CHECK, type Receipt, RECORD_OUTCOME, REPLY_MS, sent } from "./protocol.ts";
import type { Run } from "./run.ts";
import { safe, soon } from "./safe.ts";
import type { Session } from "./session.ts";
import { causeText } from "./text.ts";
import type { Tool } from "./tool.ts";

const WRONG_LIMIT = 3; // turns of blocked tools before a check ends without an answer

/** One open check. It is void once `void` holds the cause; tools stay blocked until the turn of the check has ended. */
interface Check {
	id: string;
	answer?: { decision: string; note: string };
	void?: string;
	wrong: number;
	error?: string;
	decideInBatch: boolean;
	blocked: Set<string>;
}

export class Checks {
	private check: Check | undefined;
	private ownStop: { callId: string; decision: string; note: string } | undefined; // the agent stopped the watchdog by itself
	private onClose = (): void => {};
	private lastTurn = false;

	constructor(
		private session: Session,
		private branch: Branch,
		private link: Link,
		private run: Run,
		private fold: Fold,
		private tool: Tool,
	) {}

	/** Of the open check; empty when none is. */
	get id(): string {
		return this.check?.id ?? "";
	}

	get isOpen(): boolean {
		return this.check !== undefined;
	}

	get isVoid(): boolean {
		return Boolean(this.check?.void);
	}

	/** Whether Pi may retry the turn of the check after an error of the provider. */
	get failed(): boolean {
		return Boolean(this.check?.error);
	}

	/** Whether the agent answered the open check with this decision. */
	answered(decision: string): boolean {
		return this.check?.answer?.decision === decision;
	}

	/** Whether the last turn was a check, or the agent stopped the watchdog in it. */
	get endedTurn(): boolean {
		return this.lastTurn;
	}

	// ----------------------------------------------------------------------------------------- opening, and making void

	open(id: string, cause?: string): void {
		this.check = { id, wrong: 0, void: cause, decideInBatch: false, blocked: new Set() };
	}

	/** Nothing was asked, so no tool is blocked for it. */
	notAsked(): void {
		this.check = undefined;
	}

	makeVoid(cause: string): void {
		if (this.check) this.check.void ??= cause;
	}

	/** The hub makes a check void. */
	voidByHub(id: string, why: string, abort: boolean): Receipt {
		if (this.check?.id !== id) return { result: "stale", reason: "that check is not open" };
		this.makeVoid(why);
		if (this.session.idle) this.closeIdle();
		else if (abort && !this.session.queued) this.run.abort(); // an abort would put them back into the editor
		return sent;
	}

	/** The hub is gone: the check is void, tools are free. */
	hubLost(): void {
		this.makeVoid("piwatch went away");
		if (this.check && this.session.idle) this.closeIdle();
	}

	/** A check without an end: its Pi was killed, or the session was copied or reloaded while it was open. In a session
	 * that another Pi has open it is that one's. */
	closeOrphan(): void {
		if (this.check) return;
		const id = this.branch.orphan;
		if (!id) return;
		this.open(id, "the session was left");
		if (this.session.idle) safe(() => this.closeIdle());
	}

	/** Pi 0.81.1 moves the leaf also under a run: the turn of the check ends first. */
	async leave(): Promise<void> {
		this.makeVoid("the tree was navigated");
		const closed = new Promise<void>((resolve) => (this.onClose = resolve));
		if (this.session.idle) this.closeIdle();
		else this.run.abort();
		await soon(closed, REPLY_MS);
	}

	/** The session ends. Pi 0.81.1 reloads also in a run, which then goes on: the check stays open for the bridge to come. */
	shutdown(reason: string): void {
		if (!this.check || (reason === "reload" && !this.session.idle)) return;
		this.makeVoid(`the session was left (${reason})`);
		safe(() => this.closeIdle());
	}

	// ---------------------------------------------------------------------------------------------- the turn of a check

	turnStarted(): void {
		this.lastTurn = false;
	}

	/** Pi begins with the message of a check. */
	messageStarted(message: any): void {
		if (message.role !== "custom" || message.customType !== MESSAGE_CHECK || message.details?.check === this.check?.id) return;
		this.open(message.details?.check, "it was over before it was asked"); // it was closed before: it has no answer to give
		this.run.abort();
	}

	messageEnded(message: any): void {
		if (!this.check || message.role !== "assistant") return;
		this.check.decideInBatch = message.content.some((b: any) => b.type === "toolCall" && b.name === this.tool.name);
	}

	/** Blocks a call of another tool while a check is open. */
	block(toolName: string, callId: string): { block: true; reason: string; terminate: boolean } | undefined {
		const open = this.check;
		if (!open || toolName === this.tool.name) return undefined;
		open.blocked.add(callId);
		const last = open.void !== undefined || open.answer !== undefined || open.decideInBatch || open.wrong + 1 >= WRONG_LIMIT;
		return { block: true, reason: this.link.texts.blocked ?? "blocked by piwatch", terminate: last };
	}

	/** The agent called the tool. What is returned takes the hub's word on the call, which comes later: `taken` says whether
	 * it counts, `over` whether the check is. */
	called(callId: string, decision: string, note: string): (word: { accepted: boolean; terminate: boolean }) => { taken: boolean; over: boolean } {
		const open = this.check && !this.check.void ? this.check : undefined;
		return ({ accepted, terminate }) => {
			if (accepted && open && this.check === open && !open.void) open.answer ??= { decision, note };
			// The hub's word that it is void may come later than this answer.
			if (!accepted && terminate && open && !open.answer) open.void ??= "it was ended before it was answered";
			if (accepted && !open && !this.check) this.ownStop ??= { callId, decision, note };
			const over = this.check !== undefined && (this.check.void !== undefined || this.check.answer !== undefined);
			return { taken: accepted && !open?.void, over };
		};
	}

	/** Closes the check whose turn ended, or folds the agent's own stop. What is returned is for Pi to commit. */
	endOfTurn(m: any, results: any[]): Draft[] {
		if (!this.check) return this.ownStop ? this.closeOwnStop() : [];
		const open = this.check;
		if (this.run.interrupted) open.void ??= this.run.interruption;
		if (open.void || (open.answer && m.stopReason !== "error")) {
			// Pi asks the model again, before a queued follow-up: its answer is of this exchange.
			const again = !this.run.interrupted && this.goesOn(open, results);
			if (again && ++open.wrong < WRONG_LIMIT) return [];
			if (again && !this.session.queued) this.run.abort();
			return this.close(true);
		}
		if (m.stopReason === "error") {
			open.error = m.errorMessage || "error"; // Pi may retry, so the check stays open until it settles
			return [];
		}
		open.error = undefined;
		if (results.length === 0) return this.close(true);
		open.wrong++;
		if (open.wrong < WRONG_LIMIT) return [];
		if (this.goesOn(open, results)) this.run.abort();
		return this.close(true);
	}

	/** Whether Pi asks the model again after these results: a call with a bad value never ends a run, and a blocked one
	 * does not on Pi 0.81.1. */
	private goesOn(of: Check, results: any[]): boolean {
		return results.some((r) => r.isError && !(this.session.hasEdits && of.blocked.has(r.toolCallId)));
	}

	// ---------------------------------------------------------------------------------------------------------- closing

	closeIdle(): void {
		if (this.check) this.close(false);
	}

	/** The agent is about to settle. What is returned is for Pi to commit. */
	closeSettling(): Draft[] {
		return this.check ? this.close(true) : [];
	}

	/** Closes the check. With `boundary` the edits are returned for Pi to commit; without, they are written at once where
	 * Pi allows it. */
	private close(boundary: boolean): Draft[] {
		const closed = this.check!;
		this.check = undefined;
		this.onClose();
		this.lastTurn = true;
		const outcome = this.outcomeOf(closed);
		if (this.branch.outcome(closed.id)) outcome.again = true; // its message came after it was closed
		const drafts: Draft[] = [];
		try {
			const name = this.tool.name ?? this.link.toolName;
			const rows = this.branch.exchange(closed.id, (call) => call.name === name || closed.blocked.has(call.id));
			drafts.push(...this.fold.exchange(rows, outcome, boundary));
		} catch (cause) {
			outcome.fold = undefined; // what is not folded stays in the context; the check is over all the same
			outcome.why = [outcome.why, `not folded: ${causeText(cause)}`].filter(Boolean).join("; ");
		}
		drafts.push(...this.recordOutcome(outcome, boundary));
		return drafts;
	}

	/** A stop by the agent itself. */
	private closeOwnStop(): Draft[] {
		const { callId, decision, note } = this.ownStop!;
		this.ownStop = undefined;
		this.lastTurn = true;
		const outcome: Json = { end: "answered", decision, note: note || undefined };
		const drafts = this.fold.call(callId, outcome);
		return [...drafts, ...this.recordOutcome(outcome, true)];
	}

	private outcomeOf(of: Check): Json {
		const base = { check: of.id, wrong: of.wrong || undefined };
		if (of.void) return { ...base, end: "void", why: of.void, ...of.answer };
		if (of.answer) return { ...base, end: "answered", ...of.answer };
		if (of.error) return { ...base, end: "error", why: of.error };
		return { ...base, end: "no_answer", why: of.wrong ? "only blocked tools or bad values" : "no call of the tool" };
	}

	/** Writes an outcome, or gives it to Pi to write after the edits of the boundary, and tells the hub. */
	private recordOutcome(outcome: Json, boundary: boolean): Draft[] {
		this.link.tell("check_closed", { outcome });
		if (boundary && this.session.hasEdits) return [{ type: "custom", customType: RECORD_OUTCOME, data: outcome }];
		this.session.append(RECORD_OUTCOME, outcome);
		return [];
	}
}
