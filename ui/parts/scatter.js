// Retention against cost: one point a strategy, one picture a window, the Pareto line through what no other beats.

import * as Plot from "@observablehq/plot";
import { fair, pareto, placed, sendable } from "./data.js";
import { el, grouped, mark, note, onWidth } from "./dom.js";
import { cost, costSign, count, list, many, percentSign } from "./format.js";
import { hideTip, showTip } from "./tip.js";

/** What the axes are, and what is said of a point. */
const RECALL = { x: "cost, times raw history", y: "at-risk retention", name: "Retention against cost", rows: recallRows, value: cost };

export function scatter(runs, { chosen, choose, domain, axes = RECALL }) {
  const all = placed(runs);
  if (all.length === 0) return note("No run here has both figures, so there is nothing to draw.");
  const points = all.filter((run) => inside(run, domain));
  const outside = all.filter((run) => !points.includes(run)).map((run) => run.strategy);
  const box = el("div", { class: "chart scatter" });
  onWidth(box, (width) => {
    hideTip();
    box.replaceChildren(draw(points, pareto(all.filter(fair)), width, { chosen, choose, domain, axes }));
  });
  return outside.length ? el("div", {}, box, el("p", { class: "note" }, `Outside this frame: ${list(outside)}.`)) : box;
}

const inside = (run, { x, y }) => run.totals.cost >= x[0] && run.totals.cost <= x[1] && run.totals.at_risk >= y[0] && run.totals.at_risk <= y[1];

/** The runs that a choice is really between: near the best retention, and not many times dearer than the cheapest such. */
export function near(runs) {
  const able = placed(runs).filter(fair);
  const best = Math.max(...able.map((run) => run.totals.at_risk));
  const good = able.filter((run) => run.totals.at_risk >= best - 0.15);
  const least = Math.min(...good.map((run) => run.totals.cost));
  return good.filter((run) => run.totals.cost <= 2.5 * least);
}

/** Axes that hold the points of all windows, so that the pictures can be compared. */
export function domains(runs, close = false) {
  const points = placed(runs);
  if (points.length === 0) return {};
  const costs = points.map((run) => run.totals.cost);
  const recalls = points.map((run) => run.totals.at_risk);
  const low = Math.min(...recalls);
  const step = low > 0.9 ? 0.02 : low > 0.7 ? 0.05 : 0.1;
  const [least, most] = [Math.min(...costs), Math.max(...costs)];
  const log = least > 0 && most / least > 8;
  return {
    log,
    x: log ? [least / 1.35, most * 1.6] : [close ? Math.max(0, least - (most - least) * 0.25 - 0.01) : 0, Math.max(most + (most - least) * 0.3, most * 1.12)],
    y: [Math.max(0, Math.floor((low - step / 3) / step + 1e-9) * step), 1],
  };
}

const colour = (run, front) => (!sendable(run) ? "var(--warn)" : front.includes(run) ? "var(--accent)" : "var(--raw)");
const symbol = (run) => (run.engine ? "diamond" : "circle");

