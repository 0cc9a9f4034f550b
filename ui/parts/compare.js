// The comparison tables: what each strategy keeps, what it costs, and where it fails.

import { fair } from "./data.js";
import { el, note } from "./dom.js";
import { cost, count, many, micros, NONE, percent, price, short } from "./format.js";
import { table } from "./table.js";

const CLASSES = ["path", "symbol", "id", "number", "host", "hash", "quote"];

export function comparison(runs, data, chosen, choose) {
  if (runs.length === 0) return note("No run for this window.");
  return el("div", {}, grid(runs, [named(choose), ...measures(data)], "The strategies compared", chosen),
    el("p", { class: "note" }, "Everything under “Kept” but re-reads, and “of window”, in percent; cost in times the raw history; k is a thousand tokens. "
      + "A dot marks the best of a column among strategies that replayed every conversation within the window, with valid contexts."));
}

/** How the contexts behave: folds, the cache, and the time that it takes. */
export function mechanics(runs, chosen) {
  const columns = running().filter((column) => runs.some((run) => column.value(run) !== undefined));
  if (columns.length === 0) return null;
  const name = { name: "Strategy", head: true, kind: "text", wrap: true, value: (run) => run.strategy, text: (run) => run.strategy };
  return el("div", {}, el("h3", {}, "Folds, cache and time"), grid(runs, [name, ...columns], "Folds, cache and time", chosen));
}

function grid(runs, columns, label, chosen) {
  const kept = columns.filter((column) => !column.key || column.always || runs.some((run) => column.value(run) !== undefined));
  const made = table(kept, { label, sort: kept.length > 1 && kept[1].key === "at_risk" ? [1, false] : undefined, chosen: (run) => run.strategy === chosen });
  made.show(runs);
  return made.node;
}

function named(choose) {
  return {
    name: "Strategy", head: true, kind: "text", wrap: true, value: (run) => run.strategy,
    text: (run) => [el("button", { type: "button", class: "link", title: "Show this strategy below", onclick: () => choose(run.strategy) }, run.strategy), run.engine ? el("span", { class: "tag" }, "external") : null, partial(run)],
  };
}

/** Says beside the name when the figures are not of all conversations. */
function partial(run) {
  const done = run.conversations.filter((part) => !part.error).length;
  if (done === run.conversations.length) return null;
  return el("span", { class: "tag", title: "The other conversations could not be replayed; see the top of the page" }, `${done} of ${run.conversations.length}`);
}

const column = (key, name, title, format, more = {}) => ({
  key, name, title, value: (run) => number(run.totals[key]), text: (run) => format(number(run.totals[key])), fair, ...more,
});

/** A share of something needed; where nothing was needed there is no share. */
function share(key, name, title, need) {
  const value = (run) => (need && run.totals[need] === 0 ? undefined : number(run.totals[key]));
  return { key, name, title, group: "Kept", best: "high", fair, value, text: (run) => percent(value(run)) };
}

function measures(data) {
  const unit = data.prices.unit ?? "tokens";
  return [
    share("at_risk", "at-risk\nretention", "Of the identifiers that the agent used next and that are not in the newest 12,000 characters, the share that the context held", "at_risk_need"),
    share("recall", "retention", "The same over all identifiers of the history"),
    share("rare", "rare", "At-risk retention by a second, independent extractor: tokens that occur fewer than five times", "rare_need"),
    share("within_reach", "in\nreach", "At-risk retention if the agent had searched the log once for what was not in the context", "at_risk_need"),
    share("rules", "rules", "Sentences of the user that state a rule and stand verbatim in the context", "rules_need"),
    share("modified", "modi-\nfied", "Modified files that the context names", "modified_need"),
    share("read", "read", "Read files that the context names", "read_need"),
    column("rereads", "re-\nreads", "Reads of a path that was read before the last fold and is not in the context", count, { group: "Kept", best: "low" }),
    column("cost", "cost", "Cache-priced cost, times that of sending the raw history", cost, { group: "Cost", best: "low" }),
    column("price", /^USD/.test(unit) ? "price\nUSD" : "priced\ntokens", `Cost by the price table (${unit})`, (value) => price(value, unit), { group: "Cost" }),
    column("mean", "mean", "Mean tokens of a context", short, { group: "Context" }),
    column("mean_share", "of\nwindow", "Mean context as a share of the window, in percent", percent, { group: "Context" }),
    column("peak", "peak", "Most tokens of a context", short, { group: "Context" }),
    column("over", "over", "Requests whose tokens exceed the window", count, { group: "Faults", always: true, bad: (run) => run.totals.over > 0 }),
    column("invalid", "in-\nvalid", "Contexts that a provider would refuse", count, { group: "Faults", always: true, bad: (run) => run.totals.invalid > 0 }),
  ];
}

function running() {
  const pair = (key, name, title, index) => ({
    key, name, title, fair, best: "low", value: (run) => number(run.totals[key]?.[index]), text: (run) => micros(number(run.totals[key]?.[index])),
  });
  return [
    column("requests", "requests", "Requests replayed", count),
    column("counted", "counted", "Requests that count for retention: raw history above 0.8 of the window", count),
    column("folds", "folds", "How often the context was rewritten", count),
    column("breaks", "cache\nbreaks", "Requests whose cached prefix is shorter than the whole request before", count, { best: "low" }),
    column("hit_share", "cache\nhit, %", "Cached prefix tokens, of all tokens sent", percent, { best: "high" }),
    pair("context_us", "a context,\np50", "Time for a context, median", 0),
    pair("context_us", "a context,\np99", "Time for a context, 99th percentile", 1),
    pair("fold_us", "a fold,\np50", "Time for a fold, median", 0),
    pair("fold_us", "a fold,\np99", "Time for a fold, 99th percentile", 1),
  ];
}

const number = (value) => (typeof value === "number" && Number.isFinite(value) ? value : undefined);

/** At-risk retention by the class of identifier. */
export function byClass(runs, chosen) {
  const kinds = CLASSES.filter((kind) => runs.some((run) => run.totals.classes?.[kind]?.[0] > 0));
  if (kinds.length === 0) return null;
  const columns = [
    { name: "Strategy", head: true, kind: "text", wrap: true, value: (run) => run.strategy, text: (run) => run.strategy },
    ...kinds.map((kind) => {
      const share = (run) => {
        const [need, have] = run.totals.classes?.[kind] ?? [];
        return need > 0 ? have / need : undefined;
      };
      const most = Math.max(...runs.map((run) => run.totals.classes?.[kind]?.[0] ?? 0));
      return { name: `${kind}\n${count(most)}`, title: `${count(most)} identifiers of this class were needed`, value: share, text: (run) => percent(share(run)), best: "high", fair };
    }),
  ];
  return el("div", {}, el("h3", {}, "At-risk retention by class of identifier"),
    el("p", { class: "lead note" }, "Percent; under each class, how many were needed."), grid(runs, columns, "At-risk retention by class", chosen));
}

/** The provider's own token counts, where the transcripts have them. */
export function providerUsage(runs) {
  const usage = runs.map((run) => run.totals.usage).find((it) => it && it.calls > 0);
  if (!usage) return null;
  const parts = [["input", "input"], ["cache_read", "read from cache"], ["cache_write", "written to cache"], ["output", "output"]]
    .filter(([key]) => Number.isFinite(usage[key])).map(([key, name]) => `${short(usage[key])} ${name}`);
  return el("p", { class: "note" }, `What the provider itself counted in ${many(usage.calls, "recorded call")}: ${parts.join(", ")} (tokens).`);
}
