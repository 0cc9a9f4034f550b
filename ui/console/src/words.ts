// Words and small figures that several views use.

import { el } from "../../parts/dom.js";
import type { Child } from "../../parts/dom.js";
import { count, many, percent, short } from "../../parts/format.js";
import type { Overview } from "./types.js";

const ROLES: Record<string, string> = { s: "system", u: "user", a: "assistant", t: "tool" };
export const roleOf = (letter: string | undefined): string => ROLES[letter ?? ""] ?? "event";

const AGES: [number, number, string][] = [[60, 1, "s"], [3600, 60, "min"], [86400, 3600, "h"], [86400 * 60, 86400, "d"]];

/** "4 s ago"; after two months the date. */
export function ago(time: number, now = Date.now()): string {
  const seconds = Math.max(0, Math.round((now - time) / 1000));
  if (seconds < 5) return "now";
  for (const [below, unit, name] of AGES) if (seconds < below) return `${Math.floor(seconds / unit)} ${name} ago`;
  return new Date(time).toISOString().slice(0, 10);
}

/** How long something lasts, in its two largest units: "3 h 12 min". */
export function lasting(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  const units: [number, string][] = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];
  const from = units.findIndex(([unit]) => seconds >= unit);
  if (from < 0) return "0 s";
  let rest = seconds;
  return units.slice(from, from + 2).map(([unit, name]) => {
    const text = `${Math.floor(rest / unit)} ${name}`;
    rest %= unit;
    return text;
  }).join(" ");
}

// Making a formatter takes longer than a row of a list does.
const clock = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" });

/** The moment in the reader's own time, for titles and details. */
export function moment(time: number | null | undefined): string {
  if (!time) return "";
  return clock.format(time);
}

/** What was paid against what sending everything would have cost: "−63 %", or null where nothing was reported. */
export function saving(cost: Overview["cost"]): { text: string; share: number } | null {
  if (!cost || !(cost.everything > 0)) return null;
  const share = 1 - cost.sent / cost.everything;
  if (Math.abs(share) < 0.0005) return { text: "±0 %", share: 0 };
  return { text: `${share > 0 ? "−" : "+"}${percent(Math.abs(share))} %`, share };
}

export function amount(value: number, unit: string): string {
  if (/^usd/i.test(unit)) return `$${value.toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: value < 1 ? 4 : 2 })}`;
  return `${short(value)} ${unit}`;
}

/** A share, cut down as everywhere: only a full one has 100 %. */
export const percentOf = (part: number, whole: number): string => (whole > 0 ? `${Math.floor((part / whole) * 100 + 1e-9)} %` : "–");

/** The source of a session's fill, in words. */
export const fillSource = (source: Overview["fill_source"]): string =>
  source.kind === "counted" ? "as the provider counted"
  : source.kind === "counted-and-newer" ? `about; the provider counted ${count(source.counted)}, newer messages are estimated`
  : "about; nothing was counted yet";

/** A bar for how full the window is, with a mark at the threshold; says it in words too. */
export function fillBar({ fill, window, threshold }: Pick<Overview, "fill" | "window" | "threshold">): HTMLElement {
  const share = window > 0 ? fill / window : 0;
  const state = share > 1 ? "over" : threshold && fill >= threshold ? "due" : "";
  const text = window > 0
    ? `${count(fill)} of ${count(window)} tokens, ${percentOf(fill, window)}${threshold ? `; folds at ${count(threshold)}` : ""}${state === "over" ? "; over the window" : ""}`
    : `${count(fill)} tokens, no window set`;
  return el("span", { class: `fill ${state}`, role: "img", "aria-label": text, title: text },
    el("span", { class: "fill-in", style: `width:${(Math.min(1, share) * 100).toFixed(2)}%` }),
    threshold && window > 0 ? el("span", { class: "fill-mark", style: `left:${(Math.min(1, threshold / window) * 100).toFixed(2)}%` }) : null);
}

/** When the next fold is, as a sentence that can stand alone. */
export function foldLine(line: string): string {
  return /^(at|with|from|not|never) /.test(line) ? `next fold ${line}` : line;
}

/** "2 requests went on as they came: what may not be folded does not fit", a cause each; empty where there was none. */
export function faultLines({ faults }: Pick<Overview, "faults">): string[] {
  return faults.map(({ reason, requests }) => `${many(requests, "request")} went on as ${requests === 1 ? "it" : "they"} came: ${reason}`);
}

export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Cuts a text for a place with little room. */
export const clip = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

const SOURCES: Record<string, string> = { proxy: "through the proxy", import: "imported", api: "made by the API" };
/** Where a session comes from: the proxy, the API, or the file that was imported, by its name. */
export const sourceText = (source: string): string => SOURCES[source] ?? `imported from ${source.split(/[\\/]/).pop() || source}`;
export const STAND_INS: Record<string, string> = {
  computed: "a recap computed from the log", narrated: "a recap narrated by a model", marker: "a fixed marker", static: "a fixed text", host: "a text of the host",
};

/** The text in a snippet, marked; whatever case it is written in. */
export function marked(snippet: string, text: string): Child {
  const parts: Child[] = [];
  const [low, wanted] = [snippet.toLowerCase(), text.toLowerCase()];
  let from = 0;
  for (let at = wanted ? low.indexOf(wanted) : -1; at >= 0; at = low.indexOf(wanted, from)) {
    parts.push(snippet.slice(from, at), el("mark", {}, snippet.slice(at, at + wanted.length)));
    from = at + wanted.length;
  }
  return [...parts, snippet.slice(from)];
}
