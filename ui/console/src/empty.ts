// What stands where nothing is yet, and how to get something.

import { el } from "../../parts/dom.js";
import { toServer } from "./router.js";

export function emptyStore(): HTMLElement {
  return el("section", { class: "start", "aria-labelledby": "start-title" },
    el("h2", { id: "start-title" }, "No sessions yet"),
    el("p", {}, "Point an agent at this server, and its conversations appear here by themselves:"),
    el("pre", { tabindex: 0 }, `OPENAI_BASE_URL=${location.origin}/v1 your-agent`),
    el("p", {}, "Or load a transcript that was recorded elsewhere into the same store:"),
    el("pre", { tabindex: 0 }, "midfold import FILE"),
    el("p", { class: "note" }, "Programs can make sessions with POST /v1/sessions; the description of all requests is at ", el("a", { href: "/v1/openapi.json" }, "/v1/openapi.json"), "."));
}

/** A server with `--store memory`: there is nothing to list, which is no fault. */
export const inMemory = (): HTMLElement =>
  el("section", { class: "start", "aria-labelledby": "start-title" },
    el("h2", { id: "start-title" }, "This server keeps its conversations in memory alone"),
    el("p", {}, "It folds what goes through it, and shows no sessions: they are gone when it ends. What it did is on the page ", el("a", { href: toServer() }, "Server"), "."),
    el("p", {}, "To see sessions here, start it with a store, which may be a file that you delete afterwards:"),
    el("pre", { tabindex: 0 }, "midfold serve --store sqlite:midfold.db"));

export const noFolds = (line: string): HTMLElement =>
  el("div", { class: "empty" }, el("p", {}, el("strong", {}, "This session was not folded yet: "), "every message is in the context as it was sent."), el("p", {}, line));

export const noCalls = (): HTMLElement =>
  el("div", { class: "empty" }, el("p", {}, el("strong", {}, "No request was recorded for this session. "), "The proxy records each one; so does a program that asks for the context with POST /v1/sessions/ID/context."));

export const noMessages = (): HTMLElement => el("p", { class: "empty" }, "This session has no messages yet.");
