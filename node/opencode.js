'use strict'
// opencode: what goes to the model is projected before every call; what opencode stores stays whole.

const { Session, Sessions, recallTools } = require('./index.js')
const { flat, unflat } = require('./lib/opencode-messages.js')

/** What opencode keeps free for a reply, at most. */
const REPLY = 32_000

/** What the provider counted for the prompt of an answer. */
function prompt({ tokens }) {
  return tokens ? tokens.input + tokens.cache.read + tokens.cache.write : 0
}

/** The conversations of one opencode. */
class Conversations {
  #client
  #options
  #sessions = null
  #limits = null
  #models = new Map()
  #seen = new Map()

  constructor(client, options) {
    this.#client = client
    this.#options = options
  }

  /** What to send in place of these messages. */
  async project(messages) {
    const { sessionID: id } = messages[0].info
    const options = await this.#configure(id, messages)
    this.#sessions ??= new Sessions(options)
    this.#observe(id, messages)
    const list = flat(messages)
    return unflat(this.#sessions.project(list.given, { id }), list, messages)
  }

  /** The same for a prompt that is no part of the conversation, such as that of opencode's own compaction. */
  async once(messages) {
    const { sessionID: id } = messages[0].info
    const session = this.find(id)?.fork() ?? new Session(await this.#configure(id, messages))
    const list = flat(messages)
    return unflat(session.project(list.given), list, messages)
  }

  find(id) {
    return this.#sessions?.find([], { id }) ?? null
  }

  /** What the provider counted for the newest answer that there is, once. */
  #observe(id, messages) {
    const last = messages.findLast(({ info }) => info.role === 'assistant' && !info.summary && prompt(info) > 0)?.info
    if (!last || this.#seen.get(id) === last.id) return
    this.#seen.set(id, last.id)
    const { output, cache } = last.tokens
    this.find(id)?.observe(prompt(last), output, { cacheRead: cache.read, cacheWrite: cache.write })
  }

  /** The options of sessions, with the window of the model that the user chose. */
  async #configure(id, messages) {
    const model = messages.findLast(({ info }) => info.role === 'user')?.info.model
    const limit = model && !this.#options.window ? await this.#limit(model) : null
    const before = this.#models.get(id)
    if (model) this.#models.set(id, model)
    if (limit && before && (before.modelID !== model.modelID || before.providerID !== model.providerID)) {
      this.find(id)?.updateModel(model.modelID, limit.window)
    }
    return { ...limit, ...this.#options, dialect: 'openai-chat' }
  }

  async #limit({ providerID, modelID }) {
    this.#limits ??= this.#client.config.providers().then(({ data }) => data?.providers ?? [])
    const provider = (await this.#limits).find(({ id }) => id === providerID)
    const limit = provider?.models[modelID]?.limit
    if (!limit?.context) return null
    const window = limit.input ?? limit.context
    const reply = limit.input ? 0 : Math.min(limit.output || 0, REPLY)
    return { window, outputReserve: Math.min(reply, Math.floor(window / 2)) }
  }
}

/** The recall tools, and what makes their arguments optional: opencode requires all of a plain schema. */
function tools(conversations) {
  const entries = recallTools('anthropic')
  const schemas = new Map(entries.map(({ name, input_schema: schema }) => [name, schema]))
  const tool = ({ name, description, input_schema: schema }) => ({
    description,
    args: schema.properties,
    execute: async (args, { sessionID }) =>
      conversations.find(sessionID)?.recall(name, args) ?? 'There is nothing to recall yet.',
  })
  return {
    tool: Object.fromEntries(entries.map((entry) => [entry.name, tool(entry)])),
    'tool.definition': async ({ toolID }, definition) => {
      if (schemas.has(toolID)) definition.jsonSchema = schemas.get(toolID)
    },
  }
}

/**
 * A plug-in of opencode. Options are those of `Sessions`, and `recall: false`, where the agent is to have no recall
 * tools. The window is that of the model in opencode's configuration unless there is one in the options.
 */
async function midfold({ client }, { recall = true, ...options } = {}) {
  const conversations = new Conversations(client, options)
  const compacting = new Set()
  return {
    'experimental.chat.messages.transform': async (_input, { messages }) => {
      if (messages.length === 0) return
      const own = compacting.delete(messages[0].info.sessionID)
      const sent = await (own ? conversations.once(messages) : conversations.project(messages))
      messages.splice(0, messages.length, ...sent)
    },
    // opencode's own compaction sends its prompt through the hook above, too.
    'experimental.session.compacting': async ({ sessionID }) => {
      compacting.add(sessionID)
    },
    event: async ({ event }) => {
      if (event.type !== 'session.error' || event.properties.error?.name !== 'ContextOverflowError') return
      const { responseBody, message } = event.properties.error.data ?? {}
      conversations.find(event.properties.sessionID)?.recover(responseBody ?? message ?? '', { status: 400 })
    },
    ...(recall ? tools(conversations) : {}),
  }
}

module.exports = midfold
module.exports.default = midfold
