// Context size over the requests of one conversation: raw history, the context, the window, folds and cache breaks.

import * as Plot from "@observablehq/plot";
import { el, grouped, mark, note, onWidth, segments } from "./dom.js";
import { count, many, short, tick } from "./format.js";
import { hideTip, showTip } from "./tip.js";

const OTHERS = ["var(--other-1)", "var(--other-2)", "var(--other-3)"];
const DASHES = ["6 3", "2 3", "8 3 2 3"];

/** What stands for what in the picture. */
const WORDS = { raw: "raw history", x: "message", at: (at) => `message ${count(at)}`, left: "Context size" };

/**
 * `others`: [{strategy, part}] that may be laid over the chosen one. With `cached`, the cached prefix is an area of its
 * own. `words` names the line above and the axis below.
 */
export function contextChart({ strategy, part, window, others = [], compared = new Set(), cached = false, words = WORDS }) {
  const requests = part.requests;
  if (requests.length === 0) return note("No request of this conversation was replayed with this strategy.");
  let scale = "window";
  const box = el("div", { class: "chart context" });
  const key = el("div", { class: "key" });
  let known = 0;
  const redraw = () => {
    if (!known) return;
    const shown = others.filter((other) => compared.has(other.strategy));
    key.replaceChildren(...legend(strategy, shown, part, cached, words));
    box.replaceChildren(...draw({ strategy, requests, folds: part.folds, window, shown, scale, width: known, cached, words }));
  };
  const node = el("div", {},
    el("div", { class: "controls" },
      segments("Scale", [["window", "To the window"], ["raw", "Whole history"]], scale, (value) => { scale = value; redraw(); }),
      others.length ? overlay(others, compared, redraw) : null),
    key, box,
    el("p", { class: "note" }, summaryOf(requests, part.folds, window)));
  onWidth(box, (width) => { known = width; redraw(); });
  return node;
}

function summaryOf(requests, folds, window) {
  const breaks = requests.filter((row) => row[5]).length;
  const over = window ? requests.filter((row) => row[2] > window).length : 0;
  return [`${many(requests.length, "request")}, ${folds.length ? many(folds.length, "fold") : "no fold"}, ${breaks ? many(breaks, "cache break") : "no cache break"}`,
    over ? `, ${many(over, "request")} over the window.` : ", none over the window."];
}

function overlay(others, compared, redraw) {
  const chips = others.map(({ strategy }) => el("button", {
    type: "button", class: "chip", "aria-pressed": String(compared.has(strategy)),
    onclick: () => {
      if (compared.has(strategy)) compared.delete(strategy);
      else compared.add(strategy);
      // Three at most: more lines than that cannot be told apart.
      if (compared.size > OTHERS.length) compared.delete([...compared][0]);
      chips.forEach((chip, index) => chip.setAttribute("aria-pressed", String(compared.has(others[index].strategy))));
      redraw();
    },
  }, strategy));
  return el("div", { class: "field" }, el("span", { class: "label" }, "Lay over (three at most)"), el("div", { class: "chips", role: "group", "aria-label": "Strategies to lay over" }, chips));
}

function legend(strategy, shown, part, cached, words) {
  const line = (colour, text, dashed) => el("span", {}, el("i", { class: `line-swatch${dashed ? " dashed" : ""}`, style: `color:${colour}` }), text);
  const symbol = (text, name, colour) => el("span", {}, el("i", { style: `font-style:normal;color:${colour}` }, text), name);
  return [
    line("var(--accent)", strategy), ...shown.map((other, index) => line(OTHERS[index], other.strategy, true)),
    cached ? el("span", {}, el("i", { class: "swatch", style: "background:var(--part-5)" }), "of it read from the cache") : null,
    line("var(--raw)", words.raw), line("var(--warn)", "window", true),
    part.folds.length ? symbol("▼", "fold", "var(--accent)") : null, part.requests.some((row) => row[5]) ? symbol("❘", "cache break", "var(--warn)") : null,
  ].filter(Boolean);
}

