// Looking for a text in the messages of a session: a field, and the messages that have it.

import { el } from "../../parts/dom.js";
import { many } from "../../parts/format.js";
import { path, request } from "./api.js";
import type { Hits } from "./types.js";
import { either, failure, gather } from "./view.js";
import { clip, marked } from "./words.js";

const PAGE = 50;

/** The text itself, whatever its case, as the server's regular expressions have it. */
const pattern = (text: string): string => `(?i)${text.replace(/[\\.+*?()|[\]{}^$#&~-]/g, "\\$&")}`;

/** The field, and the place where what was found is listed; `show` opens a message. */
export function finder(id: string, signal: AbortSignal, show: (seq: number) => void): { field: HTMLElement; found: HTMLElement; close: () => void } {
  let asked = new AbortController();
  const found = el("div", { class: "finds", hidden: true, role: "region", "aria-label": "Messages that were found" });
  const input = el("input", { type: "search", id: "find", autocomplete: "off", spellcheck: "false", placeholder: "a text", oninput: () => later.call(), onkeydown: (event: KeyboardEvent) => { if (event.key === "Enter") { event.preventDefault(); later.cancel(); look(); } } });
  const later = gather(250, () => look());

  function look(): void {
    asked.abort();
    asked = new AbortController();
    const text = input.value.trim();
    found.hidden = text === "";
    found.replaceChildren();
    if (!text) return;
    const told = el("p", { class: "told", role: "status" }, "Looking through the messages …");
    const rows = el("ol", { class: "find-rows" });
    const more = el("button", { type: "button", class: "plain", hidden: true }, "Show more");
    found.append(told, rows, more);
    void page(text, 0, either(signal, asked.signal), { told, rows, more });
  }

  async function page(text: string, skip: number, own: AbortSignal, parts: { told: HTMLElement; rows: HTMLElement; more: HTMLButtonElement }): Promise<void> {
    const { told, rows, more } = parts;
    try {
      const hits = await request<Hits>(path(["sessions", id, "recall", "grep"], { query: pattern(text), mode: "regex", limit: PAGE, skip }), { signal: own });
      if (own.aborted) return;
      told.textContent = hits.total === 0 ? `No message says “${text}”.` : `“${text}” is in ${many(hits.total, "message")}, the newest first.`;
      rows.append(...hits.found.flatMap((hit) => [hit.event, ...hit.also ?? []].map((seq) => el("li", {},
        el("button", { type: "button", onclick: () => show(seq) },
          el("span", { class: "seq" }, `@${seq}`), el("b", { class: `role-${hit.role}` }, hit.role), el("span", { class: "first" }, marked(clip(hit.snippet.replace(/\s+/g, " ").trim(), 300), text)))))));
      more.hidden = typeof hits.next !== "number";
      more.onclick = () => void page(text, hits.next ?? 0, own, parts);
    } catch (error) {
      if (!own.aborted) told.replaceChildren(failure(error, look));
    }
  }
  return { field: el("div", { class: "field" }, el("label", { for: "find" }, "Find in the messages"), input), found, close: () => { later.cancel(); asked.abort(); } };
}
