// A server with made-up sessions that speaks midfold's API, for looking at the console and for its checks:
//
//   node mock.mjs [--port 8123] [--sessions 10000] [--key KEY]
//
// The data are the same every time; only the times are counted back from the start. `POST /__append?session=ID` appends
// a message, `POST /__fold?session=ID` folds. `session-00001` has 100,000 messages and 60 folds, `session-00002` has
// texts that try to break out of the page.

import { createServer } from "node:http";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { sample } from "../report/sample.mjs";
import { call, compact, detail, diff, explain, fabric, fold, found, message, pin, undo } from "./mock/answers.mjs";
import { serverFacts } from "./mock/server.mjs";
import { hash } from "./mock/record.mjs";
import { chance, HOSTILE, Session } from "./mock/session.mjs";

const assets = join(dirname(fileURLToPath(import.meta.url)), "../../crates/serve/assets/console");
const FILES = { "/": ["index.html", "text/html; charset=utf-8"], "/console.js": ["console.js", "text/javascript; charset=utf-8"], "/console.css": ["console.css", "text/css; charset=utf-8"] };
export const POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const PRESETS = [["default", "one deep fold: head, a recap of statements, verbatim tail"], ["lean", "as default, with a smaller recap"], ["hermes", "head, a narrated recap, tail"], ["nucleic", "many small folds"], ["head-tail", "head and tail, a marker between them"]];

class Refused extends Error {
  constructor(status, code, text, hints = []) {
    super(text);
    this.problem = { type: `https://midfold.dev/problems/${code}`, title: text, status, detail: text, hints, code };
  }
}

function makeSessions(number) {
  const now = Date.now();
  return Array.from({ length: number }, (_, i) => {
    const id = `session-${String(i).padStart(5, "0")}`;
    const changed = now - Math.floor(4000 + i * 61_000 * (1 + i / 900));
    if (i === 1) return new Session(11, { id, size: 100_000, folds: 60, changed, callEvery: 10, window: 200_000, title: "Port the billing service from Perl, one module after the other, with its tests" });
    if (i === 2) return new Session(12, { id, size: 300, folds: 3, changed, hostile: true });
    if (i === 3) return new Session(13, { id, size: 0, folds: 0, changed });
    return new Session(i + 100, { id, size: 12 + Math.floor(chance(i, 3) ** 2 * 900), changed });
  });
}

