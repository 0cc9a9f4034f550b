import type { Tip } from "./tip.js";
export interface Row { name: string; detail: string; title: string; fates: [string, number][]; faint?: boolean }
export function weave(options: {
  label: string; size: number; tokens: (seq: number) => number; users: number[]; rows: Row[];
  layout?: { head: [number, number]; middle: [number, number]; tail: [number, number] } | null; row?: number; keep?: object;
  describe: (row: number, seq: number, fate: string | undefined) => Tip; choose: (row: number) => void;
  enter?: (row: number, seq: number) => void; cell?: (row: number, seq: number) => void;
}): { node: HTMLElement; select: (row: number, tell?: boolean) => void; focus: () => void };
export function fateText(fate: string): HTMLElement;
