// The form that asks for a key, where the server wants one or another.

import { el } from "../../parts/dom.js";
import { key } from "./api.js";
import type { Problem } from "./api.js";

let open: Promise<boolean> | null = null;

/** Asks once for all requests that wait, and says whether a key was given; it is kept until this tab is closed. */
export function keyForm(problem: Problem | null): Promise<boolean> {
  open ??= ask(problem).finally(() => { open = null; });
  return open;
}

function title(problem: Problem | null): string {
  if (!problem) return "Another key";
  if (!key.get()) return "This server asks for a key";
  return problem.status === 403 ? "This key may not look at sessions" : "This key was not accepted";
}

function ask(problem: Problem | null): Promise<boolean> {
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
      el("h2", { id: "key-title" }, title(problem)),
      el("p", {}, problem?.detail || "The page goes on with the key that is given here."),
      (problem?.status === 403 ? problem.hints : []).map((hint) => el("p", { class: "note" }, hint)),
      el("div", { class: "field" }, el("label", { for: "key" }, "A key of the scope sessions or admin"), input),
      el("p", { class: "note" }, "It is kept in this tab until the tab is closed, and sent to this server only."),
      el("div", { class: "dialog-end" }, el("button", { type: "button", class: "plain", onclick: () => dialog.close() }, "Not now"), el("button", { type: "submit", class: "primary" }, "Use this key")));
    const dialog = el("dialog", { class: "dialog small", "aria-labelledby": "key-title", onclose: () => { dialog.remove(); resolve(given); } }, form);
    document.body.append(dialog);
    dialog.showModal();
    input.focus();
  });
}
