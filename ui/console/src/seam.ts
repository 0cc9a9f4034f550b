// A fold, opened: the recap and what left, what it lost, edits, dropped lines of a narration, before and after.

import { el, freshId } from "../../parts/dom.js";
import type { Child } from "../../parts/dom.js";
import { count, many } from "../../parts/format.js";
import { pair } from "../../parts/pair.js";
import { table } from "../../parts/table.js";
import { undoFold } from "./actions.js";
import { path, request } from "./api.js";
import { diffPart } from "./diff.js";
import { toSession } from "./router.js";
import type { Edit, Fabric, MadeFold, FoldDetail, LostGroup, Removed } from "./types.js";
import { fill, waiting } from "./view.js";
import { moment, STAND_INS } from "./words.js";

interface Options { id: string; fold: MadeFold; folds: Fabric["folds"]; slot: HTMLElement; signal: AbortSignal; refresh: () => void; close: () => void }

export function seam(options: Options): Promise<void> {
  const { id, fold, slot, signal } = options;
  if (!slot.firstChild) slot.replaceChildren(waiting(`Opening fold ${fold.number} …`));
  return fill(slot, signal, async () => draw(options, await request<FoldDetail>(path(["sessions", id, "folds", fold.number]), { signal })));
}

function draw(options: Options, detail: FoldDetail): HTMLElement {
  const { id, folds, signal } = options;
  const fold: MadeFold = { ...detail.fold, number: options.fold.number, fates: options.fold.fates };
  const at = folds.findIndex(({ number }) => number === fold.number);
  const dropped = detail.verdicts.flatMap((verdict) => verdict.dropped ?? []);
  const parts: [string, () => Child][] = [
    ["Recap", () => recapPart(options, detail)],
    ["What it lost", () => lostPart(id, detail)],
    [`Edits${detail.edits.length ? ` (${count(detail.edits.length)})` : ""}`, () => editsPart(id, detail)],
    [`Narration${dropped.length ? ` (${count(dropped.length)} dropped)` : ""}`, () => narrationPart(detail)],
    ["Before and after", () => diffPart(id, fold.number, signal)],
  ];
  const body = el("div", { class: "seam-body" });
  const step = (to: MadeFold | undefined, name: string) => (to ? el("a", { class: "plain", href: toSession(id, "fabric", to.number) }, name) : null);
  return el("section", { class: "seam", "aria-labelledby": "seam-title" },
    el("header", { class: "seam-head" },
      el("div", {},
        el("h3", { id: "seam-title" }, `Fold ${count(fold.number)} `, fold.active ? el("span", { class: "tag on" }, "active") : fold.undone ? el("span", { class: "tag" }, "undone") : el("span", { class: "tag" }, "replaced by a later one")),
        el("p", { class: "meta" }, meta(fold).map((part) => el("span", { class: "meta-part" }, part)))),
      el("div", { class: "actions" }, step(folds[at - 1], "← Fold before"), step(folds[at + 1], "Fold after →"),
        fold.active ? el("button", { type: "button", class: "plain", onclick: () => undoFold(id, fold.number, options.refresh) }, "Undo this fold …") : null,
        el("button", { type: "button", class: "plain", onclick: options.close }, "Close"))),
    choices("Parts of the fold", parts, body), body);
}

/** Buttons of which one is pressed; each draws its part when it is asked for, once. */
function choices(label: string, parts: [string, () => Child][], body: HTMLElement): HTMLElement {
  const made = new Map<number, Node[]>();
  const id = freshId("seam");
  body.id = id;
  const show = (index: number): void => {
    buttons.forEach((button, at) => button.setAttribute("aria-pressed", String(at === index)));
    if (!made.has(index)) made.set(index, [parts[index]?.[1]()].flat(3).filter((part): part is Node => part instanceof Node));
    body.replaceChildren(...made.get(index) ?? []);
  };
  const buttons = parts.map(([name], index) => el("button", { type: "button", "aria-pressed": "false", "aria-controls": id, "data-start": index === 0, onclick: () => show(index) }, name));
  queueMicrotask(() => show(0));
  return el("div", { class: "segments", role: "group", "aria-label": label }, buttons);
}

function meta(fold: MadeFold): Child[] {
  return [
    `after ${many(fold.at, "message")}`, `${count(fold.before)} → ${count(fold.after)} tokens, ${count(fold.freed)} freed`,
    `in their place: ${STAND_INS[fold.stand_in] ?? fold.stand_in}`, `cause: ${fold.cause}`,
    `policy ${fold.policy}`, fold.made ? moment(fold.made) : null,
  ].filter(Boolean);
}

function recapPart({ fold, folds }: Options, detail: FoldDetail): Child {
  // What the fold before had taken out already is not new with this one.
  const before = folds.filter(({ number, undone }) => number < fold.number && !undone).pop();
  const gone = new Set<number>();
  let seq = 0;
  for (const [fate, length] of before?.fates ?? []) {
    if (fate === "r" || fate === "m") for (let at = seq; at < seq + length; at += 1) gone.add(at);
    seq += length;
  }
  const events = Object.fromEntries(detail.events.map(({ seq: at, role, tool, line, tokens }) => [at, [role, tokens, line, tool] as [string, number, string, string | null]]));
  const left = detail.gone;
  const newest = left > detail.events.length ? el("p", { class: "note" }, `${many(left, "message")} left, with this fold or before; the newest ${count(detail.events.length)} are listed.`) : null;
  return [newest, pair({
    fold: { number: fold.number - 1, at: fold.at, before: fold.before, after: fold.after, recap: detail.recap?.text ?? null, recap_tokens: detail.recap?.tokens ?? fold.recap_tokens },
    row: before ? 1 : 0, events, strategy: fold.policy, gone: detail.events.map(({ seq: at }) => ({ seq: at, row: before && !gone.has(at) ? 1 : 0 })), head: false,
  })];
}

