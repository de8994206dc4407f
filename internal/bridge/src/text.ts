// Text from elsewhere, made fit to be shown or recorded.

/** One line without what would steer a terminal: escape sequences, control characters, changes of the writing direction. */
export function clean(line: string): string {
	return line
		.replace(/\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])?/g, "")
		.replace(/[\x00-\x1f\x7f-\x9f\u2028\u2029]+/g, " ")
		.replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "")
		.trim();
}

export function causeText(cause: unknown): string {
	return cause instanceof Error ? cause.message : String(cause);
}
