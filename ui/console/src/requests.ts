// What was sent: the context over requests, the requests in a table, and the messages of one.

import { el } from "../../parts/dom.js";
import type { Child } from "../../parts/dom.js";
import { contextChart } from "../../parts/context.js";
import type { Request } from "../../parts/context.js";
import { FATES } from "../../parts/data.js";
import { count, many, percent, short } from "../../parts/format.js";
import { path, request } from "./api.js";
import { noCalls } from "./empty.js";
import { keepPlace, toSession } from "./router.js";
import type { Context, Part, SessionPlace } from "./session.js";
import type { Call, CallDetail, Calls, SentMessage } from "./types.js";
import { fill, gather, waiting } from "./view.js";
import { VirtualList } from "./virtual.js";
import { clip, moment } from "./words.js";

/** More points than this are not drawn: the picture is some 1,400 pixels wide. */
const POINTS = 3000;
const narrow = matchMedia("(max-width: 700px)");
const rem = (): number => Number.parseFloat(getComputedStyle(document.documentElement).fontSize) || 16;

const sentOf = (call: Call): number => call.usage?.prompt ?? call.tokens_estimated;
const isFold = (calls: Call[], index: number): boolean => (index === 0 ? calls[0]?.fold !== null && calls[0]?.fold !== undefined : calls[index]?.fold !== calls[index - 1]?.fold);

/** Requests as the chart of the report takes them; of very many, those that fold and some of the others. */
export function points(calls: Call[]): { requests: Request[]; folds: { before: number; after: number }[] } {
  const every = Math.max(1, Math.ceil(calls.length / POINTS));
  const folds: { before: number; after: number }[] = [];
  const requests: Request[] = [];
  calls.forEach((call, index) => {
    const before = calls[index - 1];
    const folded = isFold(calls, index);
    const next = index + 1 < calls.length && isFold(calls, index + 1);
    if (index % every !== 0 && !folded && !next && index !== calls.length - 1) return;
    const broke = before && call.prefix.messages < before.messages ? 1 : 0;
    if (folded) folds.push({ before: before ? sentOf(before) : call.everything, after: sentOf(call) });
    requests.push([call.events, Math.max(call.everything, 0), sentOf(call), call.usage ? call.usage.cache_read : call.prefix.tokens, folded ? folds.length - 1 : -1, broke, 0, 0]);
  });
  return { requests, folds };
}