function lostPart(id: string, detail: FoldDetail): Child {
  const { receipt } = detail;
  const total = detail.kept_names + detail.lost_names;
  return [
    el("p", { class: "lead" }, total === 0 && detail.lost.length === 0 ? "Nothing that left with this fold is missing from its recap." : `Of ${many(total, "name")} in what left, the recap still has ${count(detail.kept_names)}. What follows is not in it word for word, what weighs most first. All of it stays in the log and can be recalled; press one for where it was said and when it left.`),
    detail.lost.map((group) => lostGroup(id, group)),
    receipt?.intact === false ? el("p", { class: "empty bad" }, "The receipt does not agree with the log: run midfold check session.") : null,
    receipt?.removed.length ? removedTable(receipt.removed) : null,
    el("details", { class: "block" }, el("summary", {}, "The record of this fold"), el("pre", { class: "raw", tabindex: 0 }, JSON.stringify(detail.record, null, 2)?.slice(0, 60_000) ?? "")),
  ];
}

/** What is lost of one kind: words lead to their message, names to where they were said. */
function lostGroup(id: string, { kind, title, count: all, first }: LostGroup): HTMLElement {
  const isName = kind === "name" || kind === "used";
  const more = all > first.length ? `, ${isName ? "the first" : "the newest"} ${count(first.length)}` : "";
  const head = el("h4", {}, title.charAt(0).toUpperCase() + title.slice(1), " ", el("small", {}, `${count(all)}${more}`));
  const name = (text: string) => el("a", { class: "mono", href: toSession(id, "forgot", null, { text }), title: "Why did it forget this?" }, text);
  const at = (seq: number) => el("a", { class: "seq", href: toSession(id, "messages", seq), title: "The message" }, `@${seq}`);
  return el("div", { class: "block lost" }, head, isName
    ? el("ul", { class: "names" }, first.map(({ text, seq }) => el("li", {}, name(text), seq === null ? null : [" ", at(seq)])))
    : el("ol", { class: "words" }, first.map(({ text, seq }) => el("li", {}, seq === null ? null : at(seq), el("span", {}, text)))));
}

/** The receipt: by which rule how much left. */
function removedTable(removed: Removed[]): HTMLElement {
  const grid = table<Removed>([
    { name: "Rule", head: true, kind: "text", value: (row) => row.rule, text: (row) => row.rule },
    { name: "reason", kind: "text", value: (row) => row.reason, text: (row) => row.reason },
    { name: "messages", value: (row) => row.items, text: (row) => count(row.items) },
    { name: "tokens before", value: (row) => row.tokens_before, text: (row) => count(row.tokens_before) },
    { name: "after", value: (row) => row.tokens_after, text: (row) => count(row.tokens_after) },
    { name: "freed", value: (row) => row.tokens_before - row.tokens_after, text: (row) => count(row.tokens_before - row.tokens_after) },
  ], { label: "The receipt of the fold" });
  grid.show(removed);
  return el("div", { class: "block receipt" }, el("h4", {}, "The receipt"), grid.node);
}

function editsPart(id: string, detail: FoldDetail): Child {
  if (detail.edits.length === 0) return el("p", { class: "empty" }, "This fold edited no message: what it did not take out is as it was sent.");
  const grid = table<Edit>([
    { name: "Message", head: true, value: (row) => row.seq, text: (row) => el("a", { href: toSession(id, "messages", row.seq) }, `@${row.seq}`) },
    { name: "edit", kind: "text", value: (row) => row.kind, text: (row) => row.kind },
    { name: "by", kind: "text", title: "The reducer that made it", value: (row) => row.reducer, text: (row) => row.reducer },
    { name: "reason", kind: "text", wrap: true, value: (row) => row.reason, text: (row) => detail.why[String(row.seq)] ?? row.reason },
    { name: "tokens before", value: (row) => row.tokens_before, text: (row) => count(row.tokens_before) },
    { name: "after", value: (row) => row.tokens_after, text: (row) => count(row.tokens_after) },
  ], { label: "Edits of the fold", sort: [0, true], limit: 100 });
  grid.show(detail.edits);
  return grid.node;
}

function narrationPart(detail: FoldDetail): Child {
  if (detail.verdicts.length === 0) return el("p", { class: "empty" }, "No model was asked to narrate this fold.");
  return detail.verdicts.map((verdict) => el("div", { class: "block" },
    el("h4", {}, verdict.code, " ", el("small", {}, verdict.detail)),
    verdict.dropped?.length
      ? el("table", {}, el("thead", {}, el("tr", {}, el("th", { class: "text", scope: "col" }, "Line that was left out"), el("th", { class: "text", scope: "col" }, "Why"))),
        el("tbody", {}, verdict.dropped.map(({ line, why }) => el("tr", {}, el("td", { class: "text wrap" }, line), el("td", { class: "text wrap" }, why)))))
      : el("p", { class: "note" }, "No line of it was left out.")));
}
