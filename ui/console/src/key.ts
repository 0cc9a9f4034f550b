// The form that asks for a key, where the server wants one or another.

import { el } from "../../parts/dom.js";
import { key } from "./api.js";
import type { Problem } from "./types.js";

/** What the key is to look at, and the scopes that may. */
type Scope = "sessions" | "admin";
const LOOKS_AT: Record<Scope, [string, string]> = { sessions: ["sessions", "sessions or admin"], admin: ["the server", "admin"] };

let open: Promise<boolean> | null = null;

/** Asks once for all requests that wait, and says whether a key was given; it is kept until this tab is closed. */
export function keyForm(problem: Problem | null, scope: Scope = "sessions"): Promise<boolean> {
  open ??= ask(problem, scope).finally(() => { open = null; });
  return open;
}

function title(problem: Problem | null, scope: Scope): string {
  if (!problem) return "Another key";
  if (!key.get()) return "This server asks for a key";
  return problem.status === 403 ? `This key may not look at ${LOOKS_AT[scope][0]}` : "This key was not accepted";
}

function ask(problem: Problem | null, scope: Scope): Promise<boolean> {
  return new Promise((resolve) => {
    let given = false;
    const input = el("input", { type: "password", id: "key", autocomplete: "off", spellcheck: "false", required: true });
    const form = el("form", {
      class: "dialog-in", onsubmit: (event: SubmitEvent) => {
        event.preventDefault();
        const value = input.value.trim();
        if (!value) return;
        key.set(value);
        given = true;
        dialog.close();
      },
    },
      el("h2", { id: "key-title" }, title(problem, scope)),
      el("p", {}, problem?.detail || "The page goes on with the key that is given here."),
      (problem?.status === 403 ? problem.hints : []).map((hint) => el("p", { class: "note" }, hint)),
      el("div", { class: "field" }, el("label", { for: "key" }, `A key of the scope ${LOOKS_AT[scope][1]}`), input),
      el("p", { class: "note" }, "It is kept in this tab until the tab is closed, and sent to this server only."),
      el("div", { class: "dialog-end" }, el("button", { type: "button", class: "plain", onclick: () => dialog.close() }, "Not now"), el("button", { type: "submit", class: "primary" }, "Use this key")));
    const dialog = el("dialog", { class: "dialog small", "aria-labelledby": "key-title", onclose: () => { dialog.remove(); resolve(given); } }, form);
    document.body.append(dialog);
    dialog.showModal();
    input.focus();
  });
}
