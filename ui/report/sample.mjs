// Writes a made-up replay (see README.md), the same bytes every time: what the page is developed and tested with.
//
//   node sample.mjs > sample.json
//
// Several strategies, two windows, three conversations: a long one (1,200 events, 14 folds of `default` at the wider
// window), a short one whose texts try to break out of the page, and one that some strategies cannot replay.

import { pathToFileURL } from "node:url";

export const HOSTILE = [
  `</script><img src=x onerror=alert(1)>`,
  `<!-- <script>alert(2)</script>`,
  `"><svg onload=alert(3)>`,
  `'; window.pwned = 4; '`,
  `\u2028\u2029 <b>bold</b> &lt;i&gt;`,
];

const WINDOWS = [16000, 32000];

// What each made-up strategy does at a fold: the share of the window it leaves, how much of the middle survives in
// some form, and the fates it uses.
const STRATEGIES = [
  { name: "raw" },
  { name: "sliding", trigger: 1, target: 0.9, keep: 0.22, middle: { x: 1 } },
  { name: "head-tail", trigger: 0.8, target: 0.3, keep: 0.45, middle: { m: 1 } },
  { name: "mask-10", trigger: 0, target: 0.8, keep: 0.84, middle: { v: 6, s: 10 } },
  { name: "clear-3", trigger: 0.8, target: 0.42, keep: 0.73, middle: { v: 5, s: 9 } },
  { name: "nucleic", trigger: 0.8, target: 0.36, keep: 0.86, middle: { r: 30, s: 2 }, recap: true },
  { name: "hermes", trigger: 0.55, target: 0.34, keep: 0.91, middle: { r: 24, s: 3, c: 1 }, recap: true },
  { name: "default", trigger: 0.8, target: 0.33, keep: 0.972, middle: { r: 30, s: 6, c: 5, p: 1 }, recap: true },
  { name: "hermes-agent", trigger: 0.5, target: 0.38, keep: 0.47, middle: { r: 1 }, recap: true, engine: true },
];

const FILES = [
  "src/app/main.rs", "src/app/routes.rs", "crates/store/src/lock.rs", "docs/HTTP.md", "tests/crash.rs",
  "ui/panel/index.ts", "migrations/0007_leases.sql", "src/cache/segment.rs", "config/default.toml", "src/api/v2/auth.rs",
];
const SYMBOLS = ["LeaseGuard", "parse_header", "SegmentIndex", "on_timeout", "RetryBudget", "fold_span", "renderRow"];
const OTHERS = [
  ["hash", "9f31c2e7ab04"], ["id", "req_01HZX4T9"], ["number", "4.1.17"], ["host", "db-prod-1:5432"],
  ["quote", "lease expired before commit"], ["id", "call_7731"], ["hash", "b64e0d9c"], ["host", "10.0.4.12"],
];
const TOOLS = ["Read", "Bash", "Edit", "Grep", "Write"];

/** A small seeded generator (mulberry32): numbers from 0 to 1. */
function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const ratio = (value) => Math.round(value * 10000) / 10000;
const pick = (list, next) => list[Math.floor(next() * list.length)];
const sum = (list) => list.reduce((total, value) => total + value, 0);

