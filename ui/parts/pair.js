// A fold, before and after: the messages that left, and the recap that a model reads in their place. A line of the
// recap is linked to the messages that it names (`@12`), and the other way round.

import { foldLength } from "./data.js";
import { el } from "./dom.js";
import { count, many } from "./format.js";

/** Above this only the messages that a line names are listed. */
const MOST = 3000;
/** A message number, where it is not part of a name such as `left-pad@1` or of an address. */
const NUMBER = /(^|[\s(,])@(\d+)(?=$|[\s,:;)\]])/g;
/** A recap is there, and so is nothing else of the message. */
const gone = (fate) => fate === "r" || fate === "m";

/** The messages of a fold that are not in the context, each with the number of the fold that took it out. */
function left(folds, row) {
  const took = [];
  folds.slice(0, row + 1).forEach((fold, number) => {
    let seq = 0;
    for (const [fate, length] of fold.fates) {
      for (const end = seq + Math.max(0, Number(length) || 0); seq < end; seq += 1) {
        if (!gone(fate)) took[seq] = undefined;
        else took[seq] ??= number;
      }
    }
  });
  const all = [];
  const size = foldLength(folds[row]);
  for (let seq = 0; seq < size; seq += 1) if (took[seq] !== undefined) all.push({ seq, row: took[seq] });
  return all;
}

/** The lines of a recap, with the messages that each names; the one that only says what a recap is names none. */
function lines(recap, known) {
  return String(recap ?? "").split("\n").map((text) => {
    const names = text.startsWith("[") ? [] : [...text.matchAll(NUMBER)].map((found) => Number(found[2]));
    return { text, names: [...new Set(names)].filter((seq) => known.has(seq)) };
  });
}

/** `gone`: the messages that left, [{seq, row of the fold that took it}], where that is known already. */
export function pair({ folds, row, events, strategy, fold = folds[row], gone: all = left(folds, row), head = true }) {
  const told = lines(fold.recap, new Set(all.map(({ seq }) => seq)));
  const named = new Map();
  told.forEach(({ names }, at) => names.forEach((seq) => named.set(seq, [...(named.get(seq) ?? []), at])));
  const shown = all.length > MOST ? all.filter(({ seq }) => named.has(seq)) : all;
  const status = el("p", { class: "note said", role: "status" });
  const after = told.map((line, at) => recapLine(line, () => from("line", at)));
  const before = new Map(shown.map(({ seq, row: took }) => {
    const isNew = row > 0 && took === row;
    return [seq, messageLine(seq, events[seq], { isNamed: named.has(seq), isNew }, () => from("message", seq))];
  }));
  const view = { pinned: null };

  const from = (kind, key) => ({ kind, key, seqs: kind === "line" ? told[key].names : [key], rows: kind === "line" ? [key] : named.get(key) ?? [] });
  function light(source) {
    const now = source ?? view.pinned;
    const [seqs, rows] = [new Set(now?.seqs), new Set(now?.rows)];
    before.forEach((node, seq) => node.classList.toggle("lit", seqs.has(seq)));
    after.forEach((node, at) => node.classList.toggle("lit", rows.has(at)));
    status.textContent = say(now, told.some((line) => line.names.length > 0));
    if (now?.kind === "line") reveal(boxes.before, [...seqs].map((seq) => before.get(seq)).filter(Boolean));
    if (now?.kind === "message") reveal(boxes.after, [...rows].map((at) => after[at]));
  }
  function pin(source) {
    const same = view.pinned && view.pinned.kind === source.kind && view.pinned.key === source.key;
    view.pinned = same ? null : source;
    before.forEach((node, seq) => node.setAttribute("aria-pressed", String(!same && source.kind === "message" && source.key === seq)));
    after.forEach((node, at) => node.matches("button") && node.setAttribute("aria-pressed", String(!same && source.kind === "line" && source.key === at)));
    light(null);
  }
  const boxes = {
    before: scrolled("Messages that left", [...before.values()], { light, pin }),
    after: scrolled(`Recap of fold ${fold.number + 1}`, after, { light, pin }),
  };
  light(null);
  return el("div", { class: "recap" }, head ? header(fold) : null,
    fold.recap ? null : el("p", { class: "note" }, `This fold of ${strategy} put no recap into the context.`),
    all.length === 0 && !fold.recap ? null : [
      status,
      el("div", { class: fold.recap ? "pair" : "pair one" },
        side("Before", leftText(all, row, named.size), boxes.before),
        fold.recap ? side("After", recapSize(fold, told), boxes.after) : null),
      shown.length < all.length ? el("p", { class: "note" }, `Only messages that a line names are listed: ${many(all.length - shown.length, "other")} left too.`) : null,
    ]);
}

