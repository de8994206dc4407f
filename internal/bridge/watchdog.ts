// The eyes and hands of piwatch inside Pi. It decides nothing that can wait for the hub; it keeps only what must be
// immediate: block tools while a check is open, fold rows out of the context, refuse a send whose fence does not match,
// close a check when the user speaks. Texts, tool definition and settings come from the hub.
//
// Nothing here may throw outside a Pi handler: a throw in a timer, a socket callback or a terminal listener ends Pi.
import { spawn } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { writeSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { posix } from "node:path";
import { type ExtensionAPI, type ExtensionCommandContext, type ExtensionContext, ExtensionRunner, VERSION } from "@earendil-works/pi-coding-agent";
import { truncateToWidth } from "@earendil-works/pi-tui";

const PIWATCH_BIN = "piwatch";
const BRIDGE_VERSION = "0.1.0";
const PROTOCOL = 1;

const RECORD_TOOL = "piwatch.tool";
const RECORD_START = "piwatch.start";
const RECORD_CHECK = "piwatch.check";
const RECORD_OUTCOME = "piwatch.outcome";
const MESSAGE_CHECK = "piwatch.ask";
const MESSAGE_WORK = "piwatch.work";
const COMMAND_SAYS = "Keep the agent at work: [timeout=S] [max=N] [mode=once|keep] [message=TEXT] | stop | status | pause | resume";
const COMMAND_WORDS = ["stop", "status", "pause", "resume", "nudge", "skip", "set ", "mode keep", "mode once", "extend 30", "timeout=", "max=", "mode=", "message="];
const PARENT_MARK = "PIWATCH_PARENT"; // session id and pid of the Pi whose child a process is
const WRONG_LIMIT = 3; // turns of blocked tools before a check ends without an answer
const REPLY_MS = 3000; // the hub answers in a few milliseconds; later than this it counts as gone
const START_MS = 8000; // a hub that has to be started is there within this
const SUBMIT_MS = 10_000; // a submitted message starts its run within this, or another extension took it
const LINE_MAX = 1 << 20;
const FREE = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 }; // the cost of a copied row: it was paid for

type Json = Record<string, any>;
type Draft =
	| { type: "custom"; customType: string; data: unknown }
	| { type: "context_edit"; targetId: string; replacement: { content: unknown } | null };
interface Receipt { result: "sent" | "queued" | "refused" | "stale"; reason?: string; entry?: string; facts?: Json }
interface Component { render(width: number): string[]; invalidate(): void }
interface Tool { name: string; label: string; description: string; parameters: any }

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

// ---------------------------------------------------------------------------------------------------------------------
// The channel: JSON-RPC 2.0, one message a line, over the hub's Unix socket.

/** The hub's socket; control.SocketPath in the Go code holds the whole rule. Undefined: there is no place for one. */
function socketPath(): string | undefined {
	const env = process.env;
	const fits = (path: string): boolean => Buffer.byteLength(path) < 104;
	const rooted = (dir: string | undefined, ...parts: string[]): string | undefined =>
		dir?.startsWith("/") ? posix.join(dir, ...parts, "hub.sock") : undefined;
	if (env.PIWATCH_SOCKET) return posix.isAbsolute(env.PIWATCH_SOCKET) && fits(env.PIWATCH_SOCKET) ? env.PIWATCH_SOCKET : undefined;
	const path =
		rooted(env.XDG_RUNTIME_DIR, "piwatch") ??
		rooted(env.XDG_STATE_HOME, "piwatch", "run") ??
		rooted(env.HOME, ".local/state", "piwatch", "run");
	if (!path || fits(path)) return path;
	const folder = `piwatch-${process.getuid?.()}-${createHash("sha256").update(path).digest("hex").slice(0, 8)}`;
	return [rooted(env.TMPDIR, folder), rooted("/tmp", folder)].find((short) => short && fits(short));
}

const BRIDGE_KEY = Symbol.for("piwatch.bridge");

class Channel {
	private socket: Socket | undefined;
	private buffer = "";
	private lastId = 0;
	private waiting = new Map<number, { done: (value: any) => void; fail: (cause: Error) => void; timer: NodeJS.Timeout }>();

	constructor(
		private onRequest: (method: string, params: Json) => Receipt | Promise<Receipt>,
		private onClose: () => void,
	) {}

	get open(): boolean {
		return this.socket !== undefined;
	}

	connect(path: string): Promise<void> {
		return new Promise((resolve, reject) => {
			const socket = connect(path);
			this.buffer = "";
			socket.unref(); // a print-mode Pi ends when its work is done
			socket.setEncoding("utf8");
			socket.once("connect", () => {
				this.socket = socket;
				resolve();
			});
			socket.on("data", (chunk: string) => {
				if (this.socket === socket) this.read(chunk); // a closed one is not obeyed any more
			});
			socket.on("error", (cause) => reject(cause));
			socket.on("close", () => this.drop(socket));
		});
	}

	close(): void {
		const socket = this.socket;
		this.socket = undefined;
		socket?.end();
		this.failAll();
	}

	notify(method: string, params: Json): void {
		this.write({ jsonrpc: "2.0", method, params });
	}

	/** Rejects when the hub is gone, does not answer in time, or answers with an error. */
	request(method: string, params: Json): Promise<any> {
		if (!this.socket) return Promise.reject(new Error("piwatch hub is not connected"));
		const id = ++this.lastId;
		return new Promise((done, fail) => {
			const timer = setTimeout(() => {
				this.waiting.delete(id);
				fail(new Error(`piwatch hub did not answer ${method}`));
			}, REPLY_MS); // it also keeps a Pi alive that has nothing else to wait for: the socket alone does not
			this.waiting.set(id, { done, fail, timer });
			this.write({ jsonrpc: "2.0", id, method, params });
		});
	}

	private write(message: Json): void {
		if (this.socket?.writable) this.socket.write(`${JSON.stringify(message)}\n`);
	}

	private read(chunk: string): void {
		this.buffer += chunk;
		let end: number;
		while ((end = this.buffer.indexOf("\n")) >= 0) {
			const line = this.buffer.slice(0, end);
			this.buffer = this.buffer.slice(end + 1);
			try {
				this.receive(JSON.parse(line));
			} catch {
				this.socket?.destroy(); // not our protocol
			}
		}
		if (this.buffer.length > LINE_MAX) this.socket?.destroy();
	}

	private receive(message: Json): void {
		if (typeof message.method === "string") {
			if (message.id === undefined) return;
			const failed = (cause: unknown): Receipt => ({ result: "refused", reason: `the bridge failed: ${text(cause)}` });
			const answer = (result: Receipt): void => this.write({ jsonrpc: "2.0", id: message.id, result });
			try {
				const receipt = this.onRequest(message.method, message.params ?? {});
				if (receipt instanceof Promise) receipt.catch(failed).then(answer);
				else answer(receipt); // at once, before anything that Pi does because of it is told
			} catch (cause) {
				answer(failed(cause));
			}
			return;
		}
		const call = this.waiting.get(message.id);
		if (!call) return;
		this.waiting.delete(message.id);
		clearTimeout(call.timer);
		if (message.error) call.fail(new Error(String(message.error.message)));
		else call.done(message.result ?? {});
	}

	private drop(socket: Socket): void {
		if (this.socket !== socket) return;
		this.socket = undefined;
		this.buffer = "";
		this.failAll();
		this.onClose();
	}

