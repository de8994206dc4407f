// The person at the keyboard: keys, the draft in Pi's editor, dialogs that wait for an answer.
import type { Link } from "./link.ts";
import { safe } from "./safe.ts";
import type { Session } from "./session.ts";

const REPORT_MS = 250; // at most four reports a second

export class Keyboard {
	private dialogs = 0;
	private draft = false; // as told
	private keyPressed = false; // and not told
	private timer: NodeJS.Timeout | undefined;
	private unlisten: (() => void) | undefined;

	constructor(
		private session: Session,
		private link: Link,
	) {}

	get hasDialog(): boolean {
		return this.dialogs > 0;
	}

	get hasDraft(): boolean {
		return (this.session.ctx.ui.getEditorText() ?? "").trim() !== "";
	}

	listen(): void {
		this.unlisten = this.session.ctx.ui.onTerminalInput((data) => {
			safe(() => this.keyed(data));
			return undefined;
		});
	}

	stop(): void {
		safe(() => this.unlisten?.());
		if (this.timer) clearTimeout(this.timer);
		this.timer = undefined;
	}

	dialogOpened(): void {
		this.dialogs++;
		this.link.tell("dialog", { open: true });
	}

	dialogClosed(): void {
		this.dialogs = Math.max(this.dialogs - 1, 0);
		this.link.tell("dialog", { open: this.dialogs > 0 });
	}

	/** Keys come before the edit they make, so the draft is looked at after it. */
	private keyed(data: string): void {
		if (isNoKey(data)) return;
		this.keyPressed = true;
		if (this.timer) return;
		setImmediate(() => safe(() => this.report()));
		this.timer = setTimeout(() => {
			this.timer = undefined;
			safe(() => this.report());
		}, REPORT_MS);
		this.timer.unref();
	}

	/** Tells what is not told yet. A command asks for it before the hub hears of the command: what was typed for it is no
	 * draft any more, Pi empties the editor first. */
	report(): void {
		const now = this.hasDraft;
		if (!this.keyPressed && now === this.draft) return;
		this.draft = now;
		this.link.tell("activity", { key: this.keyPressed, draft: now });
		this.keyPressed = false;
	}
}

/** Kitty key releases (event type 3), focus reports and mouse reports are no keys. */
const isNoKey = (data: string): boolean => /^\x1b\[(?:[\d:;]+:3[A-Za-z~u]|[IO]|<[\d;]+[Mm]|M...)$/.test(data);
