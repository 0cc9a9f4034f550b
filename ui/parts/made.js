// What the contexts are made of: tokens a request, by where they come from.

import * as Plot from "@observablehq/plot";
import { el, grouped, mark, onWidth } from "./dom.js";
import { count, percentSign, short, tick } from "./format.js";
import { hideTip, showTip } from "./tip.js";

const PARTS = [
  ["system", "system", "var(--part-1)"], ["user", "user", "var(--part-2)"], ["assistant", "assistant", "var(--part-3)"],
  ["call", "calls", "var(--part-5)"], ["result", "results", "var(--part-4)"], ["recap", "recap", "var(--part-6)"],
];

export function madeOf(runs, window) {
  const rows = runs.filter((run) => run.totals.tokens_by && run.totals.requests > 0);
  if (rows.length === 0) return null;
  const bars = rows.flatMap((run) => {
    const total = PARTS.reduce((sum, [key]) => sum + (run.totals.tokens_by[key] ?? 0), 0);
    let from = 0;
    return PARTS.map(([key, name, fill]) => {
      const tokens = (run.totals.tokens_by[key] ?? 0) / run.totals.requests;
      const bar = { run, strategy: run.strategy, name, fill, tokens, from, to: from + tokens, share: total ? (run.totals.tokens_by[key] ?? 0) / total : 0 };
      from += tokens;
      return bar;
    }).filter((bar) => bar.tokens > 0);
  });
  const box = el("div", { class: "chart made" });
  onWidth(box, (width) => box.replaceChildren(draw(bars, rows, window, width)));
  return el("div", {}, el("h3", {}, "What the contexts are made of"),
    el("p", { class: "lead note" }, "Mean tokens of a request. The dashed line is the window."),
    el("div", { class: "key", style: "margin-top:10px" }, PARTS.map(([, name, fill]) => el("span", {}, el("i", { class: "swatch", style: `background:${fill}` }), name))), box);
}

function draw(bars, rows, window, width) {
  const longest = Math.max(...rows.map((run) => Math.min(run.strategy.length, 22)));
  const most = Math.max(...bars.map((bar) => bar.to));
  // Raw history can be many windows long: its bar runs out of the picture instead of flattening the others.
  const edge = Math.min(most, Math.max(window || most, 1) * 1.25);
  const x = { domain: [0, Math.max(edge, window * 1.02 || 0)], clamp: true };
  const svg = Plot.plot({
    width, height: rows.length * 22 + 46, marginLeft: Math.round(longest * 6.9 + 12), marginRight: 56, marginTop: 6, marginBottom: 30, style: { background: "none" },
    ariaLabel: "What the contexts are made of", x, y: { domain: rows.map((run) => run.strategy), label: null, padding: 0.28 },
    marks: [
      Plot.axisX({ tickSize: 0, ticks: width < 500 ? 4 : 8, tickFormat: tick, label: null, color: "var(--quiet)" }),
      Plot.axisY({ tickSize: 0, label: null, color: "var(--ink)", tickFormat: (name) => (name.length > 22 ? `${name.slice(0, 21)}…` : name) }),
      Plot.barX(bars, { x1: "from", x2: "to", y: "strategy", fill: "fill", ...mark("bars"), insetLeft: 0.5 }),
      window ? Plot.ruleX([window], { stroke: "var(--ink)", strokeDasharray: "4 3" }) : null,
      Plot.text(rows.filter((run) => run.totals.mean > edge), { x: () => x.domain[1], y: "strategy", text: (run) => `→ ${short(run.totals.mean)}`, textAnchor: "start", dx: 5, fill: "var(--quiet)" }),
    ],
  });
  svg.querySelectorAll('[data-mark="bars"] rect').forEach((rect) => {
    const bar = bars[rect.__data__];
    rect.addEventListener("pointermove", (event) => showTip(event.clientX, event.clientY, { title: `${bar.strategy}: ${bar.name}`, swatch: bar.fill, rows: [["a request", `${count(bar.tokens)} tokens`], ["share", percentSign(bar.share)]] }));
    rect.addEventListener("pointerleave", hideTip);
  });
  return grouped(svg);
}
