// Two policies over this session: what each would have kept, and at which cost.

import { el, picker } from "../../parts/dom.js";
import { read } from "../../parts/data.js";
import { cost, count, percentSign } from "../../parts/format.js";
import { replaySections } from "../../parts/replay.js";
import { path, request } from "./api.js";
import { keepPlace, toSession } from "./router.js";
import type { Context, Part, SessionPlace } from "./session.js";
import type { Presets } from "./types.js";
import { fill, waiting } from "./view.js";

interface Run { strategy: string; window: number; totals: { at_risk?: number; cost?: number; folds?: number; mean?: number; over?: number; invalid?: number } }

export function compareTab(context: Context, place: SessionPlace): Part {
  const { id, signal, detail } = context;
  const slot = el("div", { class: "replay" });
  const controls = el("div", {}, waiting());
  const node = el("section", { "aria-labelledby": "compare-title" },
    el("header", { class: "part-head" }, el("h2", { id: "compare-title" }, "Compare policies"),
      el("p", {}, "Replays this session under two policies: at each message of the agent, the context that the policy would have sent is held against what the agent then wrote. No model is called, and the session stays as it is.")),
    controls, slot);
  let chosen: [string, string] = [place.query.a ?? detail.policy, place.query.b ?? ""];

  void fill(controls, signal, async () => {
    const { presets } = await request<Presets>(path(["presets"]), { signal });
    const names = [...new Set([detail.policy, ...presets.map(({ name }) => name)])];
    if (!names.includes(chosen[0])) chosen[0] = names[0] ?? "default";
    if (!names.includes(chosen[1])) chosen[1] = names.find((name) => name !== chosen[0]) ?? chosen[0];
    const about = el("p", { class: "note" });
    const say = () => { about.textContent = chosen.map((name) => `${name}: ${presets.find((preset) => preset.name === name)?.about ?? "the policy of this session"}.`).join(" "); };
    const options = names.map((name): [string, string] => [name, name === detail.policy ? `${name} (this session's)` : name]);
    say();
    if (place.query.a && place.query.b) queueMicrotask(run);
    return el("form", { class: "controls", onsubmit: (event: SubmitEvent) => { event.preventDefault(); run(); } },
      picker("Policy", options, chosen[0], (name) => { chosen = [name, chosen[1]]; say(); }), picker("Against", options, chosen[1], (name) => { chosen = [chosen[0], name]; say(); }),
      el("button", { type: "submit", class: "primary" }, "Replay"), about);
  });

  function run(): void {
    keepPlace(toSession(id, "compare", null, { a: chosen[0], b: chosen[1] }));
    slot.replaceChildren(waiting("Replaying … a long session takes some seconds."));
    void fill(slot, signal, async () => {
      const policies = [...new Set(chosen)];
      const data = read(JSON.stringify(await request<unknown>(path(["sessions", id, "replay"]), { body: { policies }, signal })));
      return [cards(data.runs as Run[], policies), ...replaySections(data)];
    });
  }
  return { node, place: () => undefined };
}

/** The two side by side, in the figures that decide. */
function cards(runs: Run[], policies: string[]): HTMLElement {
  const rows: [string, (run: Run) => number | undefined, (value: number | undefined) => string, "high" | "low"][] = [
    ["Kept of what the agent used next and could have lost", (run) => run.totals.at_risk, percentSign, "high"],
    ["Cost, times sending everything", (run) => run.totals.cost, cost, "low"],
    ["Mean context, tokens", (run) => run.totals.mean, count, "low"],
    ["Folds", (run) => run.totals.folds, count, "low"],
    ["Requests over the window", (run) => run.totals.over, count, "low"],
  ];
  const shown = policies.map((name) => runs.find((run) => run.strategy === name)).filter((run): run is Run => run !== undefined);
  if (shown.length === 0) return el("p", { class: "empty" }, "The replay has no run of these policies.");
  return el("div", { class: "table", tabindex: 0, role: "region", "aria-label": "The policies side by side" }, el("table", { class: "side" },
    el("thead", {}, el("tr", {}, el("td", {}), shown.map((run) => el("th", { scope: "col" }, run.strategy)))),
    el("tbody", {}, rows.map(([name, value, text, best]) => {
      const values = shown.map(value);
      const [a, b] = values;
      const top = a !== undefined && b !== undefined && text(a) !== text(b) && name !== "Folds" ? (best === "high" ? Math.max(a, b) : Math.min(a, b)) : undefined;
      return el("tr", {}, el("th", { scope: "row", class: "text" }, name), values.map((one) => el("td", { class: one !== undefined && one === top ? "best" : null }, text(one))));
    }))));
}
