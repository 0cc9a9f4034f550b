// The messages of a session: a list of any length, and the one that is open.

import { el } from "../../parts/dom.js";
import { count, many } from "../../parts/format.js";
import { FATES } from "../../parts/data.js";
import { pin } from "./actions.js";
import { path, request } from "./api.js";
import { noMessages } from "./empty.js";
import { finder } from "./find.js";
import { keepPlace, toSession } from "./router.js";
import type { Context, Part, SessionPlace } from "./session.js";
import type { Message, MessagesPage } from "./types.js";
import { failure, fill, gather } from "./view.js";
import { VirtualList } from "./virtual.js";
import { clip } from "./words.js";

const PAGE = 100;
/** Pages that are kept: with these a long session does not grow the page without end. */
const KEPT = 40;
const narrow = matchMedia("(max-width: 980px)");
const rem = (): number => Number.parseFloat(getComputedStyle(document.documentElement).fontSize) || 16;

/** A page that was asked for. Each question is an object of its own. */
interface AskedPage { asked: true }

export function messagesTab(context: Context, place: SessionPlace): Part {
  const { id, signal } = context;
  let total = context.detail.events;
  let open = place.number;
  const pages = new Map<number, Message[] | AskedPage>();
  const box = el("div", { class: "messages-box" });
  const pane = el("div", { class: "message-pane", role: "region", "aria-label": "The open message" });
  const told = el("p", { class: "told", role: "status" });
  const jump = el("input", { type: "number", id: "jump", min: 0, autocomplete: "off", inputmode: "numeric" });
  const find = finder(id, signal, (seq) => show(seq, true));
  const form = el("form", { class: "jump", onsubmit: (event: SubmitEvent) => { event.preventDefault(); const to = Number.parseInt(jump.value, 10); if (total > 0 && Number.isFinite(to)) show(Math.max(0, Math.min(total - 1, to)), true); } },
    find.field, el("div", { class: "field" }, el("label", { for: "jump" }, "Go to message"), jump), el("button", { type: "submit", class: "plain" }, "Go"),
    el("button", { type: "button", class: "plain", onclick: () => total && list.focus(0) }, "First"), el("button", { type: "button", class: "plain", onclick: () => total && list.focus(total - 1) }, "Newest"), told);
  const list = new VirtualList({ label: "Messages", box, rowHeight: () => 3.5 * rem(), make: row, seen: (first, last) => { sight = [first, last]; wanted.call(); } });
  box.append(list.node);
  let sight: [number, number] = [0, 0];
  const columns = el("div", { class: "message-columns" }, box, pane);
  const node = el("section", { "aria-labelledby": "messages-title" }, el("header", { class: "part-head" }, el("h2", { id: "messages-title" }, "Messages")), form, find.found, columns);

  /** Pages of what stands still in sight; while one scrolls fast, what rushes by is not asked for. */
  const wanted = gather(70, () => {
    const [first, last] = sight;
    const from = Math.floor(first / PAGE);
    for (let page = from; page <= Math.floor(Math.max(first, last - 1) / PAGE); page += 1) void read(page);
    for (const page of [...pages.keys()].sort((a, b) => Math.abs(b - from) - Math.abs(a - from)).slice(0, Math.max(0, pages.size - KEPT))) pages.delete(page);
  });

  async function read(page: number): Promise<void> {
    if (pages.has(page)) return;
    const asked: AskedPage = { asked: true };
    pages.set(page, asked);
    try {
      const got = await request<MessagesPage>(path(["sessions", id, "messages"], { from: page * PAGE, limit: PAGE, chars: 240 }), { signal });
      // The session changed meanwhile: this answer may be older than that, and would take away what came.
      if (pages.get(page) !== asked) return;
      pages.set(page, got.messages);
      if (got.total !== total) grow(got.total);
      else list.renew();
    } catch (error) {
      if (pages.get(page) !== asked) return;
      pages.delete(page);
      if (!signal.aborted) told.replaceChildren(failure(error, () => { told.replaceChildren(); list.renew(); }));
    }
  }

  function grow(next: number): void {
    if (next !== total) pages.delete(Math.floor(Math.min(total, next) / PAGE));
    total = next;
    told.textContent = many(total, "message");
    jump.max = String(Math.max(0, total - 1));
    if (total === 0) columns.replaceChildren(noMessages());
    else if (!box.isConnected) columns.replaceChildren(box, pane);
    list.show(total);
  }

  function row(seq: number): HTMLElement {
    const page = pages.get(Math.floor(seq / PAGE));
    const message = Array.isArray(page) ? page[seq % PAGE] : undefined;
    const fate = message ? FATES[message.fate] : undefined;
    return el("div", { class: seq === open ? "message-row open" : "message-row" },
      el("button", { type: "button", "data-stop": true, "aria-current": seq === open ? "true" : null, onclick: () => show(seq, false) },
        el("span", { class: "seq" }, `@${seq}`),
        message ? [
          el("span", { class: "who" }, el("b", { class: `role-${message.role}` }, message.role), message.tool ? ` · ${clip(message.tool, 40)}` : ""),
          el("span", { class: "figures" }, message.pinned && message.fate !== "p" ? el("span", { class: "tag on" }, "pinned") : null,
            el("span", { class: "fate", title: message.why ?? fate?.text }, el("i", { class: "swatch", style: `background:var(--fate-${fate ? message.fate : "x"})` }), fate?.name ?? message.fate), el("span", { class: "tokens" }, count(message.tokens))),
          el("span", { class: "first" }, clip(message.text.replace(/\s+/g, " ").trim(), 200) || "(empty)"),
        ] : el("span", { class: "first dim" }, "…")));
  }

  function show(seq: number, focus: boolean): void {
    open = seq;
    keepPlace(toSession(id, "messages", seq));
    if (focus) list.focus(seq);
    list.renew();
    void openMessage(seq);
  }

  async function openMessage(seq: number): Promise<void> {
    await fill(pane, signal, async () => {
      const message = await request<Message>(path(["sessions", id, "messages", seq]), { signal });
      return open === seq ? messageCard(message) : null;
    });
    if (narrow.matches && open === seq) pane.scrollIntoView({ block: "start" });
  }

  function messageCard(message: Message): HTMLElement {
    const fate = FATES[message.fate];
    const text = el("pre", { class: "text", tabindex: 0 }, message.text || "(empty)");
    const bytes = message.json == null ? null : el("button", { type: "button", class: "plain", "aria-pressed": "false", onclick: () => {
      const raw = bytes?.getAttribute("aria-pressed") !== "true";
      bytes?.setAttribute("aria-pressed", String(raw));
      text.textContent = raw ? message.json ?? "" : message.text || "(empty)";
    } }, "As JSON");
    return el("article", { class: "message" },
      el("header", {},
        el("h3", {}, `@${message.seq} `, el("span", { class: "quiet-word" }, [message.role, message.tool].filter(Boolean).join(" · "))),
        el("div", { class: "actions" }, bytes,
          el("button", { type: "button", class: "plain", onclick: () => pin(id, message.seq, !message.pinned, () => { pages.delete(Math.floor(message.seq / PAGE)); context.refresh(); list.renew(); void openMessage(message.seq); }) }, message.pinned ? "Unpin …" : "Pin …"))),
      el("p", { class: "meta" }, [
        `turn ${count(message.turn)}, step ${count(message.step)}`, `${count(message.tokens)} tokens`, `${count(message.chars)} characters`,
      ].map((part) => el("span", { class: "meta-part" }, part))),
      el("p", { class: "fate-line" }, el("i", { class: "swatch", style: `background:var(--fate-${fate ? message.fate : "x"})` }), ` ${fate ? `${fate.name}: ${fate.text}` : message.fate}`, message.why && !"vrm".includes(message.fate) ? ` (${message.why})` : "", message.pinned ? "; pinned" : ""),
      text, message.cut ? el("p", { class: "note" }, "Cut here; the export of the session has the whole text.") : null);
  }

  pane.append(el("p", { class: "waiting" }, "Choose a message to read all of it."));
  queueMicrotask(() => {
    grow(total);
    if (open !== null && total > 0) {
      open = Math.min(open, total - 1);
      list.reveal(open);
      list.renew();
      void openMessage(open);
    }
  });
  return {
    node,
    place(next) {
      if (next.number === null || next.number === open || total === 0) return;
      show(Math.min(next.number, total - 1), true);
    },
    update(detail, kinds) {
      // A fold changes what became of all messages.
      if (kinds.size === 0 || [...kinds].some((kind) => kind !== "append" && kind !== "call")) pages.clear();
      grow(detail.events);
    },
    close() {
      wanted.cancel();
      find.close();
      list.close();
    },
  };
}
