// The head of a session: what it is, how full it is, when it folds next, what it costs.

import { el } from "../../parts/dom.js";
import type { Child } from "../../parts/dom.js";
import { count, many, percentSign, short } from "../../parts/format.js";
import { toSession } from "./router.js";
import type { Detail } from "./types.js";
import { amount, faultLines, fillBar, fillSource, foldLine, moment, percentOf, saving, sourceText } from "./words.js";

export function sessionHead(detail: Detail, actions: HTMLElement): HTMLElement {
  return el("div", {},
    el("div", { class: "title-row" }, el("div", {}, el("h1", {}, detail.title || "Untitled session"), el("p", { class: "meta" }, describe(detail)), faultLines(detail).map((line) => el("p", { class: "fault-line" }, "▲ ", line, "."))), actions),
    el("dl", { class: "facts" }, facts(detail).map(([name, value, more, kind]) =>
      el("div", { class: kind ?? null }, el("dt", {}, name), el("dd", {}, value, more ? el("small", {}, more) : null)))));
}

function describe(detail: Detail): Child {
  const parts: Child[] = [
    detail.model || "no model named", detail.client, detail.source ? sourceText(detail.source) : null, detail.dialect,
    `policy ${detail.policy}`, detail.owner ? `owner ${detail.owner}` : null,
    detail.parent ? el("span", {}, "fork of ", el("a", { href: toSession(detail.parent.id) }, detail.parent.id), ` at @${detail.parent.at}`) : null,
    el("span", { title: `Made ${moment(detail.created)}` }, `changed ${moment(detail.changed)}`),
  ].filter(Boolean);
  return parts.map((part) => el("span", { class: "meta-part" }, part));
}

function facts(detail: Detail): [string, Child, Child?, string?][] {
  const { status, cost } = detail;
  // Sums over no request say nothing.
  const usage = detail.usage.calls === 0 ? null : detail.usage;
  const threshold = status.threshold.tokens;
  const cut = saving(cost);
  const pins = status.pins.length;
  return [
    ["Context now", el("span", { class: "context-fact" },
      el("span", {}, el("b", {}, count(detail.fill)), detail.window ? ` of ${count(detail.window)} tokens` : " tokens", el("span", { class: "quiet-word" }, detail.window ? percentOf(detail.fill, detail.window) : ""), el("small", { class: "source" }, fillSource(detail.fill_source))),
      fillBar({ ...detail, threshold })), [detail.window && detail.fill > detail.window ? el("strong", { class: "bad" }, `${count(detail.fill - detail.window)} tokens over the window${detail.active === null ? ", unfolded" : ""}. `) : "", foldLine(detail.line)], "wide"],
    ["Cost", cost ? el("span", {}, el("b", { class: cut && cut.share > 0 ? "good" : cut && cut.share < 0 ? "bad" : "" }, cut?.text ?? "–")) : "–",
      cost ? cut?.share === 0 && detail.folds === 0 ? `${amount(cost.sent, cost.unit)}; nothing was folded, so nothing is saved` : `${amount(cost.sent, cost.unit)}; sending everything: ${amount(cost.everything, cost.unit)}` : "no usage was reported"],
    ["From cache", percentSign(detail.cache_share), usage ? `${short(usage.cache_read)} of ${short(usage.prompt)} prompt tokens` : ""],
    ["Messages", count(detail.events), `${many(detail.turns, "turn")}, ${short(detail.tokens)} tokens in the log`],
    ["Folds", count(detail.folds), detail.active === null ? "none is active" : `fold ${detail.active} is active${pins ? `, ${many(pins, "pin")}` : ""}`],
    ["Requests", count(detail.calls), usage ? `${short(usage.output)} tokens of output` : ""],
  ];
}
