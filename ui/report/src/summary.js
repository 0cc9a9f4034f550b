// The head of the page: what was replayed, and the answer in a sentence.

import { placed, pareto, runsOf, fair, sendable } from "../../parts/data.js";
import { el } from "../../parts/dom.js";
import { cost, count, list, many, NONE, percent, short } from "../../parts/format.js";

export function summary(data) {
  const { conversations } = data;
  const title = conversations.length === 1 ? conversations[0].name : `Replay of ${many(conversations.length, "conversation")}`;
  document.title = `${title} · midfold measure replay`;
  return el("header", { id: "summary" },
    el("p", { class: "eyebrow" }, "midfold measure replay", conversations.length === 1 ? " of" : ""),
    el("h1", {}, title),
    answers(data),
    el("dl", { class: "facts" }, facts(data).map(([name, value, more]) =>
      el("div", {}, el("dt", {}, name), el("dd", {}, value, more ? el("small", {}, more) : null)))),
    files(conversations), failures(data));
}

function facts(data) {
  const total = (key) => data.conversations.reduce((sum, talk) => sum + (Number(talk[key]) || 0), 0);
  const talks = data.conversations;
  const runs = data.runs;
  const engines = new Set(runs.filter((run) => run.engine).map((run) => run.strategy)).size;
  const dialects = [...new Set(talks.map((talk) => talk.dialect).filter(Boolean))];
  return [
    ["Conversations", count(talks.length), dialects.join(", ")],
    ["Messages", count(total("messages")), talks.length > 1 ? `longest ${count(Math.max(...talks.map((talk) => talk.messages || 0)))}` : ""],
    ["Tokens", count(total("tokens")), data.tokenizer ? `counted with ${data.tokenizer}` : ""],
    [data.windows.length === 1 ? "Window" : "Windows", data.windows.length ? list(data.windows.map(count)) : NONE, data.windows.length ? "tokens" : ""],
    ["Strategies", count(data.strategies.length), [engines ? `${engines} external` : "", data.forms.length > 1 ? data.forms.join(" and ") : data.forms[0]].filter(Boolean).join(", ")],
    ["Prices", data.prices.name ?? NONE, priceText(data.prices)],
  ];
}

function failures(data) {
  const parts = data.runs.flatMap((run) => run.conversations.filter((part) => part.error).map((part) => ({ run, part })));
  if (parts.length === 0) return null;
  return el("details", { class: "files failed" }, el("summary", {}, `${many(parts.length, "replay")} could not be done; the figures are of the rest`),
    el("ul", {}, parts.map(({ run, part }) => el("li", {}, el("span", {},
      `${run.strategy} at ${count(run.window)}, ${data.conversations[part.conversation]?.name ?? "?"}: ${part.error}`)))));
}

function priceText(prices) {
  if (!Number.isFinite(prices.read)) return "";
  const parts = [`cached ${prices.read}, written ${prices.write}`];
  if (Number.isFinite(prices.cliff?.above)) parts.push(`dearer above ${short(prices.cliff.above)}`);
  if (/^USD/.test(prices.unit)) parts.push(prices.unit);
  return parts.join("; ");
}

function files(talks) {
  if (talks.length < 2) return null;
  return el("details", { class: "files", open: talks.length <= 4 }, el("summary", {}, "The conversations"),
    el("ul", {}, talks.map((talk) => el("li", {}, el("span", {}, talk.name),
      el("span", {}, `${many(talk.messages, "message")}, ${short(talk.tokens)} tokens`)))));
}

/** One sentence a window, from the figures alone. Differences that the page does not show count as ties. */
function answers(data) {
  if (data.runs.length === 0) return el("p", { class: "answer" }, "The replay holds no run, so there is nothing to compare.");
  const form = data.forms[0];
  return data.windows.map((window) => el("p", { class: "answer" }, answer(runsOf(data, window, form), window, data)));
}

function answer(runs, window, data) {
  const form = data.forms.length > 1 ? ` in the ${data.forms[0]} form` : "";
  const start = data.windows.length > 1 || form ? `At ${count(window)} tokens${form}, ` : "";
  const upper = (text) => (start ? text : text[0].toUpperCase() + text.slice(1));
  const all = placed(runs);
  // Where each left something out, what could be sent is compared all the same.
  const whole = all.filter(fair);
  const able = whole.length ? whole : all.filter(sendable);
  const field = able.some((run) => run.strategy !== "raw") ? able.filter((run) => run.strategy !== "raw") : able;
  if (all.length === 0) return [start, upper("no strategy has both a retention and a cost here.")];
  if (field.length === 0) return [start, upper("no strategy stayed within the window with valid contexts in every request.")];
  const shown = (run) => percent(run.totals.at_risk);
  const most = Math.max(...field.map((run) => run.totals.at_risk));
  const top = field.filter((run) => shown(run) === percent(most)).sort((a, b) => a.totals.cost - b.totals.cost);
  const best = top[0];
  const name = (run) => el("strong", {}, run.strategy);
  const keeps = [el("strong", {}, `${shown(best)} %`), " of what the agent went on to use and could have lost, at ", el("strong", {}, cost(best.totals.cost)), " times the cost of sending the raw history"];
  if (field.length === 1) {
    return [start, name(best), " keeps ", keeps, all.length > 1 ? "; no other strategy stayed within the window with valid contexts." : "; it ran alone, so there is nothing to compare it with."];
  }
  if (top.length > 1) {
    const same = top.every((run) => cost(run.totals.cost) === cost(best.totals.cost));
    const rest = same ? "; between them nothing is decided." : [": of those that tie, ", name(best), " is the cheapest."];
    return [start, joined(top.map(name)), top.length === 2 ? " both keep " : " all keep ", keeps, same ? "" : " at the least", rest];
  }
  return [start, name(best), " keeps most: ", keeps, rivals(best, field, name), gap(best)];
}

/** What the figures of a run leave out. */
function gap(run) {
  const failed = run.conversations.filter((part) => part.error).length;
  return failed ? ` It could not replay ${failed} of ${many(run.conversations.length, "conversation")}.` : "";
}

function rivals(best, field, name) {
  const cheaper = field.filter((run) => cost(run.totals.cost) !== cost(best.totals.cost) && run.totals.cost < best.totals.cost);
  if (cheaper.length === 0) return ". No strategy is cheaper.";
  const front = pareto(field).filter((run) => cheaper.includes(run));
  const next = front[front.length - 1];
  return [". ", name(next), ` is cheaper, at ${cost(next.totals.cost)}, and keeps ${percent(next.totals.at_risk)} %.`];
}

function joined(nodes) {
  return nodes.flatMap((node, index) => (index === 0 ? [node] : [index === nodes.length - 1 ? " and " : ", ", node]));
}
