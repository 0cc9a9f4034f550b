// What every view is made of: a place in the page, and a way to say that something failed.

import { el } from "../../parts/dom.js";
import type { Child } from "../../parts/dom.js";
import { ApiError, isAboutKey, isAbort } from "./api.js";
import { inMemory } from "./empty.js";
import { errorText } from "./words.js";
import type { Change } from "./types.js";

/** A view that stands in the page. `change` tells it what the server said; `close` ends its requests and timers. */
export interface View {
  node: HTMLElement;
  title: string;
  change?: (change: Change) => void;
  /** After a lost connection: whatever it shows may be old. */
  refresh?: () => void;
  close: () => void;
}

/** An error with what can be done about it, and a button to try again. */
export function failure(error: unknown, again?: () => void): HTMLElement {
  const problem = error instanceof ApiError ? error.problem : null;
  if (problem?.code === "memory") return inMemory();
  return el("div", { class: "empty bad", role: "alert" },
    el("p", {}, el("strong", {}, problem?.title ?? "That did not work"), problem?.detail ? `: ${problem.detail}` : problem ? "" : `: ${errorText(error)}`),
    (problem?.hints ?? []).map((hint) => el("p", {}, hint)),
    again ? el("p", {}, el("button", { type: "button", class: "plain", onclick: again }, problem && isAboutKey(problem) ? "Give another key …" : "Try again")) : null);
}

/** Puts what `make` gives into the slot; says so where it fails; does nothing when the view has gone. */
export async function fill(slot: HTMLElement, signal: AbortSignal, make: () => Promise<Child>): Promise<void> {
  slot.setAttribute("aria-busy", "true");
  try {
    const made = await make();
    if (!signal.aborted) slot.replaceChildren(...[made].flat(3).filter((part): part is Node | string => Boolean(part)));
  } catch (error) {
    if (signal.aborted || isAbort(error)) return;
    if (!(error instanceof ApiError)) console.error(error);
    slot.replaceChildren(failure(error, () => void fill(slot, signal, make)));
  } finally {
    slot.removeAttribute("aria-busy");
  }
}

/** A signal that ends with either of two; `AbortSignal.any` is too young for some browsers. */
export function either(one: AbortSignal, other: AbortSignal): AbortSignal {
  const both = new AbortController();
  for (const signal of [one, other]) {
    if (signal.aborted) both.abort();
    else signal.addEventListener("abort", () => both.abort(), { once: true, signal: both.signal });
  }
  return both.signal;
}

/** Calls `act` once for many calls that come close together; the first waits no longer than `delay`. */
export function gather(delay: number, act: () => void): { call: () => void; cancel: () => void } {
  let timer = 0;
  return {
    call() {
      if (!timer) timer = window.setTimeout(() => { timer = 0; act(); }, delay);
    },
    cancel() {
      clearTimeout(timer);
      timer = 0;
    },
  };
}

export const waiting = (text = "Loading …"): HTMLElement => el("p", { class: "waiting" }, text);

/** A message in the live region, for changes that the eye sees anyway. */
export function announce(text: string): void {
  const box = document.getElementById("said");
  if (box) box.textContent = text;
}
