// "Why did it forget …?": where a text was said, when it left, by which rule, what stands for it now; and how to bring
// it back. Over one session, or over all.

import { el } from "../../parts/dom.js";
import type { Child } from "../../parts/dom.js";
import { count, many } from "../../parts/format.js";
import { pin, pinAndFold, undoFold } from "./actions.js";
import { path, request } from "./api.js";
import { keepPlace, toForgot, toSession } from "./router.js";
import type { Context, Part, SessionPlace } from "./session.js";
import type { Cursor, Explanation, Fate, Forgot, Occurrence } from "./types.js";
import { either, fill, waiting } from "./view.js";
import type { View } from "./view.js";
import { ago, marked } from "./words.js";

const SHOWN = 20;

function searchBox(text: string, label: string, ask: (text: string) => void): { node: HTMLElement; input: HTMLInputElement } {
  const input = el("input", { type: "search", id: "forgot-text", value: text, autocomplete: "off", spellcheck: "false", placeholder: "a path, a name, an id, a sentence" });
  return {
    input,
    node: el("form", { class: "ask", role: "search", onsubmit: (event: SubmitEvent) => { event.preventDefault(); ask(input.value.trim()); } },
      el("div", { class: "field" }, el("label", { for: "forgot-text" }, label), input), el("button", { type: "submit", class: "primary" }, "Look")),
  };
}

export function forgotTab(context: Context, place: SessionPlace): Part {
  const { id, signal } = context;
  let text = place.query.text ?? "";
  const slot = el("div", { class: "answers" });
  const box = searchBox(text, "What does the agent not know any more?", (next) => {
    text = next;
    keepPlace(toSession(id, "forgot", null, text ? { text } : {}));
    look();
  });
  const call = place.query.call;
  const node = el("section", { "aria-labelledby": "forgot-title" },
    el("header", { class: "part-head" }, el("h2", { id: "forgot-title" }, "Why did it forget …?"), el("p", {}, "Where it was said in this session, when it left the context, by which rule, and what stands for it now.")),
    box.node, slot);
  function look(): void {
    if (!text) return slot.replaceChildren();
    slot.replaceChildren(waiting("Looking through the log …"));
    void fill(slot, signal, async () => {
      const asked = text;
      const answer = await request<Explanation>(path(["sessions", id, "explain"], { text: asked, call }), { signal });
      return asked === text ? explanation(id, answer, SHOWN, () => { context.refresh(); look(); }) : null;
    });
  }
  look();
  return {
    node,
    place(next) {
      if ((next.query.text ?? "") === text) return;
      text = next.query.text ?? "";
      box.input.value = text;
      look();
    },
    update: (_, kinds) => { if (text && (kinds.has("fold") || kinds.has("undo"))) look(); },
  };
}

export function forgotView(first: string): View {
  const control = new AbortController();
  let text = first;
  let asked = new AbortController();
  const slot = el("div", { class: "answers" });
  const box = searchBox(text, "What does an agent not know any more?", (next) => {
    text = next;
    keepPlace(toForgot(text));
    look();
  });
  const node = el("div", { class: "forgot-all" },
    el("header", { class: "part-head" }, el("h1", {}, "Why did it forget …?"), el("p", {}, "Over all sessions, newest first: where it was said, when it left the context, by which rule, and what stands for it now.")),
    box.node, slot);

  function look(): void {
    asked.abort();
    asked = new AbortController();
    const signal = either(control.signal, asked.signal);
    if (!text) return slot.replaceChildren();
    const found = el("div", {});
    const more = el("div", {}, waiting("Looking through the sessions …"));
    slot.replaceChildren(found, more);
    let looked = 0;
    const next = (after: Cursor | null): Promise<void> => fill(more, signal, async () => {
      const page = await request<Forgot>(path(["forgot"], { text, after }), { signal });
      looked += page.looked_at;
      found.append(...page.found.map(({ session, explanation: one }) => el("article", { class: "found" },
        el("header", {}, el("h2", {}, el("a", { href: toSession(session.id, "forgot", null, { text }) }, session.title || session.id)), el("span", { class: "quiet-word" }, `${session.model || "no model"} · changed ${ago(session.changed)}`)),
        explanation(session.id, one, 2, look, toSession(session.id, "forgot", null, { text })))));
      const nothing = found.childElementCount === 0;
      return [
        el("p", { class: nothing && !page.next ? "empty" : "note", role: "status" }, nothing ? `No session says “${text}”, of ${many(looked, "session")} looked at${page.next ? " so far" : ""}.` : `Found in ${many(found.childElementCount, "session")} of ${count(looked)} looked at.`),
        page.next ? el("button", { type: "button", class: "plain", onclick: () => void next(page.next) }, "Look further") : null,
      ];
    });
    void next(null);
  }
  look();
  if (!text) queueMicrotask(() => box.input.focus({ preventScroll: true }));
  return { node, title: "Why did it forget …?", close: () => control.abort() };
}

/** The state of the answer, for its sign. */
function state({ answer, reader }: Explanation): string {
  if (answer === "never-said" || answer === "not-yet" || reader.is === "client") return "none";
  if (answer === "gone") return "gone";
  return answer === "verbatim" && reader.is !== "overfull" ? "here" : "partly";
}

const SIGNS: Record<string, string> = { gone: "✕", partly: "◐", here: "●", none: "○" };

