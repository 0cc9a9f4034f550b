// The list of sessions: newest change first, live.

import { el } from "../../parts/dom.js";
import { count, many, percent, short } from "../../parts/format.js";
import { emptyStore } from "./empty.js";
import { ListOrder, SORTED } from "./order.js";
import { keepPlace, toList, toSession } from "./router.js";
import { Sessions } from "./sessions.js";
import type { Overview } from "./types.js";
import { failure, gather, waiting } from "./view.js";
import type { View } from "./view.js";
import { VirtualList } from "./virtual.js";
import { ago, amount, faultLines, fillBar, fillSource, moment, saving, sourceText } from "./words.js";

const narrow = matchMedia("(max-width: 860px)");
const rem = (): number => Number.parseFloat(getComputedStyle(document.documentElement).fontSize) || 16;

export function listView(q: string, order: ListOrder): View {
  const control = new AbortController();
  const told = el("p", { class: "told", role: "status" });
  const body = el("div", { class: "list-body" }, waiting());
  const input = el("input", {
    type: "search", id: "search", placeholder: "Title, id, model or client", autocomplete: "off", spellcheck: "false", value: q,
    oninput: () => later.call(), onkeydown: (event: KeyboardEvent) => { if (event.key === "ArrowDown" && shown.length) { event.preventDefault(); list.focus(0); } },
  });
  const node = el("div", { class: "list" },
    el("div", { class: "list-head" },
      el("h1", {}, "Sessions"),
      order.fields(() => { keep(); show(); scrollTo(0, 0); }),
      el("div", { class: "field" }, el("label", { for: "search" }, "Search"), input),
      told),
    el("div", { class: "list-columns", "aria-hidden": "true" },
      ["Session", "Context of window", "Cost", "From cache", "Folds", "Model, client", "Changed"].map((name, index) => el("span", { class: `c${index}` }, name))),
    body);

  const list = new VirtualList({
    label: "Sessions", rowHeight: () => (narrow.matches ? 6.9 : 3.75) * rem(),
    make: (index) => rowOf(shown[index], fresh, titles),
    seen: (_, last) => { if (last > shown.length - 150) void sessions.more(); },
  });
  const fresh = new Map<string, number>();
  /** The sessions in the order of the list, and how many of them have a title. */
  let shown: readonly Overview[] = [];
  let titles = new Map<string, number>();
  let stop: () => void = () => undefined;
  const soon = gather(40, () => show());
  let sessions = start(q);

  function start(text: string): Sessions {
    const own = new AbortController();
    control.signal.addEventListener("abort", () => own.abort());
    const made: Sessions = new Sessions(text, own.signal, () => { if (made === sessions) soon.call(); }, (error) => {
      if (made === sessions) body.replaceChildren(failure(error, () => { body.replaceChildren(waiting()); void made.again(); }));
    });
    stop();
    stop = () => own.abort();
    queueMicrotask(() => void made.more());
    return made;
  }

  function keep(): void {
    keepPlace(toList(sessions.q, order.sort, order.only));
  }

  function show(): void {
    const { all, done, q: text } = sessions;
    if (order.asksForAll && !done && all.length < SORTED) void sessions.more();
    shown = order.of(all);
    titles = new Map();
    for (const { title } of shown) titles.set(title ?? "", (titles.get(title ?? "") ?? 0) + 1);
    if (shown.length === 0 && done) {
      body.replaceChildren(order.only && all.length > 0 ? el("p", { class: "empty" }, "No session is left by this choice.") : text ? el("p", { class: "empty" }, `No session has “${text}” in its title, id, model or client.`) : emptyStore());
      told.textContent = "";
      return;
    }
    if (list.node.parentNode !== body) body.replaceChildren(list.node);
    const of = order.only ? `${count(shown.length)} of ` : "";
    told.textContent = done ? `${of}${count(all.length)} ${all.length === 1 ? "session" : "sessions"}` : order.asksForAll ? `${of}the newest ${count(all.length)} sessions` : `${count(all.length)} sessions or more`;
    list.show(shown.length);
  }

  const later = gather(180, () => {
    const text = input.value.trim();
    if (text === sessions.q) return;
    sessions = start(text);
    keep();
    scrollTo(0, 0);
  });
  // Ages grow older by themselves.
  const clock = window.setInterval(() => list.renew(), 20_000);

  return {
    node, title: "Sessions",
    change(change) {
      fresh.set(change.session, performance.now());
      sessions.take(change);
    },
    refresh: () => void sessions.again(),
    close() {
      control.abort();
      clearInterval(clock);
      later.cancel();
      soon.cancel();
      list.close();
    },
  };
}

/** That requests of a session were not folded although they did not fit; why, where one points at it. */
function faultTag(session: Overview): HTMLElement | null {
  const lines = faultLines(session);
  if (lines.length === 0) return null;
  const all = session.faults.reduce((sum, { requests }) => sum + requests, 0);
  return el("span", { class: "tag fault", title: lines.join("\n") }, `▲ ${many(all, "fault")}`);
}

/** When a session was made, where others have its title. */
function madeText({ title, created }: Overview, titles: Map<string, number>): string {
  return (titles.get(title ?? "") ?? 0) > 1 ? `made ${moment(created)} · ` : "";
}

function rowOf(session: Overview | undefined, fresh: Map<string, number>, titles: Map<string, number>): HTMLElement {
  if (!session) return el("div", { class: "row" });
  const cut = saving(session.cost);
  const isFresh = performance.now() - (fresh.get(session.id) ?? -Infinity) < 1500;
  const from = [session.model || "no model", session.client ?? (session.source && session.source !== "proxy" ? sourceText(session.source) : "")].filter(Boolean);
  return el("div", { class: isFresh ? "row fresh" : "row", "data-session": session.id },
    el("a", { class: "row-link", href: toSession(session.id), "data-stop": true, title: session.title || session.id },
      el("span", { class: "c0" }, el("b", {}, session.title || "Untitled"), el("small", {}, faultTag(session), madeText(session, titles), el("span", { class: "mono" }, session.id))),
      el("span", { class: "c1" }, fillBar(session), el("small", {}, el("span", { class: "figure", title: fillSource(session.fill_source) }, session.fill_source.kind === "counted" ? "" : "~", session.window ? `${short(session.fill)} of ${short(session.window)}` : short(session.fill)), el("span", { class: "quiet-word" }, `${count(session.events)} messages`))),
      el("span", { class: "c2" }, session.cost
        ? session.folds === 0 && cut?.share === 0 ? [el("span", {}, amount(session.cost.sent, session.cost.unit)), el("small", {}, "nothing folded")]
        : [el("span", {}, cut ? el("b", { class: cut.share > 0 ? "good" : cut.share < 0 ? "bad" : "" }, cut.text) : "–"), el("small", {}, `${amount(session.cost.sent, "")}of ${amount(session.cost.everything, session.cost.unit)}`)]
        : [el("span", { class: "dim" }, "–"), el("small", {}, "no usage reported")]),
      el("span", { class: "c3" }, session.cache_share === null ? el("span", { class: "dim" }, "–") : `${percent(session.cache_share)} %`, el("small", { class: "narrow-only" }, "from cache")),
      el("span", { class: "c4" }, count(session.folds), el("small", { class: "narrow-only" }, session.folds === 1 ? "fold" : "folds")),
      el("span", { class: "c5" }, el("span", {}, from[0] ?? ""), el("small", {}, from[1] ?? "")),
      el("span", { class: "c6", title: moment(session.changed) }, ago(session.changed))));
}
