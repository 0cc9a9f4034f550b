// The server's events, read with fetch and not with EventSource, because that cannot send the key.

import { ApiError, headers, isAboutKey, path, problemOf } from "./api.js";
import type { Change } from "./types.js";

const KINDS = new Set(["new", "append", "fold", "undo", "call", "change", "delete"]);
/** The server says something every 15 s; a connection that is silent for longer than this is dead. */
const SILENCE = 40_000;

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
 */
export function follow({ change, state, missed }: { change: (change: Change) => void; state: (state: LiveState) => void; missed: () => void }): { stop: () => void; again: () => void } {
  let stopped = false;
  let tries = 0;
  let ever = false;
  let refused = false;
  let control = new AbortController();
  let wake: (() => void) | null = null;

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
          state("live");
          if (ever) missed();
          ever = true;
          tries = 0;
        } else if (KINDS.has(event)) change({ ...JSON.parse(data) as Change, kind: event });
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
    while (!stopped) {
      if (!refused) state(tries > 1 ? "lost" : "connecting");
      refused = false;
      try {
        await connect();
      } catch (error) {
        // Tried again below.
        refused = error instanceof ApiError && isAboutKey(error.problem);
        if (error instanceof ApiError && error.problem.code === "memory") {
          // Nothing of it changes while it runs.
          state("memory");
          return;
        }
      }
      if (stopped) return;
      tries += 1;
      state(refused ? "refused" : tries > 1 ? "lost" : "connecting");
      const wait = Math.min(15_000, 250 * 2 ** Math.min(tries, 6)) * (0.75 + Math.random() / 2);
      await new Promise<void>((resolve) => {
        wake = resolve;
        setTimeout(resolve, wait);
      });
    }
  }
  void run();
  return {
    stop() {
      stopped = true;
      control.abort();
      wake?.();
    },
    /** Tries at once: another key was given, or the machine is back from sleep. */
    again() {
      tries = 0;
      refused = false;
      control.abort();
      wake?.();
    },
  };
}
