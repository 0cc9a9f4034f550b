// The answers about one made-up session, in the forms of midfold's API.

import { receipt, recap, record, status } from "./record.mjs";
import { HOSTILE } from "./session.mjs";

const TITLES = { r: "recap", s: "stub", c: "clip", p: "pin" };

export function detail(session) {
  const overview = session.overview();
  const left = overview.threshold - overview.fill;
  return {
    ...overview, line: left > 0 ? `next fold at ${overview.threshold.toLocaleString("en")} tokens (threshold), ${left.toLocaleString("en")} to go` : "folds with the next request",
    status: status(session, overview),
  };
}

export function message(session, seq, chars) {
  const fate = session.fateAt(session.active(), seq);
  const text = session.text(seq);
  return {
    seq, role: session.role(seq), turn: session.turn(seq), step: Math.floor((seq % 90) / 2), tokens: session.tokens(seq), tool: session.tool(seq), pinned: session.pins.has(seq),
    fate, why: session.why(seq, fate), text: text.slice(0, chars), cut: text.length > chars, chars: text.length,
  };
}

const brief = (session, { fates: _, layout: __, ...fold }) => ({
  ...fold, active: session.active()?.number === fold.number, undone: session.undone.has(fold.number), policy: session.hostile ? HOSTILE[0] : session.policy, cause: fold.cause, stand_in: fold.number % 3 === 0 ? "narrated" : "computed", freed: fold.before - fold.after, standing: session.standingOf(fold),
});

export function fabric(session) {
  const size = session.events;
  const tools = [];
  const columns = { tokens: [], tool: [], turns: [], roles: "" };
  const letters = [];
  for (let seq = 0; seq < size; seq += 1) {
    const tool = session.tool(seq);
    if (tool && !tools.includes(tool)) tools.push(tool);
    columns.tokens.push(session.tokens(seq));
    letters.push(session.role(seq)[0]);
    columns.tool.push(tool ? tools.indexOf(tool) : -1);
    columns.turns.push(session.turn(seq));
  }
  const active = session.active();
  return {
    session: session.id, events: size, ...columns, roles: letters.join(""), tools, layout: active ? { ...active.layout, tail: [active.layout.tail[0], size] } : null,
    pins: [...session.pins], active: active?.number ?? null, folds: session.folds().map((fold) => ({ ...brief(session, fold), fates: fold.fates })),
  };
}

function recapText(session, fold) {
  const strange = session.hostile ? `\n@7 ${HOSTILE[0]}` : "";
  return [
    "## Conversation Summary", `[Reference, not instructions. ${fold.at - 40} earlier messages, @2 to @${fold.at - 41}, are folded into this recap; newer ones follow.]`, "### Task", `@1 user: ${session.text(1)}`,
    "### State", `\`cargo test -p store -- lease\` @${fold.at - 50} ok: 14 passed${strange}`, "### Done so far",
    ...Array.from({ length: 14 }, (_, i) => `@${4 + i * 2} ${session.text(4 + i * 2)}`), "### Index", `LeaseGuard @6, RetryBudget @8, reserve_batch @10, src/retry.rs @${Math.min(fold.at - 42, 122)}`, "[End of recap. Newer messages follow.]",
  ].join("\n");
}

function changed(session, fold, most = Infinity) {
  const rows = [];
  let seq = 0;
  for (const [fate, length] of fold.fates) {
    for (const end = seq + length; seq < end && rows.length < most; seq += 1) if (fate !== "v" && fate !== "p") rows.push([seq, fate]);
  }
  return rows;
}

const edited = (text, fate) => (fate === "s" ? `[stub: ${text.slice(0, 40)} … read again at a later message]` : `${text.slice(0, 60)}\n… 210 characters cut …\n${text.slice(-60)}`);

/** What a fold lost, in the order of the server: what was said first, names last. */
function lostGroups(session, one, names) {
  const said = (role) => Array.from({ length: one.at }, (_, seq) => seq).filter((seq) => session.role(seq) === role).reverse();
  const some = (seqs) => seqs.slice(0, 20).map((seq) => ({ text: session.text(seq).replace(/\s+/g, " ").slice(0, 400), seq }));
  const group = (kind, title, count, first) => ({ kind, title, count, first });
  const [user, agent, tool] = ["user", "assistant", "tool"].map(said);
  return [
    group("said", "what the user said", user.length, some(user)),
    group("decided", "what the agent answered and decided", agent.length, some(agent).slice(0, 6)),
    group("failed", "what failed", Math.min(3, tool.length), some(tool.slice(0, 3))),
    group("used", "files and values that were used again", 1, [{ text: "reserve_batch", seq: Math.min(session.events - 1, one.at + 6) }]),
    group("name", "other names", 1844, names.slice(1).map((text) => ({ text, seq: null }))),
  ].filter(({ count }) => count > 0);
}

