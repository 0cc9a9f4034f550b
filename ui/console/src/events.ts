// The server's events, read with fetch and not with EventSource, because that cannot send the key.

import { ApiError, headers, isAboutKey, path, problemOf } from "./api.js";
import type { Change } from "./types.js";

const KINDS = new Set(["new", "append", "fold", "undo", "call", "change", "delete"]);
/** The server says something every 15 s; a connection that is silent for longer than this is dead. */
const SILENCE = 40_000;

/** What the tab that has the connection passes on to the others; `ask` is the question of a tab that was opened later. */
interface Told { state?: LiveState; change?: Change; missed?: true; ask?: true }

export type LiveState = "live" | "connecting" | "lost" | "refused" | "memory";

/** Splits a stream of server-sent events: give it pieces of text, it calls back with each event. */
export function parser(take: (event: string, data: string) => void): (piece: string) => void {
  let rest = "";
  let name = "";
  let data: string[] = [];
  return (piece) => {
    const lines = (rest + piece).split(/\r\n|\n|\r/);
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line === "") {
        if (name || data.length) take(name || "message", data.join("\n"));
        name = "";
        data = [];
      } else if (line.startsWith("event:")) name = line.slice(6).trim();
      else if (line.startsWith("data:")) data.push(line.slice(5).replace(/^ /, ""));
    }
  };
}

/**
 * Follows all sessions until `stop` is called. `missed` is called after a connection that was lost stands again:
 * what happened between is not repeated by the server.
 *
 * A browser opens six connections to a server, and a stream takes one. So of all tabs with the same key, one has the
 * stream and tells the others; when it is closed, the next one has it. A page that may not do that (it came over plain
 * HTTP from another machine) has a stream of its own.
 */
export function follow({ change, state, missed }: { change: (change: Change) => void; state: (state: LiveState) => void; missed: () => void }): { stop: () => void; again: () => void } {
  let stopped = false;
  let tries = 0;
  let ever = false;
  let refused = false;
  let control = new AbortController();
  let wake: (() => void) | null = null;
  let now: LiveState = "connecting";
  let channel: BroadcastChannel | null = null;
  let leads = true;
  let joined = "";
  let waiting = new AbortController();

  /** Tells this tab, and those that wait behind it. */
  function tell(told: Told): void {
    hear(told);
    if (leads) channel?.postMessage(told);
  }

  function hear(told: Told): void {
    if (told.state) {
      now = told.state;
      ever ||= now === "live";
      state(now);
    }
    if (told.change) change(told.change);
    if (told.missed) missed();
  }

  /** The tabs with the same key share a name. */
  const group = () => `midfold events ${JSON.stringify(headers())}`;

  async function connect(): Promise<void> {
    control = new AbortController();
    let timer = 0;
    const alive = () => {
      clearTimeout(timer);
      timer = window.setTimeout(() => control.abort(), SILENCE);
    };
    try {
      alive();
      const response = await fetch(path(["events"]), { headers: { ...headers(), accept: "text/event-stream" }, signal: control.signal, cache: "no-store", credentials: "same-origin" });
      if (!response.ok) throw new ApiError(await problemOf(response));
      if (!response.body) throw new Error("no body");
      const decoder = new TextDecoder();
      const feed = parser((event, data) => {
        if (event === "hello") {
          const before = ever;
          tell({ state: "live" });
          if (before) tell({ missed: true });
          tries = 0;
        } else if (KINDS.has(event)) tell({ change: { ...JSON.parse(data) as Change, kind: event } });
      });
      const reader = response.body.getReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        alive();
        feed(decoder.decode(value, { stream: true }));
      }
    } finally {
      clearTimeout(timer);
    }
  }

  async function run(): Promise<void> {
    while (!stopped && group() === joined) {
      if (!refused) tell({ state: tries > 1 ? "lost" : "connecting" });
      refused = false;
      try {
        await connect();
      } catch (error) {
        // Tried again below.
        refused = error instanceof ApiError && isAboutKey(error.problem);
        if (error instanceof ApiError && error.problem.code === "memory") {
          // Nothing of it changes while it runs.
          tell({ state: "memory" });
          stopped = true;
          return;
        }
      }
      if (stopped || group() !== joined) return;
      tries += 1;
      tell({ state: refused ? "refused" : tries > 1 ? "lost" : "connecting" });
      const wait = Math.min(15_000, 250 * 2 ** Math.min(tries, 6)) * (0.75 + Math.random() / 2);
      await new Promise<void>((resolve) => {
        wake = resolve;
        setTimeout(resolve, wait);
      });
    }
  }
  /** Waits until this tab may have the stream. Till then it hears from the one that has it. */
  async function join(): Promise<void> {
    while (!stopped) {
      joined = group();
      if (!("locks" in navigator) || !("BroadcastChannel" in window)) {
        await run();
        continue;
      }
      leads = false;
      const own = new BroadcastChannel(joined);
      channel = own;
      own.onmessage = ({ data }: MessageEvent<Told>) => {
        if (leads && data.ask) own.postMessage({ state: now } satisfies Told);
        else if (!leads) hear(data);
      };
      own.postMessage({ ask: true } satisfies Told);
      waiting = new AbortController();
      try {
        await navigator.locks.request(joined, { signal: waiting.signal }, async () => {
          leads = true;
          await run();
        });
      } catch {
        // Another key was given, or the page is left.
      } finally {
        own.close();
        channel = null;
      }
    }
  }
  void join();
  return {
    stop() {
      stopped = true;
      waiting.abort();
      control.abort();
      wake?.();
    },
    /** Tries at once: another key was given, or the machine is back from sleep. */
    again() {
      tries = 0;
      refused = false;
      if (group() !== joined) waiting.abort();
      control.abort();
      wake?.();
    },
  };
}