export function explanation(id: string, one: Explanation, most: number, refresh: () => void, all?: string): Child {
  const lost = one.lost_with;
  const withFold = lost ? ` It left with fold ${count(lost.number)}, when the session had ${many(lost.events, "message")}.` : "";
  const sign = state(one);
  const rest = one.occurrences.length - most;
  const again = one.asked_again ?? [];
  return el("div", { class: "explanation" },
    el("p", { class: `answer ${sign}` }, el("span", { class: "sign", "aria-hidden": "true" }, SIGNS[sign]), `${one.verdict[0]?.toUpperCase() ?? ""}${one.verdict.slice(1)}.${withFold}`, one.answer === "verbatim" || !one.in_recap || one.answer === "in-recap" ? "" : " The recap names it too."),
    again.length ? el("p", { class: "note" }, `It was asked for again: ${again.slice(0, 6).map(({ name, seq }) => `${name} in @${seq}`).join(", ")}.`) : null,
    ...(one.near ?? []).map((near) => el("p", { class: "note" }, `Words of it are in @${near.seq} (${near.role}): ${near.snippet}`)),
    one.occurrences.length ? el("p", { class: "note" }, `Said in ${many(one.occurrences.length, "message")}${one.fold ? `, read through fold ${count(one.fold.number)}` : ""}:`) : null,
    bringBack(id, one, refresh),
    el("ol", { class: "occurrences" }, one.occurrences.slice(0, most).map((each) => occurrence(id, one, each, refresh))),
    rest > 0 ? (all ? el("p", {}, el("a", { href: all }, `${many(rest, "more message")}, in this session`)) : restOf(id, one, most, refresh)) : null);
}

/** What brings several messages back at once: undoing the fold that took them, or looking them up. */
function bringBack(id: string, one: Explanation, refresh: () => void): Child {
  const gone = one.occurrences.filter(({ left }) => left !== null);
  if (gone.length === 0) return null;
  const folds = [...new Set(gone.map(({ left }) => left?.fold.number ?? 0))];
  const undo = (fold: number): HTMLElement => el("button", {
    type: "button", class: "plain", title: `Puts back all that fold ${fold} took`,
    onclick: () => undoFold(id, fold, refresh, el("p", {}, `Brings these messages back by undoing the fold that took them: all else that fold ${count(fold)} took comes back with it, and the next fold may take it again unless it is pinned.`)),
  }, `Bring back: undo fold ${count(fold)} …`);
  const shown = gone.slice(0, SHOWN).map(({ seq }) => seq).join(",");
  return el("div", { class: "actions" }, folds.map(undo), el("code", {}, `midfold recall show ${id} ${shown}`));
}

function restOf(id: string, one: Explanation, most: number, refresh: () => void): HTMLElement {
  const button = el("button", { type: "button", class: "plain", onclick: () => button.replaceWith(el("ol", { class: "occurrences" }, one.occurrences.slice(most, most + 500).map((each) => occurrence(id, one, each, refresh)))) },
    `Show the other ${count(one.occurrences.length - most)}`);
  return button;
}

/** What the agent sees of it, in words. */
function sightText({ sight }: Occurrence): string {
  const still = (isNamed: boolean): string => (isNamed ? "which still says it" : "which does not say it");
  switch (sight.is) {
    case "verbatim": return "in the context, as it was said";
    case "edited": return `edited (${[sight.reducer, sight.reason].filter(Boolean).join(", ")}), ${still(sight.named)}`;
    case "cut": return `cut, because whole it did not fit; ${still(sight.named)}`;
    case "repaired": return `repaired for the provider, ${still(sight.named)}`;
    case "recap": return sight.named ? "the recap, which says it" : "the recap, which does not say it";
    case "marker": return "a marker";
    case "transcript": return "in the transcript, as it was said";
    case "not-yet": return "it was not said yet";
  }
}

const FATE_OF: Record<Occurrence["sight"]["is"], Fate> = { verbatim: "v", edited: "c", repaired: "x", cut: "c", recap: "r", marker: "m", transcript: "v", "not-yet": "x" };

function occurrence(id: string, { text }: Explanation, one: Occurrence, refresh: () => void): HTMLElement {
  const { left, used, seq } = one;
  const here = one.sight.is === "verbatim";
  return el("li", { class: "occurrence" },
    el("p", { class: "where" }, el("a", { href: toSession(id, "messages", seq) }, `@${seq}`), " ", el("b", { class: `role-${one.role}` }, one.role)),
    el("blockquote", {}, marked(one.snippet, text)),
    el("dl", {},
      el("dt", {}, "Now"), el("dd", {}, el("i", { class: "swatch", style: `background:var(--fate-${FATE_OF[one.sight.is]})` }), " ", sightText(one)),
      left ? [el("dt", {}, "Left"), el("dd", {}, "with ", el("a", { href: toSession(id, "fabric", left.fold.number) }, `fold ${count(left.fold.number)}`), `: ${left.rule}`, left.reason ? `, ${left.reason}` : "")] : null,
      used ? [el("dt", {}, "Used again"), el("dd", {}, "in ", el("a", { href: toSession(id, "messages", used.seq) }, `@${used.seq}`), ` by the ${used.by}, ${used.after_left ? "after it had left" : "while it was there"}`)] : null),
    el("div", { class: "actions" },
      here ? el("button", { type: "button", class: "plain", onclick: () => pin(id, seq, true, refresh) }, "Pin, so that it stays …")
        : el("button", { type: "button", class: "plain", title: "Brings back this message only", onclick: () => pinAndFold(id, seq, refresh) }, "Bring back: pin and fold again …")));
}
