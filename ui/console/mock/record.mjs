// What midfold keeps of a made-up fold: its record and its receipt. A page shows little of them.

/** Something that looks like a hash, the same every time for the same text. */
export function hash(text) {
  let made = "";
  for (let turn = 0; made.length < 64; turn += 1) {
    let value = 0x811c9dc5 ^ turn;
    for (const letter of text) value = Math.imul(value ^ letter.codePointAt(0), 0x01000193);
    made += (value >>> 0).toString(16).padStart(8, "0");
  }
  return made;
}

const METER = { ratio: 1.02, samples: 12, margin: 0.05 };
const RECAP = { role: "user", files: 4, redacted: 0 };

export const recap = (fold, text) => ({ ...RECAP, text, tokens: fold.recap_tokens, hash: hash(text) });

export function record(session, fold, { text, edits, lost }) {
  const region = ([start, end]) => ({ start, end, tokens: (end - start) * 180 });
  const { head, middle, tail } = fold.layout;
  return {
    version: 2, id: fold.id, prev: null, joining: { session: session.id, turn: session.turn(fold.at - 1), request: fold.number },
    span: { start: middle[0], end: middle[1], before: hash("before"), through: hash("through") },
    entries: [{ kind: "verbatim", from: head[0], to: head[1] }, { kind: "recap", bytes: JSON.stringify({ role: "user", content: text }) }, { kind: "verbatim", from: tail[0], to: tail[1] }],
    edits: edits.map((edit, block) => ({ ...edit, block })), repairs: [], recap: recap(fold, text),
    layout: { head: region(head), middle: region(middle), tail: region(tail), floor: "tokens", carried_user: null, pinned: [...session.pins] },
    policy: session.policy, policy_fingerprint: hash(session.policy), profile: "openai-chat", counter: "o200k_base", meter: METER,
    budget: { window: session.window, output_reserve: 0, injection_reserve: 0 }, strategy: "midfold",
    head_tokens: 820, middle_tokens: fold.before - fold.after, tail_tokens: fold.after - fold.recap_tokens, head_verbatim: true, tail_verbatim: true,
    tokens_before: fold.before, tokens_after: fold.after, messages_before: fold.at, messages_after: 24, evicted: 0, fallback: null, fallback_used: false, cause: fold.cause,
    kept_ids: { count: 157, first: [] }, lost_ids: { count: 1845, first: lost }, invented_ids: { count: 0, first: [] }, referenced_later: null,
    accounts: { events: fold.at, verbatim: fold.at - edits.length, edited: edits.length, recap: 0, marker: 0 },
  };
}

export function receipt(session, fold, { edits, left, lost }) {
  const removed = [{ rule: "recap", reason: "computed", items: left, tokens_before: fold.before - fold.after, tokens_after: fold.recap_tokens }];
  if (edits.length) removed.push({ rule: "supersede", reason: "stale", items: edits.length, tokens_before: edits.length * 300, tokens_after: edits.length * 18 });
  return {
    fold: { number: fold.number, id: fold.id, events: fold.at }, standing: session.standingOf(fold), policy: session.policy, start: fold.layout.middle[0], end: fold.layout.middle[1],
    tokens_before: fold.before, tokens_after: fold.after, messages_before: fold.at, messages_after: 24, removed, recallable: [], intact: true, pins: [...session.pins],
    head_verbatim: true, tail_verbatim: true, kept_ids: [157, []], lost_ids: [1845, lost], asked_again: [],
  };
}

export function status(session, overview) {
  const left = overview.threshold - overview.fill;
  return {
    session: session.id, engine: "midfold", model: overview.model, policy: overview.policy, policy_fingerprint: hash(overview.policy), events: overview.events, messages: Math.min(overview.events, 90),
    log_tokens: overview.tokens, context_tokens: overview.fill, context_source: { kind: "counted" }, context_length: overview.window, budget_tokens: overview.window, threshold: { tokens: overview.threshold, rule: "share" }, threshold_percent: 0.78,
    threshold_tokens: overview.threshold, protect_first_n: 2, protect_last_n: 8, context_percent: Math.floor((overview.fill / overview.window) * 100), usage_percent: (overview.fill / overview.window) * 100,
    due: left > 0 ? { state: "below", tokens: overview.fill } : { state: "threshold", rule: "share" }, last_prompt_tokens: overview.fill, last_completion_tokens: 140, last_total_tokens: overview.fill + 140,
    compaction_count: overview.folds, compression_count: overview.folds, pins: [...session.pins], strikes: 0, cooldown_seconds: 0, narration_asked: false, narration_ready: false, meter: METER,
  };
}
