// The comparison tables: what each strategy keeps, what it costs, and where it fails.

import { sendable } from "./data.js";
import { el, note } from "./dom.js";
import { cost, count, many, micros, NONE, percent, price, short } from "./format.js";
import { table } from "./table.js";

const CLASSES = ["path", "symbol", "id", "number", "host", "hash", "quote"];

export function comparison(runs, data, chosen, choose) {
  if (runs.length === 0) return note("No run for this window.");
  const has = (key) => runs.some((run) => run.totals[key] !== undefined);
  const columns = [named(choose), ...measures(data).filter((column) => column.always || has(column.key))];
  const grid = table(columns, { label: "The strategies compared", sort: [1, false], chosen: (run) => run.strategy === chosen });
  grid.show(runs);
  return el("div", {}, grid.node,
    el("p", { class: "note" }, "Recall and what follows it up to “read” in percent; cost in times the raw history; tokens in thousands (k). ",
      el("span", {}, "A dot marks the best of a column among strategies that stayed within the window with valid contexts.")),
    errors(runs, data));
}

function named(choose) {
  return {
    name: "Strategy", head: true, kind: "text", wrap: true, value: (run) => run.strategy,
    text: (run) => [el("button", { type: "button", class: "link", title: "Show this strategy below", onclick: () => choose(run.strategy) }, run.strategy), run.engine ? el("span", { class: "tag" }, "external") : null],
  };
}

function measures(data) {
  const column = (key, name, title, format, more = {}) => ({
    key, name, title, value: (run) => number(run.totals[key]), text: (run) => format(number(run.totals[key])), fair: sendable, ...more,
  });
  const share = (key, name, title, need) => column(key, name, title, percent, {
    best: "high", group: "Kept", text: (run) => (need && run.totals[need] === 0 ? NONE : percent(number(run.totals[key]))),
    value: (run) => (need && run.totals[need] === 0 ? undefined : number(run.totals[key])),
  });
  const pair = (key, name, title, index) => ({
    key, name, title, group: "Time", fair: sendable, best: "low", value: (run) => number(run.totals[key]?.[index]), text: (run) => micros(number(run.totals[key]?.[index])),
  });
  return [
    share("at_risk", "at-risk\nrecall", "Share of the identifiers the agent used next, not in the newest 12,000 characters, that the context held", "at_risk_need"),
    share("recall", "recall", "The same over all identifiers of the history"),
    share("rare", "rare", "At-risk recall by a second, independent extractor: tokens that occur fewer than five times", "rare_need"),
    share("reachable", "reach-\nable", "Of what was not in the context, the share that one search over the log brings back", "reachable_need"),
    share("rules", "rules", "Sentences of the user that state a rule and stand verbatim in the context", "rules_need"),
    share("modified", "modi-\nfied", "Modified files that the context names", "modified_need"),
    share("read", "read", "Read files that the context names", "read_need"),
    column("rereads", "re-\nreads", "Reads of a path that was read before the last fold and is not in the context", count, { group: "Kept", best: "low" }),
    column("cost", "cost", "Cache-priced cost, times that of sending the raw history", cost, { group: "Cost", best: "low" }),
    column("price", /^USD/.test(data.prices.unit) ? "USD" : "priced\ntokens", `Cost by the price table (${data.prices.unit ?? "tokens"})`, (value) => price(value, data.prices.unit), { group: "Cost" }),
    column("hit_share", "cache\nhit", "Cached prefix tokens, of all tokens sent", percent, { group: "Cost", best: "high" }),
    column("breaks", "breaks", "Requests whose cached prefix is shorter than the whole request before", count, { group: "Cost", best: "low" }),
    column("folds", "folds", "How often the context was rewritten", count, { group: "Context" }),
    column("mean", "mean", "Mean tokens of a context", short, { group: "Context" }),
    column("mean_share", "of\nwindow", "Mean context as a share of the window, in percent", percent, { group: "Context" }),
    column("peak", "peak", "Most tokens of a context", short, { group: "Context" }),
    column("over", "over", "Requests whose tokens exceed the window", count, { group: "Faults", always: true, bad: (run) => run.totals.over > 0 }),
    column("invalid", "in-\nvalid", "Contexts that a provider would refuse", count, { group: "Faults", always: true, bad: (run) => run.totals.invalid > 0 }),
    pair("context_us", "context\np50", "Time for a context, median", 0),
    pair("context_us", "\np99", "Time for a context, 99th percentile", 1),
    pair("fold_us", "fold\np50", "Time for a fold, median", 0),
    pair("fold_us", "\np99", "Time for a fold, 99th percentile", 1),
  ];
}

const number = (value) => (typeof value === "number" && Number.isFinite(value) ? value : undefined);

function errors(runs, data) {
  const failed = runs.flatMap((run) => run.conversations.filter((part) => part.error).map((part) => ({ run, part })));
  if (failed.length === 0) return null;
  return el("details", { class: "files" }, el("summary", {}, `${many(failed.length, "replay")} could not be done; the totals are of the rest`),
    el("ul", {}, failed.map(({ run, part }) => el("li", {}, el("span", {}, `${run.strategy}, ${data.conversations[part.conversation]?.name ?? "?"}: ${part.error}`)))));
}

/** At-risk recall by the class of identifier. */
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
      return { name: `${kind}\n${count(most)}`, title: `${count(most)} identifiers of this class were needed`, value: share, text: (run) => percent(share(run)), best: "high", fair: sendable };
    }),
  ];
  const grid = table(columns, { label: "At-risk recall by class", sort: [1, false], chosen: (run) => run.strategy === chosen });
  grid.show(runs);
  return el("div", {}, el("h3", {}, "At-risk recall by class of identifier"),
    el("p", { class: "lead note" }, "Percent; under each class, how many were needed."), grid.node);
}

/** The provider's own token counts, where the transcripts have them. */
export function providerUsage(runs) {
  const usage = runs.map((run) => run.totals.usage).find((it) => it && it.calls > 0);
  if (!usage) return null;
  const parts = [["input", "input"], ["cache_read", "read from cache"], ["cache_write", "written to cache"], ["output", "output"]]
    .filter(([key]) => Number.isFinite(usage[key])).map(([key, name]) => `${short(usage[key])} ${name}`);
  return el("p", { class: "note" }, `What the provider itself counted in ${many(usage.calls, "recorded call")}: ${parts.join(", ")} (tokens).`);
}
