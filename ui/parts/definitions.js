// What each measure means, in a sentence.

import { FATES } from "./data.js";
import { el } from "./dom.js";

const MEASURES = [
  ["Replay", "For each message that the agent really wrote, the context that the strategy would have sent is built from the history before it, and is checked against what the agent then wrote; no model is called, summaries are computed."],
  ["Retention", "Of the identifiers in the agent's next message that the history holds, the share that the context holds too, from the first request whose raw history exceeds 0.8 of the window."],
  ["At-risk retention", "The same without identifiers in the newest 12,000 characters of history: what a strategy could really lose."],
  ["Rare", "At-risk retention by a second, independent extractor: every token that occurs fewer than five times in the history before."],
  ["In reach", "At-risk retention if the agent had searched the log once, with what the newest user and tool text names only: what the context held, and what that search brings back."],
  ["Rules", "The share of the user's sentences that state a rule (must, never, always, only and the like) and stand verbatim in the context."],
  ["Modified, read", "The share of the files that calls modified or read before the newest fold that the context names as such."],
  ["Re-reads", "Reads of a file that was read before the newest fold and whose contents are not in the context: work done twice."],
  ["Cost", "Tokens of each request priced as read from cache (the prefix shared with the request before) or written (the rest), as a ratio to sending the raw history at the same prices."],
  ["Cache hit, break", "The share of all tokens sent that a cache would hold; a break is a request whose shared prefix is shorter than the whole request before."],
  ["Over, invalid", "Requests that exceed the window, and contexts that a provider would refuse, such as a result without its call. A strategy that could not replay some conversation is not marked as best."],
  ["Pareto line", "Joins the strategies that no other beats on one axis without being worse on the other; strategies with a request over the window, an invalid context or a conversation left out are not on it."],
  ["Form", "Stateless: each call gets the context of the call before and the new messages; session: the log is kept and folds build on the originals."],
];

export function definitions(data) {
  const fates = Object.values(FATES).map(({ name, text }) => `${name}: ${text}`).join("; ");
  return el("dl", { class: "defs" }, [...MEASURES, ["Fates", `${fates}.`]].map(([name, text]) => [el("dt", {}, name), el("dd", {}, text)]),
    el("dt", {}, "Version"), el("dd", {}, `midfold ${data.midfold ?? "of unknown version"}, replay format ${data.version ?? "unknown"}. This file holds everything that it shows and loads nothing.`));
}
