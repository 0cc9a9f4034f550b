import type { Child } from "./dom.js";
export interface Tip { title: string; swatch?: string; rows?: [string, Child][]; quote?: string | null; note?: string | null; later?: Promise<string> }
export function showTip(x: number, y: number, tip: Tip): void;
export function hideTip(): void;
