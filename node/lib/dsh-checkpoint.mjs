// The one place that writes to a session of DeepSeek Harness: a bracket with a checkpoint in it, or a shorter result.

import { randomUUID } from 'node:crypto'
import { CompactionId, ManualCompactionError, compactCheckpointSource } from '@deepseek-ai/dsh-compaction'
import { createUserMessage } from '@deepseek-ai/dsh-llm'
import midfold from '../index.js'
import surface from './dsh-surface.js'

/** The turn that a compaction is of; an error where another is under way. */
export function unlocked(session) {
  const { turn, locked } = surface.brackets(session)
  if (locked) throw new ManualCompactionError('busy', 'midfold: a compaction of this session is under way')
  return turn
}

/** What the harness says that nodes of the surface cost, in tokens. */
function price(meter, session, seqs) {
  const span = new Set(seqs)
  return meter.measure(session).nodes.reduce((sum, { seq, tokens }) => sum + (span.has(seq) ? tokens : 0), 0)
}

/** Puts a shorter result in place of one. */
export function shorten(meter, session, { seq, text }) {
  const { data } = session.events[seq]
  const [block] = data.message.content
  const message = { ...data.message, content: [{ ...block, content: [{ type: 'text', text }] }] }
  const shadowedRange = { start: seq, end: seq }
  const shadowedTokenCount = price(meter, session, [seq])
  session.append('compaction/prune', { shadowedRange, shadowedSeqs: [seq], shadowedTokenCount })
  session.append('tool/result', { ...data, message }, { surfaceOp: { op: 'replace', ...shadowedRange }, sourceEventSeqs: [seq] })
}

/**
 * Puts a checkpoint in place of a span, in one go: nothing can come between. Returns null, and writes nothing, where
 * the checkpoint would not be smaller.
 */
export function replace(meter, session, { seqs, content }, turn, command) {
  const compactionId = CompactionId(randomUUID())
  const of = command === undefined ? { compactionId } : { compactionId, sourceCommandId: command }
  const message = createUserMessage({ content, source: compactCheckpointSource(compactionId, command) })
  const shadowedTokenCount = price(meter, session, seqs)
  if (meter.estimateMessage(message) >= shadowedTokenCount) return null
  const shadowedRange = { start: seqs[0], end: seqs.at(-1) }
  const about = { ...of, summary: content, shadowedRange, shadowedSeqs: seqs, shadowedTokenCount }
  const { seq: startSeq } = session.append('compaction/start', { ...of, turn })
  let summarySeq
  try {
    ;({ seq: summarySeq } = session.append('compaction/summary', { ...about, provider: 'midfold', model: midfold.version }))
    const surfaceOp = { op: 'replace', ...shadowedRange }
    session.append('user/message', message, { surfaceOp, sourceEventSeqs: [startSeq, summarySeq, ...seqs] })
  } catch (error) {
    session.append('compaction/end', { ...of, turn, error: String(error) })
    throw error
  }
  const { seq: endSeq } = session.append('compaction/end', { ...of, turn })
  return { ...about, startSeq, summarySeq, endSeq }
}