function draw(points, front, width, { chosen, choose, domain, axes }) {
  const height = Math.round(Math.min(400, Math.max(300, width * 0.72)));
  const frame = {
    width, height, marginLeft: 42, marginRight: 18, marginTop: 24, marginBottom: 40, style: { background: "none" },
    x: {
      type: domain.log ? "log" : "linear", domain: domain.x, label: `${axes.x} →`, labelAnchor: "right",
      tickFormat: (value) => String(Number(value.toPrecision(3))), ...(domain.log ? { ticks: logTicks(domain.x) } : { ticks: width < 420 ? 5 : 7 }),
    },
    y: { domain: domain.y, label: `↑ ${axes.y}, %`, tickFormat: (value) => String(Number((value * 100).toFixed(1))), ticks: 6 },
  };
  const base = [Plot.gridX({ ticks: domain.log ? logTicks(domain.x) : 7 }), Plot.gridY({ ticks: 6 })];
  const scales = Plot.plot({ ...frame, marks: [Plot.dot(points, { x: (run) => run.totals.cost, y: (run) => run.totals.at_risk })] });
  const [x, y] = [scales.scale("x").apply, scales.scale("y").apply];
  const at = points.map((run) => ({ run, x: x(run.totals.cost), y: y(run.totals.at_risk) }));
  const stairs = front.map((run) => [run.totals.cost, run.totals.at_risk]);
  if (stairs.length) stairs.push([domain.x[1], stairs[stairs.length - 1][1]]);
  const steps = stairs.flatMap(([cost, recall], index) => {
    const next = stairs[index + 1];
    if (!next) return [];
    const [x0, x1, y0, y1] = [x(cost), x(next[0]), y(recall), y(next[1])];
    return [{ x0, x1, y0: y0 - 2, y1: y0 + 2 }, { x0: x1 - 2, x1: x1 + 2, y0: y1, y1: y0 }];
  });
  steps.push({ x0: 0, x1: 140, y0: 0, y1: 17 });
  const labels = placeLabels(at, steps, { left: 44, right: width, top: 2, bottom: height - 42 });
  const svg = Plot.plot({
    ...frame, ariaLabel: axes.name, marks: [
      ...base,
      Plot.axisX({ label: frame.x.label, labelAnchor: "right", tickSize: 0, tickFormat: frame.x.tickFormat, ticks: frame.x.ticks, color: "var(--quiet)" }),
      Plot.axisY({ label: frame.y.label, tickSize: 0, tickFormat: frame.y.tickFormat, ticks: 6, color: "var(--quiet)" }),
      Plot.line(stairs, { x: "0", y: "1", curve: "step-after", stroke: "var(--accent)", strokeWidth: 1.5, strokeOpacity: 0.55, clip: true, ...mark("pareto") }),
      Plot.dot(points, {
        x: (run) => run.totals.cost, y: (run) => run.totals.at_risk, r: (run) => (run.strategy === chosen ? 6.5 : 5), symbol,
        fill: (run) => (sendable(run) ? colour(run, front) : "var(--ground)"), stroke: (run) => (sendable(run) ? "var(--ground)" : "var(--warn)"), strokeWidth: (run) => (sendable(run) ? 1 : 1.75), ...mark("points"),
      }),
    ],
    r: { type: "identity" },
  });
  const layer = make("g", { "aria-label": "labels" });
  for (const { run, text, lx, ly, anchor, lead } of labels) {
    if (lead) layer.append(make("line", { x1: lead[0], y1: lead[1], x2: lead[2], y2: lead[3], stroke: "var(--strong-line)" }));
    layer.append(make("text", {
      x: lx, y: ly, "text-anchor": anchor, dy: "0.32em", fill: sendable(run) ? (front.includes(run) ? "var(--ink)" : "var(--quiet)") : "var(--warn)",
      "font-weight": run.strategy === chosen ? 700 : front.includes(run) ? 600 : 400, stroke: "var(--ground)", "stroke-width": 3, "paint-order": "stroke", "stroke-linejoin": "round",
    }, text));
  }
  svg.append(layer, hits(at, front, choose, axes));
  return grouped(svg);
}

/** Round figures that stand well on a logarithmic axis. */
function logTicks([low, high]) {
  const ticks = [];
  for (let power = -4; power < 4; power += 1) for (const digit of [1, 2, 5]) ticks.push(digit * 10 ** power);
  return ticks.filter((tick) => tick >= low && tick <= high);
}

