// The eyes and hands of piwatch inside Pi. It decides nothing that can wait for the hub; it keeps only what must be
// immediate: block tools while a check is open, fold rows out of the context, refuse a send whose fence does not match,
// close a check when the user speaks. Texts, tool definition and settings come from the hub.
//
// Here everything is made and tied to the events of Pi and the requests of the hub. Who hears an event is in the order that
// matters. A module that nobody else depends on ties itself, in its constructor: `session.on` for events, which it hears
// before the others, `link.serve` for requests of the hub, `link.onWelcome` and `link.onLost` for its coming and going.
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { Artefacts } from "./artefact.ts";
import { Branch } from "./branch.ts";
import { Checks } from "./check.ts";
import { registerCommands } from "./command.ts";
import { Compaction } from "./compaction.ts";
import { decide } from "./decide.ts";
import { isAbort } from "./entry.ts";
import { Facts } from "./facts.ts";
import { Fold } from "./fold.ts";
import { FoldEdits } from "./fold_edits.ts";
import { FoldHook } from "./fold_hook.ts";
import { Gateway } from "./gateway.ts";
import { Guard } from "./guard.ts";
import { Input } from "./input.ts";
import { Keyboard } from "./keyboard.ts";
import { Link } from "./link.ts";
import { Navigator } from "./navigator.ts";
import { type Json, sent } from "./protocol.ts";
import { Rollback } from "./rollback.ts";
import { Run } from "./run.ts";
import { showMessages } from "./screen.ts";
import { Send } from "./send.ts";
import { Session } from "./session.ts";
import { Settle } from "./settle.ts";
import { Supervisor } from "./supervisor.ts";
import { Tool } from "./tool.ts";

