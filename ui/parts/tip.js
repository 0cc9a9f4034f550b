// The one tooltip of the page. It is a live region, so what it says is read out too.

import { el } from "./dom.js";

const tip = () => document.getElementById("tip");

/** Shows `title`, rows of [name, value] and a quoted line beside the point (x, y) of the viewport. */
export function showTip(x, y, { title, swatch, rows = [], quote, note }) {
  const box = tip();
  box.replaceChildren(
    el("div", { class: "tip-title" }, swatch ? el("i", { class: "swatch", style: `background:${swatch}` }) : null, title),
    rows.length ? el("dl", {}, rows.map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)])) : "",
    quote ? el("q", {}, quote) : "",
    note ? el("div", { class: "tip-note" }, note) : "",
  );
  box.hidden = false;
  const { width, height } = box.getBoundingClientRect();
  const room = document.documentElement.clientWidth;
  let left = x + 14;
  if (left + width > room - 8) left = x - width - 14;
  if (left < 8) left = Math.max(8, (room - width) / 2);
  let top = y + 16;
  if (top + height > innerHeight - 8) top = y - height - 14;
  box.style.left = `${Math.round(left)}px`;
  box.style.top = `${Math.round(Math.max(8, top))}px`;
}

export function hideTip() {
  tip().hidden = true;
}

addEventListener("scroll", hideTip, { passive: true, capture: true });
addEventListener("keydown", (event) => event.key === "Escape" && hideTip());
