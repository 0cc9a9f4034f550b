'use strict'
// OpenClaw: a context engine. What was said before the turn is projected; OpenClaw's transcript keeps all of it.

const { Sessions, recallTools } = require('./index.js')
const { Dates, apply, chat, sends } = require('./lib/pi-messages.js')

/** Turns that OpenClaw may tell of once more: the newest are enough. */
const TURNS = 1_000

/** The conversations of one gateway. They outlive the engine, which OpenClaw makes anew for every turn. */
class Conversations {
  #options
  #sessions = null
  #windows = new Map()
  #turns = new Set()
  #dates = new Dates()

  constructor(options) {
    this.#options = options
  }

  /** What to send for the history of a session, in so many tokens. */
  project(id, messages, { window, model }) {
    const own = messages.filter(sends)
    const given = own.map(chat)
    const sessions = this.#all(window)
    this.#follow(id, window, model)
    const context = sessions.project(given, { id })
    return { context, messages: apply(context, own, given, this.#dates) }
  }

  /** The session that a history is in, from the store too. */
  find(id, window) {
    return this.#all(window).find([], { id })
  }

  /** Whether a turn is new. Its messages come with the history of the next. */
  advance(key) {
    if (this.#turns.has(key)) return false
    this.#turns.add(key)
    if (this.#turns.size > TURNS) this.#turns.delete(this.#turns.values().next().value)
    return true
  }

  #all(window) {
    const options = { ...(window ? { window } : {}), ...this.#options, dialect: 'openai-chat' }
    return (this.#sessions ??= new Sessions(options))
  }

  /** What a turn has used up is not there for the history. */
  #follow(id, window, model) {
    if (this.#options.window || !window || this.#windows.get(id) === window) return
    this.#windows.set(id, window)
    this.find(id)?.updateModel(model ?? 'unknown', window)
  }
}

/** The engine, as OpenClaw asks for it. */
function engine(conversations) {
  return {
    info: {
      id: 'midfold',
      name: 'midfold',
      ownsCompaction: true,
      acceptedHostParams: ['sessionKey'],
      transcriptSemantics: {
        currentTurnFence: 'before-current-turn-entry-v1',
        turnAdvancementIdempotency: 'atomic-idempotent-v1',
      },
    },
    // Whatever is new is in the history of the next turn.
    ingest: async () => ({ ingested: false }),
    assemble: async ({ sessionId, messages, tokenBudget, model }) => {
      const projected = conversations.project(sessionId, messages, { window: tokenBudget, model })
      return { messages: projected.messages, estimatedTokens: projected.context.tokens }
    },
    compact: async ({ sessionId, tokenBudget, currentTokenCount, customInstructions }) => {
      const session = conversations.find(sessionId, tokenBudget)
      const before = session?.status().context_tokens ?? 0
      const folding = session?.compact(customInstructions || undefined)
      // OpenClaw goes on after a reason that begins so. What is new is folded where that is due, when it is assembled.
      if (!folding?.fold) {
        return { ok: true, compacted: false, reason: `nothing to compact: ${folding?.reason ?? 'nothing was assembled yet'}` }
      }
      const result = { tokensBefore: currentTokenCount ?? before, tokensAfter: session.status().context_tokens }
      return { ok: true, compacted: true, result }
    },
    commitTurn: async ({ advancementKey }) => ({
      status: conversations.advance(advancementKey) ? 'committed' : 'duplicate',
    }),
  }
}

/** A recall tool for the session that an agent is in. */
function tool(conversations, { name, description, input_schema: parameters }, { sessionId }) {
  return {
    name,
    description,
    parameters,
    async execute(_id, args) {
      const text = conversations.find(sessionId)?.recall(name, args) ?? 'There is nothing to recall yet.'
      return { content: [{ type: 'text', text }], details: {} }
    },
  }
}

/**
 * Registers the context engine `midfold`. The plug-in's configuration has the options of `Sessions`, and `recall:
 * false`, where the agent is to have no recall tools. The window is OpenClaw's token budget unless one is configured.
 */
function register(api) {
  const { recall = true, ...options } = api.pluginConfig ?? {}
  const conversations = new Conversations(options)
  api.registerContextEngine('midfold', () => engine(conversations))
  if (!recall) return
  for (const entry of recallTools('anthropic')) {
    api.registerTool((context) => tool(conversations, entry, context), { name: entry.name })
  }
}

module.exports = { id: 'midfold', name: 'midfold', register }
