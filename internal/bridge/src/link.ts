// The link to the hub: says hello, starts a hub where there is none, comes back when it went away. Holds what the hub said
// when it answered, and shows its status in Pi's footer. What the hub asks for goes to who serves it.
import { spawn } from "node:child_process";
import type { Branch } from "./branch.ts";
import { Channel, socketPath } from "./channel.ts";
import { type Json, PARENT_MARK, PIWATCH_BIN, type Receipt, START_MS } from "./protocol.ts";
import { safe, soon } from "./safe.ts";
import type { Session } from "./session.ts";
import { causeText } from "./text.ts";

type Service = (params: any) => Receipt | Promise<Receipt>;

export class Link {
	private channel = new Channel((method, params) => this.answer(method, params), () => safe(() => this.lost()));
	private services: Record<string, Service> = {};
	private welcomes: ((answer: Json) => void)[] = [];
	private losses: (() => void)[] = [];
	private welcome: Json = {};
	private isWatching = false;
	private shown: string | undefined; // in Pi's footer
	private retryMs = 0;
	private isGivenUp = false; // it was waited for a hub that is away
	private why = ""; // no hub can be started
	private markJoined = (): void => {};
	private joined = this.newJoined(); // kept once the hub has answered hello
	private reconnecting: NodeJS.Timeout | undefined;

	constructor(
		private session: Session,
		private branch: Branch,
		private hello: (reason: string) => Json,
	) {}

	/** Answers methods of the hub. */
	serve(services: Record<string, Service>): void {
		Object.assign(this.services, services);
	}

	/** Called with the hub's answer to each hello. */
	onWelcome(work: (answer: Json) => void): void {
		this.welcomes.push(work);
	}

	/** Called when the hub went away. */
	onLost(work: () => void): void {
		this.losses.push(work);
	}

	get open(): boolean {
		return this.channel.open;
	}

	/** Whether the hub's watchdog is on for this session. */
	get watching(): boolean {
		return this.isWatching;
	}

	/** Whether this is the Pi that has the session, and no other that opened it too. */
	get driver(): boolean {
		return this.welcome.driver === true;
	}

	/** The hub's texts. */
	get texts(): Json {
		return this.welcome.texts ?? {};
	}

	/** The name of the tool in the hub's answer. */
	get toolName(): string | undefined {
		return this.welcome.tool?.name;
	}

	/** Why there is no hub; empty when there is one, or one may come. */
	get missing(): string {
		return this.why;
	}

	tell(method: string, params: Json): void {
		if (this.channel.open) this.channel.notify(method, params);
	}

	/** Rejects when the hub is gone, does not answer in time, or answers with an error. */
	request(method: string, params: Json): Promise<any> {
		return this.channel.request(method, params);
	}

	/** Until the hub is there, or cannot come; not for ever. */
	ready(): Promise<void> {
		return soon(this.joined, START_MS);
	}

	/** As ready, but once for each time that the hub is away: it may be starting, or never come. Not longer than until the
	 * signal. */
	async comeback(signal: AbortSignal | undefined): Promise<void> {
		if (this.isGivenUp || signal?.aborted) return;
		this.isGivenUp = true;
		await Promise.race([this.ready(), new Promise<void>((resolve) => signal?.addEventListener("abort", () => resolve(), { once: true }))]);
	}

	/** The promise is kept once a hub that is there has answered, and at once where none is. */
	start(reason: string): Promise<void> {
		const tried = this.join(reason);
		tried.then(this.markJoined, () => this.later(reason));
		return tried.catch(() => {});
	}

	stop(): void {
		if (this.reconnecting) clearTimeout(this.reconnecting);
		this.reconnecting = undefined;
		this.channel.close();
	}

	/** The hub switched the watchdog on: its tool came. */
	watch(): void {
		this.isWatching = true;
	}

	status(line: string): void {
		this.isWatching = line !== ""; // a watchdog that is on always has a status
		this.footer(line);
	}

	private answer(method: string, params: Json): Receipt | Promise<Receipt> {
		if (!this.session.live) return { result: "stale", reason: "the session was replaced" };
		const service = this.services[method];
		return service ? service(params) : { result: "refused", reason: `this bridge does not know ${method}` };
	}

	private async join(reason: string): Promise<void> {
		const path = socketPath();
		if (!path) {
			this.markJoined(); // nobody waits for a hub that has no place
			throw new Error("no place for the hub's socket");
		}
		await this.channel.connect(path).catch((cause) => {
			if (this.session.live) safe(() => this.launch());
			throw cause;
		});
		let answer: Json;
		try {
			answer = await this.channel.request("hello", this.hello(reason));
		} catch (cause) {
			this.channel.close(); // a hub that does not know us: nothing may go to it
			this.why = `piwatch: the hub does not take this bridge (${causeText(cause)}). After an upgrade: piwatch install, then /reload`;
			this.markJoined(); // nor for one that does not take this bridge
			throw cause;
		}
		this.why = "";
		this.welcome = answer;
		this.isWatching = answer.on === true;
		this.retryMs = 0;
		for (const work of this.welcomes) work(answer);
		this.footer(answer.status);
	}

	private newJoined(): Promise<void> {
		return new Promise((resolve) => {
			this.markJoined = resolve;
		});
	}

	/** Starts the hub; whoever is first wins, the others find its lock taken and end. */
	private launch(): void {
		const env = { ...process.env };
		for (const key of ["PI_CODING_AGENT", "PI_SESSION_ID", "PI_SESSION_FILE", PARENT_MARK]) delete env[key];
		const run = (program: string, failed: (cause: Error) => void): void => {
			const child = spawn(program, ["hub", "run"], { detached: true, stdio: "ignore", cwd: "/", env });
			child.on("error", failed);
			child.on("spawn", () => (this.why = ""));
			child.unref();
		};
		// The program may have moved since it was installed; without one Pi goes on alone.
		run(PIWATCH_BIN, () => safe(() => run("piwatch", (cause) => safe(() => this.noProgram(cause)))));
	}

	private noProgram(cause: Error): void {
		const first = this.why === "";
		this.why = `piwatch cannot be started (${causeText(cause)}); it was ${PIWATCH_BIN}. Install it again, or remove the bridge, extensions/piwatch.ts in the agent folder`;
		this.markJoined(); // nobody waits for a hub that cannot come
		if (!first || !(process.env.PI_WATCHDOG || this.branch.isWatched)) return;
		this.footer("⏱✗");
		this.session.ctx.ui.notify(this.why, "error");
	}

	private later(reason: string): void {
		if (!this.session.live || this.reconnecting) return;
		this.retryMs = Math.min(Math.max(this.retryMs * 2, 50), 4000);
		this.reconnecting = setTimeout(() => {
			this.reconnecting = undefined;
			if (this.session.live && !this.channel.open) this.start(reason);
		}, this.retryMs);
		this.reconnecting.unref();
	}

	/** The hub is gone: nothing is sent until it is back. */
	private lost(): void {
		if (!this.session.live) return;
		for (const work of this.losses) work();
		this.joined = this.newJoined();
		this.isGivenUp = false;
		if (this.isWatching) this.footer(this.texts.lost);
		this.retryMs = 0;
		this.later("reconnect");
	}

	private footer(line: string | undefined): void {
		if ((line || undefined) === this.shown) return;
		this.shown = line || undefined;
		this.session.ctx.ui.setStatus("piwatch", this.shown);
	}
}
