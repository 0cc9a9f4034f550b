// The console: one page that shows the place that the address names, and keeps it live.

import { el } from "../../parts/dom.js";
import { hideTip } from "../../parts/tip.js";
import { key, onKeyNeeded } from "./api.js";
import { follow } from "./events.js";
import type { LiveState } from "./events.js";
import { forgotView } from "./forgot.js";
import { helpButton } from "./help.js";
import { keyForm } from "./key.js";
import { listView } from "./list.js";
import { ListOrder } from "./order.js";
import { parse, toForgot, toList, toServer } from "./router.js";
import type { Place } from "./router.js";
import { serverView } from "./server.js";
import { sessionView } from "./session.js";
import { schemeSwitch, startScheme } from "./scheme.js";
import type { View } from "./view.js";

const STATES: Record<LiveState, [string, string]> = {
  live: ["live", "Live: what changes shows at once"], connecting: ["connecting", "Connecting to the server"], lost: ["no connection", "The server does not answer; tried again by itself"],
  memory: ["in memory", "This server keeps its conversations in memory alone"],
  refused: ["needs a key", "The server asks for a key, or for another one"],
};

/** Which link of the head a place is below. */
const LINK: Record<Place["view"], number> = { list: 0, session: 0, forgot: 1, server: 2 };

type Placed = View & { place?: (hash: string) => boolean };
function viewOf(place: Place): Placed {
  switch (place.view) {
    case "list": return listView(place.q, new ListOrder(place.sort, place.only));
    case "forgot": return forgotView(place.text);
    case "server": return serverView();
    case "session": return sessionView(place);
  }
}

function start(): void {
  startScheme();
  const top = document.getElementById("top");
  const page = document.getElementById("page");
  if (!top || !page) return;
  const state = el("span", { class: "live connecting", role: "status" }, "connecting");
  const keyButton = el("button", { type: "button", class: "plain", title: "Give another key", hidden: true, onclick: async () => {
    if (!await keyForm(null)) return;
    live.again();
    open();
  } }, "Key …");
  const links = [el("a", { href: toList() }, "Sessions"), el("a", { href: toForgot() }, "Why did it forget …?"), el("a", { href: toServer() }, "Server")];
  top.append(el("div", { class: "top-in" },
    el("a", { class: "brand", href: toList(), "aria-label": "midfold, to the sessions" }, el("span", { class: "brand-mark", "aria-hidden": "true" }, el("i"), el("i"), el("i")), "midfold"),
    el("nav", { "aria-label": "Console" }, links),
    el("div", { class: "top-end" }, state, keyButton, helpButton(), schemeSwitch())));
  document.body.append(el("div", { id: "said", class: "visually-hidden", role: "status" }));
  document.querySelector<HTMLAnchorElement>(".skip")?.addEventListener("click", (event) => {
    event.preventDefault();
    page.focus();
  });

  let view: Placed | null = null;
  function show(): void {
    hideTip();
    // Another part of the same session changes the part, not the page.
    if (!view?.place?.(location.hash)) open();
  }
  function open(): void {
    const place = parse(location.hash);
    view?.close();
    const made = viewOf(place);
    const first = view === null;
    view = made;
    document.title = `${made.title} · midfold`;
    links.forEach((link, index) => (index === LINK[place.view] ? link.setAttribute("aria-current", place.view === "session" ? "true" : "page") : link.removeAttribute("aria-current")));
    page?.replaceChildren(made.node);
    page?.setAttribute("class", place.view);
    scrollTo(0, 0);
    // After a step to another page the keyboard goes on from its start.
    if (!first) page?.focus({ preventScroll: true });
    document.documentElement.dataset.ready = "true";
  }

  const live = follow({
    change: (change) => view?.change?.(change),
    state(next) {
      const [text, title] = STATES[next];
      state.className = `live ${next}`;
      state.title = title;
      if (state.textContent !== text) state.textContent = text;
      document.documentElement.dataset.live = next;
      // A server that lets everybody in has no use for it.
      keyButton.hidden = next !== "refused" && !key.get();
    },
    missed: () => view?.refresh?.(),
  });
  onKeyNeeded(async (problem) => {
    const given = await keyForm(problem);
    if (given) live.again();
    return given;
  });
  addEventListener("hashchange", show);
  addEventListener("online", live.again);
  show();
}

start();
