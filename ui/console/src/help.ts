// The keys of the keyboard, said on the page: the button in its head, and `?` anywhere.

import { el } from "../../parts/dom.js";

const KEYS: [string[], string][] = [
  [["?"], "these keys"],
  [["/"], "to the search of the page"],
  [["Tab"], "to the next thing; a list, and the fabric, are one stop each"],
  [["↑", "↓"], "in a list: the row before, the row after"],
  [["PgUp", "PgDn"], "in a list: a page up or down"],
  [["Home", "End"], "in a list: the first row, the last one"],
  [["Enter"], "opens the session, the message, the request"],
  [["←", "→"], "in the fabric: from message to message"],
  [["↑", "↓"], "in the fabric: from fold to fold, which opens it"],
  [["Enter"], "in the fabric: into the open fold; from the newest row to the message"],
  [["Esc"], "closes a dialog without doing anything"],
];

let open = false;

function show(): void {
  if (open) return;
  open = true;
  const dialog = el("dialog", { class: "dialog", "aria-labelledby": "help-title", onclose: () => { dialog.remove(); open = false; } },
    el("div", { class: "dialog-in" },
      el("h2", { id: "help-title" }, "Keys"),
      el("dl", { class: "keys" }, KEYS.map(([keys, what]) => [el("dt", {}, keys.map((name) => el("kbd", {}, name))), el("dd", {}, what)])),
      el("div", { class: "dialog-end" }, el("button", { type: "button", class: "primary", onclick: () => dialog.close() }, "Close"))));
  document.body.append(dialog);
  dialog.showModal();
}

function pressed(event: KeyboardEvent): void {
  const at = event.target as HTMLElement;
  if (event.altKey || event.ctrlKey || event.metaKey || event.defaultPrevented || at.closest("input, select, textarea, dialog")) return;
  if (event.key === "?") show();
  else if (event.key === "/") {
    const search = document.querySelector<HTMLInputElement>('main input[type="search"]');
    if (!search) return;
    search.focus();
    search.select();
  } else return;
  event.preventDefault();
}

export function helpButton(): HTMLElement {
  addEventListener("keydown", pressed);
  return el("button", { type: "button", class: "help", "aria-label": "Keys of the keyboard", title: "Keys of the keyboard: ?", onclick: show }, "?");
}