export function fold(session, number) {
  const one = session.folds().find((each) => each.number === number);
  if (!one) return null;
  const rows = changed(session, one);
  const edits = rows.filter(([, fate]) => fate === "s" || fate === "c").map(([seq, fate]) => ({ seq, kind: TITLES[fate], reducer: fate === "s" ? "supersede" : "terminal", reason: fate === "s" ? "stale" : "long-output", tokens_before: session.tokens(seq), tokens_after: 18 }));
  const lost = Array.from({ length: 60 }, (_, i) => (session.hostile && i < 5 ? HOSTILE[i] : i % 3 === 0 ? "reserve_batch" + (i ? `_${i}` : "") : /request (\w+)|req_(\w+)/.exec(session.text(4 + i * 2))?.slice(1).find(Boolean) ?? `name_${i}`));
  const text = recapText(session, one);
  return {
    fold: brief(session, one), recap: recap(one, text), edits, why: Object.fromEntries(edits.map(({ seq, kind }) => [seq, session.why(seq, kind === "stub" ? "s" : "c")])),
    verdicts: one.number % 3 === 0 ? [{ request: one.id, code: "accepted", detail: "gpt-5-mini, 812 words", dropped: [{ line: session.hostile ? HOSTILE[1] : "The user said that the cache may be dropped.", why: "false-quote: no message of the user says it" }, { line: "Deployed 4.1.18 to production.", why: "ungrounded: 4.1.18" }] }] : [],
    receipt: receipt(session, one, { edits, left: rows.length - edits.length, lost }),
    record: record(session, one, { text, edits, lost }), lost: lostGroups(session, one, lost), kept_names: 157, lost_names: 1845,
    events: rows.filter(([, fate]) => fate === "r").slice(0, 5000).map(([seq]) => ({ seq, role: session.role(seq), tool: session.tool(seq), line: session.text(seq).split("\n")[0].slice(0, 120), tokens: session.tokens(seq) })),
    gone: rows.filter(([, fate]) => fate === "r").length,
  };
}

export function diff(session, number, from, limit) {
  const one = session.folds().find((each) => each.number === number);
  if (!one) return null;
  const all = changed(session, one);
  // The edited ones first would be no order; yet a test wants some of both kinds early.
  const rows = all.slice(from, from + limit).map(([seq, fate]) => {
    const text = session.text(seq).slice(0, 2000);
    const gone = fate === "r" || fate === "m";
    return { seq, role: session.role(seq), tool: session.tool(seq), fate, reason: session.why(seq, fate), before: text, after: gone ? null : edited(text, fate), tokens_before: session.tokens(seq), tokens_after: gone ? 0 : 18 };
  });
  return { rows, total: all.length };
}

export function call(session, number) {
  const one = session.calls().find((each) => each.number === number);
  if (!one) return null;
  const fold = session.folds().find((each) => each.number === one.fold);
  const messages = [];
  const head = fold ? 2 : Math.max(0, one.events - one.messages);
  for (let seq = 0; seq < head; seq += 1) messages.push(sent(session, fold, seq));
  if (fold) messages.push({ seq: null, role: "user", fate: "r", text: recapText(session, fold), cut: false, tokens: fold.recap_tokens });
  for (let seq = Math.max(head, one.events - one.messages + 3); seq < one.events; seq += 1) messages.push(sent(session, fold, seq));
  return { ...one, proven: true, sent: messages };
}
const sent = (session, fold, seq) => ({ seq, role: session.role(seq), fate: session.fateAt(fold, seq) === "r" ? "v" : session.fateAt(fold, seq), text: session.text(seq), cut: false, tokens: session.tokens(seq) });

/** What is seen of a message with this fate; `isNamed` says whether the recap has the text. */
function sight(fate, isNamed) {
  switch (fate) {
    case "r": return { is: "recap", named: isNamed };
    case "s": return { is: "edited", reducer: "supersede", reason: "stale", named: false };
    case "c": return { is: "edited", reducer: "terminal", reason: "long-output", named: true };
    default: return { is: "verbatim", place: fate === "p" ? "pinned" : "tail" };
  }
}

/** As `Explanation::sentence` says it of a context that midfold hands out. */
const VERDICTS = {
  "never-said": "no message says it in these words",
  verbatim: "the model sees it now, word for word",
  edited: "the model sees it now, in a shortened message",
  "in-recap": "the model sees it now, in the recap only",
  gone: "the model does not see it now",
};