/** Starts it; `narrow` is a key that may do something else, `own` one that sees sessions and not the server. Gives its address, what it was asked for, and ways to make things happen. */
export async function start({ port = 0, sessions: number = 10_000, key = null, narrow = null, own = null, memory = false } = {}) {
  const started = Date.now() - 11_520_000;
  const sessions = makeSessions(number);
  const byId = new Map(sessions.map((session) => [session.id, session]));
  const listeners = new Set();

  const tell = (kind, session) => {
    session.changed = Date.now();
    const { tick, events, tokens, folds, calls, active, changed } = session.overview();
    const text = `event: ${kind}\ndata: ${JSON.stringify({ session: session.id, tick, events, tokens, folds, calls, active, changed })}\n\n`;
    for (const listener of listeners) listener.write(text);
  };
  const append = (id, text = "One more message.", role = "user") => {
    const session = byId.get(id);
    session.extra.push({ role, text });
    tell("append", session);
  };
  const all = () => sessions.filter(({ removed }) => !removed);
  const find = (id) => {
    const session = byId.get(id);
    if (!session || session.removed) throw new Refused(404, "no-session", `there is no session ${id}`, ["GET /v1/sessions lists them."]);
    return session;
  };

  function list(query) {
    const q = (query.get("q") ?? "").toLowerCase();
    const limit = Number(query.get("limit") ?? 100);
    const after = Number(query.get("after") ?? 0);
    const found = all().sort((a, b) => b.changed - a.changed).filter(({ id, title, model, client }) => !q || [id, title, model, client ?? ""].some((text) => text.toLowerCase().includes(q)));
    return { sessions: found.slice(after, after + limit).map((session) => session.overview()), next: after + limit < found.length ? after + limit : null };
  }

  function forgot(query) {
    const text = query.get("text") ?? "";
    const from = Number(query.get("after") ?? 0);
    const looked = all().slice(from, from + 60);
    const found = looked.filter(({ size }) => size < 2000).map((session) => ({ session: session.overview(), explanation: explain(session, text) })).filter(({ explanation }) => explanation.answer !== "never-said").slice(0, 12);
    return { found, looked_at: looked.length, next: from + 60 < number ? from + 60 : null };
  }

  function replay({ policies }) {
    const whole = sample();
    const own = ["default", "hermes", "nucleic", "head-tail"];
    return { ...whole, conversations: whole.conversations.slice(0, 1), runs: policies.flatMap((name) => whole.runs.filter((run) => run.window === 32000 && run.strategy === (own.includes(name) ? name : "clear-3")).map((run) => ({ ...run, strategy: name, conversations: run.conversations.slice(0, 1) }))) };
  }

  function make({ id, messages = [] }) {
    const made = new Session(9, { id: id ?? `made-${sessions.length}`, size: 0, folds: 0, changed: Date.now(), title: String(messages.find(({ role }) => role === "user")?.content ?? "") });
    made.extra = messages.map((one) => ({ role: one.role, text: String(one.content) }));
    sessions.push(made);
    byId.set(made.id, made);
    tell("new", made);
    return made.overview();
  }

  const noted = (made, what) => {
    if (!made) throw new Refused(404, "not-there", `there is no ${what}`);
    return made;
  };

  function ofSession(method, [id, part, which, more], query, body) {
    const session = find(id);
    const preview = query.get("preview") === "true";
    const done = (kind, made) => {
      if (!preview && !made.preview) tell(kind, session);
      return made;
    };
    if (method === "DELETE" && !part) {
      session.removed = true;
      tell("delete", session);
      return { session: id, events: session.events, folds: session.folds().length, calls: session.calls().length, jobs: 0, bytes: session.events * 900, changed: 0 };
    }
    const from = Number(query.get("from") ?? 0);
    const limit = Number(query.get("limit") ?? 100);
    switch (`${method} ${part ?? ""}`) {
      case "GET ": return detail(session);
      case "GET messages": {
        if (which !== undefined) return Number(which) < session.events ? { ...message(session, Number(which), Infinity), json: JSON.stringify({ role: session.role(Number(which)), content: session.text(Number(which)) }) } : noted(null, `message ${which}`);
        const chars = Number(query.get("chars") ?? 2000);
        return { messages: Array.from({ length: Math.max(0, Math.min(limit, session.events - from)) }, (_, i) => message(session, from + i, chars)), total: session.events };
      }
      case "POST messages": {
        const first = session.events;
        body.messages.forEach((one) => session.extra.push({ role: one.role, text: String(one.content) }));
        tell("append", session);
        return { first, count: body.messages.length, repeated: false };
      }
      case "GET recall": return found(session, query, limit);
      case "GET fabric": return fabric(session);
      case "GET folds": return noted(more === "diff" ? diff(session, Number(which), from, limit) : fold(session, Number(which)), `fold ${which}`);
      case "GET calls": return which === undefined ? { calls: session.calls() } : noted(call(session, Number(which)), `call ${which}`);
      case "GET explain": return explain(session, query.get("text") ?? "");
      case "POST compact": return done("fold", compact(session, body));
      case "POST undo": return done("undo", undo(session, body));
      case "PUT pins": case "DELETE pins": return done("change", pin(session, Number(which), method === "PUT", preview));
      case "POST fork": {
        const made = new Session(session.seed, { id: body.id ?? `${id}-fork`, size: Math.min(session.size, body.at ?? session.size), changed: Date.now() });
        sessions.push(made);
        byId.set(made.id, made);
        tell("new", made);
        return made.overview();
      }
      case "PUT policy": {
        const rules = (name, line) => ({ policy: name, fingerprint: hash(name), line });
        const before = rules(session.policy, detail(session).line);
        if (!body.preview) session.policy = body.preset;
        return done("change", { before, after: rules(body.preset, "next fold at 90,000 tokens (threshold)"), preview: Boolean(body.preview) });
      }
      case "POST replay": return replay(body);
      default: throw new Refused(404, "no-such-path", `there is no ${method} ${part}`);
    }
  }

  function answer(method, url, body) {
    const query = url.searchParams;
    const parts = url.pathname.split("/").slice(1).map(decodeURIComponent);
    if (url.pathname === "/__append") return append(query.get("session"), query.get("text") ?? undefined) ?? {};
    if (url.pathname === "/__fold") return ofSession("POST", [query.get("session"), "compact"], new URLSearchParams(), {});
    if (url.pathname === "/v1/sessions") return method === "POST" ? make(body) : list(query);
    if (url.pathname === "/v1/forgot") return forgot(query);
    if (url.pathname === "/v1/server") return serverFacts({ started, memory, key });
    if (url.pathname === "/v1/presets") return { presets: PRESETS.map(([name, about]) => ({ name, about })) };
    if (parts[0] === "v1" && parts[1] === "sessions") return ofSession(method, parts.slice(2), query, body);
    throw new Refused(404, "no-such-path", `there is no ${url.pathname}`);
  }

  async function take(request, response) {
    const url = new URL(request.url, "http://mock");
    const file = FILES[url.pathname];
    const send = (status, type, text) => {
      response.writeHead(status, { "content-type": type, "content-security-policy": POLICY, "x-content-type-options": "nosniff", "cache-control": "no-store" });
      response.end(text);
    };
    if (file) return send(200, file[1], readFileSync(join(assets, file[0])));
    try {
      if (narrow && request.headers["midfold-key"] === narrow) throw new Refused(403, "wrong-scope", "this key may not be used for this; it needs the scope `sessions`", ["`midfold serve key new NAME --scope sessions` makes a key for its own sessions"]);
      if (own && request.headers["midfold-key"] === own && url.pathname === "/v1/server") throw new Refused(403, "wrong-scope", "this key may not be used for this; it needs the scope `admin`", ["`midfold serve key new NAME --scope admin` makes a key for the whole server"]);
      if (key && ![key, own].includes(request.headers["midfold-key"])) throw new Refused(401, "unauthorized", "this server asks for a key", ["Send it in the header midfold-key."]);
      if (memory && url.pathname.startsWith("/v1/") && url.pathname !== "/v1/server") throw new Refused(503, "memory", "this server keeps conversations in memory alone", ["start it with a store: midfold serve --store sqlite:PATH"]);
      if (url.pathname === "/v1/events") {
        response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
        response.write("event: hello\ndata: {}\n\n");
        listeners.add(response);
        const beat = setInterval(() => response.write(": still here\n\n"), 15_000);
        request.on("close", () => {
          clearInterval(beat);
          listeners.delete(response);
        });
        return;
      }
      let text = "";
      for await (const piece of request) text += piece;
      send(200, "application/json", JSON.stringify(answer(request.method, url, text ? JSON.parse(text) : {})));
    } catch (error) {
      const problem = error instanceof Refused ? error.problem : new Refused(500, "mock", String(error.stack)).problem;
      send(problem.status, "application/problem+json", JSON.stringify(problem));
    }
  }

  const server = createServer((request, response) => void take(request, response));
  await new Promise((resolve) => server.listen(port, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`, append, hostile: HOSTILE,
    dropListeners: () => listeners.forEach((listener) => listener.destroy()),
    close: () => new Promise((resolve) => { server.closeAllConnections(); server.close(resolve); }),
  };
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const option = (name) => (process.argv.includes(name) ? process.argv[process.argv.indexOf(name) + 1] : undefined);
  const mock = await start({ port: Number(option("--port") ?? 8123), sessions: Number(option("--sessions") ?? 10_000), key: option("--key") ?? null });
  console.log(`the console, with made-up data: ${mock.url}`);
}
