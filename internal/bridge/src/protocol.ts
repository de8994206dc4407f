// What the bridge and the Go program agree on: names of records and messages, versions, and the shapes of what they say.

export const PIWATCH_BIN = "piwatch";
export const BRIDGE_VERSION = "0.1.0";
export const PROTOCOL = 1;

export const RECORD_TOOL = "piwatch.tool";
export const RECORD_START = "piwatch.start";
export const RECORD_CHECK = "piwatch.check";
export const RECORD_GATEWAY = "piwatch.gateway";
export const RECORD_OUTCOME = "piwatch.outcome";
export const RECORD_ONWARD = "piwatch.onward";
export const GUARD = "piwatch.guard"; // its records, and its messages
export const MESSAGE_CHECK = "piwatch.ask";
export const MESSAGE_WORK = "piwatch.work";
export const MESSAGE_ALERT = "piwatch.alert"; // about another session that may be stuck
export const MESSAGE_RESCUE = "piwatch.rescue"; // into a session that may be stuck
export const PARENT_MARK = "PIWATCH_PARENT"; // session id and pid of the Pi whose child a process is

export const REPLY_MS = 3000; // the hub answers in a few milliseconds; later than this it counts as gone
export const START_MS = 8000; // a hub that has to be started is there within this

export type Json = Record<string, any>;

/** The answer to what the hub asks for. */
export interface Receipt { result: "sent" | "queued" | "refused" | "stale"; reason?: string; entry?: string; facts?: Json }

export const sent: Receipt = { result: "sent" };
export const refused = (reason: string): Receipt => ({ result: "refused", reason });

/** An entry for Pi to write at the next boundary. */
export type Draft =
	| { type: "custom"; customType: string; data: unknown }
	| { type: "context_edit"; targetId: string; replacement: { content: unknown } | null };
