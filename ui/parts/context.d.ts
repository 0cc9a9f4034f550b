/** A request: [at, everything, sent, cached, number of its fold in `folds` or -1, cache broke, needed, had]. */
export type Request = [number, number, number, number, number, number, number, number];
export function contextChart(options: {
  strategy: string; part: { requests: Request[]; folds: { before: number; after: number }[] }; window: number; cached?: boolean;
  words?: { raw: string; x: string; at: (at: number) => string; left: string; prefix?: string };
}): HTMLElement;
