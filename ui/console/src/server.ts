// The server: what it is set to, what became of requests, where they go, and how much each model holds.

import { el } from "../../parts/dom.js";
import type { Child } from "../../parts/dom.js";
import { count, many } from "../../parts/format.js";
import { ApiError, path, request } from "./api.js";
import { keyForm } from "./key.js";
import type { Server } from "./types.js";
import { failure, waiting } from "./view.js";
import type { View } from "./view.js";
import { lasting, moment } from "./words.js";

/** How often it is read again, in milliseconds. */
const AGAIN = 5_000;
/** Who says how much a model holds. */
const SAID_BY: Record<string, string> = {
  setting: "set here", request: "the request itself", server: "the server that it goes to", learned: "an answer or a refusal of the provider",
  table: "the table of known models", default: "nobody: a default",
};

export function serverView(): View {
  const control = new AbortController();
  const { signal } = control;
  const slot = el("div", {}, waiting());
  const node = el("div", { class: "server" }, el("header", { class: "part-head" }, el("h1", {}, "Server"), el("p", {}, "What it is set to, and what became of requests since it was started.")), slot);
  let shown = "";

  async function read(): Promise<void> {
    try {
      show(await request<Server>(path(["server"]), { signal, isAside: true }));
    } catch (error) {
      if (signal.aborted) return;
      shown = "";
      slot.replaceChildren(failure(error, () => void again(error)));
    }
  }

  async function again(error: unknown): Promise<void> {
    const isNarrow = error instanceof ApiError && error.status === 403;
    if (!isNarrow || await keyForm(error.problem, "admin")) await read();
  }

  function show(server: Server): void {
    const is = JSON.stringify({ ...server, now: 0 });
    // What is the same stays: a text in it may be selected.
    if (is !== shown) slot.replaceChildren(...sections(server));
    shown = is;
    const up = slot.querySelector(".up");
    if (up) up.textContent = lasting(server.now - server.started);
  }

  void read();
  const clock = window.setInterval(() => { if (shown && !document.hidden) void read(); }, AGAIN);
  return {
    node, title: "Server", refresh: () => void read(),
    close() {
      control.abort();
      clearInterval(clock);
    },
  };
}

function sections(server: Server): HTMLElement[] {
  const { upstreams, windows } = server;
  const faults = server.faults.filter(({ requests }) => requests > 0);
  return [
    facts(server),
    section("Requests", null, requests(server)),
    section("Faults", `Requests that ${server.strict ? "were refused" : "went on as they came"} although midfold should have looked at them.`, faults.length
      ? table("Faults by cause", ["Cause", "Requests", "Why"], faults.map((fault) => [el("code", { class: "word" }, fault.cause), count(fault.requests), fault.reason]))
      : el("p", { class: "empty" }, "None since it was started.")),
    section("Where requests go", null, table("Upstreams", ["Name", "Address", "Models"], upstreams.map(({ name, url, models }) => [el("span", { class: "word" }, name), el("code", {}, url), models.length ? el("code", {}, models.join(", ")) : "whatever is asked for in its format"]))),
    section("Windows", "How much each model holds, as requests were folded for it, and who says so.", windows.length
      ? table("Windows of models", ["Model", "Tokens", "Said by", "Where"], windows.map(({ model, window, from, upstream }) => [
        model === "*" ? "every model" : el("code", {}, model), count(window), el("span", { class: from === "default" ? "bad" : "" }, SAID_BY[from] ?? from), el("span", { class: "word" }, upstream ?? "everywhere")]))
      : el("p", { class: "empty" }, "No request with a history came yet, and no window was set: each model's own one holds.")),
  ];
}

function facts({ version, started, listen, store, policy, asks_for_keys: asks, strict }: Server): HTMLElement {
  const all: [string, Child, string][] = [
    ["Running for", el("b", { class: "up" }), `since ${moment(started)}`],
    ["Version", version, "of midfold"],
    ["Listens on", el("code", {}, listen), asks ? "whoever asks needs a key" : "asks for no keys"],
    ["Conversations", el("code", {}, store), store === "memory" ? "they are gone when it ends" : "are kept there"],
    ["Folds by", el("code", {}, policy), "where a request asks for no other policy"],
    ["What it cannot read", strict ? "is refused" : "goes on as it came", strict ? "--strict" : "without --strict"],
  ];
  return el("dl", { class: "facts" }, all.map(([name, value, more]) => el("div", {}, el("dt", {}, name), el("dd", {}, value, el("small", {}, more)))));
}

function requests({ requests: all }: Server): HTMLElement {
  const parts: [string, number, string][] = [
    ["Requests", all.all, `${count(all.with_history)} with a history`],
    ["Read through a fold", all.folded, `${many(all.folds, "fold")} made`],
    ["Too long for the provider", all.overflows, `${count(all.recovered)} of them folded and sent again`],
    ["Cut in silence", all.truncated, "prompts that a server shortened"],
    ["Without an answer", all.unanswered, "the place did not answer"],
    ["Broken off", all.broken, "answers that did not end"],
  ];
  return el("dl", { class: "facts" }, parts.map(([name, value, more]) => el("div", {}, el("dt", {}, name), el("dd", {}, el("b", {}, count(value)), el("small", {}, more)))));
}

const section = (name: string, about: string | null, body: Child): HTMLElement =>
  el("section", { "aria-label": name }, el("h2", {}, name), about ? el("p", { class: "lead" }, about) : null, body);

const table = (label: string, columns: string[], rows: Child[][]): HTMLElement =>
  el("div", { class: "table", tabindex: 0, role: "region", "aria-label": label },
    el("table", {}, el("thead", {}, el("tr", {}, columns.map((name) => el("th", { class: numeric(name), scope: "col" }, name)))),
      el("tbody", {}, rows.map((row) => el("tr", {}, row.map((cell, index) => el("td", { class: numeric(columns[index]) }, cell)))))));

const numeric = (column: string | undefined): string => (column === "Requests" || column === "Tokens" ? "" : "text wrap");
