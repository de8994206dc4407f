// What single entries and messages of a session are.

export const isRecord = (entry: any, type: string): boolean => entry.type === "custom" && entry.customType === type;

export const isOwnRecord = (entry: any): boolean => entry.type === "custom" && String(entry.customType).startsWith("piwatch.");

export const isAnswerRow = (entry: any): boolean => entry.message?.role === "assistant" || entry.message?.role === "toolResult";

export const isAbort = (m: any): boolean =>
	m.stopReason === "aborted" || (m.stopReason === "error" && /Request was aborted|Operation aborted/.test(m.errorMessage ?? ""));

/** The content without these calls; null when nothing is left that says or does something. */
export function withoutCalls(content: any[], isCall: (block: any) => boolean): any[] | null {
	const rest = content.filter((b) => !isCall(b));
	return rest.some((b) => b.type === "toolCall" || (b.type === "text" && b.text.trim() !== "")) ? rest : null;
}
