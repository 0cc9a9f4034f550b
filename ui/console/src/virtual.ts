// A list of any length: only the rows that are in sight are in the page. Rows have one height. One stop of the Tab key;
// arrow keys, page keys, Home and End move between the rows.

import { el } from "../../parts/dom.js";

export interface VirtualOptions {
  label: string;
  /** Height of a row in pixels, asked again when the width of the list changes. */
  rowHeight: () => number;
  /** The row at `index`, or a place-holder where it is not there yet. */
  make: (index: number) => HTMLElement;
  /** Which rows are in sight now; more can be fetched here. */
  seen?: (first: number, last: number) => void;
  open?: (index: number) => void;
  /** The box that scrolls; the page itself where there is none. */
  box?: HTMLElement;
}

const SPARE = 8;

export class VirtualList {
  readonly node: HTMLElement;
  private readonly rows = new Map<number, HTMLElement>();
  private size = 0;
  private height = 40;
  private current = 0;
  private asked = 0;
  private readonly control = new AbortController();
  private readonly watch: ResizeObserver;
  private readonly sight: IntersectionObserver;

  constructor(private readonly options: VirtualOptions) {
    this.node = el("div", { class: "virtual", role: "list", "aria-label": options.label });
    const { signal } = this.control;
    // Scrolling does not bubble, but it is heard on the way down: the box, the page, and whatever stands between them.
    document.addEventListener("scroll", () => this.soon(), { passive: true, capture: true, signal });
    addEventListener("resize", () => this.soon(), { signal });
    this.node.addEventListener("keydown", (event) => this.key(event), { signal });
    this.node.addEventListener("focusin", (event) => this.focused(event), { signal });
    this.watch = new ResizeObserver(() => this.measure());
    this.watch.observe(this.node);
    // What stands above may grow or go: the list comes into sight without a scroll.
    this.sight = new IntersectionObserver(() => this.soon());
    this.sight.observe(this.node);
  }

  close(): void {
    this.control.abort();
    this.watch.disconnect();
    this.sight.disconnect();
    cancelAnimationFrame(this.asked);
  }

  /** Sets how many rows there are and draws those in sight anew. */
  show(size: number): void {
    this.size = size;
    this.current = Math.max(0, Math.min(this.current, size - 1));
    this.measure(true);
  }

  /** Draws the rows in sight anew, at the next frame. */
  renew(): void {
    this.stale = true;
    this.soon();
  }
  private stale = false;

  private measure(anew = false): void {
    const height = this.options.rowHeight();
    if (height !== this.height) anew = true;
    this.height = height;
    this.node.style.height = `${this.size * height}px`;
    this.draw(anew);
  }

  private soon(): void {
    if (this.asked) return;
    this.asked = requestAnimationFrame(() => {
      this.asked = 0;
      this.draw(this.stale);
    });
  }

  /** The rows in sight: where the list, the box that scrolls and the window overlap. */
  range(): [number, number] {
    const own = this.node.getBoundingClientRect();
    const box = this.options.box?.getBoundingClientRect();
    const top = Math.max(0, box?.top ?? 0, own.top);
    const bottom = Math.min(innerHeight, box?.bottom ?? innerHeight, own.top + this.size * this.height);
    const first = Math.floor((top - own.top) / this.height);
    const last = Math.ceil((bottom - own.top) / this.height);
    return [Math.max(0, Math.min(first, this.size)), Math.max(0, Math.min(last, this.size))];
  }

  private draw(anew: boolean): void {
    this.stale = false;
    if (!this.node.isConnected) return;
    const [first, last] = this.range();
    const [from, to] = [Math.max(0, first - SPARE), Math.min(this.size, last + SPARE)];
    const active = this.focusIndex();
    for (const [index, row] of this.rows) {
      // The row that has the focus stays, else the keyboard would fall back to the top of the page.
      if ((index < from || index >= to) && index !== active || index >= this.size) {
        row.remove();
        this.rows.delete(index);
      }
    }
    for (let index = from; index < to; index += 1) {
      const there = this.rows.get(index);
      if (!there) this.put(index, null);
      else if (anew) this.put(index, there);
    }
    if (last > first) this.options.seen?.(first, last);
  }

  private put(index: number, old: HTMLElement | null): void {
    const row = this.options.make(index);
    row.setAttribute("role", "listitem");
    row.setAttribute("aria-posinset", String(index + 1));
    row.setAttribute("aria-setsize", String(this.size));
    row.dataset.index = String(index);
    row.style.transform = `translateY(${index * this.height}px)`;
    row.style.height = `${this.height}px`;
    const stop = stopOf(row);
    if (stop) stop.tabIndex = index === this.current ? 0 : -1;
    if (old) {
      const focused = old.contains(document.activeElement);
      old.replaceWith(row);
      if (focused) stop?.focus({ preventScroll: true });
    } else {
      // In the order of the list, for who reads the page row by row.
      const next = [...this.rows.keys()].filter((other) => other > index).sort((a, b) => a - b)[0];
      this.node.insertBefore(row, next === undefined ? null : this.rows.get(next) ?? null);
    }
    this.rows.set(index, row);
  }

  private focusIndex(): number {
    const row = document.activeElement?.closest<HTMLElement>("[data-index]");
    return row && this.node.contains(row) ? Number(row.dataset.index) : -1;
  }

  private focused(event: FocusEvent): void {
    const row = (event.target as HTMLElement).closest<HTMLElement>("[data-index]");
    if (row) this.mark(Number(row.dataset.index));
  }

  private mark(index: number): void {
    this.current = index;
    for (const [at, row] of this.rows) {
      const stop = stopOf(row);
      if (stop) stop.tabIndex = at === index ? 0 : -1;
    }
  }

  private key(event: KeyboardEvent): void {
    if (event.altKey || event.ctrlKey || event.metaKey || (event.target as HTMLElement).matches("input, select, textarea")) return;
    const page = Math.max(1, this.range()[1] - this.range()[0] - 2);
    const step = ({ ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity } as Record<string, number>)[event.key];
    if (event.key === "Enter" && this.options.open && !(event.target as HTMLElement).matches("a, button")) return this.options.open(this.current);
    if (step === undefined || this.size === 0) return;
    event.preventDefault();
    this.focus(Math.max(0, Math.min(this.size - 1, this.current + step)));
  }

  /** Scrolls to a row and gives it the focus. */
  focus(index: number): void {
    this.current = index;
    this.reveal(index, true);
    this.draw(false);
    const row = this.rows.get(index);
    if (row) stopOf(row)?.focus({ preventScroll: true });
    this.mark(index);
  }

  /** Scrolls a row into sight: no further than needed for a step, to a third of the box for a jump. */
  reveal(index: number, inPage = false): void {
    const { box } = this.options;
    const top = index * this.height;
    if (box) {
      const above = box.scrollTop - top;
      const below = top + this.height - box.scrollTop - box.clientHeight;
      if (Math.max(above, below) > 2 * this.height) box.scrollTop = top - box.clientHeight / 3;
      else if (above > 0) box.scrollTop = top;
      else if (below > 0) box.scrollTop += below;
      // Who opens a page begins at its start; who moves in the list sees where.
      if (!inPage) return;
    }
    const at = this.node.getBoundingClientRect().top + top;
    if (at < 120) scrollBy(0, at - 120);
    else if (at + this.height > innerHeight - 8) scrollBy(0, at + this.height - innerHeight + 8);
  }
}

const stopOf = (row: HTMLElement): HTMLElement | null => (row.matches("a, button") ? row : row.querySelector<HTMLElement>("[data-stop]"));
