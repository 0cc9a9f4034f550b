// The form that asks for a key, where the server wants one.

import { el } from "../../parts/dom.js";
import { key } from "./api.js";

let open: Promise<void> | null = null;

/** Asks once for all requests that wait; the key is kept until this tab is closed. */
export function keyForm(detail: string): Promise<void> {
  open ??= ask(detail).finally(() => { open = null; });
  return open;
}

function ask(detail: string): Promise<void> {
  const refused = key.get() !== "";
  return new Promise((resolve) => {
    const input = el("input", { type: "password", id: "key", autocomplete: "off", spellcheck: "false", required: true });
    const form = el("form", {
      class: "dialog-in", onsubmit: (event: SubmitEvent) => {
        event.preventDefault();
        const value = input.value.trim();
        if (!value) return;
        key.set(value);
        dialog.close();
      },
    },
      el("h2", { id: "key-title" }, refused ? "This key was not accepted" : "This server asks for a key"),
      el("p", {}, detail || "Give a key that may read sessions."),
      el("div", { class: "field" }, el("label", { for: "key" }, "Key"), input),
      el("p", { class: "note" }, "Made with `midfold key`. It is kept in this tab until the tab is closed, and sent to this server only."),
      el("div", { class: "dialog-end" }, el("button", { type: "submit", class: "primary" }, "Use this key")));
    const dialog = el("dialog", { class: "dialog small", "aria-labelledby": "key-title", oncancel: (event: Event) => event.preventDefault(), onclose: () => { dialog.remove(); resolve(); } }, form);
    document.body.append(dialog);
    dialog.showModal();
    input.focus();
  });
}
