'use strict'
// The log and the surface of a session of DeepSeek Harness: what was said, what of it stands, and which span of the
// surface gives way to what the engine wrote.

const { chat, plain, told } = require('./dsh-messages.js')

/** All messages that were ever appended, as if none had been replaced: their numbers, and as the engine reads them. */
function whole(session) {
  const said = []
  for (const event of session.events) {
    const message = event.surfaceOp === 'append' ? session.deriveEventMessage(event) : null
    if (message !== null) said.push({ seq: event.seq, message, given: chat(message) })
  }
  return said
}

/** The appended event that a node of the surface stands for, or null where it stands for several. */
function origin(events, seq) {
  const event = events[seq]
  if (event.surfaceOp === 'append') return seq
  return event.type === 'tool/result' ? origin(events, event.surfaceOp.start) : null
}

/** The appended events that a node of the surface stands for. */
function origins(events, seq) {
  const event = events[seq]
  if (event.surfaceOp === 'append') return [seq]
  const within = (event.sourceEventSeqs ?? []).filter((source) => events[source].surfaceOp !== undefined)
  return within.flatMap((source) => origins(events, source))
}

/** Each node of the surface as it stands to what the engine keeps. */
function standing(session, said, context) {
  const { events } = session
  const kept = new Set(context.places.flatMap((place) => (place === null || place >= said.length ? [] : [said[place].seq])))
  return session.surface.nodes.map((seq) => {
    const from = origin(events, seq)
    const silent = session.deriveEventMessage(events[seq]) === null
    return { seq, from, state: silent ? 'silent' : from === null ? 'written' : kept.has(from) ? 'kept' : 'folded' }
  })
}

/** Positions of a span, widened until no call is parted from its result; null where that cannot be. */
function balanced(nodes, first, last, { before, after }) {
  while (first > 0 && !before(nodes[first])) first -= 1
  while (last < nodes.length - 1 && !after(nodes[last])) last += 1
  return before(nodes[first]) && after(nodes[last]) ? [first, last] : null
}

/** The blocks for those of a context's messages that `covers` says yes to, of places; and all that midfold wrote. */
function blocks(said, context, covers) {
  return context.messages.flatMap((message, at) => {
    const place = context.places[at]
    if (place === null) return [{ type: 'text', text: plain(message) }]
    if (place >= said.length || !covers(place)) return []
    return told(said[place].message, message, message === said[place].given)
  })
}

/**
 * The span of the surface that a context folds, and what is to stand in its place; null where the surface has no
 * message that the context has not. What stays in the midst of the span is in its text.
 */
function replacement(session, said, context, cuts) {
  const nodes = standing(session, said, context)
  if (nodes.every(({ state }) => state !== 'folded')) return null
  const gone = ({ state }) => state === 'folded' || state === 'written'
  const seqs = nodes.map(({ seq }) => seq)
  const span = balanced(seqs, nodes.findIndex(gone), nodes.findLastIndex(gone), cuts)
  if (span === null) return null
  const [first, last] = span
  const outside = new Set([...nodes.slice(0, first), ...nodes.slice(last + 1)].map(({ from }) => from))
  return { seqs: seqs.slice(first, last + 1), content: blocks(said, context, (place) => !outside.has(said[place].seq)) }
}

/** Results that stay on the surface and are shorter in a context: their nodes, and the text. */
function shortened(session, said, context) {
  const { events } = session
  const texts = new Map()
  for (const [at, place] of context.places.entries()) {
    if (place === null || place >= said.length || context.messages[at] === said[place].given) continue
    texts.set(said[place].seq, plain(context.messages[at]))
  }
  return session.surface.nodes.flatMap((seq) => {
    const { type, data } = events[seq]
    const text = texts.get(origin(events, seq))
    return type !== 'tool/result' || text === undefined || plain(chat(data.message)) === text ? [] : [{ seq, text }]
  })
}

/** Whether the model is sent what a context has: what the provider counts is then of it. */
function exact(session, said, context) {
  const nodes = standing(session, said, context)
  const written = nodes.filter(({ state }) => state === 'written')
  const texts = written.flatMap(({ seq }) => session.deriveEventMessage(session.events[seq]).content.map(({ text }) => text))
  const recaps = context.messages.filter((_, at) => context.places[at] === null).map(plain)
  const same = recaps.length === 0 ? written.length === 0 : recaps.every((text) => texts.includes(text))
  return same && nodes.every(({ state }) => state !== 'folded') && shortened(session, said, context).length === 0
}

/** What the log says of turns and locks: the turn that is open, and whether a compaction is under way. */
function brackets({ events }) {
  const newest = (...types) => events.findLast(({ type }) => types.includes(type))
  const turn = newest('turn/start', 'turn/end')
  const lock = newest('compaction/start', 'compaction/end')
  // What was open before the session was taken up again is of a process that is gone.
  const seeded = newest('session/end-seed')?.seq ?? -1
  return { turn: turn?.type === 'turn/start' ? turn.data.turn : null, locked: lock?.type === 'compaction/start' && lock.seq > seeded }
}

module.exports = { blocks, brackets, exact, origins, replacement, shortened, whole }