export function requestsTab(context: Context, place: SessionPlace): Part {
  const { id, signal } = context;
  let open = place.number;
  let calls: Call[] = [];
  const slot = el("div", {}, waiting());
  const pane = el("div", { class: "call-pane" });
  const box = el("div", { class: "calls-box" });
  const list = new VirtualList({ label: "Requests, newest first", box, rowHeight: () => (narrow.matches ? 3.4 : 2.25) * rem(), make: row });
  box.append(list.node);
  const node = el("section", { "aria-labelledby": "requests-title" },
    el("header", { class: "part-head" }, el("h2", { id: "requests-title" }, "Context over requests"),
      el("p", {}, "What each request carried, how much of it the provider read from its cache, and what sending everything would have been.")), slot);

  const callAt = (index: number): Call | undefined => calls[calls.length - 1 - index];

  function row(index: number): HTMLElement {
    const call = callAt(index);
    if (!call) return el("div", {});
    const { usage } = call;
    const folded = isFold(calls, calls.length - 1 - index);
    return el("div", { class: call.number === open ? "call-row open" : "call-row" },
      el("button", { type: "button", "data-stop": true, "aria-current": call.number === open ? "true" : null, onclick: () => show(call.number) },
        el("span", { class: "k0" }, `${count(call.number)}`), el("span", { class: "k1" }, moment(call.time)), el("span", { class: "k2" }, count(call.events)), el("span", { class: "k3" }, count(call.messages)),
        el("span", { class: "k4" }, count(sentOf(call)), usage ? "" : el("small", {}, " est.")), el("span", { class: "k5" }, usage ? `${percent(usage.prompt > 0 ? usage.cache_read / usage.prompt : 0)} %` : "–"),
        el("span", { class: "k6" }, usage ? count(usage.output) : "–"), el("span", { class: "k7" }, short(call.everything)),
        el("span", { class: "k8" }, call.fold === null ? "" : folded ? el("span", { class: "tag on" }, `fold ${call.fold}`) : `fold ${call.fold}`)));
  }

  async function read(): Promise<Child> {
    ({ calls } = await request<Calls>(path(["sessions", id, "calls"]), { signal }));
    if (calls.length === 0) return noCalls();
    calls.sort((a, b) => a.number - b.number);
    const { requests, folds } = points(calls);
    queueMicrotask(() => {
      list.show(calls.length);
      const at = calls.findIndex(({ number }) => number === open);
      if (at >= 0) list.reveal(calls.length - 1 - at);
    });
    const reported = calls.filter(({ usage }) => usage).length;
    return [
      contextChart({
        strategy: reported ? "sent, as the provider counted" : "sent, estimated", part: { requests, folds }, window: context.detail.window, cached: requests.some((one) => one[3] > 0),
        words: { raw: "sending everything", x: "messages in the log", at: (at) => `at ${many(at, "message")}`, left: "Size", prefix: "of it from the cache" },
      }),
      el("div", { class: "block" }, el("h3", {}, "What each request really sent"),
        el("p", { class: "lead note" }, reported < calls.length ? `Of ${many(calls.length, "request")}, ${count(reported)} came with the provider's own count; the others are estimated.` : "Tokens as the provider counted them. Press a request for its messages."),
        el("div", { class: "calls" },
          el("div", { class: "call-head", "aria-hidden": "true" }, ["Request", "Time", "Log", "Messages", "Prompt", "From cache", "Output", "Everything", "Through"].map((name, index) => el("span", { class: `k${index}` }, name))), box), pane),
    ];
  }

  function show(number: number): void {
    open = number;
    keepPlace(toSession(id, "requests", number));
    list.renew();
    void openCall(number, true);
  }

  async function openCall(number: number, move: boolean): Promise<void> {
    await fill(pane, signal, async () => {
      const call = await request<CallDetail>(path(["sessions", id, "calls", number]), { signal });
      return open === number ? callCard(id, call) : null;
    });
    if (move && open === number) pane.querySelector<HTMLElement>("h3")?.scrollIntoView({ block: "nearest" });
  }

  void fill(slot, signal, read);
  if (open !== null) void openCall(open, false);
  const soon = gather(1500, () => void fill(slot, signal, read));
  return {
    node,
    place(next) {
      if (next.number !== null && next.number !== open) show(next.number);
    },
    update: (_, kinds) => { if (kinds.size === 0 || kinds.has("call") || kinds.has("fold")) soon.call(); },
    close() {
      soon.cancel();
      list.close();
    },
  };
}

const PAGE = 100;

function callCard(id: string, call: CallDetail): HTMLElement {
  const rows = el("div", { class: "sent" });
  const more = el("button", { type: "button", class: "plain", onclick: () => next() }, "");
  let shown = 0;
  function next(): void {
    rows.append(...call.sent.slice(shown, shown + PAGE).map((message) => sentRow(id, message)));
    shown = Math.min(call.sent.length, shown + PAGE);
    more.hidden = shown >= call.sent.length;
    more.textContent = `Show ${count(Math.min(PAGE, call.sent.length - shown))} more of ${count(call.sent.length)}`;
  }
  next();
  const { usage } = call;
  return el("article", { class: "call" },
    el("h3", {}, `Request ${count(call.number)}`),
    el("p", { class: "meta" }, [
      moment(call.time), `${many(call.sent.length, "message")}, ${count(call.bytes)} bytes`, usage ? `${count(usage.prompt)} prompt tokens, ${count(usage.cache_read)} from the cache, ${count(usage.cache_write)} written to it, ${count(usage.output)} of output` : `${count(call.tokens_estimated)} tokens, estimated`,
      `begins with ${many(call.prefix.messages, "message")} of the request before`, call.fold === null ? "no fold" : `through fold ${call.fold}`,
      ...call.injections.map((one) => `with ${one.hook}, ${count(one.tokens)} tokens`),
    ].filter(Boolean).map((part) => el("span", { class: "meta-part" }, part))), rows, more);
}

function sentRow(id: string, message: SentMessage): HTMLElement {
  const fate = FATES[message.fate];
  return el("details", {},
    el("summary", {},
      el("span", { class: "seq" }, message.seq === null ? "midfold" : `@${message.seq}`), el("b", { class: `role-${message.role}` }, message.role),
      el("span", { class: "fate" }, el("i", { class: "swatch", style: `background:var(--fate-${fate ? message.fate : "x"})` }), message.seq === null ? "written by midfold" : fate?.name ?? message.fate),
      el("span", { class: "first" }, clip(message.text.replace(/\s+/g, " "), 160)), el("span", { class: "tokens" }, count(message.tokens))),
    el("pre", { class: "text", tabindex: 0 }, message.text), message.seq === null ? null : el("p", { class: "note" }, el("a", { href: toSession(id, "messages", message.seq) }, `Message @${message.seq} in the log`)));
}
