// A replay: retention against cost, context sizes, the fabric, the losses. Keeps what is chosen, draws the sections.

import { byClass, comparison, mechanics, providerUsage } from "./compare.js";
import { contextChart } from "./context.js";
import { partOf, placed, runOf, runsOf, fair, sendable } from "./data.js";
import { el, note, picker, segments } from "./dom.js";
import { exam } from "./exam.js";
import { fabric } from "./fabric.js";
import { count, many } from "./format.js";
import { losses } from "./losses.js";
import { madeOf } from "./made.js";
import { domains, near, scatter } from "./scatter.js";

/** The sections of a replay that was read with `read`. */
export function replaySections(data) {
  if (data.runs.length === 0) return [];
  const slots = Object.fromEntries(["tradeoff", "bar", "context", "fabric", "losses"].map((name) => [name, el("div")]));
  const state = first(data);
  const update = (change, parts = Object.keys(slots)) => {
    Object.assign(state, change);
    settle(data, state);
    for (const name of parts) guarded(slots[name], () => draw[name](data, state, update));
  };
  const sections = [
    section("tradeoff", "Retention against cost", "Up is more kept, left is cheaper. The line joins the strategies that no other beats on one axis without being worse on the other.", slots.tradeoff),
    slots.bar,
    section("context", "Context size over requests", "What each request would have carried, and where the context was folded.", slots.context),
    section("fabric", "The fabric", "One row a fold, one cell an event of the original conversation. Point at a cell for the event and its fate; press a row for the messages that left and the recap in their place.", slots.fabric),
    section("losses", "What was lost and used again", "Identifiers that the agent used although the context no longer held them.", slots.losses),
  ];
  slots.bar.className = "bar";
  update({});
  return sections;
}

export const section = (id, title, text, ...content) =>
  el("section", { id, "aria-labelledby": `${id}-title` }, el("header", {}, el("h2", { id: `${id}-title` }, title), text ? el("p", {}, text) : null), content);

/** One broken part of a replay must not take the rest of the page with it. */
function guarded(slot, make) {
  try {
    slot.replaceChildren(...[make()].flat().filter(Boolean));
  } catch (error) {
    console.error(error);
    slot.replaceChildren(note(`This part could not be drawn: ${error.message}`));
  }
}

/** What is shown first: the largest window, the strategy that keeps most, the longest conversation. */
function first(data) {
  const window = data.windows[data.windows.length - 1];
  const form = data.forms[0];
  const runs = runsOf(data, window, form);
  const best = placed(runs).filter((run) => fair(run) && run.strategy !== "raw").sort((a, b) => b.totals.at_risk - a.totals.at_risk || a.totals.cost - b.totals.cost)[0];
  const longest = data.conversations.reduce((top, talk) => ((talk.messages || 0) > (top?.messages || 0) ? talk : top), data.conversations[0]);
  return { window, form, strategy: (best ?? runs[0] ?? data.runs[0])?.strategy, conversation: longest?.index ?? 0, compared: new Set(), close: false };
}

/** Not every strategy ran at every window and form: falls back to one that did. */
function settle(data, state) {
  if (runsOf(data, state.window, state.form).length === 0) state.form = data.runs.find((run) => run.window === state.window)?.form;
  if (!runOf(data, state)) state.strategy = runsOf(data, state.window, state.form)[0]?.strategy;
}

const windowName = (window) => (window ? `${count(window)} tokens` : "no window");
const below = ["bar", "context", "fabric", "losses"];

