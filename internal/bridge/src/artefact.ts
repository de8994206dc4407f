// What tools say of the sessions they started: the tools of sub-agent extensions name the session file of each child in the
// details of their results. The hub is told of them, with the time of the call, and decides whose child is whose.
import { isAbsolute } from "node:path";
import type { Link } from "./link.ts";
import type { Json } from "./protocol.ts";
import { safe } from "./safe.ts";
import type { Session } from "./session.ts";

const FILE_KEY = /^session_?(file|path)$/i;
const MOST_FILES = 16; // of one event
const LONGEST_PATH = 4096; // characters
const DEEPEST = 12;
const MOST_VALUES = 5000; // that are looked at in one event
const KEPT_CALLS = 64; // told again to a hub that was away

/** The session files that a value names, those that stand less deep first: what a child said is deep, and long. */
function namedFiles(value: unknown): string[] {
	const found = new Set<string>();
	let looked = 0;
	let level: any[] = [value];
	for (let depth = 0; depth < DEEPEST && level.length > 0; depth++) {
		const below: any[] = [];
		for (const one of level) {
			if (!one || ArrayBuffer.isView(one)) continue;
			if (Array.isArray(one)) {
				below.push(...one.slice(0, MOST_VALUES - looked).filter((inner) => typeof inner === "object"));
				looked += one.length;
				if (looked > MOST_VALUES) return [...found];
				continue;
			}
			for (const key of Object.keys(one)) {
				if (found.size === MOST_FILES || ++looked > MOST_VALUES) return [...found];
				const inner = one[key];
				if (typeof inner === "object") below.push(inner);
				else if (typeof inner === "string" && FILE_KEY.test(key) && inner.length <= LONGEST_PATH && inner.endsWith(".jsonl") && isAbsolute(inner)) found.add(inner);
			}
		}
		level = below;
	}
	return [...found];
}

/** A tool call, and the session files it named. Times are in Unix milliseconds. */
interface Started {
	call: string;
	since: number;
	until?: number; // its result
	files: string[];
}

export class Artefacts {
	private running = new Map<string, Started>(); // by call
	private ended: Started[] = []; // that named a file

	constructor(
		private session: Session,
		private link: Link,
	) {
		session.on("tool_execution_start", (event) => {
			this.running.set(event.toolCallId, { call: event.toolCallId, since: Date.now(), files: [] });
		});
		session.on("tool_execution_update", (event) => this.look(event.toolCallId, event.partialResult));
		session.on("tool_execution_end", (event) => this.end(event.toolCallId, event.result));
		session.on("agent_settled", () => this.running.clear());
		link.onWelcome(() => {
			for (const started of [...this.ended, ...this.running.values()]) this.tell(started, started.files);
		});
	}

	/** Tells of the files that the call has not named before. */
	private look(call: string, result: any): void {
		const started = this.running.get(call);
		if (!started || !this.link.open) return; // the end names them again
		const fresh = this.fresh(started, result);
		started.files.push(...fresh);
		this.tell(started, fresh);
	}

	/** Tells of all files of the call: those that were told while it ran, for its end. */
	private end(call: string, result: any): void {
		const started = this.running.get(call);
		if (!started) return;
		this.running.delete(call);
		started.until = Date.now();
		started.files.push(...this.fresh(started, result));
		this.tell(started, started.files);
		if (started.files.length) this.ended = [...this.ended, started].slice(-KEPT_CALLS);
	}

	private fresh(started: Started, result: any): string[] {
		const own = this.session.manager.getSessionFile();
		const named = safe(() => namedFiles(result?.details)) ?? [];
		return named.filter((file) => file !== own && !started.files.includes(file)).slice(0, MOST_FILES - started.files.length);
	}

	private tell(started: Started, files: string[]): void {
		if (files.length) this.link.tell("artefact", { ...started, files } as Json);
	}
}