export default function piwatch(pi: ExtensionAPI): void {
	const session = new Session(pi);
	const branch = new Branch(session);
	const link = new Link(session, branch, (reason): Json => ({ ...facts.hello(reason), provider: gateway.provider }));
	const gateway = new Gateway(session, link);
	const edits = new FoldEdits(session);
	const hook = new FoldHook(session, branch);
	const fold = new Fold(session, branch, edits, hook);
	const run = new Run(session, link);
	const tool = new Tool(session, (callId, params): Promise<any> => decide(link, checks, input, callId, params));
	const checks = new Checks(session, branch, link, run, fold, tool);
	const compaction = new Compaction(session, branch, link, hook);
	const keyboard = new Keyboard(session, link);
	const input = new Input(session, link, run, compaction, checks);
	const facts = new Facts(session, branch, run, compaction, keyboard, checks);
	const send = new Send(session, run, compaction, checks, input, facts);
	const guard = new Guard(session, link, run, checks, send, facts);
	const settle = new Settle(session, branch, link, run, checks, facts);
	const navigator = new Navigator(session);
	const rollback = new Rollback(session, branch, compaction, checks, fold, navigator, facts);
	new Supervisor(session, link, run, checks, facts);
	new Artefacts(session, link);
	registerCommands(session, link, navigator, keyboard);
	showMessages(pi);

	// --------------------------------------------------------------------------------------------------------- the hub

	link.onWelcome((answer) => {
		if (link.watching) tool.register(answer.tool);
		if (link.driver) checks.closeOrphan(); // it knows a harmless call by the tool
	});
	link.onLost(() => checks.hubLost());
	link.serve({
		check: (params) => send.check(params),
		work: (params) => send.work(params),
		void: (params) => checks.voidByHub(params.check, params.why, params.abort),
		fold: (params) => (params.on ? rollback.foldAgain(params.check) : rollback.unfold(params.check)),
		rollback: (params) => rollback.rollback(params.check),
		record(params) {
			session.append(params.type, params.data);
			return sent;
		},
		status(params) {
			link.status(params.text);
			return sent;
		},
		notify(params) {
			session.ctx.ui.notify(params.text, params.level);
			return sent;
		},
		tool(params) {
			link.watch();
			tool.register(params);
			return sent;
		},
	});

	// ----------------------------------------------------------------------------------------- a session begins and ends

	session.on("session_start", async (event, c) => {
		if (session.live && session.id === c.sessionManager.getSessionId()) return; // 0.81.1 in RPC mode fires twice
		if (session.isTwin) {
			c.ui.notify("piwatch: the bridge is installed twice, for you and for this project; one of them rests. See: piwatch uninstall --project", "warning");
			return;
		}
		session.begin(c);
		facts.begin(event.reason);
		if (!session.hasEdits) hook.restore();
		keyboard.listen();
		const tried = link.start(event.reason);
		// A session that is watched from its first request on waits for its tool; any other starts without delay.
		if (process.env.PI_WATCHDOG || process.env.PI_WATCHDOG_SUPERVISOR || branch.isWatched) await link.ready();
		else if (session.headless) await tried; // its only request may have to pass the gateway
	});
	session.on("resources_discover", () => tool.registerHeld());
	session.on("session_before_switch", (event) => run.leave(event.reason));
	session.on("session_before_fork", () => run.leave("fork"));
	session.on("session_shutdown", (event) => {
		checks.shutdown(event.reason);
		link.tell("bye", { reason: event.reason });
		session.end();
		keyboard.stop();
		link.stop();
	});
	const renamed = (name: string): void => link.tell("renamed", { name, model: session.model });
	session.on("session_info_changed", (event) => renamed(event.name ?? ""));
	session.on("model_select", () => renamed(session.manager.getSessionName() ?? ""));

	// ------------------------------------------------------------------------------------------------------------ a run

	session.on("input", (event) => input.spoken(event.source, event.streamingBehavior !== "followUp", event.text));
	session.on("agent_start", () => {
		compaction.over();
		input.runStarted();
		run.started();
	});
	session.on("turn_start", () => {
		run.turnStarted();
		checks.turnStarted();
	});
	session.on("context", (event) => {
		const messages = hook.context(event.messages);
		return messages && { messages };
	});
	session.on("message_start", (event) => {
		checks.messageStarted(event.message);
		input.messageStarted(event.message);
	});
	session.on("message_end", (event) => {
		input.listen();
		checks.messageEnded(event.message);
	});
	session.on("tool_call", (event) => {
		input.listen();
		return checks.block(event.toolName, event.toolCallId);
	});
	session.on("turn_end", async (event, c) => {
		run.turnEnded();
		input.listen();
		if (isAbort(event.message) || event.outcome === "aborted" || c.signal?.aborted) run.sawAbort();
		const drafts = edits.take();
		const goesOn = checks.answered("continue");
		drafts.push(...checks.endOfTurn(event.message, event.toolResults ?? []));
		if (goesOn && !checks.isOpen && settle.isEarly && !run.interrupted) await settle.tellEarly();
		return drafts.length && event.entries ? { entries: [...event.entries, ...drafts] } : undefined;
	});
	session.on("agent_end", async (event, c) => {
		const last = event.messages.findLast((m: any) => m.role === "assistant");
		if (!last) return;
		if (isAbort(last) || c.signal?.aborted) run.sawAbort(); // Pi 0.81.1 says nothing else of an abort from here on
		if (await guard.ended(event.messages, c)) return;
		if (settle.isEarly && !checks.isOpen && (last.stopReason === "stop" || last.stopReason === "length")) await settle.tellEarly();
	});
	session.on("agent_before_settle", (event) => {
		const drafts = [...edits.take(), ...checks.closeSettling()];
		return drafts.length ? { entries: [...event.entries, ...drafts] } : undefined;
	});
	session.on("agent_settled", async (event) => {
		compaction.over();
		run.ended(event.aborted);
		input.settled();
		if (run.interrupted) checks.makeVoid(run.interruption);
		checks.closeIdle();
		run.settled(event.aborted);
		await settle.tell();
	});

	// --------------------------------------------------------------------------------- compactions, the tree, the person

	session.on("session_before_compact", (event) => compaction.starts(event));
	session.on("session_compact", () => compaction.ended());
	session.on("session_compact_failed", () => compaction.ended());
	session.on("session_before_tree", async (event) => {
		if (checks.isOpen) await checks.leave();
		if (!session.hasEdits) hook.leaveOut(event.preparation.entriesToSummarize);
		if (event.preparation.userWantsSummary) compaction.summarizes(event.signal);
	});
	session.on("session_tree", () => {
		compaction.over();
		run.moved();
		if (rollback.moving) return;
		fold.here();
		if (link.driver || !link.open) checks.closeOrphan(); // navigation can bring one onto the branch
		link.tell("tree", { facts: facts.now(), records: branch.essence });
	});
	session.on("ui_prompt_start", () => keyboard.dialogOpened());
	session.on("ui_prompt_end", () => keyboard.dialogClosed());
}