	private failAll(): void {
		const calls = [...this.waiting.values()];
		this.waiting.clear();
		for (const call of calls) {
			clearTimeout(call.timer);
			call.fail(new Error("piwatch hub went away"));
		}
	}
}

/** One line without what would steer a terminal: escape sequences, control characters, changes of the writing direction. */
function clean(line: string): string {
	return line
		.replace(/\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])?/g, "")
		.replace(/[\x00-\x1f\x7f-\x9f\u2028\u2029]+/g, " ")
		.replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "")
		.trim();
}

function text(cause: unknown): string {
	return cause instanceof Error ? cause.message : String(cause);
}

// ---------------------------------------------------------------------------------------------------------------------

/** The bridge that was loaded last in this process: one that is installed twice works once. */
const BRIDGES = globalThis as { [BRIDGE_KEY]?: string };

export default function piwatch(pi: ExtensionAPI): void {
	// Pi 0.81.1 does not declare the events that Pi 1.6.0 added; subscribing to them there is harmless.
	const on = (event: string, handler: (event: any, c: ExtensionContext) => unknown): void => {
		const live = (e: any, c: ExtensionContext): unknown => (stopped && event !== "session_start" ? undefined : handler(e, c));
		(pi.on as (event: string, handler: (event: any, c: ExtensionContext) => unknown) => void)(event, live);
	};

	const instance = randomUUID();
	BRIDGES[BRIDGE_KEY] = instance;
	const isTwin = (): boolean => BRIDGES[BRIDGE_KEY] !== instance;
	let ctx: ExtensionContext | undefined; // of the running session; throws when stale
	let session = "";
	let stopped = true;
	let parent: { session: string; pid: number } | undefined;
	let welcome: Json = {};
	let tool: Tool | undefined; // as registered
	let check: Check | undefined;
	let ownStop: { callId: string; decision: string; note: string } | undefined; // the agent stopped the watchdog by itself
	let watching = false;
	let compacting = false;
	let dialogs = 0;
	let settle = 0;
	let runs = 0;
	let ownRun = false;
	let endedOnCall = false; // the last turn was a check, or the agent stopped the watchdog in it
	let early = false; // a settle is told before Pi settles, see settleEarly
	let aborted = false; // the last run was aborted, and no message of the user came since
	let runAborted = false;
	let ownAbort = false;
	let inTurn = false;
	let leaving = ""; // the session is about to be replaced
	let onClose = (): void => {}; // a check was closed
	let ownMove = false; // the branch is being moved by us
	let commandCtx: ExtensionCommandContext | undefined; // of the last command typed
	let onCommand: ((c: ExtensionCommandContext) => void) | undefined; // waits for the command it sent itself
	let draft = false;
	let submitted = 0; // when a message was submitted that is not there yet, milliseconds
	let announced = 0; // messages of the user that were heard of and have no row yet
	let shown: string | undefined; // in Pi's footer
	let retryMs = 0;
	let missing = ""; // why no hub can be started
	let markJoined = (): void => {};
	let joined = newJoined(); // kept once the hub has answered hello
	let reconnecting: NodeJS.Timeout | undefined;
	let activityTimer: NodeJS.Timeout | undefined;
	let keyPressed = false;
	let unlisten: (() => void) | undefined;
	const pending: Draft[] = []; // edits that wait for the next boundary
	const dropAssistant = new Set<number>(); // message timestamps, for a Pi without context edits
	const dropCalls = new Set<string>();
	const dropChecks = new Set<string>();

	// Pi 0.81.1 has no official way to a command context without a typed command: its runner is caught when it makes its
	// first context (unofficial, measured), and the method is put back at once.
	let runner: { createCommandContext(): ExtensionCommandContext } | undefined;
	if (!("getSettings" in pi)) {
		const maker = (ExtensionRunner as any)?.prototype;
		const original = maker?.createContext;
		if (typeof original === "function" && typeof maker.createCommandContext === "function") {
			maker.createContext = function (this: any, ...args: unknown[]): unknown {
				maker.createContext = original;
				runner = this;
				return original.apply(this, args);
			};
		}
	}

	const channel = new Channel(serve, () => safe(lost));

	/** For everything that Pi does not call: no error may leave it. */
	function safe<T>(work: () => T): T | undefined {
		try {
			return work();
		} catch {
			return undefined; // a stale context after a session was replaced, or a Pi that is going down
		}
	}

	const manager = (): any => ctx?.sessionManager;
	const hasEdits = (): boolean => typeof manager()?.buildSessionProjection === "function";
	const headless = (): boolean => ctx?.mode === "print" || ctx?.mode === "json";

	// -------------------------------------------------------------------------------------------------------- the facts

	const isOwnRecord = (entry: any): boolean => entry.type === "custom" && String(entry.customType).startsWith("piwatch.");

	/** The last entry on the branch that is neither a record of piwatch nor one of its folds, and no compaction, which does
	 * not move the session on: what a fence compares. */
	function fenceLeaf(): string {
		let entry = manager().getLeafEntry();
		while (entry && (isOwnRecord(entry) || entry.type === "context_edit" || entry.type === "compaction")) {
			entry = entry.parentId ? manager().getEntry(entry.parentId) : undefined;
		}
		return entry?.id ?? "";
	}

	function hasDraft(): boolean {
		return (ctx?.ui.getEditorText() ?? "").trim() !== "";
	}

	function facts(): Json {
		return {
			idle: (early || ctx!.isIdle()) && !compacting,
			compacting,
			queued: ctx!.hasPendingMessages(),
			dialog: dialogs > 0,
			draft: hasDraft(),
			settle,
			leaf: fenceLeaf(),
			runs,
			aborted,
			check: check?.id ?? "",
		};
	}

	function branchHas(customType: string): any {
		return manager().getBranch().findLast((entry: any) => entry.type === "custom" && entry.customType === customType);
	}

	const modelName = (): string => (ctx?.model ? `${ctx.model.provider}/${ctx.model.id}` : "");

	// ------------------------------------------------------------------------------------------------------- connecting

	function hello(reason: string): Json {
		const env: Record<string, string> = {};
		for (const key of ["PI_WATCHDOG", "PI_WATCHDOG_ON_STOP", "PI_WATCHDOG_ROLLBACK"]) {
			const value = process.env[key];
			if (value !== undefined) env[key] = value;
		}
		const branch: any[] = manager().getBranch();
		const file = manager().getSessionFile() ?? "";
		return {
			role: "bridge",
			protocol: PROTOCOL,
			bridge: BRIDGE_VERSION,
			pi: VERSION ?? "",
			instance,
			session,
			file,
			cwd: ctx!.cwd,
			name: manager().getSessionName() ?? "",
			model: modelName(),
			pid: process.pid,
			mode: ctx!.mode,
			reason,
			history: branch.some((entry) => entry.type === "message"),
			boundary: hasEdits(),
			parent,
			env,
			other: otherWatchdog(),
			facts: facts(),
			records: essence(branch),
		};
	}

	/** Two commands of one name get numbers in Pi, and the bare name goes to the model: ours is found by what it says. */
	function commandName(): string {
		return pi.getCommands().findLast((c) => c.description === COMMAND_SAYS)?.name ?? "watchdog";
	}

	function otherWatchdog(): string {
		const twin = pi.getCommands().some((c) => /^watchdog(:\d+)?$/.test(c.name) && c.description !== COMMAND_SAYS);
		return twin ? `another extension has a command /watchdog too; that of piwatch is /${commandName()} in this session` : "";
	}

	/** What the hub needs of the branch to know where the watchdog stands: the records since the last start, of checks,
	 * outcomes and work messages the last each, the last outcome that stopped it, and that the user spoke. What was said
	 * stays in Pi. */
	function essence(branch: any[]): Json[] {
		const isUser = (e: any): boolean => e.type === "message" && e.message.role === "user";
		const isRecord = (e: any, type: string): boolean => e.type === "custom" && e.customType === type;
		const isWork = (e: any): boolean => e.type === "custom_message" && e.customType === MESSAGE_WORK;
		const start = branch.findLastIndex((e) => isRecord(e, RECORD_START));
		const lasts = new Set([
			branch.findLastIndex(isUser),
			branch.findLastIndex((e) => isRecord(e, RECORD_CHECK)),
			branch.findLastIndex((e) => isRecord(e, RECORD_OUTCOME) && !e.data?.again),
			branch.findLastIndex((e) => isRecord(e, RECORD_OUTCOME) && !e.data?.again && e.data?.end === "answered" && e.data?.decision !== "continue"),
			branch.findLastIndex(isWork),
		]);
		const single = (e: any): boolean => isUser(e) || isWork(e) || isRecord(e, RECORD_CHECK) || isRecord(e, RECORD_OUTCOME);
		const bare = (e: any): Json => ({ type: e.type, id: e.id, parentId: e.parentId, timestamp: e.timestamp });
		return branch
			.filter((e, i) => lasts.has(i) || (start >= 0 && i >= start && isOwnRecord(e) && !single(e) && !isRecord(e, RECORD_TOOL)))
			.map((e) => {
				if (isUser(e)) return { ...bare(e), message: { role: "user", content: [] } };
				if (isWork(e)) return { ...bare(e), customType: e.customType, content: "" };
				return e;
			});
	}

	async function join(reason: string): Promise<void> {
		const path = socketPath();
		if (!path) throw new Error("no place for the hub's socket");
		await channel.connect(path).catch((cause) => {
			if (!stopped) safe(launch);
			throw cause;
		});
		let answer: Json;
		try {
			answer = await channel.request("hello", hello(reason));
		} catch (cause) {
			channel.close(); // a hub that does not know us: nothing may go to it
			missing = `piwatch: the hub does not take this bridge (${text(cause)}). After an upgrade: piwatch install, then /reload`;
			throw cause;
		}
		missing = "";
		welcome = answer;
		watching = answer.on === true;
		retryMs = 0;
		if (watching) register(answer.tool as Tool);
		if (answer.driver) closeOrphan(); // it knows a harmless call by the tool
		footer(answer.status);
	}

	function start(reason: string): void {
		join(reason).then(markJoined, () => later(reason));
	}

	function newJoined(): Promise<void> {
		return new Promise((resolve) => {
			markJoined = resolve;
		});
	}

	/** Starts the hub; whoever is first wins, the others find its lock taken and end. */
	function launch(): void {
		const env = { ...process.env };
		for (const key of ["PI_CODING_AGENT", "PI_SESSION_ID", "PI_SESSION_FILE", PARENT_MARK]) delete env[key];
		const run = (program: string, failed: (cause: Error) => void): void => {
			const child = spawn(program, ["hub", "run"], { detached: true, stdio: "ignore", cwd: "/", env });
			child.on("error", failed);
			child.on("spawn", () => (missing = ""));
			child.unref();
		};
		// The program may have moved since it was installed; without one Pi goes on alone.
		run(PIWATCH_BIN, () => safe(() => run("piwatch", (cause) => safe(() => noProgram(cause)))));
	}

	function noProgram(cause: Error): void {
		const first = missing === "";
		missing = `piwatch cannot be started (${text(cause)}); it was ${PIWATCH_BIN}. Install it again, or remove the bridge, extensions/piwatch.ts in the agent folder`;
		markJoined(); // nobody waits for a hub that cannot come
		if (!first || !(process.env.PI_WATCHDOG || branchHas(RECORD_START))) return;
		footer("⏱✗");
		ctx?.ui.notify(missing, "error");
	}

	function later(reason: string): void {
		if (stopped || reconnecting) return;
		retryMs = Math.min(Math.max(retryMs * 2, 50), 4000);
		reconnecting = setTimeout(() => {
			reconnecting = undefined;
			if (!stopped && !channel.open) start(reason);
		}, retryMs);
		reconnecting.unref();
	}

	/** The hub is gone: the check is void, tools are free, nothing is sent until it is back. */
	function lost(): void {
		if (stopped) return;
		if (check && !check.void) check.void = "piwatch went away";
		if (check && ctx?.isIdle()) closeIdle();
		joined = newJoined();
		if (watching) footer(welcome.texts?.lost);
		retryMs = 0;
		later("reconnect");
	}

	function footer(line: string | undefined): void {
		if ((line || undefined) === shown) return;
		shown = line || undefined;
		ctx?.ui.setStatus("piwatch", shown);
	}
	const tell = (method: string, params: Json): void => {
		if (channel.open) channel.notify(method, params);
	};

	// ------------------------------------------------------------------------------------------- what the hub asks for

	function serve(method: string, params: Json): Receipt | Promise<Receipt> {
		if (stopped || !ctx) return { result: "stale", reason: "the session was replaced" };
		const act = actions[method];
		return act ? act(params) : { result: "refused", reason: `this bridge does not know ${method}` };
	}

	const sent: Receipt = { result: "sent" };
	const actions: Record<string, (params: any) => Receipt | Promise<Receipt>> = {
		check(params) {
			const no = refusal(params.fence);
			if (no) return no;
			check = { id: params.record.id, wrong: 0, decideInBatch: false, blocked: new Set() };
			try {
				pi.appendEntry(RECORD_CHECK, params.record);
				ask(MESSAGE_CHECK, params.text, params.record.id);
			} catch (cause) {
				check = undefined; // nothing was asked, so no tool is blocked for it
				ownRun = false;
				throw cause;
			}
			return sent;
		},
		work(params) {
			const no = refusal(params.fence);
			if (no) return no;
			ask(MESSAGE_WORK, params.text, params.check);
			return sent;
		},
		void(params) {
			if (check?.id !== params.check) return { result: "stale", reason: "that check is not open" };
			check!.void ??= params.why;
			if (ctx!.isIdle()) closeIdle();
			else if (params.abort && !ctx!.hasPendingMessages()) abortOwn(); // an abort would put them back into the editor
			return sent;
		},
		record(params) {
			pi.appendEntry(params.type, params.data);
			return sent;
		},
		status(params) {
			watching = params.text !== ""; // a watchdog that is on always has a status
			footer(params.text);
			return sent;
		},
		fold(params) {
			return params.on ? foldAgain(params.check) : unfold(params.check);
		},
		rollback(params) {
			return rollback(params.check);
		},
		notify(params) {
			ctx!.ui.notify(params.text, params.level);
			return sent;
		},
		tool(params) {
			watching = true;
			register(params as Tool);
			return sent;
		},
	};

	/** Everything is looked at again in the tick of the send. */
	function refusal(fence: { settle: number; leaf: string; until?: number }): Receipt | undefined {
		const now = facts();
		const reasons: [boolean, "refused" | "stale", string][] = [
			[check !== undefined, "refused", "a check is open"],
			[compacting, "refused", "Pi is compacting"],
			[!now.idle, "refused", "the agent is running"],
			[Date.now() - submitted < SUBMIT_MS, "refused", "a message was just submitted"],
			[now.queued, "refused", "a message is queued"],
			[now.dialog, "refused", "a dialog is open"],
			[now.draft, "refused", "the editor holds a draft"],
			[fence.until !== undefined && Date.now() > fence.until, "stale", "the hub's word is too old"],
			[fence.settle !== now.settle, "stale", "the agent settled again since"],
			[fence.leaf !== now.leaf, "stale", "the session moved on since"],
		];
		const hit = reasons.find(([bad]) => bad);
		return hit && { result: hit[1], reason: hit[2], facts: now };
	}

	function ask(customType: string, content: string, id: string): void {
		ownRun = true;
		pi.sendMessage(
			{ customType, content, display: true, details: { check: id } },
			{ triggerTurn: true, deliverAs: early ? "followUp" : undefined },
		);
	}

	// --------------------------------------------------------------------------------------------------------- the tool

	/** Registers the tool once in a session, with the definition the session file holds, so that a resumed session
	 * sends the same bytes; a session that is never watched has no tool. */
	function register(def: Tool): void {
		if (tool) return;
		const held = heldTool();
		tool = held ?? def;
		if (!held) pi.appendEntry(RECORD_TOOL, tool);
		pi.registerTool({
			...tool,
			renderShell: "self",
			renderCall: () => lines(),
			renderResult: (result: any, options: any, theme: any) => {
				const said = (result.content ?? []).map((block: any) => block.text ?? "").join(" ");
				const line = theme.fg("muted", `⏱ ${result.details?.line ?? said}`);
				return options?.expanded ? lines(line, theme.fg("dim", said)) : lines(line);
			},
			execute: async (callId: string, params: any) => decide(callId, params),
		} as any);
	}

	/** The definition in the session file, on whichever branch it was written. */
	function heldTool(): Tool | undefined {
		return manager().getEntries().findLast((e: any) => e.type === "custom" && e.customType === RECORD_TOOL)?.data;
	}

	async function decide(callId: string, params: any): Promise<any> {
		const open = check && !check.void ? check : undefined;
		const decision = String(params.decision ?? "");
		const note = clean(String(params.note ?? ""));
		const reply = await channel
			.request("decide", { call: callId, check: check?.id ?? "", decision, note })
			.catch(() => ({ text: welcome.texts?.gone ?? "piwatch is gone.", accepted: false, terminate: true }));
		listen();
		if (reply.accepted && open && check === open && !open.void) open.answer ??= { decision, note };
		// The hub's word that it is void may come later than this answer.
		if (!reply.accepted && reply.terminate && open && !open.answer) open.void ??= "it was ended before it was answered";
		if (reply.accepted && !open && !check) ownStop ??= { callId, decision, note };
		const over = check !== undefined && (check.void !== undefined || check.answer !== undefined);
		return {
			content: [{ type: "text", text: reply.text }],
			details: { line: reply.accepted && !open?.void ? [decision, note].filter(Boolean).join(": ") : reply.text },
			terminate: reply.terminate || over,
		};
	}

	const lines = (...all: string[]): Component => ({
		render: (width: number) => all.map((line) => truncateToWidth(line, width)),
		invalidate() {},
	});

	// --------------------------------------------------------------------------------------------------- closing checks

	/** The rows of the exchange on the branch, from the check message on. Only Pi's answer rows are taken: a row of the
	 * user or of another extension is never folded. Undefined when a call in it did real work. */
	function exchange(of: Check): { row: any; rows: any[] } | undefined {
		const branch: any[] = manager().getBranch();
		const at = branch.findLastIndex((e) => e.type === "custom_message" && e.customType === MESSAGE_CHECK && e.details?.check === of.id);
		if (at < 0) return undefined;
		const spoken = branch.findIndex((e, i) => i > at && e.type === "message" && e.message.role === "user");
		const rows = branch
			.slice(at, spoken < 0 ? undefined : spoken)
			.filter((e, i) => i === 0 || (e.type === "message" && (e.message.role === "assistant" || e.message.role === "toolResult")));
		const calls = rows.flatMap((e) => (e.message?.role === "assistant" ? e.message.content.filter((b: any) => b.type === "toolCall") : []));
		const worked = (id: string): boolean => rows.some((e) => e.message?.toolCallId === id && !e.message.isError);
		const harmless = calls.every((call: any) => call.name === (tool?.name ?? welcome.tool?.name) || of.blocked.has(call.id) || !worked(call.id));
		return harmless ? { row: branch[at], rows } : { row: branch[at], rows: [] };
	}

	/** Ends a turn of a check: no act of the user, so it does not count as an interruption. */
	function abortOwn(): void {
		ownAbort = true;
		ctx!.abort();
	}

	function outcomeOf(of: Check): Json {
		const base = { check: of.id, wrong: of.wrong || undefined };
		if (of.void) return { ...base, end: "void", why: of.void, ...of.answer };
		if (of.answer) return { ...base, end: "answered", ...of.answer };
		if (of.error) return { ...base, end: "error", why: of.error };
		return { ...base, end: "no_answer", why: of.wrong ? "only blocked tools or bad values" : "no call of the tool" };
	}

	/** Closes the check. With `boundary` the edits are returned for Pi to commit; without, they are written at once where
	 * Pi allows it. */
	function close(boundary: boolean): Draft[] {
		const closed = check!;
		check = undefined;
		onClose();
		endedOnCall = true;
		const outcome: Json = outcomeOf(closed);
		if (outcomeAt(closed.id)) outcome.again = true; // its message came after it was closed
		const drafts: Draft[] = [];
		try {
			drafts.push(...foldExchange(closed, outcome, boundary));
		} catch (cause) {
			outcome.fold = undefined; // what is not folded stays in the context; the check is over all the same
			outcome.why = [outcome.why, `not folded: ${text(cause)}`].filter(Boolean).join("; ");
		}
		drafts.push(...recordOutcome(outcome, boundary));
		return drafts;
	}

	/** Takes the rows of a closed check out of the context, and notes in the outcome how. */
	function foldExchange(closed: Check, outcome: Json, boundary: boolean): Draft[] {
		const found = exchange(closed);
		const rows = found?.rows ?? [];
		outcome.tokens = rows.reduce((sum, e) => sum + (e.message?.usage?.output ?? 0), 0) || undefined;
		outcome.rows = rows.map((e) => e.id);
		if (!rows.length) return [];
		if (hasEdits()) {
			outcome.fold = "context_edit";
			const edits: Draft[] = rows.map((e) => ({ type: "context_edit", targetId: e.id, replacement: null }));
			if (boundary) return edits;
			if (!editNow(edits)) pending.push(...edits);
			return [];
		}
		outcome.drop = {
			assistant: rows.filter((e) => e.message?.role === "assistant").map((e) => e.message.timestamp),
			calls: rows.filter((e) => e.message?.role === "toolResult").map((e) => e.message.toolCallId),
		};
		outcome.fold = "hook";
		drop(outcome);
		if (branchBack(found!.row)) outcome.fold = "branch";
		return [];
	}

	/** Writes an outcome, or gives it to Pi to write after the edits of the boundary, and tells the hub. */
	function recordOutcome(outcome: Json, boundary: boolean): Draft[] {
		tell("check_closed", { outcome });
		if (boundary && hasEdits()) return [{ type: "custom", customType: RECORD_OUTCOME, data: outcome }];
		pi.appendEntry(RECORD_OUTCOME, outcome);
		return [];
	}

	/** Folds a stop by the agent itself: the call and its result go; text, and calls beside it, stay. */
	function closeOwnStop(): Draft[] {
		const { callId, decision, note } = ownStop!;
		ownStop = undefined;
		endedOnCall = true;
		const branch: any[] = manager().getBranch();
		const isCall = (b: any): boolean => b.type === "toolCall" && b.id === callId;
		const row = branch.findLast((e) => e.message?.role === "assistant" && e.message.content.some(isCall));
		const result = branch.findLast((e) => e.message?.role === "toolResult" && e.message.toolCallId === callId);
		const outcome: Json = { end: "answered", decision, note: note || undefined };
		const drafts: Draft[] = [];
		if (row && result) {
			const rest = withoutCalls(row.message.content, isCall);
			outcome.fold = hasEdits() ? "context_edit" : "hook";
			outcome.rows = rest ? [result.id] : [row.id, result.id];
			outcome.kept = rest ? [row.id] : undefined;
			if (hasEdits()) {
				drafts.push({ type: "context_edit", targetId: row.id, replacement: rest && { content: rest } });
				drafts.push({ type: "context_edit", targetId: result.id, replacement: null });
			} else {
				outcome.drop = { calls: [callId] };
				drop(outcome);
				if (branchBack(row)) outcome.fold = "branch";
			}
		}
		drafts.push(...recordOutcome(outcome, true));
		return drafts;
	}

	/** The content without these calls; null when nothing is left that says or does something. */
	function withoutCalls(content: any[], isCall: (b: any) => boolean): any[] | null {
		const rest = content.filter((b) => !isCall(b));
		return rest.some((b) => b.type === "toolCall" || (b.type === "text" && b.text.trim() !== "")) ? rest : null;
	}

	function closeIdle(): void {
		if (check) close(false);
	}

	/** Pi 1.6.0 has no official edit while idle; its session manager takes one (measured). */
	function editNow(edits: Draft[]): boolean {
		if (typeof manager().appendContextEdit !== "function") return false;
		for (const edit of edits) if (edit.type === "context_edit") manager().appendContextEdit(edit.targetId, edit.replacement);
		return true;
	}

	/** Pi 0.81.1 has no context edits: the branch goes on from before the exchange (unofficial, measured), with copies of
	 * the records in it and of what stays. False when it holds what has no place in an exchange. */
	function branchBack(row: any): boolean {
		const branch: any[] = manager().getBranch();
		const exchange = branch.slice(branch.indexOf(row));
		const belongs = (e: any): boolean => e === row || isOwnRecord(e) || e.message?.role === "assistant" || e.message?.role === "toolResult";
		if (!row.parentId || typeof manager().branch !== "function" || !exchange.every(belongs)) return false;
		manager().branch(row.parentId);
		for (const e of exchange) {
			if (isOwnRecord(e)) pi.appendEntry(e.customType, e.data);
			else if (e.message) for (const m of visible([e.message])) manager().appendMessage(m.usage ? { ...m, usage: { ...m.usage, cost: FREE } } : m);
		}
		return true;
	}

	/** Folds again what a move in the tree brought back: rows of exchanges whose folds are on another branch. */
	function foldHere(): void {
		const branch: any[] = manager().getBranch();
		const here = new Set(branch.map((e) => e.id));
		const ends = new Map<string, any[]>(); // the outcomes of each exchange
		for (const e of manager().getEntries()) {
			if (e.type !== "custom" || e.customType !== RECORD_OUTCOME || !e.data?.rows?.length) continue;
			ends.set(e.data.rows.at(-1), [...(ends.get(e.data.rows.at(-1)) ?? []), e]);
		}
		for (const all of ends.values()) {
			const outcome: Json = { ...all.at(-1).data, again: true };
			const back = branch.filter((e) => outcome.rows.includes(e.id) || outcome.kept?.includes(e.id));
			if (!outcome.fold || back.length === 0 || all.some((e) => here.has(e.id))) continue;
			if (hasEdits()) {
				const calls = outcome.rows.map((id: string) => manager().getEntry(id)?.message?.toolCallId);
				const rest = (e: any): any => ({ content: withoutCalls(e.message.content, (b) => b.type === "toolCall" && calls.includes(b.id)) });
				const edits = back.map((e): Draft => ({ type: "context_edit", targetId: e.id, replacement: outcome.kept?.includes(e.id) ? rest(e) : null }));
				if (!editNow(edits)) pending.push(...edits);
				outcome.fold = "context_edit";
			} else {
				drop(outcome);
				outcome.fold = branchBack(back[0]) ? "branch" : "hook";
			}
			pi.appendEntry(RECORD_OUTCOME, outcome);
		}
	}

	function drop(outcome: Json): void {
		if (outcome.check) dropChecks.add(outcome.check);
		for (const at of outcome.drop?.assistant ?? []) dropAssistant.add(at);
		for (const id of outcome.drop?.calls ?? []) dropCalls.add(id);
	}

	function undrop(outcome: Json): void {
		dropChecks.delete(outcome.check);
		for (const at of outcome.drop?.assistant ?? []) dropAssistant.delete(at);
		for (const id of outcome.drop?.calls ?? []) dropCalls.delete(id);
	}

	/** A message without the calls that were folded out of it; undefined when nothing of it is left. */
	function strip(m: any): any {
		const isCall = (b: any): boolean => b.type === "toolCall" && dropCalls.has(b.id);
		if (m.role !== "assistant" || !m.content.some(isCall)) return m;
		const rest = withoutCalls(m.content, isCall);
		return rest ? { ...m, content: rest } : undefined;
	}

	// -------------------------------------------------------------------------------------- folds and rollbacks by hand

	const refused = (reason: string): Receipt => ({ result: "refused", reason });

	/** The last outcome of an exchange on the branch. */
	function outcomeAt(id: string): any {
		return manager().getBranch().findLast((e: any) => e.type === "custom" && e.customType === RECORD_OUTCOME && e.data?.check === id)?.data;
	}

	/** Brings the folded rows back into the context: an edit with the original content, since the latest edit counts. */
	function unfold(id: string): Receipt {
		const outcome = outcomeAt(id);
		if (!outcome) return refused("no such exchange on this branch");
		if (!ctx!.isIdle()) return refused("the agent is running");
		if (outcome.fold === "context_edit") {
			const rows = outcome.rows.map((row: string) => manager().getEntry(row));
			if (rows.some((e: any) => !e)) return refused("rows of the exchange are missing");
			const edits = rows.map((e: any): Draft => ({ type: "context_edit", targetId: e.id, replacement: { content: e.message?.content ?? e.content } }));
			if (!editNow(edits)) pending.push(...edits);
		} else if (outcome.fold === "branch" || outcome.fold === "hook") {
			undrop(outcome);
			const tip = outcome.rows.at(-1);
			// The rows are off the branch: they can come back to it for good only while nothing follows the exchange.
			if (outcome.fold === "branch" && nothingSince(id)) manager().branch(tip);
		} else return refused("the exchange is not folded");
		pi.appendEntry(RECORD_OUTCOME, { ...outcome, fold: undefined, unfolded: outcome.fold, again: true });
		return sent;
	}

	/** Folds an exchange again whose fold was undone. */
	function foldAgain(id: string): Receipt {
		const outcome = outcomeAt(id);
		if (!outcome) return refused("no such exchange on this branch");
		if (!outcome.unfolded) return refused(outcome.fold ? "the exchange is folded" : "the exchange was never folded: it is not provably harmless");
		if (!ctx!.isIdle()) return refused("the agent is running");
		if (outcome.unfolded === "context_edit") {
			const edits = outcome.rows.map((row: string): Draft => ({ type: "context_edit", targetId: row, replacement: null }));
			if (!editNow(edits)) pending.push(...edits);
		} else drop(outcome);
		const fold = outcome.unfolded === "branch" ? "hook" : outcome.unfolded;
		pi.appendEntry(RECORD_OUTCOME, { ...outcome, fold, unfolded: undefined, again: true });
		return sent;
	}

	/** Whether only records follow the exchange on the branch. */
	function nothingSince(id: string): boolean {
		const branch: any[] = manager().getBranch();
		const at = branch.findLastIndex((e) => e.type === "custom" && e.customType === RECORD_CHECK && e.data?.id === id);
		return at >= 0 && branch.slice(at + 1).every(isOwnRecord);
	}

	/** Moves the branch back to the marker before the check, so that the exchange leaves Pi's screen too. Used once, only if
	 * the marker is that of this check, and only while nothing but the exchange follows it. */
	async function rollback(id: string): Promise<Receipt> {
		const outcome = outcomeAt(id);
		const branch: any[] = manager().getBranch();
		const at = branch.findLastIndex((e) => e.type === "custom" && e.customType === RECORD_CHECK && e.data?.id === id);
		if (at < 0 || !outcome) return refused("no such exchange on this branch");
		if (outcome.fold === "rollback") return refused("the exchange was rolled back already");
		if (!ctx!.isIdle() || compacting || check) return refused("the agent is running");
		const rows = new Set<string>([...(outcome.rows ?? []), ...(outcome.kept ?? [])]);
		const mine = (e: any): boolean => rows.has(e.id) || isOwnRecord(e) || (e.type === "context_edit" && rows.has(e.targetId));
		if (!outcome.rows?.length) return refused("the exchange is not provably harmless");
		if (!branch.slice(at + 1).every(mine)) return refused("more than the exchange would be lost");
		const navigate = navigator();
		if (!navigate) return refused("this Pi gives no way to move the branch: type /watchdog status once, then it does");
		ownMove = true;
		try {
			const moved = await navigate(branch[at].id);
			if (moved.cancelled) return refused("another extension kept the branch where it is");
			if (manager().getLeafId() !== branch[at].id) return refused("Pi did not move the branch");
			// The records after the marker left the branch with the exchange: what they say still holds.
			for (const r of branch.slice(at + 1).filter(isOwnRecord)) {
				const same = r.customType === RECORD_OUTCOME && r.data?.check === id;
				if (!same) pi.appendEntry(r.customType, r.data);
			}
			pi.appendEntry(RECORD_OUTCOME, { ...outcome, fold: "rollback" });
			return { ...sent, facts: facts() };
		} finally {
			ownMove = false;
		}
	}

	/** The context of a command lets an extension move the branch. Pi 1.6.0 gives one at any time by sending our own
	 * command, without a trace in session or screen; on Pi 0.81.1 the one of the last command typed is kept, or caught
	 * (unofficial, measured). Undefined: there is none. */
	function navigator(): ((id: string) => Promise<{ cancelled: boolean }>) | undefined {
		if (hasEdits())
			return (id) =>
				new Promise((resolve, reject) => {
					const move = (c: ExtensionCommandContext): void => {
						clearTimeout(timer);
						c.navigateTree(id).then(resolve, reject);
					};
					const timer = setTimeout(() => {
						if (onCommand === move) onCommand = undefined; // the next command is the user's own
						reject(new Error("Pi did not run the command"));
					}, REPLY_MS);
					onCommand = move;
					pi.sendUserMessage(`/${commandName()}`, { expandPromptTemplates: true } as object);
				});
		const c = commandCtx ?? runner?.createCommandContext();
		return c && ((id) => c.navigateTree(id));
	}

	const visible = (messages: any[]): any[] => messages.filter((m) => !isDropped(m)).map(strip).filter((m) => m !== undefined);
	const isDropped = (m: any): boolean =>
		(m.role === "custom" && m.customType === MESSAGE_CHECK && dropChecks.has(m.details?.check)) ||
		(m.role === "assistant" && dropAssistant.has(m.timestamp)) ||
		(m.role === "toolResult" && dropCalls.has(m.toolCallId));

	// --------------------------------------------------------------------------------------------------- Pi's own events

	on("session_start", async (event, c) => {
		if (!stopped && session === c.sessionManager.getSessionId()) return; // 0.81.1 in RPC mode fires twice
		if (isTwin()) {
			c.ui.notify("piwatch: the bridge is installed twice, for you and for this project; one of them rests. See: piwatch uninstall --project", "warning");
			return;
		}
		ctx = c;
		session = c.sessionManager.getSessionId();
		stopped = false;
		const mark = /^(.+):(\d+)$/.exec(process.env[PARENT_MARK] ?? "");
		if (mark && Number(mark[2]) !== process.pid) parent = { session: mark[1], pid: Number(mark[2]) };
		process.env[PARENT_MARK] = `${session}:${process.pid}`;
		if (!hasEdits()) for (const e of c.sessionManager.getBranch() as any[]) if (e.type === "custom" && e.customType === RECORD_OUTCOME && e.data?.drop) e.data.unfolded ? undrop(e.data) : drop(e.data);
		unlisten = c.ui.onTerminalInput((data) => {
			safe(() => keyed(data));
			return undefined;
		});
		start(event.reason);
		// A session that is watched from its first request on waits for its tool; any other starts without delay.
		if (process.env.PI_WATCHDOG || branchHas(RECORD_START)) await soon(joined, START_MS);
	});

	/** A check without an end: its Pi was killed, or the session was copied or reloaded while it was open. In a session
	 * that another Pi has open it is that one's. */
	function closeOrphan(): void {
		if (check) return;
		const branch: any[] = manager().getBranch();
		const id = branch.findLast((e) => e.type === "custom_message" && e.customType === MESSAGE_CHECK)?.details?.check;
		if (!id || branch.some((e) => e.type === "custom" && e.customType === RECORD_OUTCOME && e.data?.check === id)) return;
		check = { id, wrong: 0, void: "the session was left", decideInBatch: false, blocked: new Set() };
		if (ctx!.isIdle()) safe(closeIdle);
	}

	/** Waits for an answer of the hub, not for ever. The socket alone does not keep the process alive; this does. */
	function soon(work: Promise<unknown>, ms: number): Promise<void> {
		return new Promise((resolve) => {
			const timer = setTimeout(resolve, ms);
			const done = (): void => {
				clearTimeout(timer);
				resolve();
			};
			work.then(done, done);
		});
	}

	on("resources_discover", () => {
		const held = heldTool();
		if (held) register(held);
	});

	on("session_before_switch", (event) => void (leaving = `the session was left (${event.reason})`));
	on("session_before_fork", () => void (leaving = "the session was left (fork)"));
	on("session_shutdown", (event) => {
		// Pi 0.81.1 reloads also in a run, which then goes on: the check stays open for the bridge to come.
		if (check && (event.reason !== "reload" || ctx!.isIdle())) {
			check.void ??= `the session was left (${event.reason})`;
			safe(closeIdle);
		}
		tell("bye", { reason: event.reason });
		stopped = true;
		safe(() => unlisten?.());
		if (reconnecting) clearTimeout(reconnecting);
		if (activityTimer) clearTimeout(activityTimer);
		reconnecting = activityTimer = undefined;
		channel.close();
	});

	on("input", (event) => spoken(event.source, event.streamingBehavior !== "followUp"));
	function spoken(source: string, next: boolean): void {
		const human = source !== "extension";
		announced++;
		if (!channel.open) safe(closeOrphan); // the request to come must not carry one
		if (check) check.void ??= human ? "the user spoke" : "another extension sent a message";
		if (next && check?.error) closeIdle(); // Pi is about to retry: the retry must not carry the check beside the message
		if (human) aborted = false;
		compacting = false; // Pi takes no message during one; 0.81.1 does not say when one failed
		submitted = Date.now();
		tell("input", { source });
	}

	/** Pi 0.81.1 has no `input` for what an RPC client steers or queues (measured): it shows in the queue, then as a row. */
	function listen(): void {
		if (announced === 0 && ctx!.hasPendingMessages()) spoken("rpc", false);
	}

	on("message_start", (event) => {
		const asked: any = event.message;
		if (asked.role === "custom" && asked.customType === MESSAGE_CHECK && asked.details?.check !== check?.id) {
			// It was closed before Pi began with it: it has no answer to give.
			check = { id: asked.details?.check, wrong: 0, void: "it was over before it was asked", decideInBatch: false, blocked: new Set() };
			abortOwn();
		}
		if (event.message.role !== "user") return;
		if (announced === 0) spoken("rpc", true);
		announced--;
		submitted = 0;
		if (check?.void) closeIdle();
	});

	on("agent_start", () => {
		ownAbort = false;
		compacting = false; // Pi 0.81.1 does not say when a compaction failed
		leaving = "";
		submitted = 0;
		runAborted = false;
		tell("run", { own: ownRun });
		ownRun = false;
	});

	on("message_end", (event) => {
		listen();
		if (check && event.message.role === "assistant") {
			check.decideInBatch = event.message.content.some((b: any) => b.type === "toolCall" && b.name === tool?.name);
		}
	});

	on("tool_call", (event) => {
		listen();
		if (!check || event.toolName === tool?.name) return undefined;
		check.blocked.add(event.toolCallId);
		const last = check.void !== undefined || check.answer !== undefined || check.decideInBatch || check.wrong + 1 >= WRONG_LIMIT;
		return { block: true, reason: welcome.texts?.blocked ?? "blocked by piwatch", terminate: last };
	});

	const isAbort = (m: any): boolean =>
		m.stopReason === "aborted" || (m.stopReason === "error" && /Request was aborted|Operation aborted/.test(m.errorMessage ?? ""));

	/** Pi 0.81.1 in print mode ends after agent_settled whatever is sent there (measured). What the hub wants to send is
	 * asked for earlier and queued as a follow-up: a check at agent_end, a work message at turn_end of the check, since at
	 * agent_end it would cost one more request. */
	const settlesEarly = (): boolean => headless() && !hasEdits();
	async function settleEarly(): Promise<void> {
		if (!channel.open || !watching) return;
		early = true;
		settle++;
		runs++;
		try {
			await channel.request("settled", { facts: facts() }).catch(() => {});
		} finally {
			early = false;
		}
	}

	/** Pi 0.81.1 prints the text of its last row, which after a check is none: the agent's last text is the result. */
	function printResult(): void {
		if (!endedOnCall || ctx?.mode !== "print") return;
		const last = manager().getBranch().findLast((e: any) => e.message?.role === "assistant");
		const text = (last?.message.content ?? []).map((block: any) => (block.type === "text" ? `${block.text}\n` : "")).join("");
		for (let rest = Buffer.from(text); rest.length; ) {
			try {
				rest = rest.subarray(writeSync(1, rest));
			} catch (cause: any) {
				if (cause?.code !== "EAGAIN") throw cause; // a full pipe: its reader takes it in a moment
			}
		}
	}

	on("turn_start", () => {
		inTurn = true;
		endedOnCall = false;
	});
	on("turn_end", async (event, c) => {
		inTurn = false;
		listen();
		const m: any = event.message;
		if (isAbort(m) || event.outcome === "aborted" || c.signal?.aborted) runAborted = true;
		const drafts = pending.splice(0);
		const answered = check?.answer?.decision === "continue";
		if (check) drafts.push(...endOfTurn(m, event.toolResults ?? []));
		else if (ownStop) drafts.push(...closeOwnStop());
		if (answered && !check && settlesEarly() && !runAborted) await settleEarly();
		return drafts.length && event.entries ? { entries: [...event.entries, ...drafts] } : undefined;
	});

	/** Whether Pi asks the model again after these results: a call with a bad value never ends a run, and a blocked one
	 * does not on Pi 0.81.1. */
	const goesOn = (of: Check, results: any[]): boolean =>
		results.some((r) => r.isError && !(hasEdits() && of.blocked.has(r.toolCallId)));

	function endOfTurn(m: any, results: any[]): Draft[] {
		const open = check!;
		if (runAborted) open.void ??= leaving || "interrupted by the user";
		if (open.void || (open.answer && m.stopReason !== "error")) {
			// Pi asks the model again, before a queued follow-up: its answer is of this exchange.
			const again = !runAborted && goesOn(open, results);
			if (again && ++open.wrong < WRONG_LIMIT) return [];
			if (again && !ctx!.hasPendingMessages()) abortOwn();
			return close(true);
		}
		if (m.stopReason === "error") {
			open.error = m.errorMessage || "error"; // Pi may retry, so the check stays open until it settles
			return [];
		}
		open.error = undefined;
		if (results.length === 0) return close(true);
		open.wrong++;
		if (open.wrong < WRONG_LIMIT) return [];
		if (goesOn(open, results)) abortOwn();
		return close(true);
	}

	on("agent_end", async (event, c) => {
		const lastRow: any = event.messages.findLast((m: any) => m.role === "assistant");
		if (!lastRow) return;
		if (isAbort(lastRow) || c.signal?.aborted) runAborted = true; // Pi 0.81.1 says nothing else of an abort from here on
		if (settlesEarly() && !check && (lastRow.stopReason === "stop" || lastRow.stopReason === "length")) await settleEarly();
	});

	on("agent_before_settle", (event) => {
		const drafts = pending.splice(0);
		if (check) drafts.push(...close(true));
		return drafts.length ? { entries: [...event.entries, ...drafts] } : undefined;
	});

	on("agent_settled", async (event) => {
		compacting = false;
		if (inTurn || event.aborted) runAborted = true; // Pi 0.81.1 aborts a run for /compact and says nothing until it has settled (measured)
		inTurn = false;
		listen();
		if (!submitted && !ctx!.hasPendingMessages()) announced = 0; // another extension took them
		if (check && runAborted) check.void ??= leaving || "interrupted by the user";
		closeIdle();
		settle++;
		runs++;
		aborted = (event.aborted ?? runAborted) && !ownAbort;
		ownAbort = false;
		if (settlesEarly()) safe(printResult);
		if (!channel.open || settlesEarly()) return;
		const answer = channel.request("settled", { facts: facts() }).catch(() => {});
		if (headless() && watching) await answer; // what the hub sends must be sent inside this handler
	});

	on("context", (event) => {
		if (dropChecks.size + dropCalls.size === 0 || event.messages.length === 0) return undefined;
		const messages = visible(event.messages);
		// A request may not end on an assistant row: an exchange that is the tail stays until something follows it.
		return messages.at(-1)?.role === "assistant" ? undefined : { messages };
	});

	/** Pi takes the record or the folded row directly before a message at the cut for part of its turn, and an exchange
	 * folded at the very end for something to keep. Both would make it summarise more than it would without a check
	 * (measured on both generations); the same object is used after this event. */
	function repairCut(preparation: any, branch: any[]): void {
		const omitted = new Set<string>();
		for (const e of branch) if (e.type === "context_edit") e.replacement === null ? omitted.add(e.targetId) : omitted.delete(e.targetId);
		const startsTurn = (e: any): boolean =>
			e.type === "custom_message" || e.type === "branch_summary" || e.message?.role === "user" || e.message?.role === "bashExecution";
		const isVisible = (e: any): boolean => !omitted.has(e.id) && (startsTurn(e) || e.message?.role === "assistant" || e.message?.role === "toolResult");
		const at = branch.findIndex((e) => e.id === preparation.firstKeptEntryId);
		if (at < 0) return;
		let first = branch.slice(at).find(isVisible);
		if (!first) {
			first = branch.findLast(isVisible);
			if (!first) return;
			preparation.firstKeptEntryId = first.id;
			(preparation.turnPrefixMessages.length ? preparation.turnPrefixMessages : preparation.messagesToSummarize).pop();
		}
		if (preparation.isSplitTurn && startsTurn(first)) {
			preparation.messagesToSummarize.push(...preparation.turnPrefixMessages);
			preparation.turnPrefixMessages = [];
			preparation.isSplitTurn = false;
		}
	}

	on("session_before_compact", (event) => {
		compacting = true;
		if (!hasEdits()) for (const key of ["messagesToSummarize", "turnPrefixMessages"]) event.preparation[key] = visible(event.preparation[key]);
		if (branchHas(RECORD_START)) repairCut(event.preparation, event.branchEntries);
		event.signal?.addEventListener("abort", () => safe(compacted), { once: true });
		tell("compaction", { on: true });
	});
	on("session_compact", () => compacted());
	on("session_compact_failed", () => compacted());
	function compacted(): void {
		compacting = false;
		tell("compaction", { on: false });
	}

	on("ui_prompt_start", () => {
		dialogs++;
		tell("dialog", { open: true });
	});
	on("ui_prompt_end", () => {
		dialogs = Math.max(dialogs - 1, 0);
		tell("dialog", { open: dialogs > 0 });
	});

	on("session_before_tree", async (event) => {
		if (check) await leaveCheck();
		if (!hasEdits()) leaveOut(event.preparation.entriesToSummarize);
		if (event.preparation.userWantsSummary) summarizing(event.signal);
	});

	/** Pi 0.81.1 moves the leaf also under a run: the turn of the check ends first. */
	async function leaveCheck(): Promise<void> {
		check!.void ??= "the tree was navigated";
		const closed = new Promise<void>((resolve) => (onClose = resolve));
		if (ctx!.isIdle()) closeIdle();
		else abortOwn();
		await soon(closed, REPLY_MS);
	}

	/** Takes what only the hook leaves out from what is summarised; the same list is used afterwards. */
	function leaveOut(entries: any[]): void {
		const rest = entries.flatMap((e) => {
			if (e.type === "message") return visible([e.message]).map((message) => ({ ...e, message }));
			return isDropped({ ...e, role: "custom" }) ? [] : [e];
		});
		entries.splice(0, entries.length, ...rest);
	}

	/** The summary of a branch that is left is a compaction in all but name. Pi tells of its success alone; Pi 1.6.0 is not
	 * idle while it lasts. */
	function summarizing(signal: AbortSignal | undefined): void {
		compacting = true;
		signal?.addEventListener("abort", () => safe(compacted), { once: true });
		tell("compaction", { on: true });
		const look = (): void => {
			if (stopped || !compacting) return;
			if (ctx!.isIdle()) compacted();
			else setTimeout(() => safe(look), 250).unref();
		};
		if (hasEdits()) setTimeout(() => safe(look), 250).unref();
	}

	on("session_tree", () => {
		compacting = false;
		settle++; // what was decided before does not fit any more
		if (ownMove) return;
		foldHere();
		if (welcome.driver || !channel.open) closeOrphan(); // navigation can bring one onto the branch
		tell("tree", { facts: facts(), records: essence(manager().getBranch()) });
	});
	on("session_info_changed", (event) => tell("renamed", { name: event.name ?? "", model: modelName() }));
	on("model_select", () => tell("renamed", { name: manager().getSessionName() ?? "", model: modelName() }));

	// ---------------------------------------------------------------------------------------------------- the keyboard

	/** Keys come before the edit they make, so the draft is looked at after it; at most four reports a second. */
	function keyed(data: string): void {
		if (isNoKey(data)) return;
		keyPressed = true;
		if (activityTimer) return;
		setImmediate(() => safe(report));
		activityTimer = setTimeout(() => {
			activityTimer = undefined;
			safe(report);
		}, 250);
		activityTimer.unref();
	}

	/** Kitty key releases (event type 3), focus reports and mouse reports are no keys. */
	const isNoKey = (data: string): boolean => /^\x1b\[(?:[\d:;]+:3[A-Za-z~u]|[IO]|<[\d;]+[Mm]|M...)$/.test(data);

	function report(): void {
		const now = hasDraft();
		if (!keyPressed && now === draft) return;
		draft = now;
		tell("activity", { key: keyPressed, draft });
		keyPressed = false;
	}

	// ---------------------------------------------------------------------------------------------------- the commands

	pi.registerCommand("watchdog", {
		description: COMMAND_SAYS,
		getArgumentCompletions: (prefix) => {
			// A word that is typed in full is not offered: its pop-up would take the Enter that sends it.
			const words = COMMAND_WORDS.filter((word) => word.startsWith(prefix) && word !== prefix && !COMMAND_WORDS.includes(prefix));
			return words.length ? words.map((word) => ({ value: word, label: word })) : null;
		},
		handler: async (args, c) => {
			commandCtx = c;
			if (isTwin()) return c.ui.notify(`piwatch: the bridge is installed twice; type /${commandName()} in this session`, "warning");
			const own = onCommand;
			onCommand = undefined;
			if (own) return own(c);
			await soon(joined, START_MS); // the hub may just be starting
			const reply = await channel
				.request("command", { name: "watchdog", args })
				.catch((cause) => ({ text: missing || `piwatch: ${text(cause)}. See: piwatch hub status`, level: "error" }));
			c.ui.notify(reply.text, reply.level);
		},
	});
	pi.registerMessageRenderer(MESSAGE_CHECK, (message, options, theme) =>
		options.expanded ? lines(theme.fg("muted", `⏱ ${message.content}`)) : lines(),
	);
	pi.registerMessageRenderer(MESSAGE_WORK, (message, options, theme) =>
		lines(theme.fg("muted", options.expanded ? `⏱ ${message.content}` : "⏱ back to work")),
	);
}
