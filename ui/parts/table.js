// A table that can be sorted by its heads.

import { el } from "./dom.js";

/**
 * `columns`: {name, title, group, value(row) → number|string|undefined, text(row) → text or node, kind: "text"|undefined,
 * best: "high"|"low"|undefined, bad(row), head: true for the row's own name}. `options`: {label, sort: [column, up],
 * chosen(row), limit}. Returns the element and `show(rows)`.
 */
export function table(columns, { label, sort, chosen = () => false, limit = Infinity }) {
  let [by, up] = sort ?? [-1, true];
  let rows = [];
  let shown = limit;
  const body = el("tbody");
  const more = el("button", { type: "button", class: "plain", hidden: true, onclick: () => { shown = Infinity; draw(); } });
  const heads = columns.map((column, index) => el("th", { scope: "col", class: cellClass(column), title: column.title },
    el("button", { type: "button", onclick: () => choose(index) }, column.name)));
  const box = el("div", { class: "table", tabindex: 0, role: "region", "aria-label": label },
    el("table", {}, el("caption", { class: "visually-hidden" }, label), el("thead", {}, groupRow(columns), el("tr", {}, heads)), body));

  function choose(index) {
    up = by === index ? !up : columns[index].kind === "text" || columns[index].best === "low";
    by = index;
    draw();
  }

  function draw() {
    const column = columns[by];
    const list = rows.slice();
    if (column) list.sort((a, b) => compare(column.value(a), column.value(b), up));
    heads.forEach((head, index) => head.setAttribute("aria-sort", index === by ? (up ? "ascending" : "descending") : "none"));
    const bests = columns.map((each) => bestOf(each, rows));
    body.replaceChildren(...list.slice(0, shown).map((row) => el("tr", { class: chosen(row) ? "chosen" : null },
      columns.map((each, index) => cell(each, row, bests[index])))));
    more.hidden = list.length <= shown;
    more.textContent = `Show all ${list.length}`;
  }
  return { node: el("div", {}, box, more), show: (next) => { rows = next; shown = limit; draw(); }, draw };
}

function cellClass(column, extra) {
  return [column.kind === "text" ? "text" : "", column.wrap ? "wrap" : "", column.head ? "stick" : "", column.edge ? "edge" : "", extra]
    .filter(Boolean).join(" ") || null;
}

function groupRow(columns) {
  if (!columns.some((column) => column.group)) return null;
  const groups = [];
  columns.forEach((column, index) => {
    const last = groups[groups.length - 1];
    if (last && last.name === column.group) last.span += 1;
    else {
      groups.push({ name: column.group, span: 1, head: column.head });
      columns[index].edge = index > 0;
    }
  });
  return el("tr", { class: "group" }, groups.map((group) =>
    el(group.name ? "th" : "td", { colspan: group.span, scope: group.name ? "colgroup" : null, class: group.head ? "stick" : null }, group.name ?? "")));
}

function cell(column, row, best) {
  const value = column.value(row);
  const extra = column.bad?.(row) ? "bad" : best !== undefined && value === best && (column.fair?.(row) ?? true) ? "best" : value === undefined ? "dim" : null;
  return el(column.head ? "th" : "td", { class: cellClass(column, extra), scope: column.head ? "row" : null }, column.text(row));
}

/** The best value of a column, when the column has one and not every row has it. */
function bestOf(column, rows) {
  if (!column.best) return undefined;
  const values = rows.filter((row) => column.fair?.(row) ?? true).map(column.value).filter(Number.isFinite);
  if (values.length < 2) return undefined;
  const [low, high] = [Math.min(...values), Math.max(...values)];
  if (low === high) return undefined;
  const best = column.best === "high" ? high : low;
  // What most strategies reach is no distinction.
  return values.filter((value) => value === best).length * 2 > values.length ? undefined : best;
}

function compare(a, b, up) {
  if (a === undefined || b === undefined) return a === b ? 0 : a === undefined ? 1 : -1;
  const order = typeof a === "string" || typeof b === "string" ? String(a).localeCompare(String(b), "en", { numeric: true }) : a - b;
  return up ? order : -order;
}