/** Invisible targets over the points, large enough for a finger and reachable by keyboard. */
function hits(at, front, choose, axes) {
  const group = make("g", { "aria-label": "targets" });
  for (const point of at) {
    const { run } = point;
    const target = make("circle", {
      class: "hit", cx: point.x, cy: point.y, r: 13, fill: "transparent", tabindex: 0, role: "button",
      "aria-label": `${run.strategy}: ${axes.y} ${percentSign(run.totals.at_risk)}, ${axes === RECALL ? `cost ${costSign(run.totals.cost)}` : `${axes.x} ${axes.value(run.totals.cost)}`}`,
    });
    const show = () => {
      const box = target.getBoundingClientRect();
      showTip(box.right - 8, box.bottom - 10, describe(run, front, axes));
    };
    target.addEventListener("pointerenter", show);
    target.addEventListener("focus", () => target.matches(":focus-visible") && show());
    target.addEventListener("pointerleave", hideTip);
    target.addEventListener("blur", hideTip);
    target.addEventListener("click", () => choose(run.strategy));
    target.addEventListener("keydown", (event) => (event.key === "Enter" || event.key === " ") && (event.preventDefault(), choose(run.strategy)));
    group.append(target);
  }
  return group;
}

function recallRows(run) {
  const it = run.totals;
  return [["at-risk retention", percentSign(it.at_risk)], ["retention", percentSign(it.recall)], ["cost, times raw", cost(it.cost)], ["mean context", `${count(it.mean)} tokens`], ["folds", count(it.folds)]];
}

function describe(run, front, axes) {
  const it = run.totals;
  const faults = [it.over > 0 ? `${many(it.over, "request")} over the window` : "", it.invalid > 0 ? many(it.invalid, "invalid context") : ""].filter(Boolean);
  return {
    title: run.strategy, swatch: colour(run, front), rows: axes.rows(run),
    note: faults.length ? faults.join(", ") : front.includes(run) ? "On the Pareto line: none is better on one axis and no worse on the other." : run.engine ? "External engine." : "",
  };
}

function make(name, attributes, text) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== undefined) node.textContent = text;
  return node;
}

const cut = (text) => (text.length > 26 ? `${text.slice(0, 25)}…` : text);

/** Greedy: each label takes the first place beside its point that is free of points, of labels and of the line. */
function placeLabels(at, lines, frame) {
  const taken = lines.concat(at.map((point) => ({ x0: point.x - 6, x1: point.x + 6, y0: point.y - 6, y1: point.y + 6 })));
  const hit = (box) => taken.reduce((sum, other) => sum + Math.max(0, Math.min(box.x1, other.x1) - Math.max(box.x0, other.x0)) * Math.max(0, Math.min(box.y1, other.y1) - Math.max(box.y0, other.y0)), 0);
  const out = (box) => Math.max(0, frame.left - box.x0) + Math.max(0, box.x1 - frame.right) + Math.max(0, frame.top - box.y0) + Math.max(0, box.y1 - frame.bottom);
  return at.slice().sort((a, b) => a.y - b.y || a.x - b.x).map(({ run, x, y }) => {
    const text = cut(run.strategy);
    const width = text.length * 6.9 + 4;
    let best = null;
    for (const far of [0, 14, 28, 44, 60]) {
      for (const [dx, dy, anchor] of [[10, 0, "start"], [-10, 0, "end"], [8, -12, "start"], [8, 12, "start"], [-8, -12, "end"], [-8, 12, "end"], [0, -15, "middle"], [0, 15, "middle"]]) {
        const lx = x + dx + Math.sign(dx) * far * 0.5;
        const ly = y + dy + Math.sign(dy) * far;
        const x0 = anchor === "start" ? lx : anchor === "end" ? lx - width : lx - width / 2;
        const box = { x0, x1: x0 + width, y0: ly - 8, y1: ly + 8 };
        const bad = hit(box) + 40 * out(box) + far * 0.6;
        if (!best || bad < best.bad) best = { bad, box, lx, ly, anchor, far };
      }
    }
    taken.push(best.box);
    const near = best.anchor === "start" ? best.box.x0 : best.anchor === "end" ? best.box.x1 : best.lx;
    return { run, text, lx: best.lx, ly: best.ly, anchor: best.anchor, lead: best.far > 0 ? [x, y, near, best.ly] : null };
  });
}
