import type { Replay } from "./data.js";
export function replaySections(data: Replay): HTMLElement[];
