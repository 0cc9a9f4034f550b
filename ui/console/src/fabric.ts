// The fabric of a session: one row a fold, one cell an event; a fold opens below as a seam.

import { el } from "../../parts/dom.js";
import { count, many, short } from "../../parts/format.js";
import { hideTip } from "../../parts/tip.js";
import { fateText, weave } from "../../parts/weave.js";
import type { Row } from "../../parts/weave.js";
import { path, request } from "./api.js";
import { noFolds, noMessages } from "./empty.js";
import { go, keepPlace, toSession } from "./router.js";
import { seam } from "./seam.js";
import type { Context, Part, SessionPlace } from "./session.js";
import type { Detail, Fabric, FabricAnswer, Fate, FoldBrief, MadeFold, MessagesPage } from "./types.js";
import { either, fill, gather, waiting } from "./view.js";
import { foldLine, roleOf } from "./words.js";

const isMade = (fold: FoldBrief): fold is MadeFold => fold.number !== null && fold.fates !== undefined;

export function fabricTab(context: Context, place: SessionPlace): Part {
  const { id, signal } = context;
  let detail = context.detail;
  let fabric: Fabric | null = null;
  let cloth: ReturnType<typeof weave> | null = null;
  let open = place.number;
  let pressed = 0;
  let shown = "";
  const keep = {};
  let seamControl = new AbortController();
  const slot = el("div", {}, waiting());
  const panel = el("div", { class: "seam-slot" });
  const node = el("section", { "aria-labelledby": "fabric-title" },
    el("header", { class: "part-head" }, el("h2", { id: "fabric-title" }, "The fabric"),
      el("p", {}, "One row a fold, one cell a message, the newest state last. Point at a cell for the message and what became of it; the newest fold is open below, and a row opens another.")),
    slot, panel);

  /** The newest state of all events: the fates of the active fold, then verbatim. */
  function now(one: Fabric): [Fate, number][] {
    const active = one.folds.find(({ number }) => number === one.active);
    const fates = active ? [...active.fates] : [];
    const covered = fates.reduce((sum, [, length]) => sum + length, 0);
    return one.events > covered ? [...fates, ["v", one.events - covered]] : fates;
  }

  const lines = new Map<number, string>();
  let pointed = 0;
  /** The start of a message, asked for when the pointer has stood still on it. */
  function firstLine(seq: number): Promise<string> {
    clearTimeout(pointed);
    return new Promise((resolve) => {
      pointed = window.setTimeout(async () => {
        const page = await request<MessagesPage>(path(["sessions", id, "messages"], { from: seq, limit: 1, chars: 200 }), { signal }).catch(() => null);
        const text = page?.messages[0]?.text.replace(/\s+/g, " ").trim() ?? "";
        if (page) lines.set(seq, text);
        resolve(text);
      }, 120);
    });
  }

  function rowsOf(one: Fabric): Row[] {
    return [
      ...one.folds.map((fold) => ({
        name: String(fold.number), detail: fold.undone ? "undone" : `${short(fold.before)} → ${short(fold.after)}`, fates: fold.fates, faint: fold.undone,
        title: `Fold ${fold.number}, after ${many(fold.at, "message")}: ${count(fold.before)} to ${count(fold.after)} tokens${fold.active ? "; this one is active" : fold.undone ? "; it was undone" : ""}`,
      })),
      { name: "now", detail: one.active === null ? "no fold" : `fold ${one.active}`, fates: now(one), title: "What the next request carries" },
    ];
  }

  async function read(): Promise<HTMLElement> {
    const focused = slot.contains(document.activeElement);
    const answer = await request<FabricAnswer>(path(["sessions", id, "fabric"]), { signal });
    const one: Fabric = { ...answer, folds: answer.folds.filter(isMade) };
    const isFirst = fabric === null;
    fabric = one;
    if (isFirst && open === null) open = newest();
    if (one.events === 0) return noMessages();
    const rows = rowsOf(one);
    const users: number[] = [];
    for (let seq = 0; seq < one.roles.length; seq += 1) if (one.roles[seq] === "u") users.push(seq);
    const at = open === null ? rows.length - 1 : Math.max(0, one.folds.findIndex(({ number }) => number === open));
    cloth = weave({
      label: `Fabric: ${many(one.folds.length, "fold")} over ${many(one.events, "message")}. Arrow keys move between messages and folds; Enter goes to the open fold, or to the message where none is open.`,
      size: one.events, tokens: (seq) => one.tokens[seq] ?? 1, users, rows, layout: one.layout, row: at, keep,
      describe(row, seq, fate) {
        if (rows[row] && fate === undefined) return { title: `Fold ${rows[row].name} was made before this message`, note: "This message came later." };
        const tool = one.tools[one.tool[seq] ?? -1];
        return {
          title: `@${seq} · ${[roleOf(one.roles[seq]), tool].filter(Boolean).join(" · ")}`,
          rows: [["tokens", count(one.tokens[seq])], ["turn", count(one.turns[seq])], ...(fate ? [[row === rows.length - 1 ? "now" : `fold ${rows[row]?.name}`, fateText(fate)] as [string, HTMLElement]] : [])],
          quote: lines.get(seq) ?? null, later: lines.has(seq) ? undefined : firstLine(seq),
          note: one.pins.includes(seq) ? "Pinned: it stays in the context, verbatim." : row === rows.length - 1 ? "Enter or a double click opens the message." : null,
        };
      },
      choose: (row) => choose(one.folds[row]?.number ?? null),
      cell: (_, seq) => { pressed = seq; },
      enter(row, seq) {
        hideTip();
        if (one.folds[row]) panel.querySelector<HTMLElement>("[data-start]")?.focus();
        else go(toSession(id, "messages", seq));
      },
    });
    cloth.node.querySelector("canvas")?.addEventListener("dblclick", () => go(toSession(id, "messages", pressed)));
    showSeam();
    if (focused) queueMicrotask(() => cloth?.focus());
    return el("div", {}, one.folds.length === 0 ? noFolds(foldLine(detail.line)) : "", cloth.node);
  }

  /** The fold that one comes for: the one that is read now, else the last one that was made. */
  const newest = (): number | null => fabric?.active ?? fabric?.folds[fabric.folds.length - 1]?.number ?? null;

  function choose(number: number | null): void {
    if (number === open) return;
    open = number;
    keepPlace(toSession(id, "fabric", number));
    showSeam();
  }

  function showSeam(): void {
    const fold = fabric?.folds.find(({ number }) => number === open);
    // What is open stays as it is while nothing happened to it.
    const is = fold ? [fold.id, fold.active, fold.undone].join() : "";
    if (is === shown && is !== "") return;
    shown = is;
    seamControl.abort();
    seamControl = new AbortController();
    if (!fold) return panel.replaceChildren();
    const own = either(signal, seamControl.signal);
    void seam({ id, fold, folds: fabric?.folds ?? [], slot: panel, signal: own, refresh: context.refresh, close: () => cloth?.select((fabric?.folds.length ?? 0)) });
  }

  void fill(slot, signal, read);
  const soon = gather(250, () => void fill(slot, signal, read));
  // An append changes the newest row only; a long session is not read again for each message.
  const later = gather(2500, () => void fill(slot, signal, read));
  return {
    node,
    place(next) {
      open = next.number ?? newest();
      const row = fabric?.folds.findIndex(({ number }) => number === open) ?? -1;
      cloth?.select(row >= 0 ? row : (fabric?.folds.length ?? 0), false);
      showSeam();
    },
    update(next: Detail, kinds) {
      detail = next;
      if ([...kinds].some((kind) => kind !== "append" && kind !== "call") || kinds.size === 0) soon.call();
      else if (kinds.has("append")) later.call();
    },
    close() {
      clearTimeout(pointed);
      soon.cancel();
      later.cancel();
      seamControl.abort();
    },
  };
}
