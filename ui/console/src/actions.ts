// What can be done to a session. Each says first what it will do.

import { el } from "../../parts/dom.js";
import type { Child } from "../../parts/dom.js";
import { count, list, many } from "../../parts/format.js";
import { path, request } from "./api.js";
import { act, field, sizes } from "./dialog.js";
import type { Plan } from "./dialog.js";
import { go, toList, toSession } from "./router.js";
import type { Context } from "./session.js";
import type { Deleted, Detail, Outcome, Overview, Pinned, PolicyChange, Presets, Undone } from "./types.js";
import { foldLine, STAND_INS } from "./words.js";

export function actionBar(context: () => Context): HTMLElement[] {
  const button = (name: string, run: (context: Context) => void, kind = "plain") => el("button", { type: "button", class: kind, onclick: () => run(context()) }, name);
  return [
    button("Fold now …", ({ id, refresh }) => compact(id, refresh)),
    button("Undo …", ({ id, detail, refresh }) => undoFold(id, detail.active, refresh)),
    button("Fork …", ({ id, detail }) => fork(id, detail)),
    button("Policy …", ({ id, detail, refresh }) => policy(id, detail, refresh)),
    button("Delete …", ({ id, detail }) => remove(id, detail), "plain warn"),
  ];
}

export function compact(id: string, refresh: () => void, about?: Child): void {
  const focus = el("input", { type: "text", autocomplete: "off", placeholder: "for instance: the retry policy, LED-4101" });
  const send = (preview: boolean, signal?: AbortSignal) => request<Outcome>(path(["sessions", id, "compact"]), { body: { ...(focus.value.trim() ? { focus: focus.value.trim() } : {}), preview }, signal });
  act({
    title: "Fold now",
    about: about ?? el("p", {}, "Folds the middle of this session now, whether or not it is due. Nothing is lost: the log keeps every message, and a fold can be undone."),
    fields: [field("Focus (may stay empty)", focus, "What the recap should keep, in words.")],
    plan: async (signal) => outcomePlan(await send(true, signal)),
    confirm: "Fold",
    run: async () => outcomeSays(await send(false), false),
    done: refresh,
  });
}

const outcomePlan = (outcome: Outcome): Plan => ({ says: outcomeSays(outcome, true), can: outcome.outcome === "folded" });

function outcomeSays(outcome: Outcome, isPlan: boolean): Child {
  if (outcome.outcome !== "folded") return el("p", { class: "empty" }, isPlan ? "A fold would change nothing" : "Nothing was changed", outcome.reason ? `: ${outcome.reason}.` : ".");
  return [
    el("p", { class: "headline" }, outcome.headline), sizes(outcome.before, outcome.after, count),
    outcome.instead ? el("p", {}, `In their place: ${outcome.instead}.`) : outcome.fold?.stand_in ? el("p", {}, `In their place: ${STAND_INS[outcome.fold.stand_in] ?? outcome.fold.stand_in}.`) : null,
    outcome.note ? el("p", { class: "note" }, outcome.note) : null,
    outcome.recap ? el("details", {}, el("summary", {}, isPlan ? "The recap that the agent would read" : "The recap that the agent reads now"), el("pre", { class: "raw", tabindex: 0 }, outcome.recap)) : null,
  ];
}

export function undoFold(id: string, fold: number | null, refresh: () => void, about?: Child): void {
  const send = (preview: boolean, signal?: AbortSignal) => request<Undone>(path(["sessions", id, "undo"]), { body: { ...(fold === null ? {} : { fold }), preview }, signal });
  const says = (undone: Undone): Child => [
    el("p", { class: "headline" }, undone.undone.length === 0 ? "There is no fold to undo." : `${undone.preview ? "Would take back" : "Took back"} ${undone.undone.length === 1 ? "fold" : "folds"} ${list(undone.undone.map(count))}; ${undone.active === null ? "no fold is active then, and the whole log is in the context." : `fold ${count(undone.active)} is active then.`}`),
    undone.undone.length ? sizes(undone.before, undone.after, count) : null,
  ];
  act({
    title: fold === null ? "Undo the newest fold" : `Undo fold ${count(fold)}`,
    about: about ?? el("p", {}, "Puts the original messages back into the context. The next request is larger by them, its cache is written anew, and the session folds again when that is due."),
    plan: async (signal) => {
      const undone = await send(true, signal);
      return { says: says(undone), can: undone.undone.length > 0 };
    },
    confirm: "Undo", run: async () => says(await send(false)), done: refresh,
  });
}

const numbers = (seqs: number[]): string => list(seqs.map((seq) => `@${seq}`));

