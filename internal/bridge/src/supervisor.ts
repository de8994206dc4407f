// What the supervisor of the hub needs to see, and what it does in a session: reports of calls, results and answers with
// long texts cut in the middle, messages about other sessions at the next boundary, a message into a run that is stuck, the
// tools of a supervising agent.
import { createHash } from "node:crypto";
import type { Checks } from "./check.ts";
import type { Facts } from "./facts.ts";
import type { Link } from "./link.ts";
import { type Json, MESSAGE_ALERT, MESSAGE_RESCUE, type Receipt, refused, sent } from "./protocol.ts";
import type { Run } from "./run.ts";
import { safe } from "./safe.ts";
import type { Session } from "./session.ts";
import type { Definition } from "./tool.ts";

const END_CHARS = 16 << 10; // of a long text, kept at each end
const REPORT_CHARS = 700_000; // a longer report does not fit into a line of the channel with its escapes
const OWN_TOOL = "watchdog_"; // begins the names of piwatch's tools: their calls are no work

/** A long text without its middle, which a hash stands for. */
function cutMiddle(text: string): string {
	if (text.length <= 2 * END_CHARS) return text;
	const middle = createHash("sha256").update(text.slice(END_CHARS, -END_CHARS)).digest("hex");
	return `${text.slice(0, END_CHARS)}\n[${middle}]\n${text.slice(-END_CHARS)}`;
}

/** A JSON value with all its texts cut. */
function cutTexts(value: any): any {
	if (typeof value === "string") return cutMiddle(value);
	if (Array.isArray(value)) return value.map(cutTexts);
	if (value === null || typeof value !== "object") return value;
	return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, cutTexts(one)]));
}

/** The text of a tool's result; what is no text stands in it as a hash. */
function resultText(result: any): string {
	const blocks: any[] = Array.isArray(result?.content) ? result.content : [];
	const texts = blocks.map((b) => (b.type === "text" ? String(b.text) : `[${b.type} ${createHash("sha256").update(String(b.data ?? "")).digest("hex")}]`));
	return cutMiddle(texts.join("\n"));
}

const isModels = (item: any): boolean => item?.role === "assistant" || item?.role === "model" || /^(function_call|custom_tool_call|reasoning)$/.test(item?.type ?? "");

/** The end of a request from the last answer of the model on, in the provider's own shape. */
function newestPart(payload: any): Json | undefined {
	const key = ["messages", "input", "contents"].find((name) => Array.isArray(payload?.[name]));
	if (!key) return undefined;
	const items: any[] = payload[key];
	let from = items.findLastIndex(isModels);
	while (from > 0 && isModels(items[from - 1])) from--;
	return { [key]: cutTexts(items.slice(Math.max(from, 0))) };
}

export class Supervisor {
	private given: Json | undefined; // of the request that is being answered
	private alerts = new Map<string, string>(); // by session, not told yet
	private mayWake = false;
	private registered = new Set<string>();

	constructor(
		private session: Session,
		private link: Link,
		private run: Run,
		private checks: Checks,
		private facts: Facts,
	) {
		this.report();
		this.tell();
		link.serve({
			alert: (params) => this.alert(params),
			rescue: (params) => this.rescue(params),
			tools: (params) => {
				this.register(params.tools);
				return sent;
			},
		});
		link.onWelcome((answer) => this.register(answer.tools ?? []));
	}

	// -------------------------------------------------------------------------------------------------------- to the hub

	private report(): void {
		const { session } = this;
		session.on("input", (event) => {
			if (event.source !== "extension") this.send("spoke", { text: cutMiddle(String(event.text ?? "")) });
		});
		session.on("before_provider_request", (event) => {
			this.given = this.link.open && !this.checks.isOpen ? newestPart(event.payload) : undefined;
		});
		session.on("message_end", (event) => {
			if (event.message.role === "assistant") this.answered(event.message);
		});
		session.on("tool_execution_start", (event) => {
			if (this.isWork(event.toolName)) this.send("called", { id: event.toolCallId, tool: event.toolName, args: cutTexts(event.args ?? {}) });
		});
		session.on("tool_execution_end", (event) => {
			if (!this.isWork(event.toolName)) return;
			this.send("returned", { id: event.toolCallId, tool: event.toolName, text: resultText(event.result), error: event.isError === true });
		});
	}

