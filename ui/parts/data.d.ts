export interface Replay { runs: unknown[]; conversations: unknown[] }
export function read(text: string): Replay;
export const FATES: Record<string, { name: string; text: string }>;
