// Nothing may throw outside a Pi handler: a throw in a timer, a socket callback or a terminal listener ends Pi. Nothing
// may wait for ever either.

/** For everything that Pi does not call: no error may leave it. */
export function safe<T>(work: () => T): T | undefined {
	try {
		return work();
	} catch {
		return undefined; // a stale context after a session was replaced, or a Pi that is going down
	}
}

/** Waits for an answer of the hub, not for ever. The socket alone does not keep the process alive; this does. */
export function soon(work: Promise<unknown>, ms: number): Promise<void> {
	return new Promise((resolve) => {
		const timer = setTimeout(resolve, ms);
		const done = (): void => {
			clearTimeout(timer);
			resolve();
		};
		work.then(done, done);
	});
}
