export interface PairFold { number: number; at: number; before: number; after: number; recap: string | null; recap_tokens: number }
export function pair(options: {
  folds?: PairFold[]; fold?: PairFold; row: number; events: Record<number, [string, number, string, string | null]>; strategy: string;
  gone?: { seq: number; row: number }[]; head?: boolean;
}): HTMLElement;
