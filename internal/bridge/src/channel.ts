// The channel: JSON-RPC 2.0, one message a line, over the hub's Unix socket.
import { createHash } from "node:crypto";
import { connect, type Socket } from "node:net";
import { posix } from "node:path";
import { type Json, type Receipt, REPLY_MS } from "./protocol.ts";
import { causeText } from "./text.ts";

const LINE_MAX = 1 << 20;

/** The hub's socket; control.SocketPath in the Go code holds the whole rule. Undefined: there is no place for one. */
export function socketPath(): string | undefined {
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

export class Channel {
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
			const failed = (cause: unknown): Receipt => ({ result: "refused", reason: `the bridge failed: ${causeText(cause)}` });
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
