import type { Replay } from "./data.js";
export function definitions(data: Replay): HTMLElement;
