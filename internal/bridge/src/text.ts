// Text from elsewhere, made fit to be shown or recorded.

/** One line without what would steer a terminal: escape sequences, control characters, changes of the writing direction. */
export function clean(line: string): string {
	return line
		.replace(/\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])?/g, "")
		.replace(/[\x00-\x1f\x7f-\x9f\u2028\u2029]+/g, " ")
		.replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "")
		.trim();
}

/** How a message of the user begins; the hub looks whether it asks to wait. */
export function beginning(content: unknown): string {
	const blocks = Array.isArray(content) ? content : [{ type: "text", text: content ?? "" }];
	const said = blocks.map((b: any) => (b.type === "text" ? String(b.text) : "")).join(" ");
	return said.replace(/\s+/g, " ").trim().slice(0, 200);
}

export function causeText(cause: unknown): string {
	return cause instanceof Error ? cause.message : String(cause);
}
