// Folds and rollbacks by hand: an exchange comes back into the context, leaves it again, or leaves Pi's screen too.
import type { Branch } from "./branch.ts";
import type { Checks } from "./check.ts";
import type { Compaction } from "./compaction.ts";
import { isOwnRecord, isRecord } from "./entry.ts";
import type { Facts } from "./facts.ts";
import type { Fold } from "./fold.ts";
import type { Navigator } from "./navigator.ts";
import { type Receipt, RECORD_OUTCOME, refused, sent } from "./protocol.ts";
import type { Session } from "./session.ts";

export class Rollback {
	private ownMove = false;

	constructor(
		private session: Session,
		private branch: Branch,
		private compaction: Compaction,
		private checks: Checks,
		private fold: Fold,
		private navigator: Navigator,
		private facts: Facts,
	) {}

	/** Whether the branch is being moved by a rollback. */
	get moving(): boolean {
		return this.ownMove;
	}

	/** Brings the folded rows of an exchange back into the context. */
	unfold(check: string): Receipt {
		const outcome = this.branch.outcome(check);
		if (!outcome) return refused("no such exchange on this branch");
		if (!this.session.idle) return refused("the agent is running");
		const no = this.fold.unfold(outcome);
		if (no) return refused(no);
		this.session.append(RECORD_OUTCOME, { ...outcome, fold: undefined, unfolded: outcome.fold, again: true });
		return sent;
	}

	/** Folds an exchange again whose fold was undone. */
	foldAgain(check: string): Receipt {
		const outcome = this.branch.outcome(check);
		if (!outcome) return refused("no such exchange on this branch");
		if (!outcome.unfolded) return refused(outcome.fold ? "the exchange is folded" : "the exchange was never folded: it is not provably harmless");
		if (!this.session.idle) return refused("the agent is running");
		const fold = this.fold.refold(outcome);
		this.session.append(RECORD_OUTCOME, { ...outcome, fold, unfolded: undefined, again: true });
		return sent;
	}

	/** Moves the branch back to the marker before the check, so that the exchange leaves Pi's screen too. Used once, only if
	 * the marker is that of this check, and only while nothing but the exchange follows it. */
	async rollback(check: string): Promise<Receipt> {
		const outcome = this.branch.outcome(check);
		const since = this.branch.sinceCheck(check);
		if (!since || !outcome) return refused("no such exchange on this branch");
		if (outcome.fold === "rollback") return refused("the exchange was rolled back already");
		if (!this.session.idle || this.compaction.on || this.checks.isOpen) return refused("the agent is running");
		const { marker, after } = since;
		const rows = new Set<string>([...(outcome.rows ?? []), ...(outcome.kept ?? [])]);
		const mine = (e: any): boolean => rows.has(e.id) || isOwnRecord(e) || (e.type === "context_edit" && rows.has(e.targetId));
		if (!outcome.rows?.length) return refused("the exchange is not provably harmless");
		if (!after.every(mine)) return refused("more than the exchange would be lost");
		const navigate = this.navigator.way;
		if (!navigate) return refused("this Pi gives no way to move the branch: type /watchdog status once, then it does");
		this.ownMove = true;
		try {
			const moved = await navigate(marker.id);
			if (moved.cancelled) return refused("another extension kept the branch where it is");
			if (this.session.manager.getLeafId() !== marker.id) return refused("Pi did not move the branch");
			// The records after the marker left the branch with the exchange: what they say still holds, in their order. That of
			// its end is one, however often its fold was changed.
			const isEnd = (e: any): boolean => isRecord(e, RECORD_OUTCOME) && e.data?.check === check;
			const records = after.filter(isOwnRecord);
			const end = records.findIndex(isEnd);
			const ended = { ...outcome, fold: "rollback", unfolded: undefined, again: undefined };
			for (const [i, r] of records.entries()) {
				if (i === end) this.session.append(RECORD_OUTCOME, ended);
				else if (!isEnd(r)) this.session.append(r.customType, r.data);
			}
			return { ...sent, facts: this.facts.now() };
		} finally {
			this.ownMove = false;
		}
	}
}
