'use strict'
// The Vercel AI SDK: what goes to the model is projected; the messages that the application keeps stay whole.

const { Sessions, recallTools } = require('./index.js')
const { apply, blocks } = require('./lib/ai-parts.js')

/** The host's list, as the engine reads it: system messages in front travel beside it. */
function split(messages) {
  const first = messages.findIndex((message) => message.role !== 'system')
  const start = first < 0 ? messages.length : first
  return { beside: messages.slice(0, start), list: messages.slice(start) }
}

/** The conversations of one application. */
class Conversations {
  #sessions
  #sent = new WeakMap()

  constructor({ id, ...options } = {}) {
    this.#sessions = new Sessions({ ...options, dialect: 'anthropic' })
    this.id = id
  }

  /** What to send for these messages, and the session that it is of. */
  project(messages, id = this.id) {
    const { beside, list } = split(messages)
    const given = list.map(blocks)
    const context = this.#sessions.project(given, { id })
    const sent = (context) => [...beside, ...apply(context, list, given)]
    return { messages: sent(context), session: context.session, sent }
  }

  find(messages, id = this.id) {
    return this.#sessions.find(split(messages).list.map(blocks), { id })
  }

  /** The parameters of a call, with what to send. */
  params(params) {
    const id = params.providerOptions?.midfold?.id
    const projected = this.project(params.prompt, id)
    const sent = { ...params, prompt: projected.messages }
    this.#sent.set(sent, projected)
    return sent
  }

  observe(params, usage) {
    const count = (tokens) => (typeof tokens === 'object' ? tokens?.total : tokens) ?? 0
    const prompt = count(usage?.inputTokens)
    const { cacheRead = 0, cacheWrite = 0 } =
      typeof usage?.inputTokens === 'object' ? (usage.inputTokens ?? {}) : { cacheRead: usage?.cachedInputTokens }
    if (prompt > 0) {
      const cached = { cacheRead: cacheRead ?? 0, cacheWrite: cacheWrite ?? 0 }
      this.#sent.get(params)?.session.observe(prompt, count(usage.outputTokens), cached)
    }
  }

  /** The same call with less, where the provider said that it was too long; else nothing. */
  recovered(params, error) {
    const projected = this.#sent.get(params)
    const body = error?.responseBody ?? error?.message
    if (!projected || typeof body !== 'string') return null
    const context = projected.session.recover(body, { status: error.statusCode })
    if (context === null) return null
    const sent = { ...params, prompt: projected.sent(context) }
    this.#sent.set(sent, projected)
    return sent
  }
}

/** Calls the model, and once more with less where the first prompt was too long. */
async function called(conversations, params, first, again) {
  try {
    return [await first(), params]
  } catch (error) {
    const less = conversations.recovered(params, error)
    if (less === null) throw error
    return [await again(less), less]
  }
}

/** Watches a stream for what the provider counted. */
function watched(stream, observe) {
  const transform = new TransformStream({
    transform(part, controller) {
      if (part.type === 'finish') observe(part.usage)
      controller.enqueue(part)
    },
  })
  return stream.pipeThrough(transform)
}

/**
 * Middleware for `wrapLanguageModel`.
 *
 * Options are those of `Sessions`, and `id`, where all calls are one conversation. A call names its
 * conversation with `providerOptions: { midfold: { id } }`; without a name it is found by its content.
 */
function midfoldMiddleware(options) {
  const conversations = options instanceof Conversations ? options : new Conversations(options)
  return {
    specificationVersion: 'v3',
    conversations,
    transformParams: async ({ params }) => conversations.params(params),
    async wrapGenerate({ doGenerate, params, model }) {
      const again = (less) => model.doGenerate(less)
      const [result, sent] = await called(conversations, params, doGenerate, again)
      conversations.observe(sent, result.usage)
      return result
    },
    async wrapStream({ doStream, params, model }) {
      const again = (less) => model.doStream(less)
      const [result, sent] = await called(conversations, params, doStream, again)
      const observe = (usage) => conversations.observe(sent, usage)
      return { ...result, stream: watched(result.stream, observe) }
    },
  }
}

/**
 * A `prepareStep` for `generateText` and `streamText`: the same where the model is not to be wrapped. It learns
 * nothing of what the provider counted, but for the steps before.
 */
function midfoldPrepareStep(options) {
  const conversations = options instanceof Conversations ? options : new Conversations(options)
  return ({ messages }) => ({ messages: conversations.project(messages).messages })
}

/** The recall tools of a middleware, for `tools`. */
function midfoldTools({ conversations }) {
  const { jsonSchema, tool } = require('ai')
  const entries = recallTools('anthropic').map(({ name, description, input_schema: schema }) => [
    name,
    tool({
      description,
      inputSchema: jsonSchema(schema),
      execute: (input, { messages }) =>
        conversations.find(messages)?.recall(name, input) ?? 'There is nothing to recall yet.',
    }),
  ])
  return Object.fromEntries(entries)
}

module.exports = { midfoldMiddleware, midfoldPrepareStep, midfoldTools }
