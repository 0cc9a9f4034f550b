// The messages that a fold changed or took out, each before and after.

import { el } from "../../parts/dom.js";
import type { Child } from "../../parts/dom.js";
import { count, many } from "../../parts/format.js";
import { FATES } from "../../parts/data.js";
import { path, request } from "./api.js";
import { toSession } from "./router.js";
import type { Diff, DiffRow } from "./types.js";
import { fill } from "./view.js";

const PAGE = 50;
/** The lines of a message that is gone. */
const SHOWN = 6;
/** Above so many lines a side only the ends are compared. */
const MOST = 300;

export type Line = ["same" | "out" | "in", string];

/** The lines of two texts as one list: what stayed, what went, what came. */
export function lineDiff(before: string, after: string): Line[] {
  const [a, b] = [before.split("\n"), after.split("\n")];
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head += 1;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail += 1;
  const [from, to] = [a.slice(head, a.length - tail), b.slice(head, b.length - tail)];
  const same = (lines: string[]): Line[] => lines.map((line) => ["same", line]);
  const middle: Line[] = from.length > MOST || to.length > MOST ? [...from.map((line): Line => ["out", line]), ...to.map((line): Line => ["in", line])] : common(from, to);
  return [...same(a.slice(0, head)), ...middle, ...same(tail ? a.slice(a.length - tail) : [])];
}

/** Longest common subsequence of lines. */
function common(a: string[], b: string[]): Line[] {
  const width = b.length + 1;
  const best = new Uint16Array((a.length + 1) * width);
  const at = (i: number, j: number): number => best[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i -= 1) for (let j = b.length - 1; j >= 0; j -= 1) best[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  const lines: Line[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push(["same", a[i] ?? ""]);
      i += 1;
      j += 1;
    } else if (i < a.length && (j >= b.length || at(i + 1, j) >= at(i, j + 1))) lines.push(["out", a[i++] ?? ""]);
    else lines.push(["in", b[j++] ?? ""]);
  }
  return lines;
}

export function diffPart(id: string, fold: number, signal: AbortSignal): Child {
  const rows = el("div", { class: "diff-rows" });
  const more = el("div");
  const told = el("p", { class: "note", role: "status" });
  let from = 0;
  const next = (): Promise<void> => fill(more, signal, async () => {
    const page = await request<Diff>(path(["sessions", id, "folds", fold, "diff"], { from, limit: PAGE }), { signal });
    rows.append(...page.rows.map((row) => diffRow(id, row)));
    from += page.rows.length;
    told.textContent = page.total === 0 ? "This fold changed nothing." : `${count(from)} of ${many(page.total, "message")} that this fold changed or took out.`;
    return from < page.total && page.rows.length > 0 ? el("button", { type: "button", class: "plain", onclick: () => void next() }, `Show ${count(Math.min(PAGE, page.total - from))} more`) : null;
  });
  void next();
  return el("div", {}, told, rows, more);
}

function diffRow(id: string, row: DiffRow): HTMLElement {
  const fate = FATES[row.fate];
  const gone = row.after === null;
  return el("article", { class: gone ? "diff gone" : "diff" },
    el("header", {},
      el("a", { href: toSession(id, "messages", row.seq) }, `@${row.seq}`), el("span", {}, [row.role, row.tool].filter(Boolean).join(" · ")),
      el("span", { class: "fate" }, el("i", { class: "swatch", style: `background:var(--fate-${fate ? row.fate : "x"})` }), fate?.name ?? row.fate),
      el("span", { class: "quiet-word" }, row.reason ?? ""),
      el("span", { class: "end" }, gone ? `${count(row.tokens_before)} tokens, all of it left` : `${count(row.tokens_before)} → ${count(row.tokens_after)} tokens`)),
    el("div", { class: "diff-text" }, gone
      ? start(row.before)
      : fold(lineDiff(row.before, row.after ?? ""))));
}

/** The first lines of a message that is gone, and how many more it has. */
function start(text: string): HTMLElement[] {
  const lines = text.split("\n");
  const shown = lines.slice(0, SHOWN).map((line) => diffLine(["out", line]));
  const rest = lines.length - SHOWN;
  return rest > 0 ? [...shown, el("div", { class: "skipped" }, `… and ${many(rest, "more line")}`)] : shown;
}

/** Long stretches without a change are left out. */
function fold(lines: Line[]): HTMLElement[] {
  const near = lines.map(() => false);
  lines.forEach(([kind], index) => {
    if (kind !== "same") for (let at = Math.max(0, index - 2); at <= Math.min(lines.length - 1, index + 2); at += 1) near[at] = true;
  });
  const made: HTMLElement[] = [];
  let skipped = 0;
  lines.forEach((line, index) => {
    if (near[index]) {
      if (skipped) made.push(el("div", { class: "skipped" }, `${many(skipped, "line")} as before`));
      skipped = 0;
      made.push(diffLine(line));
    } else skipped += 1;
  });
  if (skipped) made.push(el("div", { class: "skipped" }, `${many(skipped, "line")} as before`));
  return made;
}

const SIGNS = { same: " ", out: "−", in: "+" };
const diffLine = ([kind, text]: Line): HTMLElement => el("div", { class: kind }, el("span", { class: "sign", "aria-label": kind === "out" ? "removed" : kind === "in" ? "added" : null, role: kind === "same" ? null : "img" }, SIGNS[kind]), el("span", {}, text));
