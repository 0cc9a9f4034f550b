// A made-up session: its messages, folds and requests, the same every time for the same seed.

import { hash } from "./record.mjs";

export const HOSTILE = [
  `</script><img src=x onerror="window.pwned=1">`,
  `"><svg onload="window.pwned=2">`,
  `<!-- <script>window.pwned=3</script>`,
  `javascript:window.pwned=4`,
  `\u202E\u2028\u2029 <b>bold</b> &lt;i&gt; {{7*7}} \${window.pwned=5}`,
];

const FILES = ["src/app/main.rs", "src/app/routes.rs", "crates/store/src/lock.rs", "docs/HTTP.md", "tests/crash.rs", "ui/panel/index.ts", "migrations/0007_leases.sql", "src/cache/segment.rs", "config/default.toml", "src/api/v2/auth.rs", "src/retry.rs"];
const SYMBOLS = ["LeaseGuard", "parse_header", "SegmentIndex", "on_timeout", "RetryBudget", "fold_span", "renderRow", "reserve_batch"];
const TASKS = [
  "The lease of a worker can expire between claim and commit. Find out why, never lose a job, and mend it.",
  "Make the retry policy back off: 3 attempts, 250 ms, 1 s, 4 s, with jitter.", "Port the segment cache to the new store and keep the old format readable.",
  "Why does the nightly import double the invoices of tenant 4471?", "Write the migration for leases, with a way back.", "Split routes.rs: it has 1,900 lines and nobody finds anything.",
  "The dashboard shows the old name after a rename; find every place that caches it.", "Review the auth change of last week for ways around the rate limit.",
];
export const MODELS = ["gpt-5", "claude-sonnet-4-5", "gpt-5-mini", "gemini-2.5-pro", "claude-opus-4-1", "qwen3-coder"];
const CLIENTS = ["claude-cli/2.1.197", "codex/0.61.0", "opencode/1.0.3", null, "aider/0.86", "openai-python/2.7"];
export const TOOLS = ["Read", "Bash", "Edit", "Grep", "Write"];

