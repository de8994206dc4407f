// The runs of the agent: which one is ours, which was interrupted, how often the agent settled.
import type { Link } from "./link.ts";
import type { Session } from "./session.ts";

export class Run {
	private settles = 0;
	private count = 0;
	private isOwn = false;
	private isEarly = false;
	private wasAborted = false; // the last run, and no message of the user came since
	private runAborted = false;
	private ownAbort = false;
	private inTurn = false;
	private leaving = ""; // the session is about to be replaced

	constructor(
		private session: Session,
		private link: Link,
	) {}

	/** The number of the last settle: what was decided before another one does not fit any more. */
	get settle(): number {
		return this.settles;
	}

	get runs(): number {
		return this.count;
	}

	/** Whether the user aborted the last run and has not spoken since. */
	get aborted(): boolean {
		return this.wasAborted;
	}

	/** Whether the run that goes on, or just ended, was interrupted, by whomever. */
	get interrupted(): boolean {
		return this.runAborted;
	}

	get interruption(): string {
		return this.leaving || "interrupted by the user";
	}

	/** A settle is told before Pi settles. */
	get early(): boolean {
		return this.isEarly;
	}

	get idle(): boolean {
		return this.isEarly || this.session.idle;
	}

	/** The next run is ours: a message is about to be sent. */
	sending(): void {
		this.isOwn = true;
	}

	notSent(): void {
		this.isOwn = false;
	}

	started(): void {
		this.ownAbort = false;
		this.leaving = "";
		this.runAborted = false;
		this.link.tell("run", { own: this.isOwn });
		this.isOwn = false;
	}

	turnStarted(): void {
		this.inTurn = true;
	}

	turnEnded(): void {
		this.inTurn = false;
	}

	sawAbort(): void {
		this.runAborted = true;
	}

	/** Ends a turn of a check: no act of the user, so it does not count as an interruption. */
	abort(): void {
		this.ownAbort = true;
		this.session.ctx.abort();
	}

	/** The agent settles. Pi 0.81.1 aborts a run for /compact and says nothing until it has settled (measured). */
	ended(aborted: boolean | undefined): void {
		if (this.inTurn || aborted) this.runAborted = true;
		this.inTurn = false;
	}

	/** The agent has settled; Pi 0.81.1 does not say whether it was aborted. */
	settled(aborted: boolean | undefined): void {
		this.settles++;
		this.count++;
		this.wasAborted = (aborted ?? this.runAborted) && !this.ownAbort;
		this.ownAbort = false;
	}

	/** The agent counts as settled while `work` lasts. */
	async settledEarly(work: () => Promise<unknown>): Promise<void> {
		this.isEarly = true;
		this.settles++;
		this.count++;
		try {
			await work();
		} finally {
			this.isEarly = false;
		}
	}

	/** The leaf was moved. */
	moved(): void {
		this.settles++;
	}

	userSpoke(): void {
		this.wasAborted = false;
	}

	/** The session is about to be replaced: an interruption from here on is for that. */
	leave(how: string): void {
		this.leaving = `the session was left (${how})`;
	}
}