function conversation(name, dialect, count, seed, hostile) {
  const next = random(seed);
  const events = [["system", 820, "You are a careful engineer working in a large repository.", null]];
  events.push(["user", 240, "The lease of a worker can expire between claim and commit. Find out why, never lose a job, and mend it.", null]);
  while (events.length < count) {
    if (events.length % 90 === 0) {
      events.push(["user", 40 + Math.floor(next() * 60), "Good. Now do the same for the segment cache, and always run the crash test before you say that it works.", null]);
    }
    const tool = pick(TOOLS, next);
    const file = pick(FILES, next);
    const said = {
      Read: `I read ${file} to see who holds the lock.`,
      Bash: `cargo test -p store -- lease --nocapture`,
      Edit: `${file}: take the lease inside the transaction`,
      Grep: `grep -rn "${pick(SYMBOLS, next)}" src crates`,
      Write: `${file} (new)`,
    }[tool];
    events.push(["assistant", 45 + Math.floor(next() * 110), said, tool]);
    const long = next() < 0.12 ? 900 : 0;
    events.push(["tool", 60 + Math.floor(next() * 330) + Math.floor(next() * long), `${tool === "Bash" ? "test result: ok. 14 passed; 0 failed" : `1\tuse std::time::Duration; // ${file}`}`, tool]);
  }
  events.length = count;
  if (hostile) {
    HOSTILE.forEach((text, index) => {
      events[index * 7 + 3][2] = text;
      events[index * 7 + 4][3] = text;
    });
  }
  return { name, dialect, messages: count, tokens: sum(events.map((event) => event[1])), events };
}

/** The fates of events 0..at as run lengths: a head, a middle by the strategy's weights, a tail. */
function fates(strategy, at, tail, next) {
  const bag = Object.entries(strategy.middle).flatMap(([fate, weight]) => Array(weight).fill(fate));
  const runs = [];
  const push = (fate, count) => {
    if (count <= 0) return;
    const last = runs[runs.length - 1];
    if (last && last[0] === fate) last[1] += count;
    else runs.push([fate, count]);
  };
  push("v", Math.min(2, at));
  for (let seq = 2; seq < at - tail; seq += 1) {
    // The strange and short form of a fate comes more often near the end of the middle.
    const late = seq / at > 0.7;
    push(late || bag.length < 3 ? pick(bag, next) : next() < 0.93 ? bag[0] : pick(bag, next), 1);
  }
  push("v", Math.min(tail, at - 2));
  return runs;
}

function reasons(runs) {
  const texts = { s: "stub: a later read of the same file makes it stale", c: "clipped: 4,210 of 6,033 characters of output cut", p: "pinned: the user stated a rule here", x: "dropped: outside the window" };
  const why = {};
  let seq = 0;
  for (const [fate, count] of runs) {
    for (let i = 0; i < count; i += 1, seq += 1) {
      if (texts[fate] && (fate !== "x" || i === 0)) why[seq] = texts[fate];
    }
  }
  return why;
}

/** Lines as `midfold` writes them, each with the number of its message; some name more than one. */
function recapText(at, runs, events, hostile, next) {
  const covered = [];
  let end = 0;
  for (const [fate, length] of runs) {
    for (let seq = end; seq < end + length; seq += 1) if (fate === "r") covered.push(seq);
    end += length;
  }
  const some = (role, share) => covered.filter((seq) => events[seq][0] === role && next() < share);
  const files = FILES.filter(() => next() < 0.7);
  const name = () => covered[Math.floor(next() * covered.length)] ?? 2;
  return [
    "## Conversation Summary",
    `[Reference, not instructions. ${covered.length} earlier messages, @${covered[0]} to @${at - 1}, are folded into this recap; newer ones follow.]`,
    "### Task",
    ...some("user", 1).map((seq) => `@${seq} user: ${events[seq][2]}`),
    "### State",
    `\`cargo test -p store -- lease\` @${name()} ok: 14 passed`,
    "### Done so far",
    ...some("assistant", 0.2).map((seq) => `@${seq} ${events[seq][2]}`),
    "### Files",
    `changed: ${files.slice(0, 3).map((file) => `${file} @${name()}`).join(", ")}`,
    `read: ${files.slice(3).map((file) => `${file} @${name()}`).join(", ")}`,
    "### Index",
    [...SYMBOLS, ...OTHERS.map(([, id]) => id), ...(hostile ? [HOSTILE[0]] : [])].map((id) => `${id} @${name()}`).join(", "),
    "[End of recap. Newer messages follow.]",
  ].join("\n");
}

function replay(talk, index, strategy, window, seed) {
  const next = random(seed);
  const hostile = index === 1;
  const requests = [];
  const folds = [];
  let raw = talk.events[0][1];
  let context = raw;
  let before = 0;
  let masked = 0;
  const by = { system: 0, user: 0, assistant: 0, call: 0, result: 0, recap: 0 };
  let recap = 0;
  for (let at = 1; at < talk.events.length; at += 1) {
    const [role, tokens] = talk.events[at];
    if (role === "assistant") {
      let fold = -1;
      let broke = 0;
      if (strategy.trigger === 0) {
        masked = Math.min(context, 0.07 * raw + 0.3 * window);
        broke = at > 40 ? 1 : 0;
      } else if (strategy.trigger && context > strategy.trigger * window) {
        const after = Math.round(strategy.target * window * (0.9 + 0.2 * next()));
        const tail = Math.max(4, Math.round(at * 0.04 + 8));
        const runs = fates(strategy, at, tail, next);
        recap = strategy.recap ? Math.round(0.11 * window * (0.5 + 0.5 * Math.min(1, folds.length / 4))) : 0;
        folds.push({
          at, before: context, after, fates: runs, why: reasons(runs),
          recap: strategy.recap ? recapText(at, runs, talk.events, hostile, next) : null,
          recap_tokens: recap,
        });
        context = after;
        fold = folds.length - 1;
        broke = 1;
      }
      const sent = Math.round(strategy.trigger === 0 ? masked : context);
      const prefix = at === 1 ? 0 : broke ? Math.round(Math.min(before, sent) * (strategy.trigger === 0 ? 0.72 : 0.12)) : Math.min(before, sent);
      const counted = raw > 0.8 * window;
      const need = counted ? Math.floor(next() * 5) : 0;
      let have = 0;
      for (let i = 0; i < need; i += 1) have += next() < (strategy.keep ?? 1) ? 1 : 0;
      requests.push([at, raw, sent, prefix, fold, broke, need, have]);
      before = sent;
      by.system += 820;
      by.user += 300;
      by.recap += recap;
      const rest = Math.max(0, sent - 1120 - recap);
      by.assistant += Math.round(rest * 0.13);
      by.call += Math.round(rest * 0.21);
      by.result += rest - Math.round(rest * 0.13) - Math.round(rest * 0.21);
    }
    raw += tokens;
    context += tokens;
  }
  const lost = [];
  const losing = sum(requests.map((row) => row[6] - row[7]));
  const pool = [...FILES.map((id) => ["path", id]), ...SYMBOLS.map((id) => ["symbol", id]), ...OTHERS, ...(hostile ? HOSTILE.map((id) => ["quote", id]) : [])];
  for (let i = 0; i < Math.min(losing, 120); i += 1) {
    const [kind, stem] = pool[i % pool.length];
    const at = requests[Math.floor(next() * requests.length)][0];
    const turn = Math.floor(i / pool.length);
    lost.push({
      id: turn === 0 ? stem : kind === "path" ? stem.replace(/(\.\w+)$/, `_${turn}$1`) : `${stem}_${turn}`,
      class: kind, at, seen: Math.floor(at * next()), times: 1 + Math.floor(next() * next() * 9), recalled: next() < 0.93,
    });
  }
  lost.sort((a, b) => b.times - a.times || a.at - b.at);
  return { conversation: index, totals: totals(strategy, window, requests, folds, by, next), requests, folds, losses: lost };
}

function totals(strategy, window, requests, folds, by, next) {
  const keep = strategy.keep ?? 1;
  const need = sum(requests.map((row) => row[6]));
  const have = sum(requests.map((row) => row[7]));
  const sent = sum(requests.map((row) => row[2]));
  const hit = sum(requests.map((row) => row[3]));
  const price = sum(requests.map((row) => 0.1 * row[3] + 1.25 * (row[2] - row[3])));
  const rawPrice = sum(requests.map((row, i) => (i ? 0.1 * requests[i - 1][1] + 1.25 * (row[1] - requests[i - 1][1]) : 1.25 * row[1])));
  const classes = {};
  ["path", "symbol", "id", "number", "host", "hash", "quote"].forEach((kind, i) => {
    const share = Math.floor((need * [40, 24, 10, 12, 4, 6, 4][i]) / 100);
    classes[kind] = [share, Math.min(share, Math.round(share * Math.min(1, keep + (next() - 0.5) * 0.04)))];
  });
  const missing = Math.max(1, need - have);
  return {
    requests: requests.length, counted: requests.filter((row) => row[6] > 0).length, folds: folds.length,
    breaks: sum(requests.map((row) => row[5])), over: requests.filter((row) => row[2] > window).length,
    invalid: strategy.name === "sliding" ? 3 : 0,
    recall: ratio(1 - (1 - (need ? have / need : 1)) * 0.3), at_risk: ratio(need ? have / need : 1), at_risk_need: need,
    reachable: ratio(Math.round(missing * 0.985) / missing), reachable_need: missing,
    rare: ratio(Math.max(0, keep - 0.03 * (1 - keep) - 0.01)), rare_need: Math.round(need * 0.6), classes,
    rules: ratio(strategy.keep ? Math.min(1, keep + 0.04) : 1), rules_need: 42, rereads: strategy.keep ? Math.round((1 - keep) * 60) : 0,
    modified: ratio(keep > 0.9 ? 1 : Math.min(1, keep + 0.2)), modified_need: 18, read: ratio(Math.min(1, keep + 0.015)), read_need: 64,
    mean: Math.round(sent / requests.length), mean_share: ratio(sent / requests.length / window), peak: Math.max(...requests.map((row) => row[2])),
    tokens_by: by, cost: ratio(price / rawPrice), price: Math.round(price), raw_price: Math.round(rawPrice), hit_share: ratio(hit / sent),
    context_us: [180 + Math.round(next() * 60), 900 + Math.round(next() * 500)],
    ...(folds.length ? { fold_us: [2100 + Math.round(next() * 500), 8800 + Math.round(next() * 3000)] } : {}),
  };
}

/** Totals of a whole run: counts are added, shares are pooled by what they are a share of. */
function pool(parts, window) {
  if (parts.length === 0) return {};
  const all = { ...parts[0] };
  const add = (key) => sum(parts.map((part) => part[key] ?? 0));
  const share = (key, by) => ratio(sum(parts.map((part) => part[key] * part[by])) / Math.max(1, add(by)));
  for (const [key, by] of [["recall", "at_risk_need"], ["at_risk", "at_risk_need"], ["reachable", "reachable_need"], ["rare", "rare_need"], ["rules", "rules_need"], ["modified", "modified_need"], ["read", "read_need"], ["hit_share", "requests"]]) all[key] = share(key, by);
  all.mean = Math.round(share("mean", "requests"));
  for (const key of ["requests", "counted", "folds", "breaks", "over", "invalid", "at_risk_need", "reachable_need", "rare_need", "rules_need", "rereads", "modified_need", "read_need", "price", "raw_price"]) all[key] = add(key);
  all.mean_share = ratio(all.mean / window);
  all.peak = Math.max(...parts.map((part) => part.peak));
  all.cost = ratio(all.price / all.raw_price);
  all.classes = Object.fromEntries(Object.keys(parts[0].classes).map((kind) => [kind, [0, 1].map((i) => sum(parts.map((part) => part.classes[kind][i])))]));
  all.tokens_by = Object.fromEntries(Object.keys(parts[0].tokens_by).map((kind) => [kind, sum(parts.map((part) => part.tokens_by[kind]))]));
  return all;
}

export function sample() {
  const talks = [
    conversation("claude-code/a7da6a22.jsonl", "anthropic", 1200, 11, false),
    conversation(`swe/<b>django-11999</b> ${HOSTILE[0]}.jsonl`, "openai-chat", 160, 23, true),
    conversation("support/refund-desk-0042.jsonl", "sharegpt", 96, 37, false),
  ];
  const runs = [];
  WINDOWS.forEach((window, w) => {
    STRATEGIES.forEach((strategy, s) => {
      const parts = talks.map((talk, c) => {
        if (c === 2 && w === 0 && s > 3) {
          return { conversation: c, error: "the newest step alone takes 19,120 tokens and the window holds 16,000" };
        }
        return replay(talk, c, strategy, window, 1000 * (w + 1) + 100 * s + c);
      });
      runs.push({ strategy: strategy.name, window, form: "stateless", engine: Boolean(strategy.engine), totals: pool(parts.filter((part) => part.totals).map((part) => part.totals), window), conversations: parts });
    });
  });
  return {
    version: 1, midfold: "0.1.0", tokenizer: "chars:3.2",
    prices: { name: "reference", read: 0.1, write: 1.25, input: 1, output: 5, min_prefix: 0, cliff: null, unit: "tokens" },
    conversations: talks, runs,
  };
}

/** Replays with something missing, by name: none of them may break the page. */
export function odd() {
  const whole = sample();
  const only = (test) => whole.runs.filter(test);
  const bare = (run) => ({ strategy: run.strategy, window: run.window, form: run.form, totals: { cost: 0.5 }, conversations: [{ conversation: 0, totals: {}, requests: [], folds: [], losses: [] }] });
  return {
    empty: { version: 1, midfold: "0.1.0", conversations: [], runs: [] },
    keyless: { version: 1, runs: [{ strategy: "default", window: 16000, conversations: [{ conversation: 0 }] }] },
    single: { ...whole, runs: only((run) => run.strategy === "default" && run.window === 32000) },
    raw: { ...whole, runs: only((run) => run.strategy === "raw") },
    bare: { ...whole, runs: only((run) => run.window === 16000).slice(0, 3).map(bare) },
    failed: { ...whole, runs: only((run) => run.window === 16000).slice(0, 2).map((run) => ({ ...run, totals: {}, conversations: whole.conversations.map((_, c) => ({ conversation: c, error: "engine: exit code 1 <b>boom</b>" })) })) },
    unreplayed: { ...whole, runs: only((run) => run.window === 16000).map((run, i) => (i === 1 ? { ...run, strategy: "never-done", totals: { ...run.totals, at_risk: 1, at_risk_need: 0, cost: 1, over: 0, invalid: 0 }, conversations: whole.conversations.map((_, c) => ({ conversation: c, error: "the newest step alone is larger than the window" })) } : run)) },
    exam: { ...whole, runs: only((run) => run.window === 16000).slice(0, 3), exam: [
      { strategy: "raw", score: 0.995, context: 1.977, cost: 1, over: 4, invalid: 0 },
      { strategy: "default", score: 0.905, context: 0.596, cost: 0.688, over: 0, invalid: 0 },
      { strategy: "lean", score: 0.849, context: 0.394, cost: 0.673, over: 0, invalid: 0 },
      { strategy: "half", score: 0.5 },
    ] },
    forms: { ...whole, runs: only((run) => run.window === 16000).flatMap((run) => [run, { ...run, form: "session" }]) },
    priced: { ...whole, prices: { name: "claude-sonnet-4-5", read: 0.3, write: 3.75, input: 3, output: 15, min_prefix: 1024, cliff: { above: 200000, input: 6 }, unit: "USD per million tokens" }, runs: only((run) => run.window === 32000) },
    crowded: { ...whole, runs: only((run) => run.window === 32000).flatMap((run, i) => [run, { ...run, strategy: `${run.strategy}-${["again", "with-a-long-name", "b"][i % 3]}`, totals: { ...run.totals, over: 0, invalid: 0, at_risk: 0.955 + 0.004 * i, cost: 0.2 + 0.006 * i } }]) },
    tie: { ...whole, runs: only((run) => run.window === 32000 && ["default", "hermes"].includes(run.strategy)).map((run) => ({ ...run, totals: { ...run.totals, at_risk: 0.971, cost: 0.5 } })) },
  };
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  process.stdout.write(JSON.stringify(sample()));
}
