// One session: its head, its actions, and one of its parts below.

import { el } from "../../parts/dom.js";
import { path, request } from "./api.js";
import { actionBar } from "./actions.js";
import { compareTab } from "./compare.js";
import { fabricTab } from "./fabric.js";
import { forgotTab } from "./forgot.js";
import { sessionHead } from "./head.js";
import { messagesTab } from "./messages.js";
import { requestsTab } from "./requests.js";
import { parse, TABS, toList, toSession } from "./router.js";
import type { Place, Tab } from "./router.js";
import type { Change, Detail } from "./types.js";
import { failure, gather, waiting } from "./view.js";
import type { View } from "./view.js";

export type SessionPlace = Extract<Place, { view: "session" }>;

/** What a part of a session's page gets. */
export interface Context {
  id: string;
  detail: Detail;
  signal: AbortSignal;
  /** Reads the session anew, and tells the part: something was done. */
  refresh: () => void;
}
export interface Part {
  node: HTMLElement;
  /** The address names something else in this part. */
  place?: (place: SessionPlace) => void;
  /** The session is another than before: `kinds` of what happened, empty where unknown. */
  update?: (detail: Detail, kinds: Set<string>) => void;
  close?: () => void;
}

const MAKE: Record<Tab, (context: Context, place: SessionPlace) => Part> = { fabric: fabricTab, messages: messagesTab, requests: requestsTab, forgot: forgotTab, compare: compareTab };

export function sessionView(first: SessionPlace): View & { place: (hash: string) => boolean } {
  const { id } = first;
  const control = new AbortController();
  let place = first;
  let detail: Detail | null = null;
  let part: Part | null = null;
  let partControl = new AbortController();
  const kinds = new Set<string>();
  /** The numbers of the last question for the session, and of the newest one that was answered. */
  let [asked, answered] = [0, 0];
  const head = el("div", { class: "session-head" });
  const actions = el("div", { class: "actions" });
  const tabs = TABS.map(([tab, name]) => el("a", { href: toSession(id, tab) }, name));
  const nav = el("nav", { class: "tabs", "aria-label": "Parts of this session" }, tabs);
  const slot = el("div", { class: "tab-part" }, waiting());
  const node = el("div", { class: "session" },
    el("p", { class: "crumb" }, el("a", { href: toList() }, "Sessions"), el("span", { "aria-hidden": "true" }, " › "), el("span", { class: "mono" }, id)),
    head, nav, slot);

  async function read(): Promise<void> {
    asked += 1;
    const mine = asked;
    try {
      const next = await request<Detail>(path(["sessions", id]), { signal: control.signal });
      // A later question was answered first: this answer is older.
      if (mine < answered) return;
      answered = mine;
      const isFirst = detail === null;
      detail = next;
      nav.hidden = false;
      const seen = new Set(kinds);
      kinds.clear();
      if (isFirst) actions.replaceChildren(...actionBar(context));
      head.replaceChildren(sessionHead(next, actions));
      document.title = `${next.title || id} · midfold`;
      if (isFirst) showPart();
      else part?.update?.(next, seen);
    } catch (error) {
      if (control.signal.aborted) return;
      part?.close?.();
      part = null;
      detail = null;
      // A session that is not there has no parts.
      nav.hidden = true;
      head.replaceChildren(el("h1", {}, id));
      slot.replaceChildren(failure(error, () => void read()));
    }
  }

  const context = (): Context => ({ id, detail: detail as Detail, signal: partControl.signal, refresh: () => void read() });

  function showPart(): void {
    part?.close?.();
    partControl.abort();
    partControl = new AbortController();
    markTab();
    if (!detail) return;
    part = MAKE[place.tab](context(), place);
    slot.className = `tab-part part-${place.tab}`;
    slot.replaceChildren(part.node);
  }

  function markTab(): void {
    tabs.forEach((link, index) => {
      if (TABS[index]?.[0] === place.tab) {
        link.setAttribute("aria-current", "page");
        if (link.isConnected && link.parentElement) link.parentElement.scrollLeft = link.offsetLeft - 40;
      }
      else link.removeAttribute("aria-current");
    });
  }

  const later = gather(200, () => void read());
  markTab();
  void read();
  return {
    node, title: id,
    place(hash) {
      const next = parse(hash);
      if (next.view !== "session" || next.id !== id) return false;
      const same = next.tab === place.tab;
      place = next;
      if (same && part?.place) part.place(next);
      else showPart();
      return true;
    },
    change(change: Change) {
      if (change.session !== id) return;
      kinds.add(change.kind);
      later.call();
    },
    refresh: () => void read(),
    close() {
      control.abort();
      partControl.abort();
      part?.close?.();
      later.cancel();
    },
  };
}