const draw = {
  tradeoff(data, state, update) {
    const kept = (run) => run.totals.at_risk ?? -1;
    const runs = runsOf(data, state.window, state.form).sort((a, b) => kept(b) - kept(a));
    const all = data.runs.filter((run) => run.form === state.form);
    const close = data.windows.flatMap((window) => near(runsOf(data, window, state.form)));
    const domain = domains(state.close && close.length > 1 ? close : all, state.close);
    const choices = [["all", "All"], ["close", "Near the best"]];
    const frame = close.length > 1 && close.length < placed(all).length
      ? segments("Frame", choices, state.close ? "close" : "all", (value) => update({ close: value === "close" }, ["tradeoff"])) : null;
    const choose = (strategy) => update({ strategy });
    const pictures = data.windows.map((window) => {
      const here = runsOf(data, window, state.form);
      if (here.length === 0) return null;
      return el("figure", {}, el("figcaption", {}, `Window ${count(window)}`, el("small", {}, needText(here))),
        scatter(here, { chosen: state.strategy, choose: (strategy) => update({ strategy, window }), domain }));
    });
    return [
      data.forms.length > 1 || frame ? el("div", { class: "controls" }, frame, data.forms.length > 1 ? segments("Form", data.forms.map((form) => [form, form]), state.form, (form) => update({ form })) : null) : null,
      placed(all).length ? scatterKey(all) : null,
      el("div", { class: data.windows.length > 1 ? "multiples" : "multiples one" }, pictures),
      el("div", { class: "block" }, el("h3", {}, data.windows.length > 1 ? "The strategies compared" : `The strategies compared at ${windowName(state.window)}`),
        data.windows.length > 1 ? el("div", { class: "controls" }, segments("Window", data.windows.map((window) => [window, count(window)]), state.window, (window) => update({ window }))) : el("div", { style: "height:10px" }),
        comparison(runs, data, state.strategy, choose), providerUsage(runs)),
      block(exam(data.exam, { chosen: state.strategy, choose: (strategy) => runs.some((run) => run.strategy === strategy) && choose(strategy) })),
      block(byClass(runs, state.strategy)),
      block(madeOf(runs, state.window)),
      block(mechanics(runs, state.strategy)),
    ];
  },
  bar(data, state, update) {
    const strategies = runsOf(data, state.window, state.form).map((run) => run.strategy);
    return el("div", { class: "controls" },
      data.conversations.length ? picker("Conversation", data.conversations.map((talk) => [talk.index, talk.name]), state.conversation, (conversation) => update({ conversation }, below)) : null,
      picker("Strategy", strategies.map((name) => [name, name]), state.strategy, (strategy) => update({ strategy })),
      data.windows.length > 1 ? picker("Window", data.windows.map((window) => [window, count(window)]), state.window, (window) => update({ window })) : null,
      data.forms.length > 1 ? picker("Form", data.forms.map((form) => [form, form]), state.form, (form) => update({ form })) : null);
  },
  context(data, state) {
    return withPart(data, state, (run, part) => contextChart({
      strategy: run.strategy, part, window: run.window, compared: state.compared,
      others: runsOf(data, state.window, state.form).filter((other) => other !== run && other.strategy !== "raw").map((other) => ({ strategy: other.strategy, part: partOf(other, state.conversation) }))
        .filter((other) => other.part && !other.part.error && other.part.requests.length > 0),
    }));
  },
  fabric: (data, state) => withPart(data, state, (run, part) => fabric({ talk: data.conversations[state.conversation], part, strategy: run.strategy })),
  losses: (data, state) => withPart(data, state, (run, part) => losses({ run, part, data })),
};

const block = (node) => (node ? el("div", { class: "block" }, node) : null);

function needText(runs) {
  const needs = runs.map((run) => run.totals.at_risk_need).filter(Number.isFinite);
  if (needs.length === 0) return "";
  const most = Math.max(...needs);
  return most > 0 ? `${many(most, "identifier")} at risk` : "nothing was at risk";
}

function scatterKey(runs) {
  const mark = (style, text) => el("span", {}, el("i", { class: "swatch", style }), text);
  return el("div", { class: "key" },
    mark("background:var(--accent);border-radius:50%", "on the Pareto line"), mark("background:var(--raw);border-radius:50%", "beaten"),
    runs.some((run) => !sendable(run)) ? mark("border:2px solid var(--warn);border-radius:50%", "over the window or invalid in some request") : null,
    runs.some((run) => run.engine) ? mark("background:var(--raw);border-radius:1px;transform:rotate(45deg) scale(.85)", "external engine") : null);
}

/** Calls `make` with the chosen run and its part for the chosen conversation, or says why there is none. */
function withPart(data, state, make) {
  const run = runOf(data, state);
  const part = partOf(run, state.conversation);
  if (!run || !part) return note("This strategy was not replayed on this conversation.");
  if (part.error) {
    const box = note(`${run.strategy} could not be replayed here: ${part.error}`);
    box.classList.add("bad");
    return box;
  }
  return make(run, part);
}
