// The cloth of a fabric: a canvas with one row a fold and one cell an event, coloured by the event's fate, which the
// pointer, the finger and the arrow keys walk over. What stands beside it is up to who uses it.

import { columnRuns, fateAt, prefix, runStarts } from "./cells.js";
import { FATES } from "./data.js";
import { el, onScheme, onWidth, segments } from "./dom.js";
import { count } from "./format.js";
import { hideTip, showTip } from "./tip.js";

const LANE = 12;
const BAND = 16;
const AXIS = 20;
const PARTS = [["head", "--part-3"], ["middle", "--strong-line"], ["tail", "--part-6"]];

/**
 * `rows`: {name, detail, title, fates: [[letter, length]…], faint}; `tokens(seq)`, `users`: numbers of the user's
 * messages; `layout`: {head, middle, tail} as half-open pairs, or null; `describe(row, seq)`: what the tip says;
 * `choose(row)`, `enter(row, seq)`, `cell(row, seq)`: told what was selected, Enter, and a cell that was pressed.
 * What `describe` gives may hold `later`, a promise of the text to quote. `keep`: an object that holds zoom and the like from one cloth to the next.
 */
export function weave({ label, size, tokens, users, rows, layout = null, row = rows.length - 1, keep = {}, describe, choose, enter = () => {}, cell = () => {} }) {
  const state = Object.assign(keep, { equal: true, zoom: 1, lit: null, seq: 0, ...keep, row, width: 0 });
  const rowHeight = Math.max(13, Math.min(26, Math.floor(430 / rows.length)));
  const top = LANE + 4 + (layout ? BAND : 0);
  const starts = rows.map((each) => runStarts(each.fates));
  const lengths = starts.map((list) => list[list.length - 1]);
  const drawn = { key: "", rows: [] };
  const canvas = el("canvas", { tabindex: 0, role: "application", "aria-label": label });
  const scroll = el("div", { class: "scroll" }, canvas);
  const hint = el("p", { class: "note" });
  const buttons = rows.map((each, index) => el("button", {
    type: "button", style: `height:${rowHeight}px`, class: each.faint ? "faint" : null, "aria-pressed": "false", title: each.title, onclick: () => select(index),
  }, el("b", {}, each.name), el("span", { class: "wide" }, each.detail)));
  const lanes = [
    layout ? el("div", { class: "lane", style: `height:${BAND}px` }, "layout") : null,
    el("div", { class: "lane", style: `height:${LANE + 4}px` }, el("span", {}, "user", el("span", { class: "wide" }, " messages"))),
  ];
  const grid = el("div", { class: "fabric" }, el("div", { class: "rows" }, lanes, buttons), scroll);
  const tall = rows.length > 40 ? el("div", { class: "tall" }, grid) : null;

  const equal = prefix(size, () => 1);
  const sized = prefix(size, (seq) => Math.max(1, Number(tokens(seq)) || 1));
  const edges = () => (state.equal ? equal : sized);
  const place = (seq) => (edges()[seq] / edges()[size]) * state.width * state.zoom;

  function draw() {
    if (!state.width) return;
    const width = Math.round(state.width * state.zoom);
    const height = top + rows.length * rowHeight + AXIS;
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
    const key = [state.equal, width, ratio].join();
    if (drawn.key !== key) {
      const unit = edges()[size] / (width * ratio);
      drawn.rows = rows.map((each, index) => columnRuns(each.fates, starts[index], edges(), unit));
      drawn.key = key;
    }
    if (layout) drawLayout(ink, colour);
    drawUsers(ink, colour);
    rows.forEach((each, index) => drawRow(ink, index, colour, ratio));
    drawAxis(ink, width, height, colour);
    drawFrame(ink, colour);
    const crowd = size / (width * ratio);
    hint.textContent = crowd > 1 ? `Events are narrower than a pixel here (${crowd.toFixed(1)} a column): each column shows the fate that most of its events have. Zoom in for single cells.` : "";
  }

  function drawLayout(ink, colour) {
    ink.font = "11px system-ui, sans-serif";
    ink.textBaseline = "top";
    ink.textAlign = "left";
    for (const [name, tint] of PARTS) {
      const [from, to] = layout[name] ?? [0, 0];
      const [left, right] = [place(Math.min(from, size)), place(Math.min(to, size))];
      if (right <= left) continue;
      ink.fillStyle = colour(tint);
      ink.fillRect(left, BAND - 4, Math.max(2, right - left - 1), 3);
      ink.fillStyle = colour("--quiet");
      if (right - left > ink.measureText(name).width + 8) ink.fillText(name, left + 1, 0);
    }
  }

  function drawUsers(ink, colour) {
    const above = top - LANE - 4;
    ink.fillStyle = colour("--line");
    ink.fillRect(0, above + LANE - 1, place(size), 1);
    const crowded = users.length * 3 > state.width * state.zoom;
    ink.fillStyle = colour(crowded ? "--strong-line" : "--ink");
    let free = -1;
    for (const seq of users) {
      const x = place(seq);
      // A mark is two pixels wide: those that would lie on the one before are left out.
      if (x < free) continue;
      ink.fillRect(x, above + 2, Math.max(2, place(seq + 1) - x), LANE - 2);
      free = x + 1;
    }
  }

  function drawRow(ink, index, colour, ratio) {
    const y = top + index * rowHeight;
    const { fates, faint } = rows[index];
    const paint = (fate, x, width) => {
      ink.globalAlpha = (state.lit && state.lit !== fate ? 0.12 : 1) * (faint ? 0.4 : 1);
      ink.fillStyle = colour(`--fate-${FATES[fate] ? fate : "x"}`);
      ink.fillRect(x, y + 1, width, rowHeight - 2);
    };
    const { runs, counts } = drawn.rows[index];
    for (const [fate, from, to] of runs) paint(fate, from / ratio, (to - from) / ratio);
    // What is rare is two pixels wide at least, so that one pinned message among a thousand is seen.
    fates.forEach(([fate, length], at) => {
      if (length <= 0 || (fate !== "p" && fate !== "x") || counts[fate] >= lengths[index] / 8) return;
      const [from, to] = [starts[index][at], starts[index][at + 1]];
      paint(fate, Math.floor(place(from) * ratio) / ratio, Math.max(2 / ratio, place(to) - place(from)));
    });
    ink.globalAlpha = 1;
  }

  function drawAxis(ink, width, height, colour) {
    const step = nice(size / (width / 90));
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
    if (!rows[state.row]) return;
    ink.strokeStyle = colour("--ink");
    ink.lineWidth = 1;
    ink.strokeRect(0.5, top + state.row * rowHeight + 0.5, Math.max(2, place(lengths[state.row]) - 1), rowHeight - 1);
  }

  function select(index, tell = true) {
    state.row = index;
    buttons.forEach((button, at) => button.setAttribute("aria-pressed", String(at === index)));
    draw();
    reveal(index);
    if (tell) choose(index);
  }

  /** Scrolls a high fabric, and nothing else, to a row. */
  function reveal(index) {
    if (!tall) return;
    const from = top + index * rowHeight;
    if (index >= rows.length - 2) tall.scrollTop = tall.scrollHeight;
    else if (from < tall.scrollTop) tall.scrollTop = from - rowHeight;
    else if (from + rowHeight + AXIS > tall.scrollTop + tall.clientHeight) tall.scrollTop = from + rowHeight + AXIS - tall.clientHeight;
  }

  function find(event) {
    const box = canvas.getBoundingClientRect();
    const at = Math.floor((event.clientY - box.top - top) / rowHeight);
    const list = edges();
    const share = ((event.clientX - box.left) / box.width) * list[size];
    let [low, high] = [0, size - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (list[middle] <= share) low = middle;
      else high = middle - 1;
    }
    return { row: at, seq: low };
  }

  const fateOf = (index, seq) => fateAt(rows[index].fates, starts[index], seq);
  let said = 0;
  function say(index, seq, x, y) {
    const turn = (said += 1);
    const tip = describe(index, seq, rows[index] ? fateOf(index, seq) : undefined);
    showTip(x, y, tip);
    tip.later?.then((quote) => { if (turn === said && quote) showTip(x, y, { ...tip, quote }); });
  }
  function hush() {
    said += 1;
    hideTip();
  }

  canvas.addEventListener("pointermove", (event) => {
    const { row: index, seq } = find(event);
    if (index >= rows.length) return hush();
    say(index, seq, event.clientX, event.clientY);
  });
  canvas.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && hush());
  canvas.addEventListener("blur", hush);
  canvas.addEventListener("click", (event) => {
    const { row: index, seq } = find(event);
    state.seq = seq;
    if (index >= 0 && index < rows.length) select(index);
    if (index < rows.length) {
      say(index, seq, event.clientX, event.clientY);
      cell(index, seq);
    }
  });
  canvas.addEventListener("keydown", (event) => {
    const move = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0], PageUp: [0, -25], PageDown: [0, 25], Home: [0, -Infinity], End: [0, Infinity] }[event.key];
    if (event.key === "Enter") enter(state.row, state.seq);
    if (!move) return;
    event.preventDefault();
    const index = Math.max(0, Math.min(rows.length - 1, state.row + move[0]));
    state.seq = Math.max(0, Math.min(lengths[index] - 1, state.seq + move[1]));
    if (index !== state.row) select(index);
    const x = (place(state.seq) + place(state.seq + 1)) / 2;
    if (x < scroll.scrollLeft || x > scroll.scrollLeft + state.width) scroll.scrollLeft = x - state.width / 2;
    const box = canvas.getBoundingClientRect();
    say(index, state.seq, box.left + x, box.top + top + (index + 1) * rowHeight - 8);
  });

  const there = new Set(rows.flatMap((each) => each.fates.filter(([, length]) => length > 0).map(([fate]) => fate)));
  const chips = Object.entries(FATES).filter(([fate]) => there.has(fate)).map(([fate, { name, text }]) => {
    const chip = el("button", { type: "button", class: "chip", title: text, "aria-pressed": String(state.lit === fate), onclick: () => {
      state.lit = state.lit === fate ? null : fate;
      chips.forEach((other) => other.setAttribute("aria-pressed", String(other === chip && state.lit === fate)));
      draw();
    } }, el("i", { class: "swatch", style: `background:var(--fate-${fate})` }), name);
    return chip;
  });
  const node = el("div", {},
    el("div", { class: "controls" },
      el("div", { class: "field" }, el("span", { class: "label" }, "What became of it (press to single out)"), el("div", { class: "chips", role: "group", "aria-label": "Fates" }, chips)),
      segments("Cell width", [[true, "Equal"], [false, "By tokens"]], state.equal, (value) => { state.equal = value; draw(); }),
      segments("Zoom", [[1, "Fit"], [3, "3×"], [8, "8×"]], state.zoom, (zoom) => { state.zoom = zoom; draw(); })),
    tall ?? grid, hint);
  scroll.addEventListener("scroll", () => { state.left = scroll.scrollLeft; }, { passive: true });
  onWidth(scroll, (width) => {
    const { left } = state;
    state.width = width;
    draw();
    if (left) scroll.scrollLeft = left;
    reveal(state.row);
  });
  onScheme(draw);
  select(state.row, false);
  return { node, select, focus: () => canvas.focus() };
}

/** A fate as a swatch and its name, for a tip. */
export const fateText = (fate) => el("span", {}, el("i", { class: "swatch", style: `background:var(--fate-${FATES[fate] ? fate : "x"});margin-right:6px;width:9px;height:9px` }), FATES[fate]?.name ?? String(fate));

function nice(step) {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, step)));
  return Math.max(1, [1, 2, 5, 10].find((digit) => digit * power >= step) * power);
}
