// Telling the hub that the agent settled. A Pi without a screen ends when its work is done, so there the hub is waited for;
// Pi 0.81.1 in print mode needs it told earlier, and has its result printed by us.
import { writeSync } from "node:fs";
import type { Branch } from "./branch.ts";
import type { Checks } from "./check.ts";
import type { Facts } from "./facts.ts";
import type { Link } from "./link.ts";
import type { Run } from "./run.ts";
import { safe } from "./safe.ts";
import type { Session } from "./session.ts";

export class Settle {
	constructor(
		private session: Session,
		private branch: Branch,
		private link: Link,
		private run: Run,
		private checks: Checks,
		private facts: Facts,
	) {}

	/** Pi 0.81.1 in print mode ends after agent_settled whatever is sent there (measured). What the hub wants to send is
	 * asked for earlier and queued as a follow-up: a check at agent_end, a work message at turn_end of the check, since at
	 * agent_end it would cost one more request. */
	get isEarly(): boolean {
		return this.session.headless && !this.session.hasEdits;
	}

	async tellEarly(): Promise<void> {
		if (!this.link.open || !this.link.watching) return;
		await this.run.settledEarly(() => this.request());
	}

	/** At agent_settled. */
	async tell(): Promise<void> {
		if (this.isEarly) safe(() => this.printResult());
		if (!this.link.open || this.isEarly) return;
		const answer = this.request();
		if (this.session.headless && this.link.watching) await answer; // what the hub sends must be sent inside this handler
	}

	private request(): Promise<unknown> {
		return this.link.request("settled", { facts: this.facts.now() }).catch(() => {});
	}

	/** Pi 0.81.1 prints the text of its last row, which after a check is none: the agent's last text is the result. */
	private printResult(): void {
		if (!this.checks.endedTurn || this.session.ctx.mode !== "print") return;
		const last = this.branch.entries.findLast((e) => e.message?.role === "assistant");
		const text = (last?.message.content ?? []).map((block: any) => (block.type === "text" ? `${block.text}\n` : "")).join("");
		for (let rest = Buffer.from(text); rest.length; ) {
			try {
				rest = rest.subarray(writeSync(1, rest));
			} catch (cause: any) {
				if (cause?.code !== "EAGAIN") throw cause; // a full pipe: its reader takes it in a moment
			}
		}
	}
}
