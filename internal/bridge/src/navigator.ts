// A way to move the branch. Only the context of a command lets an extension do it. Pi 1.6.0 gives one at any time by
// sending our own command, without a trace in session or screen; on Pi 0.81.1 the one of the last command typed is kept,
// or caught (unofficial, measured).
import { type ExtensionCommandContext, ExtensionRunner } from "@earendil-works/pi-coding-agent";
import { REPLY_MS } from "./protocol.ts";
import type { Session } from "./session.ts";

export class Navigator {
	private typed: ExtensionCommandContext | undefined; // of the last command typed
	private waiting: ((c: ExtensionCommandContext) => void) | undefined; // for the command it sent itself
	private runner: { createCommandContext(): ExtensionCommandContext } | undefined;

	constructor(private session: Session) {
		if (!("getSettings" in session.pi)) this.catchRunner();
	}

	/** Keeps the context of a command. */
	keep(c: ExtensionCommandContext): void {
		this.typed = c;
	}

	/** Whether the command was the one it sent itself. */
	took(c: ExtensionCommandContext): boolean {
		const move = this.waiting;
		this.waiting = undefined;
		move?.(c);
		return move !== undefined;
	}

	/** Moves the branch to an entry; undefined when there is no way. */
	get way(): ((id: string) => Promise<{ cancelled: boolean }>) | undefined {
		if (this.session.hasEdits) return (id) => this.moveByCommand(id);
		const c = this.typed ?? this.runner?.createCommandContext();
		return c && ((id) => c.navigateTree(id));
	}

	private moveByCommand(id: string): Promise<{ cancelled: boolean }> {
		return new Promise((resolve, reject) => {
			const move = (c: ExtensionCommandContext): void => {
				clearTimeout(timer);
				c.navigateTree(id).then(resolve, reject);
			};
			const timer = setTimeout(() => {
				if (this.waiting === move) this.waiting = undefined; // the next command is the user's own
				reject(new Error("Pi did not run the command"));
			}, REPLY_MS);
			this.waiting = move;
			this.session.pi.sendUserMessage(`/${this.session.commandName}`, { expandPromptTemplates: true } as object);
		});
	}

	/** Pi 0.81.1: its runner is caught when it makes its first context, and the method is put back at once. */
	private catchRunner(): void {
		const maker = (ExtensionRunner as any)?.prototype;
		const original = maker?.createContext;
		if (typeof original !== "function" || typeof maker.createCommandContext !== "function") return;
		const caught = (runner: any): void => {
			maker.createContext = original;
			this.runner = runner;
		};
		maker.createContext = function (this: any, ...args: unknown[]): unknown {
			caught(this);
			return original.apply(this, args);
		};
	}
}
