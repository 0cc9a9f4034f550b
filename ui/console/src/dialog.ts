// The dialog of an action: says what it will do, by the server's own preview, waits for a yes, and says what was done.

import { el, freshId } from "../../parts/dom.js";
import type { Child } from "../../parts/dom.js";
import { failure, gather, waiting } from "./view.js";
import { isAbort } from "./api.js";

export interface Plan {
  /** What would happen, in words and figures. */
  says: Child;
  /** Whether there is anything to do; without, the button stays shut. */
  can: boolean;
}
export interface Action {
  title: string;
  about: Child;
  /** Fields to fill in; what changes in them asks for another plan. */
  fields?: HTMLElement[];
  plan: (signal: AbortSignal) => Promise<Plan>;
  confirm: string;
  danger?: boolean;
  /** Does it; gives what was done. */
  run: () => Promise<Child>;
  /** Called when the dialog is closed after it was done. */
  done?: () => void;
  /** Another step that makes sense now. */
  next?: { text: string; act: () => void };
}

export function act(action: Action): void {
  const id = freshId("dialog");
  const opener = document.activeElement instanceof HTMLElement ? document.activeElement : null;
  const plan = el("div", { class: "plan", "aria-live": "polite" }, waiting("Asking the server what this would do …"));
  const confirm = el("button", { type: "submit", class: action.danger ? "primary danger" : "primary", disabled: true }, action.confirm);
  const cancel = el("button", { type: "button", class: "plain", onclick: () => dialog.close() }, "Cancel");
  const end = el("div", { class: "dialog-end" }, cancel, confirm);
  const fields = el("div", { class: "dialog-fields", oninput: () => { confirm.disabled = true; soon.call(); }, onchange: () => soon.call() }, action.fields ?? []);
  const form = el("form", { class: "dialog-in", onsubmit: (event: SubmitEvent) => { event.preventDefault(); if (!confirm.disabled) void run(); } },
    el("h2", { id }, action.title), el("div", { class: "about" }, action.about), action.fields?.length ? fields : null, plan, end);
  let control = new AbortController();
  let isDone = false;
  const dialog = el("dialog", {
    class: "dialog", "aria-labelledby": id, onclose: () => {
      control.abort();
      soon.cancel();
      dialog.remove();
      if (isDone) action.done?.();
      if (opener?.isConnected) opener.focus();
      else document.getElementById("page")?.focus({ preventScroll: true });
    },
  }, form);

  async function look(): Promise<void> {
    control.abort();
    control = new AbortController();
    const { signal } = control;
    confirm.disabled = true;
    plan.setAttribute("aria-busy", "true");
    try {
      const made = await action.plan(signal);
      if (signal.aborted) return;
      plan.replaceChildren(...nodes(made.says));
      confirm.disabled = !made.can;
    } catch (error) {
      if (signal.aborted || isAbort(error)) return;
      plan.replaceChildren(failure(error, () => void look()));
    } finally {
      plan.removeAttribute("aria-busy");
    }
  }

  async function run(): Promise<void> {
    confirm.disabled = true;
    cancel.disabled = true;
    confirm.textContent = "Working …";
    try {
      const said = await action.run();
      isDone = true;
      fields.remove();
      form.querySelector(".about")?.remove();
      plan.replaceChildren(el("p", { class: "did" }, el("strong", {}, "Done.")), ...nodes(said));
      const close = el("button", { type: "button", class: action.next ? "plain" : "primary", onclick: () => dialog.close() }, "Close");
      const next = action.next;
      end.replaceChildren(close, ...(next ? [el("button", { type: "button", class: "primary", onclick: () => { dialog.close(); next.act(); } }, next.text)] : []));
      (end.lastElementChild as HTMLElement | null)?.focus();
    } catch (error) {
      plan.replaceChildren(failure(error));
      confirm.textContent = action.confirm;
      cancel.disabled = false;
      cancel.focus();
    }
  }

  const soon = gather(300, () => void look());
  document.body.append(dialog);
  dialog.showModal();
  (action.fields?.[0]?.querySelector<HTMLElement>("input, select") ?? cancel).focus();
  void look();
}

const nodes = (child: Child): (Node | string)[] => [child].flat(4).filter((part) => part !== null && part !== undefined && part !== false).map((part) => (part instanceof Node ? part : String(part)));

/** A labelled input of a dialog. */
export function field(label: string, input: HTMLElement, hint?: string): HTMLElement {
  const id = freshId("field");
  input.id = id;
  const said = hint ? el("small", { id: `${id}-hint` }, hint) : null;
  if (said) input.setAttribute("aria-describedby", said.id);
  return el("div", { class: "field" }, el("label", { for: id }, label), input, said);
}

/** Two sizes and what is between them. */
export function sizes(before: { messages: number; tokens: number }, after: { messages: number; tokens: number }, show: (value: number) => string): HTMLElement {
  const row = (name: string, from: number, to: number) => el("tr", {}, el("th", { scope: "row", class: "text" }, name), el("td", {}, show(from)), el("td", {}, show(to)),
    el("td", { class: to < from ? "less" : "" }, to === from ? "±0" : `${to > from ? "+" : "−"}${show(Math.abs(to - from))}`));
  return el("table", { class: "sizes" },
    el("thead", {}, el("tr", {}, el("td", {}), ["now", "then", "change"].map((name) => el("th", { scope: "col" }, name)))),
    el("tbody", {}, row("Tokens in the context", before.tokens, after.tokens), row("Messages in the context", before.messages, after.messages)));
}
