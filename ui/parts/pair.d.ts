/** `took`: per message, the row of the fold that took it; else it is read off the fates of `folds`. */
export function pair(options: { folds: PairFold[]; row: number; events: ([string, number, string, string | null] | undefined)[]; strategy: string; left?: { seq: number; row: number }[] }): HTMLElement;
export interface PairFold { number: number; at: number; before: number; after: number; recap: string | null; recap_tokens: number; fates: [string, number][] }
