// The order of the list and what it leaves out: made from the sessions that were read, so both read more of them.

import { el } from "../../parts/dom.js";
import type { Overview } from "./types.js";

/** The most sessions that are read to sort or filter them. */
export const SORTED = 2_000;

const share = ({ fill, window }: Overview): number => (window ? fill / window : 0);

/** The orders by name, with the figure by which the largest comes first. */
const ORDERS: Record<string, [string, (session: Overview) => number]> = {
  full: ["Fullest first", share],
  folds: ["Most folds first", ({ folds }) => folds],
  cost: ["Dearest first", ({ cost }) => cost?.sent ?? 0],
  long: ["Longest first", ({ events }) => events],
};

/** The filters by name. */
const FILTERS: Record<string, [string, (session: Overview) => boolean]> = {
  faults: ["With faults", ({ faults }) => faults.length > 0],
  folded: ["Folded", ({ folds }) => folds > 0],
  day: ["Changed today", ({ changed }) => Date.now() - changed < 86_400_000],
};

export class ListOrder {
  constructor(public sort: string, public only: string) {
    if (!ORDERS[sort]) this.sort = "";
    if (!FILTERS[only]) this.only = "";
  }

  /** Whether more than the newest sessions have to be read. */
  get asksForAll(): boolean {
    return this.sort !== "" || this.only !== "";
  }

  /** The sessions to show, in their order. */
  of(all: readonly Overview[]): readonly Overview[] {
    if (!this.asksForAll) return all;
    const [, keep] = FILTERS[this.only] ?? ["", () => true];
    const kept = all.filter(keep);
    const order = ORDERS[this.sort];
    return order ? kept.sort((a, b) => order[1](b) - order[1](a)) : kept;
  }

  /** The two fields with which a person chooses. */
  fields(changed: () => void): HTMLElement[] {
    const field = (name: string, id: "sort" | "only", first: string, all: Record<string, [string, unknown]>): HTMLElement => {
      const options = [["", first], ...Object.entries(all).map(([value, [text]]) => [value, text])];
      const select = el("select", { id, onchange: () => { this[id] = select.value; changed(); } },
        options.map(([value, text]) => el("option", { value, selected: value === this[id] }, text)));
      return el("div", { class: "field" }, el("label", { for: id }, name), select);
    };
    return [field("Order", "sort", "Newest change first", ORDERS), field("Show", "only", "All", FILTERS)];
  }
}