function leftText(all, row, named) {
  const fresh = all.filter(({ row: took }) => took === row).length;
  const parts = [row > 0 ? `${count(fresh)} with this fold` : "", named ? `${count(named)} named by a line` : ""].filter(Boolean);
  return `${many(all.length, "message")} left${parts.length ? `: ${parts.join(", ")}` : ""}`;
}

const side = (title, text, box) => el("section", {}, el("h4", {}, title, " ", el("small", {}, text)), box);

function header(fold) {
  const tokens = Number.isFinite(fold.before) ? `${count(fold.before)} → ${count(fold.after)} tokens` : "";
  return el("header", {}, el("h3", {}, `Fold ${fold.number + 1}, before message ${count(fold.at)}`), el("span", {}, tokens));
}

function recapSize(fold, told) {
  const size = `recap of ${many(fold.recap_tokens ?? 0, "token")}`;
  return `${size}, ${many(told.filter((line) => line.text.trim()).length, "line")}`;
}

function say(source, linked) {
  if (!source) return linked ? "Point at a line of the recap, or press it, for the messages that it names; at a message for the lines that name it." : "No line of this recap names a message by its number.";
  if (source.kind === "line") return `This line names ${source.seqs.map((seq) => `@${seq}`).join(", ")}.`;
  const lines = source.rows.length;
  return lines === 0 ? `No line names message @${source.key} by its number.` : `${many(lines, "line")} ${lines === 1 ? "names" : "name"} message @${source.key}.`;
}

/** One line of the recap: a button where it names messages, so that it can be reached and pressed. */
function recapLine({ text, names }, source) {
  const title = /^#{1,6}\s+(.*)$/.exec(text);
  if (title) return el("div", { class: "head" }, title[1]);
  if (names.length === 0) return el("div", { class: /^\s*[-*•] /.test(text) ? "item" : null }, text);
  const parts = [];
  let end = 0;
  for (const found of text.matchAll(NUMBER)) {
    if (!names.includes(Number(found[2]))) continue;
    const start = found.index + found[1].length;
    parts.push(text.slice(end, start), el("b", {}, `@${found[2]}`));
    end = start + found[2].length + 1;
  }
  const node = el("button", { type: "button", class: "line", tabindex: -1, "aria-pressed": "false" }, parts, text.slice(end));
  node.source = source;
  return node;
}

function messageLine(seq, event, { isNamed, isNew }, source) {
  const [role, tokens, first, tool] = event ?? [];
  const node = el("button", { type: "button", class: isNamed ? "line" : "line unnamed", tabindex: -1, "aria-pressed": "false" },
    el("b", {}, `@${seq}`), " ", isNew ? el("span", { class: "tag" }, "new") : null, el("span", { class: "who" }, [role, tool].filter(Boolean).join(" · ") || "event"), " ",
    el("span", { class: "first" }, first || ""), el("span", { class: "size" }, Number.isFinite(tokens) ? ` ${count(tokens)}` : ""));
  node.source = source;
  return node;
}

/** A box of its own to scroll, one stop for Tab; arrow keys move between its lines, Enter keeps one, Escape lets go. */
function scrolled(label, children, { light, pin }) {
  const all = children.filter((node) => node.source);
  const keys = all.length ? ". Arrow keys move between lines, Enter keeps one lit." : "";
  const box = el("div", { class: "body", role: "group", tabindex: all.length ? null : 0, "aria-label": label + keys }, children);
  const lineOf = (event) => event.target.closest?.("button.line");
  const rove = (node) => {
    all.forEach((other) => { other.tabIndex = other === node ? 0 : -1; });
    node.focus({ preventScroll: true });
    reveal(box, [node]);
  };
  if (all.length) all[0].tabIndex = 0;
  box.addEventListener("pointerover", (event) => event.pointerType === "mouse" && lineOf(event) && light(lineOf(event).source()));
  box.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && light(null));
  box.addEventListener("focusin", (event) => lineOf(event)?.matches(":focus-visible") && light(lineOf(event).source()));
  box.addEventListener("focusout", () => light(null));
  box.addEventListener("click", (event) => lineOf(event) && pin(lineOf(event).source()));
  box.addEventListener("keydown", (event) => {
    if (event.key === "Escape") return light(null);
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity }[event.key];
    if (step === undefined || all.length === 0) return;
    event.preventDefault();
    const at = all.indexOf(document.activeElement);
    rove(all[at < 0 ? 0 : Math.max(0, Math.min(all.length - 1, at + step))]);
  });
  return box;
}

/** Scrolls the box, and nothing else, to the first of these where none of them is in sight. */
function reveal(box, nodes) {
  if (!box || nodes.length === 0) return;
  const [top, bottom] = [box.scrollTop, box.scrollTop + box.clientHeight];
  if (nodes.some((node) => node.offsetTop >= top && node.offsetTop + node.offsetHeight <= bottom)) return;
  box.scrollTop = Math.max(0, nodes[0].offsetTop - box.clientHeight / 3);
}
