// The sessions that the list knows: read by pages, kept in order of their newest change, brought up to date by events.

import { path, request } from "./api.js";
import type { Change, Cursor, Detail, Overview, SessionsPage } from "./types.js";

const PAGE = 100;

export class Sessions {
  readonly all: Overview[] = [];
  done = false;
  private cursor: Cursor | null = null;
  private reading: Promise<void> | null = null;
  private readonly wanted = new Set<string>();
  private timer = 0;

  constructor(readonly q: string, private readonly signal: AbortSignal, private readonly changed: () => void, private readonly failed: (error: unknown) => void) {
    signal.addEventListener("abort", () => clearTimeout(this.timer));
  }

  /** Reads the next page, if there is one and none is under way. */
  more(): Promise<void> {
    if (this.done) return Promise.resolve();
    this.reading ??= this.read().finally(() => { this.reading = null; });
    return this.reading;
  }

  private async read(): Promise<void> {
    try {
      const page = await request<SessionsPage>(path(["sessions"], { limit: PAGE, after: this.cursor, q: this.q }), { signal: this.signal });
      // A session that changed while the pages were read has moved to the front, and may come twice.
      const known = new Set(this.all.map(({ id }) => id));
      this.all.push(...page.sessions.filter(({ id }) => !known.has(id)));
      this.cursor = page.next;
      this.done = page.next === null;
      this.changed();
    } catch (error) {
      if (!this.signal.aborted) this.failed(error);
    }
  }

  /** Reads anew what may have changed, after a connection that was lost; what was read stays, and so does the place. */
  async again(): Promise<void> {
    if (this.all.length === 0) {
      this.done = false;
      return this.more();
    }
    try {
      let cursor: Cursor | null = null;
      do {
        const page: SessionsPage = await request(path(["sessions"], { limit: PAGE, after: cursor, q: this.q }), { signal: this.signal });
        const known = new Map(this.all.map(({ id, changed }) => [id, changed]));
        const isNews = page.sessions.some(({ id, changed }) => known.get(id) !== changed);
        const ids = new Set(page.sessions.map(({ id }) => id));
        const oldest = page.next === null ? -Infinity : page.sessions[page.sessions.length - 1]?.changed ?? -Infinity;
        // What is as new as this page and not on it was deleted.
        const rest = this.all.filter(({ id, changed }) => !ids.has(id) && (cursor !== null || changed < oldest));
        this.all.splice(0, this.all.length, ...[...page.sessions, ...rest].sort((a, b) => b.changed - a.changed));
        cursor = isNews ? page.next : null;
      } while (cursor !== null && this.all.length > 0);
      this.changed();
    } catch (error) {
      if (!this.signal.aborted) this.failed(error);
    }
  }

  /** Takes what an event says at once, and asks for the rest of the row. */
  take(change: Change): void {
    const at = this.all.findIndex(({ id }) => id === change.session);
    if (change.kind === "delete") {
      if (at < 0) return;
      this.all.splice(at, 1);
      this.changed();
      return;
    }
    const row = this.all[at];
    if (row) {
      this.all.splice(at, 1);
      this.insert({ ...row, events: change.events, folds: change.folds, calls: change.calls, active: change.active, changed: change.changed });
      this.changed();
    }
    this.wanted.add(change.session);
    if (!this.timer) this.timer = window.setTimeout(() => void this.ask(), 150);
  }

  private async ask(): Promise<void> {
    const ids = [...this.wanted].slice(0, 20);
    ids.forEach((id) => this.wanted.delete(id));
    await Promise.all(ids.map(async (id) => {
      try {
        this.put(await request<Detail>(path(["sessions", id]), { signal: this.signal }));
      } catch {
        // It was deleted meanwhile, or is not ours: the next reading of the list says so.
      }
    }));
    this.timer = 0;
    if (this.signal.aborted) return;
    this.changed();
    if (this.wanted.size) this.timer = window.setTimeout(() => void this.ask(), 250);
  }

  private put(session: Overview): void {
    const at = this.all.findIndex(({ id }) => id === session.id);
    if (at >= 0) this.all.splice(at, 1);
    else if (!this.matches(session)) return;
    this.insert(session);
  }

  private insert(session: Overview): void {
    const at = this.all.findIndex(({ changed }) => changed <= session.changed);
    if (at >= 0) this.all.splice(at, 0, session);
    // What is older than all that was read comes with its page.
    else if (this.done || this.all.length === 0) this.all.push(session);
  }

  private matches({ id, title, model, client }: Overview): boolean {
    const q = this.q.toLowerCase();
    return !q || [id, title, model, client].some((text) => text?.toLowerCase().includes(q));
  }
}
