// What was lost and used again: identifiers that the agent needed and the context did not hold.

import { el, note } from "./dom.js";
import { count, many, NONE } from "./format.js";
import { table } from "./table.js";

export function losses({ run, part, data }) {
  const every = run.conversations.length > 1;
  let all = false;
  let text = "";
  let kind = "";
  const rowsOf = (piece) => piece.losses.map((loss) => ({ ...loss, id: String(loss.id ?? ""), where: data.conversations[piece.conversation]?.name ?? "" }));
  const source = () => (all ? run.conversations.flatMap(rowsOf) : rowsOf(part));
  if (run.conversations.every((piece) => piece.losses.length === 0)) {
    return note(`Nothing that the agent used again was missing from a context of ${run.strategy}.`);
  }
  const event = (seq) => (Number.isFinite(seq) ? `@${seq}` : NONE);
  const columns = [
    { name: "Identifier", head: true, kind: "text", wrap: true, value: (row) => row.id, text: (row) => el("span", { class: "mono" }, row.id) },
    { name: "times", title: "How often in all", value: (row) => row.times, text: (row) => count(row.times) },
    { name: "recall\nfinds it", kind: "text", title: "Whether one search over the log brings it back", value: (row) => (row.recalled === undefined ? undefined : row.recalled ? "yes" : "no"), text: (row) => (row.recalled === undefined ? NONE : row.recalled ? "yes" : "no"), bad: (row) => row.recalled === false },
    { name: "class", kind: "text", value: (row) => row.class, text: (row) => row.class ?? NONE },
    { name: "last seen", title: "The event where it stood last before it was needed", value: (row) => row.seen, text: (row) => event(row.seen) },
    { name: "needed", title: "The first request at which the agent used it and the context did not hold it", value: (row) => row.at, text: (row) => event(row.at) },
    { name: "apart", title: "Messages between", value: (row) => row.at - row.seen, text: (row) => count(row.at - row.seen) },
  ];
  const grid = table(columns, { label: "Losses", sort: [1, false], limit: 50 });
  const told = el("p", { class: "note", role: "status", id: "losses-count" });
  const kinds = [...new Set(run.conversations.flatMap((piece) => piece.losses.map((loss) => loss.class)).filter(Boolean))].sort();
  const search = el("input", { type: "search", id: "losses-search", placeholder: "src/…, an id, a host", autocomplete: "off", spellcheck: "false", oninput: () => { text = search.value.trim().toLowerCase(); show(); } });
  const pick = el("select", { id: "losses-class", onchange: () => { kind = pick.value; show(); } }, el("option", { value: "" }, "all"), kinds.map((name) => el("option", { value: name }, name)));
  const where = el("select", { id: "losses-where", onchange: () => { all = where.value === "all"; show(); } }, el("option", { value: "one" }, "this conversation"), el("option", { value: "all" }, "all conversations"));

  function show() {
    const rows = source();
    const found = rows.filter((row) => (!kind || row.class === kind) && (!text || row.id.toLowerCase().includes(text) || row.where.toLowerCase().includes(text) && all));
    grid.show(found);
    told.textContent = rows.length === 0 ? "Nothing was lost and used again in this conversation."
      : found.length === rows.length ? `${many(rows.length, "identifier")} lost and used again; ${count(rows.filter((row) => row.recalled).length)} of them are found by one search.`
        : found.length ? `${count(found.length)} of ${many(rows.length, "identifier")}.` : "None matches.";
  }
  show();
  return el("div", {},
    el("div", { class: "controls" },
      el("div", { class: "field" }, el("label", { for: "losses-search" }, "Search"), search),
      kinds.length > 1 ? el("div", { class: "field" }, el("label", { for: "losses-class" }, "Class"), pick) : null,
      every ? el("div", { class: "field" }, el("label", { for: "losses-where" }, "Of"), where) : null),
    el("div", { class: "long" }, grid.node), told);
}