export function pin(id: string, seq: number, on: boolean, refresh: () => void, more: { about?: Child; next?: { text: string; act: () => void } } = {}): void {
  const send = (preview: boolean, signal?: AbortSignal) => request<Pinned>(path(["sessions", id, "pins", seq], preview ? { preview: true } : {}), { method: on ? "PUT" : "DELETE", signal });
  const others = ({ unit }: Pinned): number[] => unit.filter((each) => each !== seq);
  const says = (pinned: Pinned): Child => [
    el("p", { class: "headline" }, pinned.changed
      ? `${pinned.preview ? (on ? "Would pin" : "Would unpin") : on ? "Pinned" : "Unpinned"} @${seq}${others(pinned).length ? `, and with it ${numbers(others(pinned))}: a call and its results stay together` : ""}.`
      : `@${seq} is ${on ? "pinned" : "not pinned"} already.`),
    on && pinned.folded && pinned.preview ? el("p", {}, "It is not in the context now: the pin holds from the next fold on.") : null,
    el("p", { class: "note" }, pinned.pins.length ? `Pinned then: ${numbers(pinned.pins.slice(0, 12))}${pinned.pins.length > 12 ? ` and ${count(pinned.pins.length - 12)} more` : ""}.` : "No message is pinned then."),
  ];
  act({
    title: on ? `Pin @${seq}` : `Unpin @${seq}`,
    about: more.about ?? el("p", {}, on ? "Every later fold keeps this message as it was said. A fold that has taken it out already stays as it is: to bring the message back, fold again or undo that fold." : "Later folds may take this message out of the context again."),
    plan: async (signal) => {
      const pinned = await send(true, signal);
      return { says: says(pinned), can: pinned.changed || Boolean(more.next) };
    },
    confirm: on ? "Pin" : "Unpin", run: async () => says(await send(false)), done: refresh, next: more.next,
  });
}

/** Pins a message that has left, then offers to fold again, so that the fold keeps it. */
export function pinAndFold(id: string, seq: number, refresh: () => void): void {
  pin(id, seq, true, refresh, {
    about: el("p", {}, "First the message is pinned. Then this session is folded again: the new fold is made from the log and keeps what is pinned, as it was said. What both do is shown before it is done."),
    next: { text: "Go on: fold again …", act: () => compact(id, refresh, el("p", {}, `Folds again from the log; @${seq} is pinned now and stays in the context.`)) },
  });
}

function fork(id: string, detail: Detail): void {
  const name = el("input", { type: "text", autocomplete: "off", spellcheck: "false", placeholder: "made up by the server" });
  const at = el("input", { type: "number", min: 1, max: detail.events, value: detail.events });
  const upTo = () => Math.max(0, Math.min(detail.events, Math.floor(Number(at.value)) || 0));
  act({
    title: "Fork this session",
    about: el("p", {}, "Makes a new session from the first messages of this one. This one stays as it is."),
    fields: [field("With the first … messages", at), field("Id of the new session (may stay empty)", name)],
    plan: async () => ({
      says: el("p", { class: "headline" }, upTo() > 0 ? `Would make a session of ${upTo() === detail.events ? `all ${many(detail.events, "message")}` : `messages @0 to @${upTo() - 1}, without the ${many(detail.events - upTo(), "message")} after them`}.` : "Give at least one message."),
      can: upTo() > 0,
    }),
    confirm: "Fork",
    run: async () => {
      const made = await request<Overview>(path(["sessions", id, "fork"]), { body: { ...(name.value.trim() ? { id: name.value.trim() } : {}), at: upTo() } });
      return el("p", {}, "The new session is ", el("a", { href: toSession(made.id) }, made.id), `, with ${many(made.events, "message")}.`);
    },
  });
}

function policy(id: string, detail: Detail, refresh: () => void): void {
  const select = el("select", {}, el("option", {}, detail.policy));
  const about = el("small", {});
  const abouts = new Map<string, string>();
  const name = () => { about.textContent = abouts.get(select.value) ?? ""; };
  select.addEventListener("change", name);
  void request<Presets>(path(["presets"])).then(({ presets }) => {
    presets.forEach((preset) => abouts.set(preset.name, preset.about));
    select.replaceChildren(...[...new Set([detail.policy, ...presets.map((preset) => preset.name)])].map((each) => el("option", { value: each, selected: each === detail.policy }, each)));
    name();
  }).catch(() => undefined);
  const send = (preview: boolean, signal?: AbortSignal) => request<PolicyChange>(path(["sessions", id, "policy"]), { method: "PUT", body: { preset: select.value, preview }, signal });
  const says = ({ before, after, preview }: PolicyChange): Child => el("dl", { class: "change" },
    el("dt", {}, preview ? `Now, ${before.policy}` : `Before, ${before.policy}`), el("dd", {}, foldLine(before.line) || "–"),
    el("dt", {}, preview ? `Then, ${after.policy}` : `Now, ${after.policy}`), el("dd", {}, foldLine(after.line) || "–"));
  act({
    title: "Change the policy",
    about: el("p", {}, "Holds from the next fold on; folds that were made stay as they are."),
    fields: [field("Preset", select), about],
    plan: async (signal) => {
      if (select.value === detail.policy) return { says: el("p", { class: "empty" }, "This is the policy that the session has."), can: false };
      return { says: says(await send(true, signal)), can: true };
    },
    confirm: "Change", run: async () => says(await send(false)), done: refresh,
  });
}

function remove(id: string, detail: Detail): void {
  act({
    title: "Delete this session",
    about: el("p", {}, "Deletes the session from the store, for good: it cannot be undone, and recall finds nothing of it any more. Forks of it stay."),
    plan: async () => ({
      says: el("p", { class: "headline" }, `Would delete ${many(detail.events, "message")}, ${many(detail.folds, "fold")} and the record of ${many(detail.calls, "request")}.`), can: true,
    }),
    confirm: "Delete for good", danger: true,
    run: async () => {
      const gone = await request<Deleted>(path(["sessions", id]), { method: "DELETE" });
      return el("p", {}, `Deleted ${many(gone.events, "message")}, ${many(gone.folds, "fold")} and the record of ${many(gone.calls, "request")}: ${count(gone.bytes)} bytes.`);
    },
    done: () => go(toList()),
  });
}
