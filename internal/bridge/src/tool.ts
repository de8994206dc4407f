// The tool the agent answers a check with: its definition, and its registration in Pi.
import { isRecord } from "./entry.ts";
import { RECORD_TOOL } from "./protocol.ts";
import { lines } from "./screen.ts";
import type { Session } from "./session.ts";

export interface Definition { name: string; label: string; description: string; parameters: any }

export class Tool {
	private registered: Definition | undefined;

	/** `decide` answers a call of the agent. */
	constructor(
		private session: Session,
		private decide: (callId: string, params: any) => Promise<any>,
	) {}

	/** As registered. */
	get name(): string | undefined {
		return this.registered?.name;
	}

	/** Registers the tool once in a session, with the definition the session file holds, so that a resumed session
	 * sends the same bytes; a session that is never watched has no tool. */
	register(def: Definition): void {
		if (this.registered) return;
		const held = this.held();
		const tool = (this.registered = held ?? def);
		if (!held) this.session.append(RECORD_TOOL, tool);
		this.session.pi.registerTool({
			...tool,
			renderShell: "self",
			renderCall: () => lines(),
			renderResult: (result: any, options: any, theme: any) => {
				const said = (result.content ?? []).map((block: any) => block.text ?? "").join(" ");
				const line = theme.fg("muted", `⏱ ${result.details?.line ?? said}`);
				return options?.expanded ? lines(line, theme.fg("dim", said)) : lines(line);
			},
			execute: async (callId: string, params: any) => this.decide(callId, params),
		} as any);
	}

	/** Registers the tool of a session that was watched before, early enough for its first request. */
	registerHeld(): void {
		const held = this.held();
		if (held) this.register(held);
	}

	/** The definition in the session file, on whichever branch it was written. */
	private held(): Definition | undefined {
		return this.session.manager.getEntries().findLast((e: any) => isRecord(e, RECORD_TOOL))?.data;
	}
}