	private isWork(tool: string): boolean {
		return !this.checks.isOpen && !tool.startsWith(OWN_TOOL);
	}

	private answered(message: any): void {
		const given = this.given;
		this.given = undefined;
		if (this.checks.isOpen) return;
		const failed = message.stopReason === "error" || message.stopReason === "aborted" ? message.errorMessage || message.stopReason : "";
		const blocks: any[] = Array.isArray(message.content) ? message.content : [];
		const text = blocks.map((b) => (b.type === "text" ? b.text : "")).join("\n");
		const calls = blocks.filter((b) => b.type === "toolCall").map((b) => ({ id: b.id, tool: b.name, args: cutTexts(b.arguments ?? {}) }));
		this.send("answered", { text: cutMiddle(text), calls, given, failed: cutMiddle(failed), stop: message.stopReason });
	}

	/** What is too long to be told is told without its largest part; nothing is worth a broken channel. */
	private send(method: string, params: Json): void {
		if (!this.link.open) return;
		if (JSON.stringify(params).length > REPORT_CHARS) params = { ...params, args: undefined, given: undefined, calls: undefined };
		this.link.tell(method, params);
	}

	// ------------------------------------------------------------------------------------------------------ from the hub

	/** Messages about other sessions wait for the next boundary, and are one message there. */
	private tell(): void {
		const { session } = this;
		session.on("tool_execution_end", () => {
			if (!this.checks.isOpen) this.flush({ deliverAs: "steer" });
		});
		session.on("before_agent_start", () => {
			const message = this.checks.isOpen ? undefined : this.takeAlerts();
			return message && { message };
		});
		session.on("agent_settled", () => this.wake());
	}

	private alert(params: { target: string; text: string; wake: boolean; amend?: boolean }): Receipt {
		if (params.amend && !this.alerts.has(params.target)) return sent; // what it amends was told
		this.alerts.set(params.target, params.text);
		this.mayWake = params.amend ? this.mayWake : params.wake;
		this.wake();
		return this.alerts.size ? { result: "queued" } : sent;
	}

	/** Starts a run for them when the agent is idle and its watchdog on: never an agent that was interrupted, never over a
	 * draft. */
	private wake(): void {
		if (this.alerts.size === 0 || !this.mayWake) return;
		const now = this.facts.now();
		if (!now.idle || now.aborted || now.queued || now.dialog || now.draft || now.runs === 0 || this.checks.isOpen) return;
		this.run.sending();
		if (!this.flush({ triggerTurn: true })) this.run.notSent();
	}

	private flush(how: Json): boolean {
		const message = this.takeAlerts();
		if (!message) return false;
		return safe(() => this.session.pi.sendMessage(message, how) ?? true) === true;
	}

	private takeAlerts(): any {
		if (this.alerts.size === 0) return undefined;
		const content = [...this.alerts.values()].join("\n\n");
		const details = { targets: [...this.alerts.keys()] };
		this.alerts.clear();
		return { customType: MESSAGE_ALERT, content, display: true, details };
	}

	private rescue(params: { text: string; key: string }): Receipt {
		if (this.checks.isOpen) return refused("a check is open");
		if (this.session.idle) return refused("the agent does not run");
		this.session.pi.sendMessage({ customType: MESSAGE_RESCUE, content: params.text, display: true, details: { key: params.key } }, { deliverAs: "steer" });
		return { result: "queued" };
	}

	private register(tools: Definition[]): void {
		for (const def of tools) {
			if (this.registered.has(def.name)) continue;
			this.registered.add(def.name);
			this.session.pi.registerTool({
				...def,
				execute: async (_id: string, args: any) => {
					const reply = await this.link.request("supervise", { tool: def.name, args });
					if (reply.error) throw new Error(reply.text);
					return { content: [{ type: "text", text: reply.text }], details: {} };
				},
			} as any);
		}
	}
}