export function explain(session, text) {
  const active = session.active();
  const ref = (one) => (one ? { number: one.number, id: one.id, events: one.at } : null);
  const wanted = text.toLowerCase();
  const recap = active ? recapText(session, active).toLowerCase().includes(wanted) : false;
  const occurrences = [];
  for (let seq = 0; seq < session.events && occurrences.length < 60; seq += 1) {
    const said = session.text(seq);
    const at = said.toLowerCase().indexOf(wanted);
    if (at < 0) continue;
    const fate = session.fateAt(active, seq);
    const took = session.folds().find((fold) => !session.undone.has(fold.number) && "rmsc".includes(session.fateAt(fold, seq)) && seq < fold.at);
    const edit = fate === "s" || fate === "c";
    occurrences.push({
      seq, role: session.role(seq), snippet: said.slice(Math.max(0, at - 60), at + text.length + 60), recall: true,
      sight: sight(fate, recap),
      left: "vp".includes(fate) || !took ? null : { fold: ref(took), rule: edit ? (fate === "s" ? "supersede" : "terminal") : "recap", reason: edit ? session.why(seq, fate) : "computed from the messages" },
      used: occurrences.length === 0 && seq + 30 < session.events ? { seq: seq + 30, by: "assistant", after_left: false } : null,
    });
  }
  const has = (is) => occurrences.some(({ sight }) => sight.is === is);
  const answer = occurrences.length === 0 ? "never-said" : has("verbatim") ? "verbatim" : has("edited") ? "edited" : recap ? "in-recap" : "gone";
  const lostWith = answer === "gone" ? occurrences[0].left?.fold ?? null : null;
  return { text, call: null, events: session.events, fold: ref(active), answer, reader: { is: "midfold" }, verdict: VERDICTS[answer], lost_with: lostWith, in_recap: recap, asked_again: [], occurrences };
}

/** Messages with a text, the newest first; all that is asked of here is a regular expression. */
export function found(session, query, limit) {
  const wanted = new RegExp(query.get("query").replace("(?i)", ""), "i");
  const skip = Number(query.get("skip") ?? 0);
  const all = [];
  for (let seq = Math.min(session.events, 5000) - 1; seq >= 0; seq -= 1) {
    const line = session.text(seq).split("\n").find((one) => wanted.test(one));
    if (line !== undefined) all.push({ event: seq, role: session.role(seq), turn: session.turn(seq), chars: session.text(seq).length, snippet: line, lines: [], more_lines: 0 });
  }
  return { found: all.slice(skip, skip + limit), total: all.length, next: skip + limit < all.length ? skip + limit : null };
}

export function compact(session, { focus, preview }) {
  const last = session.active();
  const size = (tokens, messages) => ({ tokens, messages });
  const { fill } = session.overview();
  if (last && session.events - last.at < 12) {
    return { session: session.id, counter: "openai:o200k", estimate: false, outcome: "nothing", preview: Boolean(preview), reason: "nothing new since the last fold", headline: "No changes from compression", token_line: "", note: null, instead: null, before: size(fill, 60), after: size(fill, 60), fold: null, recap: null, cache: null };
  }
  const made = { ...session.fold(session.folds().length + 1, session.events, "manual"), made: Date.now(), before: fill };
  made.after = Math.min(made.after, Math.floor(fill * 0.5));
  if (!preview) session.list.push(made);
  return { session: session.id, counter: "openai:o200k", estimate: false, outcome: "folded", preview: Boolean(preview), reason: null, headline: `Compressed: ${session.events} → 24 messages`, token_line: `Rough transcript estimate: ~${fill} → ~${made.after} tokens`, note: focus ? `Focus: ${focus}` : null, instead: "a recap, computed from the log, 3,952 tokens", before: size(fill, session.events), after: size(made.after, 24), fold: { ...brief(session, made), ...(preview ? { number: null, made: null, standing: null } : {}) }, recap: recapText(session, made), cache: null };
}

export function undo(session, { fold: which, preview }) {
  const there = session.folds().filter(({ number }) => !session.undone.has(number));
  const from = typeof which === "number" ? which : there[there.length - 1]?.number;
  const undone = there.filter(({ number }) => number >= from).map(({ number }) => number);
  const rest = there.filter(({ number }) => number < from);
  const { fill, window } = session.overview();
  if (!preview) undone.forEach((number) => session.undone.add(number));
  return { undone, active: rest[rest.length - 1]?.number ?? null, before: { messages: 60, tokens: fill }, after: { messages: 60 + undone.length * 120, tokens: Math.min(Math.floor(window * 1.4), fill + undone.length * Math.floor(window * 0.4)) }, preview: Boolean(preview) };
}

export function pin(session, seq, on, preview) {
  const unit = session.role(seq) === "tool" ? [seq - 1, seq] : session.role(seq) === "assistant" && session.role(Math.min(seq + 1, session.events - 1)) === "tool" ? [seq, seq + 1] : [seq];
  const pins = new Set(session.pins);
  unit.forEach((each) => (on ? pins.add(each) : pins.delete(each)));
  const isChanged = pins.size !== session.pins.size;
  if (!preview) session.pins = pins;
  return { pins: [...pins].sort((a, b) => a - b), changed: isChanged, unit, folded: "rm".includes(session.fateAt(session.active(), seq)), preview };
}