function draw({ strategy, requests, folds, window, shown, scale, width, cached, words }) {
  const lines = [requests, ...shown.map((other) => other.part.requests)];
  const most = Math.max(...lines.flatMap((rows) => rows.map((row) => row[2])), window || 0);
  const raw = Math.max(...requests.map((row) => row[1]));
  const top = scale === "raw" ? Math.max(raw, most) * 1.04 : most * 1.14;
  const height = width < 500 ? 280 : 340;
  const frame = {
    width, height, marginLeft: 44, marginRight: 12, marginTop: 22, marginBottom: 44, style: { background: "none" }, ariaLabel: "Context size over requests",
    x: { domain: [0, Math.max(requests[requests.length - 1][0], 1)], label: `${words.x} →`, labelAnchor: "right" }, y: { domain: [0, top], label: "↑ tokens" },
  };
  const row = (index) => (each) => each[index];
  const svg = Plot.plot({
    ...frame, marks: [
      Plot.gridY({ ticks: 5 }),
      Plot.axisY({ ticks: 5, tickSize: 0, tickFormat: tick, label: "↑ tokens", color: "var(--quiet)" }),
      Plot.axisX({ ticks: width < 500 ? 5 : 10, tickSize: 0, tickFormat: count, label: `${words.x} →`, labelAnchor: "right", labelOffset: 38, tickPadding: 12, color: "var(--quiet)" }),
      Plot.line(requests, { x: row(0), y: row(1), stroke: "var(--raw)", strokeWidth: 1.25, clip: true, ...mark("raw") }),
      window && window <= top ? Plot.ruleY([window], { stroke: "var(--warn)", strokeDasharray: "5 4", ...mark("window") }) : null,
      shown.map((other, index) => Plot.line(other.part.requests, { x: row(0), y: row(2), stroke: OTHERS[index], strokeWidth: 1.4, strokeDasharray: DASHES[index], clip: true, ...mark(`over-${index}`) })),
      Plot.areaY(requests, { x: row(0), y: row(2), fill: "var(--accent)", fillOpacity: 0.1, clip: true }),
      cached ? Plot.areaY(requests, { x: row(0), y: row(3), fill: "var(--part-5)", fillOpacity: 0.55, clip: true, ...mark("cached") }) : null,
      Plot.line(requests, { x: row(0), y: row(2), stroke: "var(--accent)", strokeWidth: 2, clip: true, ...mark("context") }),
      // A line through one point is not seen.
      requests.length === 1 ? Plot.dot(requests, { x: row(0), y: row(2), r: 4, fill: "var(--accent)" }) : null,
      Plot.dot(requests.filter((each) => each[4] >= 0), {
        x: row(0), y: (each) => folds[each[4]]?.before ?? each[2], symbol: "triangle2", r: 4.5, rotate: 180, dy: -9, fill: "var(--accent)", stroke: "var(--ground)", clip: false, ...mark("folds"),
      }),
      Plot.tickX(requests.filter((each) => each[5]), { x: row(0), stroke: "var(--warn)", strokeWidth: 1.25, insetTop: height - 66 - 2, insetBottom: -8, ...mark("breaks") }),
      scale === "window" && raw > top ? Plot.text([`${words.raw} runs on to ${short(raw)}`], { frameAnchor: "top-left", dx: labelX(requests, top, width, words.raw) + 8, dy: 3, textAnchor: "start", fill: "var(--quiet)", stroke: "var(--ground)", strokeWidth: 3 }) : null,
    ],
  });
  const shield = pointer(svg, { strategy, requests, folds, shown, width, height, words });
  return [grouped(svg), shield];
}

/** Where the raw line leaves the picture, in pixels from the left of the frame. */
function labelX(requests, top, width, name) {
  const leaves = requests.find((row) => row[1] > top) ?? requests[requests.length - 1];
  const x = (leaves[0] / Math.max(1, requests[requests.length - 1][0])) * (width - 56);
  return Math.max(0, Math.min(x, width - 56 - 130 - 6 * name.length));
}

/** A rule that follows the pointer, the finger or the arrow keys, and says what stands there. */
function pointer(svg, { strategy, requests, folds, shown, width, height, words }) {
  const scaleX = svg.scale("x");
  const scaleY = svg.scale("y");
  const rule = document.createElementNS("http://www.w3.org/2000/svg", "line");
  const dot = document.createElementNS("http://www.w3.org/2000/svg", "circle");
  for (const [key, value] of [["y1", 22], ["y2", height - 44], ["stroke", "var(--strong-line)"]]) rule.setAttribute(key, value);
  for (const [key, value] of [["r", 4], ["fill", "var(--accent)"], ["stroke", "var(--ground)"], ["stroke-width", 1.5]]) dot.setAttribute(key, value);
  const group = document.createElementNS("http://www.w3.org/2000/svg", "g");
  group.setAttribute("display", "none");
  group.append(rule, dot);
  svg.append(group);
  let current = requests.length - 1;

  function show(index) {
    current = Math.max(0, Math.min(requests.length - 1, index));
    const [at, raw, context, prefix, fold, broke, need, have] = requests[current];
    const x = scaleX.apply(at);
    const y = scaleY.apply(context);
    rule.setAttribute("x1", x);
    rule.setAttribute("x2", x);
    dot.setAttribute("cx", x);
    dot.setAttribute("cy", y);
    group.removeAttribute("display");
    const box = svg.getBoundingClientRect();
    const event = fold >= 0 && folds[fold] ? `Fold ${fold + 1}: ${count(folds[fold].before)} → ${count(folds[fold].after)} tokens.` : broke ? "The cache breaks here." : "";
    showTip(box.left + x, box.top + Math.min(y, height - 90), {
      title: words.at(at), note: event,
      rows: [[strategy, count(context)], ...shown.map((other) => [other.strategy, count(other.part.requests.find((row) => row[0] === at)?.[2])]),
        [words.raw, count(raw)], [words.prefix ?? "cached prefix", count(prefix)], ...(need > 0 ? [["at-risk identifiers kept", `${have} of ${need}`]] : [])],
    });
  }
  function hide() {
    group.setAttribute("display", "none");
    hideTip();
  }
  function nearest(event) {
    const box = svg.getBoundingClientRect();
    const at = scaleX.invert(((event.clientX - box.left) / box.width) * width);
    let [low, high] = [0, requests.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (requests[middle][0] < at) low = middle + 1;
      else high = middle;
    }
    return low > 0 && at - requests[low - 1][0] < requests[low][0] - at ? low - 1 : low;
  }
  const shield = el("div", {
    class: "shield", tabindex: 0, role: "application", style: "position:absolute;inset:0;cursor:crosshair;touch-action:pan-y",
    "aria-label": `${words.left} of ${strategy} over ${requests.length} requests. Arrow keys step through the requests, page keys through the folds.`,
    onpointermove: (event) => show(nearest(event)), onpointerdown: (event) => show(nearest(event)), onpointerleave: hide, onblur: hide,
    onkeydown: (event) => {
      const folded = (step) => { let i = current + step; while (i > 0 && i < requests.length - 1 && requests[i][4] < 0) i += step; return i; };
      const to = { ArrowLeft: current - 1, ArrowRight: current + 1, Home: 0, End: requests.length - 1, PageUp: folded(-1), PageDown: folded(1) }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      show(to);
    },
  });
  return shield;
}
