// What the hub is told about the moment: the facts it decides by, and the hello that brings it up to date.
import { VERSION } from "@earendil-works/pi-coding-agent";
import type { Branch } from "./branch.ts";
import type { Checks } from "./check.ts";
import type { Compaction } from "./compaction.ts";
import type { Keyboard } from "./keyboard.ts";
import { BRIDGE_VERSION, type Json, PARENT_MARK, PROTOCOL } from "./protocol.ts";
import type { Run } from "./run.ts";
import { COMMAND_SAYS, type Session } from "./session.ts";

export class Facts {
	private parent: { session: string; pid: number } | undefined;
	private isResumed = false; // this Pi went on with a session that was there

	constructor(
		private session: Session,
		private branch: Branch,
		private run: Run,
		private compaction: Compaction,
		private keyboard: Keyboard,
		private checks: Checks,
	) {}

	/** Learns which Pi this one is a child of, and marks the processes to come as children of this one. */
	begin(reason: string): void {
		this.isResumed = (reason === "startup" || reason === "resume") && this.hasHistory;
		const mark = /^(.+):(\d+)$/.exec(process.env[PARENT_MARK] ?? "");
		if (mark && Number(mark[2]) !== process.pid) this.parent = { session: mark[1], pid: Number(mark[2]) };
		process.env[PARENT_MARK] = `${this.session.id}:${process.pid}`;
	}

	now(): Json {
		return {
			idle: this.run.idle && !this.compaction.on,
			compacting: this.compaction.on,
			queued: this.session.queued,
			dialog: this.keyboard.hasDialog,
			draft: this.keyboard.hasDraft,
			settle: this.run.settle,
			leaf: this.branch.fenceLeaf,
			runs: this.run.runs,
			aborted: this.run.aborted,
			cut: this.branch.wasCut,
			check: this.checks.id,
		};
	}

	hello(reason: string): Json {
		const env: Record<string, string> = {};
		for (const key of ["PI_WATCHDOG", "PI_WATCHDOG_ON_STOP", "PI_WATCHDOG_ROLLBACK", "PI_WATCHDOG_GUARD", "PI_WATCHDOG_SUPERVISOR"]) {
			const value = process.env[key];
			if (value !== undefined) env[key] = value;
		}
		const { ctx, manager } = this.session;
		return {
			role: "bridge",
			protocol: PROTOCOL,
			bridge: BRIDGE_VERSION,
			pi: VERSION ?? "",
			instance: this.session.instance,
			session: this.session.id,
			file: manager.getSessionFile() ?? "",
			cwd: ctx.cwd,
			name: manager.getSessionName() ?? "",
			model: this.session.model,
			pid: process.pid,
			mode: ctx.mode,
			reason,
			history: this.hasHistory,
			boundary: this.session.hasEdits,
			parent: this.parent,
			inherited: process.env.PI_SESSION_ID,
			origin: manager.getHeader()?.parentSession,
			created: manager.getHeader()?.timestamp,
			resumed: this.isResumed,
			env,
			other: this.otherWatchdog(),
			facts: this.now(),
			records: this.branch.essence,
		};
	}

	private get hasHistory(): boolean {
		return this.branch.entries.some((entry) => entry.type === "message");
	}

	private otherWatchdog(): string {
		const { pi, commandName } = this.session;
		const twin = pi.getCommands().some((c) => /^watchdog(:\d+)?$/.test(c.name) && c.description !== COMMAND_SAYS);
		return twin ? `another extension has a command /watchdog too; that of piwatch is /${commandName} in this session` : "";
	}
}