/** A number from 0 to 1 for two whole numbers. */
export function chance(a, b) {
  let t = Math.imul(a ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(b + 0x6d2b79f5, 0xc2b2ae35);
  t = Math.imul(t ^ (t >>> 15), t | 1);
  t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
}
const pick = (list, a, b) => list[Math.floor(chance(a, b) * list.length)];
const hex = (a, b) => Math.floor(chance(a, b) * 0xffffffff).toString(16).padStart(8, "0");

export class Session {
  constructor(seed, { id, size, folds = null, hostile = false, title, changed, callEvery = 1, window = 128000 }) {
    Object.assign(this, { seed, id, size, hostile, changed, callEvery, window });
    this.made = folds;
    this.created = changed - size * 21_000;
    this.title = title ?? pick(TASKS, seed, 1);
    this.model = pick(MODELS, seed, 2);
    this.client = pick(CLIENTS, seed, 3);
    this.source = this.client ? "proxy" : "import";
    this.policy = seed % 5 === 0 ? "lean" : "default";
    this.pins = new Set(size > 200 ? [4, Math.floor(size / 3)] : []);
    this.undone = new Set();
    this.extra = [];
    this.removed = false;
  }

  role(seq) {
    if (seq === 0) return "system";
    if (seq >= this.size) return this.extra[seq - this.size].role;
    if (seq === 1 || seq % 90 === 0) return "user";
    return seq % 2 === 0 ? "assistant" : "tool";
  }
  tool(seq) {
    const role = this.role(seq);
    if (role !== "assistant" && role !== "tool") return null;
    if (this.hostile && seq % 9 === 4) return HOSTILE[seq % HOSTILE.length];
    return pick(TOOLS, this.seed, seq - (seq % 2));
  }
  tokens(seq) {
    const role = this.role(seq);
    if (role === "system") return 820;
    if (role === "user") return 40 + Math.floor(chance(this.seed, seq) * 90);
    if (role === "assistant") return 45 + Math.floor(chance(this.seed, seq) * 140);
    return 90 + Math.floor(chance(this.seed, seq) * 420) + (chance(this.seed + 1, seq) < 0.1 ? 1800 : 0);
  }
  turn(seq) {
    return Math.min(1, seq) + Math.floor(Math.min(seq, this.size) / 90);
  }
  text(seq) {
    if (seq >= this.size) return this.extra[seq - this.size].text;
    if (this.hostile && seq > 0 && seq % 3 === 1) return `${HOSTILE[seq % HOSTILE.length]}\nline two of #${seq}`;
    const role = this.role(seq);
    const [file, name, id] = [pick(FILES, this.seed, seq), pick(SYMBOLS, this.seed, seq + 5), hex(this.seed, seq)];
    if (role === "system") return "You are a careful engineer working in a large repository. Run the tests before you say that something is done.";
    if (role === "user") return seq === 1 ? this.title : `Good. Now do the same for ${file}, and always run the crash test before you say that it works (ticket LED-${4000 + Math.floor(seq / 90)}).`;
    if (role === "assistant") return `I look at ${name} in ${file} to see who holds the lock; the trace has request ${id}.`;
    return this.tool(seq) === "Bash"
      ? `running 14 tests\n${Array.from({ length: 5 }, (_, i) => `test ${name.toLowerCase()}::case_${i} ... ok`).join("\n")}\nrequest ${id} took ${Math.floor(chance(this.seed, seq) * 900)} ms\ntest result: ok. 14 passed; 0 failed`
      : `1\tuse std::time::Duration; // ${file}\n2\t// ${name}, written by req_${id}\n3\tpub fn ${name.toLowerCase()}(limit: usize) -> Result<(), Error> {\n4\t    let guard = self.lease.take(limit)?;\n5\t    guard.commit()\n6\t}`;
  }
  get events() {
    return this.size + this.extra.length;
  }

  /** Folds, made once: at which message, with which fates. */
  folds() {
    if (this.list) return this.list;
    const number = this.made ?? Math.min(6, Math.floor(this.size / 130));
    this.list = Array.from({ length: number }, (_, k) => this.fold(k + 1, Math.floor(((k + 1) / (number + 0.6)) * this.size), "threshold"));
    return this.list;
  }
  fold(number, at, cause) {
    const tail = Math.max(8, Math.min(40, Math.floor(at / 12)));
    const [from, to] = [2, Math.max(2, at - tail)];
    const late = Math.floor(from + (to - from) * 0.82);
    const fates = [];
    const push = (fate, length) => {
      if (length <= 0) return;
      const last = fates[fates.length - 1];
      if (last && last[0] === fate) last[1] += length;
      else fates.push([fate, length]);
    };
    push("v", from);
    let seq = from;
    for (const pinned of [...this.pins].filter((each) => each >= from && each < to).sort((a, b) => a - b).concat(to)) {
      push("r", Math.max(0, Math.min(late, pinned) - seq));
      for (seq = Math.max(seq, Math.min(late, pinned)); seq < pinned; seq += 1) push(pick(["r", "r", "r", "r", "s", "c", "r"], this.seed, seq - (seq % 2)), 1);
      if (pinned < to) push("p", 1);
      seq = Math.max(seq, pinned + 1);
    }
    push("v", at - to);
    const after = Math.floor(this.window * 0.2 + chance(this.seed, number + 50) * this.window * 0.1);
    return { number, id: hash(`${this.id} ${number}`), at, before: Math.floor(this.window * (0.78 + chance(this.seed, number) * 0.04)), after, fates, layout: { head: [0, from], middle: [from, to], tail: [to, at] }, recap_tokens: Math.floor(this.window * 0.03 + number * 11), made: this.created + at * 21_000, cause };
  }
  active() {
    const there = this.folds().filter(({ number }) => !this.undone.has(number));
    return there[there.length - 1] ?? null;
  }
  standingOf(fold) {
    return this.undone.has(fold.number) ? "undone" : this.active()?.number === fold.number ? "in-force" : "superseded";
  }
  fateAt(fold, seq) {
    if (!fold || seq >= fold.at) return "v";
    let end = 0;
    for (const [fate, length] of fold.fates) {
      end += length;
      if (seq < end) return fate;
    }
    return "v";
  }
  why(seq, fate) {
    return { s: "stub: a later read of the same file makes it stale", c: "clipped: 210 of 6,033 characters of output kept", p: "pinned", r: "covered: computed", m: "covered: marker" }[fate] ?? null;
  }

  /** Requests, made once. */
  calls() {
    if (this.sent) return this.sent;
    this.sent = [];
    if (this.source === "import" && !this.hostile) return this.sent;
    const folds = this.folds();
    let [next, context, everything, before, grown] = [0, 0, 0, 0, 0];
    for (let seq = 0, said = 0; seq < this.size; seq += 1) {
      if (this.role(seq) === "assistant" && (said += 1) % this.callEvery === 0) {
        let folded = false;
        while (folds[next] && folds[next].at <= seq) {
          context = folds[next].after;
          next += 1;
          folded = true;
        }
        const prompt = Math.min(this.window, Math.floor(context));
        const cached = this.sent.length === 0 ? 0 : folded ? 1400 : Math.floor(before * 0.985);
        const messages = next ? 24 + seq - folds[next - 1].at : seq;
        this.sent.push({
          number: this.sent.length + 1, time: this.created + seq * 21_000, events: seq, fold: next ? folds[next - 1].number : null, messages, bytes: prompt * 4,
          tokens_counted: prompt - 30, tokens_estimated: prompt, everything, prefix: { messages: folded || this.sent.length === 0 ? 2 : this.sent[this.sent.length - 1].messages, bytes: cached * 4, tokens: cached },
          injections: [], usage: { prompt, output: 60 + (seq % 220), cache_read: Math.min(cached, prompt), cache_write: Math.max(0, prompt - cached) },
        });
        before = prompt;
      }
      // The context grows as fast as it takes to reach the threshold at the next fold.
      const room = (folds[next]?.before ?? this.window * 0.6) - (next ? folds[next - 1].after : 0);
      const span = (folds[next]?.at ?? this.size) - (next ? folds[next - 1].at : 0);
      context += room / Math.max(1, span);
      everything = Math.floor(grown += room / Math.max(1, span));
    }
    return this.sent;
  }

  overview() {
    const active = this.active();
    const reported = this.source !== "import" && this.size > 30;
    const tokens = 820 + this.events * 210;
    const calls = this.source === "import" ? 0 : Math.floor(this.size / 2 / this.callEvery);
    const share = 0.72 + chance(this.seed, 12) * 0.24;
    const everything = Math.floor(calls * tokens * 0.14);
    const sent = Math.floor(everything * (this.folds().length ? 0.18 + chance(this.seed, 13) * 0.5 : 1));
    const strange = (text, at) => (this.hostile ? HOSTILE[at % HOSTILE.length] : text);
    return {
      id: this.id, title: this.hostile ? HOSTILE[0] + HOSTILE[1] : this.title, source: this.source, client: strange(this.client, 2), model: strange(this.model, 3), owner: this.hostile ? HOSTILE[1] : null, dialect: "openai-chat", policy: strange(this.policy, 4),
      created: this.created, changed: this.changed, tick: this.changed, events: this.events, turns: this.turn(Math.max(0, this.size - 1)), tokens, window: this.window, threshold: Math.floor(this.window * 0.78),
      fill: Math.floor(this.window * (active ? 0.24 : 0.02) + chance(this.seed, 14) * this.window * 0.5) + this.extra.length * 40,
      fill_source: { kind: "counted" },
      folds: this.folds().length, active: active?.number ?? null, calls,
      usage: reported ? { calls, prompt: Math.floor(sent * 3), output: calls * 140, cache_read: Math.floor(sent * 3 * share), cache_write: Math.floor(sent * 3 * (1 - share)) } : { calls: 0, prompt: 0, output: 0, cache_read: 0, cache_write: 0 },
      cost: reported && calls ? { sent, everything, unit: "tokens" } : null, cache_share: reported && calls ? share : null,
      faults: this.hostile ? [{ cause: "floor", reason: HOSTILE[1], requests: 2 }] : this.seed % 11 === 4 ? [{ cause: "floor", reason: "what may not be folded does not fit", requests: 1 + (this.seed % 3) }] : [],
      parent: this.seed % 37 === 5 ? { id: "session-00003", at: 40 } : null,
    };
  }
}
