// The fabric: one row a fold, one cell an event, coloured by what became of the event in that fold.

import { FATES, foldLength } from "./data.js";
import { el, note, onScheme, onWidth, segments } from "./dom.js";
import { count, short } from "./format.js";
import { pair } from "./pair.js";
import { hideTip, showTip } from "./tip.js";

const LANE = 12;
const AXIS = 20;

export function fabric({ talk, part, strategy }) {
  const folds = part.folds.filter((fold) => fold.fates.length > 0);
  if (part.folds.length === 0) return note(`${strategy} never folded this conversation: every request carries the whole history, or what the strategy leaves of it without a fold.`);
  if (folds.length === 0) return note("The folds of this run carry no fates, so there is nothing to weave.");
  const events = talk?.events ?? [];
  const size = Math.max(events.length, ...folds.map(foldLength));
  const state = { equal: true, zoom: 1, lit: null, row: folds.length - 1, seq: 0, width: 0 };
  const rowHeight = Math.max(13, Math.min(26, Math.floor(430 / folds.length)));
  const letters = folds.map((fold) => spread(fold));
  const canvas = el("canvas", { tabindex: 0, role: "application", "aria-label": `Fabric of ${strategy}: ${folds.length} folds over ${size} events. Arrow keys move between events and folds, Enter goes to what left and the recap.` });
  const scroll = el("div", { class: "scroll" }, canvas);
  const panel = el("div");
  const hint = el("p", { class: "note" });
  const buttons = folds.map((fold, row) => el("button", {
    type: "button", style: `height:${rowHeight}px`, "aria-pressed": "false", title: `Fold ${fold.number + 1}, before message ${count(fold.at)}: ${count(fold.before)} to ${count(fold.after)} tokens`,
    onclick: () => select(row),
  }, el("b", {}, String(fold.number + 1)), el("span", { class: "wide" }, `${short(fold.before)} → ${short(fold.after)}`)));
  const lane = el("div", { class: "lane", style: `height:${LANE + 4}px` }, el("span", {}, "user", el("span", { class: "wide" }, " messages")));
  const grid = el("div", { class: "fabric" }, el("div", { class: "rows" }, lane, buttons), scroll);

  const starts = { equal: prefix(Array.from({ length: size }, () => 1)), tokens: prefix(Array.from({ length: size }, (_, seq) => Math.max(1, Number(events[seq]?.[1]) || 1))) };
  const edges = () => (state.equal ? starts.equal : starts.tokens);
  const place = (seq) => (edges()[seq] / edges()[size]) * state.width * state.zoom;

  function draw() {
    const width = Math.round(state.width * state.zoom);
    const height = LANE + 4 + folds.length * rowHeight + AXIS;
    // A canvas of more than 16,384 device pixels is refused by some browsers.
    const ratio = Math.min(window.devicePixelRatio || 1, 16384 / width);
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    const ink = canvas.getContext("2d");
    ink.scale(ratio, ratio);
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    drawTurns(ink, colour);
    folds.forEach((fold, row) => drawRow(ink, row, colour, ratio));
    drawAxis(ink, width, height, colour);
    drawFrame(ink, colour);
    const crowd = size / (width * ratio);
    hint.textContent = crowd > 1 ? `Events are narrower than a pixel here (${crowd.toFixed(1)} a column): each column shows the fate that most of its events have. Zoom in for single cells.` : "";
  }

  function drawTurns(ink, colour) {
    ink.fillStyle = colour("--line");
    ink.fillRect(0, LANE - 1, place(size), 1);
    ink.fillStyle = colour("--ink");
    events.forEach((event, seq) => {
      if (event?.[0] === "user") ink.fillRect(place(seq), 2, Math.max(2, place(seq + 1) - place(seq)), LANE - 2);
    });
  }

  function drawRow(ink, row, colour, ratio) {
    const top = LANE + 4 + row * rowHeight;
    const total = letters[row].length;
    const counts = tally(letters[row]);
    const paint = (fate, x, width) => {
      ink.globalAlpha = state.lit && state.lit !== fate ? 0.12 : 1;
      ink.fillStyle = colour(`--fate-${FATES[fate] ? fate : "x"}`);
      ink.fillRect(x, top + 1, width, rowHeight - 2);
    };
    for (const [fate, from, to] of runsOf(columns(letters[row], counts, ratio))) paint(fate, from / ratio, (to - from) / ratio);
    // What is rare is two pixels wide at least, so that one pinned message among a thousand is seen.
    for (const [fate, from, to] of runsOf(letters[row])) {
      if ((fate === "p" || fate === "x") && counts[fate] < total / 8) paint(fate, Math.floor(place(from) * ratio) / ratio, Math.max(2 / ratio, place(to) - place(from)));
    }
    ink.globalAlpha = 1;
  }

  /**
   * The fate that each column of device pixels shows: the one with the most of it, and of equals the rarer. Pure
   * colours; letting the canvas mix the fates of narrow cells would make colours that stand for nothing.
   */
  function columns(fates, counts, ratio) {
    const list = edges();
    const unit = list[size] / (Math.round(state.width * state.zoom) * ratio);
    const shown = [];
    let seq = 0;
    for (let left = 0; left < list[fates.length] - unit / 2; left += unit) {
      const right = left + unit;
      while (seq < fates.length - 1 && list[seq + 1] <= left) seq += 1;
      let best = fates[seq];
      if (list[seq + 1] < right) {
        const held = {};
        for (let at = seq; at < fates.length && list[at] < right; at += 1) held[fates[at]] = (held[fates[at]] ?? 0) + Math.min(right, list[at + 1]) - Math.max(left, list[at]);
        for (const fate of Object.keys(held)) {
          const more = held[fate] - held[best];
          if (more > 1e-9 || (more > -1e-9 && counts[fate] < counts[best])) best = fate;
        }
      }
      shown.push(best);
    }
    return shown;
  }

  function drawAxis(ink, width, height, colour) {
    const step = nice((size / (width / 90)));
    ink.fillStyle = colour("--quiet");
    ink.font = "11px system-ui, sans-serif";
    ink.textBaseline = "bottom";
    let free = -Infinity;
    for (let seq = 0; seq < size; seq += step) {
      const text = count(seq);
      const half = ink.measureText(text).width / 2;
      const x = Math.max(half, Math.min(width - half, place(seq)));
      if (x - half < free) continue;
      ink.fillRect(place(seq), height - AXIS + 1, 1, 4);
      ink.textAlign = "center";
      ink.fillText(text, x, height);
      free = x + half + 8;
    }
  }

  function drawFrame(ink, colour) {
    const top = LANE + 4 + state.row * rowHeight;
    ink.strokeStyle = colour("--ink");
    ink.lineWidth = 1;
    ink.strokeRect(0.5, top + 0.5, Math.max(2, place(letters[state.row].length) - 1), rowHeight - 1);
  }

  function select(row) {
    state.row = row;
    buttons.forEach((button, index) => button.setAttribute("aria-pressed", String(index === row)));
    draw();
    panel.replaceChildren(pair({ folds, row, events, strategy }));
  }

  function find(event) {
    const box = canvas.getBoundingClientRect();
    const row = Math.floor((event.clientY - box.top - LANE - 4) / rowHeight);
    const share = ((event.clientX - box.left) / box.width) * edges()[size];
    const list = edges();
    let [low, high] = [0, size - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (list[middle] <= share) low = middle;
      else high = middle - 1;
    }
    return { row, seq: low };
  }

  function describe(row, seq, x, y) {
    const [role, tokens, first, tool] = events[seq] ?? [];
    const fold = folds[row];
    const fate = fold ? letters[row][seq] : undefined;
    if (fold && fate === undefined) {
      return showTip(x, y, { title: `Fold ${fold.number + 1} ends at message ${count(letters[row].length)}`, note: "This event came later." });
    }
    showTip(x, y, {
      title: `#${seq} · ${[role, tool].filter(Boolean).join(" · ") || "event"}`,
      rows: [["tokens", count(tokens)], ...(fold ? [[`fold ${fold.number + 1}`, fateText(fate)]] : [])],
      quote: first || null, note: fold && !"vrm".includes(fate) ? fold.why[seq] : "",
    });
  }
  const fateText = (fate) => el("span", {}, el("i", { class: "swatch", style: `background:var(--fate-${FATES[fate] ? fate : "x"});margin-right:6px;width:9px;height:9px` }), FATES[fate]?.name ?? String(fate));

  canvas.addEventListener("pointermove", (event) => {
    const { row, seq } = find(event);
    if (row >= folds.length) return hideTip();
    describe(row, seq, event.clientX, event.clientY);
  });
  canvas.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && hideTip());
  canvas.addEventListener("blur", hideTip);
  canvas.addEventListener("click", (event) => {
    const { row, seq } = find(event);
    state.seq = seq;
    if (row >= 0 && row < folds.length) select(row);
    if (row < folds.length) describe(row, seq, event.clientX, event.clientY);
  });
  canvas.addEventListener("keydown", (event) => {
    const move = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0], PageUp: [0, -25], PageDown: [0, 25] }[event.key];
    if (event.key === "Enter") (panel.querySelector(".body .line[tabindex='0']") ?? panel.querySelector(".body"))?.focus();
    if (!move) return;
    event.preventDefault();
    const row = Math.max(0, Math.min(folds.length - 1, state.row + move[0]));
    state.seq = Math.max(0, Math.min(letters[row].length - 1, state.seq + move[1]));
    if (row !== state.row) select(row);
    const x = (place(state.seq) + place(state.seq + 1)) / 2;
    if (x < scroll.scrollLeft || x > scroll.scrollLeft + state.width) scroll.scrollLeft = x - state.width / 2;
    const box = canvas.getBoundingClientRect();
    describe(row, state.seq, box.left + x, box.top + LANE + 4 + (row + 1) * rowHeight - 8);
  });

  const there = new Set(folds.flatMap((fold) => fold.fates.filter(([, length]) => length > 0).map(([fate]) => fate)));
  const chips = Object.entries(FATES).filter(([fate]) => there.has(fate)).map(([fate, { name, text }]) => {
    const chip = el("button", { type: "button", class: "chip", title: text, "aria-pressed": "false", onclick: () => {
      state.lit = state.lit === fate ? null : fate;
      chips.forEach((other) => other.setAttribute("aria-pressed", String(other === chip && state.lit === fate)));
      draw();
    } }, el("i", { class: "swatch", style: `background:var(--fate-${fate})` }), name);
    return chip;
  });
  const node = el("div", {},
    el("div", { class: "controls" },
      el("div", { class: "field" }, el("span", { class: "label" }, "What became of it (press to single out)"), el("div", { class: "chips", role: "group", "aria-label": "Fates" }, chips)),
      segments("Cell width", [[true, "Equal"], [false, "By tokens"]], true, (equal) => { state.equal = equal; draw(); }),
      segments("Zoom", [[1, "Fit"], [3, "3×"], [8, "8×"]], 1, (zoom) => { state.zoom = zoom; draw(); })),
    folds.length > 40 ? el("div", { class: "tall" }, grid) : grid, hint, panel);
  onWidth(scroll, (width) => { state.width = width; draw(); });
  onScheme(draw);
  select(state.row);
  return node;
}

function tally(fates) {
  const counts = {};
  for (const fate of fates) counts[fate] = (counts[fate] ?? 0) + 1;
  return counts;
}

function prefix(widths) {
  const starts = [0];
  widths.forEach((width) => starts.push(starts[starts.length - 1] + width));
  return starts;
}

/** The fates of a fold, one letter an event. */
function spread(fold) {
  return fold.fates.flatMap(([fate, length]) => Array(Math.max(0, Math.min(2e6, Number(length) || 0))).fill(fate));
}

/** Equal neighbours together: [value, from, to]. */
function runsOf(list) {
  const runs = [];
  list.forEach((value, index) => {
    const last = runs[runs.length - 1];
    if (last && last[0] === value) last[2] = index + 1;
    else runs.push([value, index, index + 1]);
  });
  return runs;
}

function nice(step) {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, step)));
  return Math.max(1, [1, 2, 5, 10].find((digit) => digit * power >= step) * power);
}
