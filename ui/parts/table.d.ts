import type { Child } from "./dom.js";
export interface Column<R> {
  name: string; title?: string; group?: string; kind?: "text"; wrap?: boolean; head?: boolean; best?: "high" | "low";
  value: (row: R) => number | string | undefined; text: (row: R) => Child; bad?: (row: R) => boolean; fair?: (row: R) => boolean;
}
export function table<R>(columns: Column<R>[], options: { label: string; sort?: [number, boolean]; chosen?: (row: R) => boolean; limit?: number }):
  { node: HTMLElement; show: (rows: R[]) => void; draw: () => void };
