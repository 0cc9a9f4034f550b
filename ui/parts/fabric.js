// The fabric of a replay: one row a fold, one cell an event, and beneath it a fold before and after.

import { foldLength } from "./data.js";
import { el, note } from "./dom.js";
import { count, short } from "./format.js";
import { pair } from "./pair.js";
import { fateText, weave } from "./weave.js";

export function fabric({ talk, part, strategy }) {
  const folds = part.folds.filter((fold) => fold.fates.length > 0);
  if (part.folds.length === 0) return note(`${strategy} never folded this conversation: every request carries the whole history, or what the strategy leaves of it without a fold.`);
  if (folds.length === 0) return note("The folds of this run carry no fates, so there is nothing to weave.");
  const events = talk?.events ?? [];
  const size = Math.max(events.length, ...folds.map(foldLength));
  const panel = el("div");
  const choose = (row) => panel.replaceChildren(pair({ folds, row, events, strategy }));

  function describe(row, seq, fate) {
    const [role, tokens, first, tool] = events[seq] ?? [];
    const fold = folds[row];
    if (fold && fate === undefined) return { title: `Fold ${fold.number + 1} ends at message ${count(foldLength(fold))}`, note: "This event came later." };
    return {
      title: `@${seq} · ${[role, tool].filter(Boolean).join(" · ") || "event"}`,
      rows: [["tokens", count(tokens)], ...(fold ? [[`fold ${fold.number + 1}`, fateText(fate)]] : [])],
      quote: first || null, note: fold && !"vrm".includes(fate) ? fold.why[seq] : "",
    };
  }

  const cloth = weave({
    label: `Fabric of ${strategy}: ${folds.length} folds over ${size} events. Arrow keys move between events and folds, Enter goes to what left and the recap.`,
    size, tokens: (seq) => events[seq]?.[1], users: events.flatMap((event, seq) => (event?.[0] === "user" ? [seq] : [])),
    rows: folds.map((fold) => ({
      name: String(fold.number + 1), detail: `${short(fold.before)} → ${short(fold.after)}`, fates: fold.fates,
      title: `Fold ${fold.number + 1}, before message ${count(fold.at)}: ${count(fold.before)} to ${count(fold.after)} tokens`,
    })),
    describe, choose, enter: () => (panel.querySelector(".body .line[tabindex='0']") ?? panel.querySelector(".body"))?.focus(),
  });
  choose(folds.length - 1);
  return el("div", {}, cloth.node, panel);
}
