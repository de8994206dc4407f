// The session that runs in this Pi, and what this Pi can do. Everything else asks Pi through it.
import { randomUUID } from "node:crypto";
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";

export const COMMAND_SAYS = "Keep the agent at work: [timeout=S] [max=N] [mode=once|keep] [message=TEXT] | stop | status | pause | resume";

const BRIDGE_KEY = Symbol.for("piwatch.bridge");

/** The bridge that was loaded last in this process: one that is installed twice works once. */
const BRIDGES = globalThis as { [BRIDGE_KEY]?: string };

type Handler = (event: any, c: ExtensionContext) => unknown;

export class Session {
	readonly instance = randomUUID();
	private current: ExtensionContext | undefined;
	private currentId = "";
	private over = true;

	constructor(readonly pi: ExtensionAPI) {
		BRIDGES[BRIDGE_KEY] = this.instance;
	}

	get isTwin(): boolean {
		return BRIDGES[BRIDGE_KEY] !== this.instance;
	}

	begin(c: ExtensionContext): void {
		this.current = c;
		this.currentId = c.sessionManager.getSessionId();
		this.over = false;
	}

	end(): void {
		this.over = true;
	}

	/** Between its begin and its end; all but `on` and `isTwin` is for that time. */
	get live(): boolean {
		return !this.over;
	}

	/** Throws once Pi has replaced the session. */
	get ctx(): ExtensionContext {
		return this.current!;
	}

	get id(): string {
		return this.currentId;
	}

	/** Pi's session manager; Pi 0.81.1 and 1.6.0 declare different parts of it, and neither the unofficial ones. */
	get manager(): any {
		return this.current?.sessionManager;
	}

	/** Pi 1.6.0 edits the context by entries of the session, and commits them at the boundary of a turn. */
	get hasEdits(): boolean {
		return typeof this.manager?.buildSessionProjection === "function";
	}

	get headless(): boolean {
		return this.current?.mode === "print" || this.current?.mode === "json";
	}

	get idle(): boolean {
		return this.ctx.isIdle();
	}

	get queued(): boolean {
		return this.ctx.hasPendingMessages();
	}

	get model(): string {
		const model = this.current?.model;
		return model ? `${model.provider}/${model.id}` : "";
	}

	/** Two commands of one name get numbers in Pi, and the bare name goes to the model: ours is found by what it says. */
	get commandName(): string {
		return this.pi.getCommands().findLast((c) => c.description === COMMAND_SAYS)?.name ?? "watchdog";
	}

	/** Hears an event of Pi while the session is live. Pi 0.81.1 does not declare the events that Pi 1.6.0 added;
	 * subscribing to them there is harmless. */
	on(event: string, handler: Handler): void {
		const live: Handler = (e, c) => (this.over && event !== "session_start" ? undefined : handler(e, c));
		(this.pi.on as (event: string, handler: Handler) => void)(event, live);
	}

	/** Writes a record of piwatch into the session. */
	append(type: string, data: unknown): void {
		this.pi.appendEntry(type, data);
	}
}
