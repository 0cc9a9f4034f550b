// What each measure means, in a sentence.

import { FATES } from "./data.js";
import { el } from "./dom.js";

const MEASURES = [
  ["Replay", "For each message that the agent really wrote, the context that the strategy would have sent is built from the history before it, and is checked against what the agent then wrote; no model is called, unless one was named for the recaps."],
  ["Recall", "Of the identifiers in the agent's next message that the history holds, the share that the context holds too, from the first request whose raw history exceeds 0.8 of the window."],
  ["At-risk recall", "The same without identifiers that stand in the newest 12,000 characters of history: what a strategy could really lose."],
  ["Rare", "At-risk recall by a second, independent extractor: every token that occurs fewer than five times in the history before."],
  ["Reachable", "Of the at-risk identifiers that the context does not hold, the share that one search over the log brings back, asked with the newest user and tool text only."],
  ["Rules", "The share of the user's sentences that state a rule (must, never, always, only and the like) and stand verbatim in the context."],
  ["Modified, read", "The share of the files modified or read so far that the context names."],
  ["Re-reads", "Reads of a path that was read before the last fold and is not in the context: work done twice."],
  ["Cost", "Tokens of each request priced as read from cache (the prefix shared with the request before) or written (the rest), as a ratio to sending the raw history at the same prices; calls of a summariser are added."],
  ["Cache hit, break", "The share of all tokens sent that a cache would hold; a break is a request whose shared prefix is shorter than the whole request before."],
  ["Over, invalid", "Requests that exceed the window, and contexts that a provider would refuse, such as a result without its call."],
  ["Pareto line", "Joins the strategies that no other beats on one axis without being worse on the other; strategies with a request over the window or an invalid context are not on it."],
  ["Form", "Stateless: each call gets the context of the call before and the new messages; session: the log is kept and folds build on the originals."],
];

export function definitions(data) {
  const fates = Object.values(FATES).map(({ name, text }) => `${name}: ${text}`).join("; ");
  return el("dl", { class: "defs" }, [...MEASURES, ["Fates", `${fates}.`]].map(([name, text]) => [el("dt", {}, name), el("dd", {}, text)]),
    el("dt", {}, "Version"), el("dd", {}, `midfold ${data.midfold ?? "of unknown version"}, replay format ${data.version ?? "unknown"}. This file holds everything that it shows and loads nothing.`));
}
