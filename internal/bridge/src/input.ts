// Messages of the user or of another extension: they come before everything piwatch does, and make an open check void.
import type { Checks } from "./check.ts";
import type { Compaction } from "./compaction.ts";
import type { Link } from "./link.ts";
import type { Run } from "./run.ts";
import { safe } from "./safe.ts";
import type { Session } from "./session.ts";
import { beginning } from "./text.ts";

const SUBMIT_MS = 10_000; // a submitted message starts its run within this, or another extension took it

export class Input {
	private submitted = 0; // when a message was submitted that is not there yet, milliseconds
	private announced = 0; // messages of the user that were heard of and have no row yet

	constructor(
		private session: Session,
		private link: Link,
		private run: Run,
		private compaction: Compaction,
		private checks: Checks,
	) {}

	/** Whether a message was submitted that may still start a run. */
	get justSubmitted(): boolean {
		return Date.now() - this.submitted < SUBMIT_MS;
	}

	/** A message was submitted; `next` says that Pi takes it with its next request. */
	spoken(source: string, next: boolean, said?: unknown): void {
		const human = source !== "extension";
		this.announced++;
		if (!this.link.open) safe(() => this.checks.closeOrphan()); // the request to come must not carry one
		this.checks.makeVoid(human ? "the user spoke" : "another extension sent a message");
		if (next && this.checks.failed) this.checks.closeIdle(); // Pi is about to retry: the retry must not carry the check beside the message
		if (human) this.run.userSpoke();
		this.compaction.over(); // Pi takes no message during one
		this.submitted = Date.now();
		this.link.tell("input", { source, said: beginning(said) });
	}

	/** Pi 0.81.1 has no `input` for what an RPC client steers or queues (measured): it shows in the queue, then as a row. */
	listen(): void {
		if (this.announced === 0 && this.session.queued) this.spoken("rpc", false);
	}

	/** Pi begins with a message; one of the user is there now. */
	messageStarted(message: any): void {
		if (message.role !== "user") return;
		if (this.announced === 0) this.spoken("rpc", true, message.content);
		this.announced--;
		this.submitted = 0;
		if (this.checks.isVoid) this.checks.closeIdle();
	}

	runStarted(): void {
		this.submitted = 0;
	}

	/** The agent settles: what was announced and is not there, another extension took. */
	settled(): void {
		this.listen();
		if (!this.submitted && !this.session.queued) this.announced = 0;
	}
}
