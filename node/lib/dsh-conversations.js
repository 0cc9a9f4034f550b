'use strict'
// The conversations of one harness: what was said goes in, what is to be sent comes out.

const { Session, Sessions } = require('../index.js')
const { chat } = require('./dsh-messages.js')
const { blocks, exact, whole } = require('./dsh-surface.js')

/** What a reply takes of a window, at most. */
const REPLY = 32_000
/** What every provider's refusal of a long prompt is read as, where its own words are not known. */
const REFUSAL = 'prompt is too long'

/** The options of a session for a model. */
function sized({ window, reply = 0 }) {
  return window ? { window, outputReserve: Math.min(reply, REPLY, Math.floor(window / 2)) } : {}
}

/** What the provider counted for the newest answer, if it did. */
function newest({ events }) {
  const answer = events.findLast(({ type }) => type === 'assistant/message')
  const usage = answer?.data.usage
  if (!usage) return null
  const { inputTokens, outputTokens, cacheReadTokens: cacheRead = 0, cacheWriteTokens: cacheWrite = 0 } = usage
  return { seq: answer.seq, prompt: inputTokens + cacheRead + cacheWrite, output: outputTokens, cacheRead, cacheWrite }
}

class Conversations {
  #options
  /** Stores of conversations, by the limits that they were begun with. */
  #begun = new Map()
  /** By the harness' id: the store, the model, what was last counted, and whether what was sent was what is here. */
  #known = new Map()

  constructor(options) {
    this.#options = options
    // What is wrong with the options is said now, not before every step.
    this.#sessions({})
  }

  /** What to send for a session of the harness, and what it is made of. */
  project(session, limits, { entering = [], force = false } = {}) {
    const conversation = this.#conversation(session.id, limits)
    this.#observe(conversation, session)
    const said = whole(session)
    const given = [...said.map((entry) => entry.given), ...entering.map(chat)]
    const context = conversation.sessions.project(given, { id: session.id, force })
    return { context, said }
  }

  /** The same after a refusal, of which the failure tells. */
  recover(session, limits, { message = REFUSAL, status = 400 }) {
    const { context, said } = this.project(session, limits)
    const less = context.session.recover(message, { status }) ?? context.session.recover(REFUSAL, { status: 400 })
    return { context: less ?? context, said }
  }

  /** Tells that the surface is now as it will be sent. */
  sent(session, { context, said }) {
    this.#known.get(session.id).exact = exact(session, said, context)
  }

  find(id) {
    return this.#known.get(id)?.sessions.find([], { id }) ?? null
  }

  forget(id) {
    this.#known.delete(id)
  }

  #conversation(id, limits) {
    const { model, window } = limits
    const known = this.#known.get(id)
    if (known === undefined) {
      const conversation = { sessions: this.#sessions(limits), model, window, counted: -1, exact: false }
      this.#known.set(id, conversation)
      return conversation
    }
    if (model && !this.#options.window && (known.model !== model || known.window !== window)) {
      known.sessions.find([], { id })?.updateModel(model, window)
      Object.assign(known, { model, window })
    }
    return known
  }

  #sessions(limits) {
    const size = sized(limits)
    const key = JSON.stringify(size)
    if (!this.#begun.has(key)) this.#begun.set(key, new Sessions({ ...size, ...this.#options, dialect: 'openai-chat' }))
    return this.#begun.get(key)
  }

  /** What the provider counted for what was sent last, once. */
  #observe(conversation, session) {
    const usage = newest(session)
    if (usage === null || usage.seq <= conversation.counted) return
    conversation.counted = usage.seq
    if (!conversation.exact || usage.prompt === 0) return
    const { prompt, output, cacheRead, cacheWrite } = usage
    conversation.sessions.find([], { id: session.id })?.observe(prompt, output, { cacheRead, cacheWrite })
  }
}

/** What is to stand in place of a span of what was said, whatever the policy would keep: its recap, with its numbers. */
function region(said, seqs, limits) {
  const within = new Set(seqs)
  const first = said.findIndex(({ seq }) => within.has(seq))
  const last = said.findLastIndex(({ seq }) => within.has(seq))
  const policy = {
    base: 'default',
    head: { rule: 'messages', messages: first, count_system: true },
    tail: { ratio: 0, min_messages: 0, last_user: false },
    fold: { min_reclaim: 0 },
  }
  const end = { role: 'user', content: '' }
  const given = [...said.slice(0, last + 1).map((entry) => entry.given), end]
  const context = new Session({ ...sized(limits), policy, dialect: 'openai-chat' }).project(given, { force: true })
  return blocks(said.slice(0, last + 1), context, (place) => place >= first)
}

module.exports = { Conversations, region }
