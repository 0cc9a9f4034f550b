'use strict'
// pi: what goes to the model is projected before every call. pi's session file keeps all of it.

const { Sessions, recallTools } = require('./index.js')
const { Dates, apply, chat, plain, sends } = require('./lib/pi-messages.js')

/** A compaction of pi's session that this extension made: nothing is lost in it, and it is read through. */
const ours = (entry) => entry.type === 'compaction' && entry.details?.midfold === true

/** The message that pi makes of an entry of its session, if any. */
function message(entry) {
  const timestamp = new Date(entry.timestamp).getTime()
  switch (entry.type) {
    case 'message':
      return entry.message
    case 'custom_message':
      return { role: 'custom', customType: entry.customType, content: entry.content, display: entry.display, timestamp }
    case 'branch_summary':
      return entry.summary ? { role: 'branchSummary', summary: entry.summary, fromId: entry.fromId, timestamp } : null
    case 'compaction':
      return ours(entry) ? null : { role: 'compactionSummary', summary: entry.summary, timestamp }
    default:
      return null
  }
}

/** Entries of pi's session with the messages of each, as if this extension had never compacted it. */
function whole(branch) {
  const edits = new Map()
  for (const entry of branch) if (entry.type === 'context_edit') edits.set(entry.targetId, entry.replacement)
  const compacted = branch.findLastIndex((entry) => entry.type === 'compaction' && !ours(entry))
  const before = branch.slice(0, Math.max(compacted, 0))
  const kept = compacted < 0 ? -1 : before.findIndex(({ id }) => id === branch[compacted].firstKeptEntryId)
  const entries =
    compacted < 0
      ? branch
      : [branch[compacted], ...(kept < 0 ? [] : before.slice(kept)), ...branch.slice(compacted + 1)]
  const pairs = []
  for (const [at, entry] of entries.entries()) {
    const made = at > 0 && entry.type === 'compaction' ? null : message(entry)
    const edit = edits.get(entry.id)
    if (made === null || edit === null || !sends(made)) continue
    pairs.push({ id: entry.id, message: edit === undefined ? made : { ...made, content: edit.content } })
  }
  return pairs
}

/** What pi is about to send, with what stood before a compaction of ours in place of its summary. */
function full(messages, branch) {
  const last = branch.findLast(({ type }) => type === 'compaction')
  const [first, ...rest] = messages
  if (!last || !ours(last) || first?.role !== 'compactionSummary' || first.summary !== last.summary) return messages
  const kept = branch.findIndex(({ id }) => id === last.firstKeptEntryId)
  const later = new Set(branch.slice(kept < 0 ? branch.length : kept).map(({ id }) => id))
  const before = whole(branch.slice(0, branch.indexOf(last))).filter(({ id }) => !later.has(id))
  return [...before.map(({ message }) => message), ...rest]
}

/** What pi leaves free of a window by itself: a reply is cut to the rest. */
const FREE = 4_096

/** The window of pi's model. */
function limits(model) {
  if (!model?.contextWindow) return {}
  const { contextWindow: window } = model
  return { window, outputReserve: Math.min(FREE, Math.floor(window / 4)) }
}

/** The conversations of one process. */
class Conversations {
  #options
  #sessions = null
  #models = new Map()

  constructor(options) {
    this.#options = options
  }

  /** What to send for the messages of pi's session. */
  project(messages, ctx, how) {
    const id = ctx.sessionManager.getSessionId()
    const own = messages.filter(sends)
    const given = own.map(chat)
    this.#sessions ??= new Sessions({ ...limits(ctx.model), ...this.#options, dialect: 'openai-chat' })
    this.#follow(id, ctx.model)
    const context = this.#sessions.project(given, { id, ...how })
    return { context, own, given }
  }

  find(ctx) {
    return this.#sessions?.find([], { id: ctx.sessionManager.getSessionId() }) ?? null
  }

  /** Another model of the user's may have another window. */
  #follow(id, model) {
    if (!model || this.#options.window) return
    const before = this.#models.get(id)
    this.#models.set(id, model)
    if (before && (before.id !== model.id || before.contextWindow !== model.contextWindow)) {
      this.#sessions.find([], { id })?.updateModel(model.id, model.contextWindow)
    }
  }
}

/** What the provider said of a prompt that was too long: the newest answer of the branch. */
function refusal(branch) {
  const last = branch.findLast((entry) => entry.type === 'message' && entry.message.role === 'assistant')
  return last?.message.stopReason === 'error' ? last.message.errorMessage : undefined
}

/** A compaction for pi's session that says what the model is sent from here on. */
function compaction({ context }, pairs, preparation) {
  const written = context.places.lastIndexOf(null)
  if (written < 0) return { cancel: true }
  const at = context.places.findIndex((place, at) => at > written && place !== null)
  const firstKeptEntryId = at < 0 ? preparation.firstKeptEntryId : pairs[context.places[at]].id
  const head = context.messages.slice(0, written + 1)
  const summary = head.map(plain).filter(Boolean).join('\n\n')
  const { tokensBefore } = preparation
  return { compaction: { summary, firstKeptEntryId, tokensBefore, details: { midfold: true } } }
}

/** Folds where pi would have summarised. */
function compact(conversations, event, ctx) {
  // What is sent next is projected, and folded first where that is due.
  if (event.reason === 'threshold') return { cancel: true }
  const pairs = whole(event.branchEntries)
  const messages = pairs.map(({ message }) => message)
  const error = event.reason === 'overflow' ? refusal(event.branchEntries) : undefined
  if (error !== undefined) {
    const { context } = conversations.project(messages, ctx)
    const less = context.session.recover(error, { status: 400 })
    if (less !== null) return compaction({ context: less }, pairs, event.preparation)
  }
  const focus = event.customInstructions || undefined
  return compaction(conversations.project(messages, ctx, { focus, force: true }), pairs, event.preparation)
}

/** A tool of pi that answers from what was folded. */
function tool(conversations, { name, description, input_schema: parameters }) {
  return {
    name,
    label: name,
    description,
    parameters,
    async execute(_id, args, _signal, _update, ctx) {
      const text = conversations.find(ctx)?.recall(name, args) ?? 'There is nothing to recall yet.'
      return { content: [{ type: 'text', text }], details: {} }
    },
  }
}

/**
 * An extension for pi with options of its own: those of `Sessions`, and `recall: false`, where the agent is to have
 * no recall tools. The window is that of pi's model unless there is one in the options.
 */
function midfold({ recall = true, ...options } = {}) {
  return (pi) => {
    const conversations = new Conversations(options)
    const dates = new Dates()
    pi.on('context', ({ messages }, ctx) => {
      const { context, own, given } = conversations.project(full(messages, ctx.sessionManager.getBranch()), ctx)
      return { messages: apply(context, own, given, dates) }
    })
    pi.on('message_end', ({ message }, ctx) => {
      const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0 } = message.usage ?? {}
      const prompt = input + cacheRead + cacheWrite
      if (message.role !== 'assistant' || !sends(message) || prompt === 0) return
      conversations.find(ctx)?.observe(prompt, output, { cacheRead, cacheWrite })
    })
    pi.on('session_before_compact', (event, ctx) => compact(conversations, event, ctx))
    if (recall) for (const entry of recallTools('anthropic')) pi.registerTool(tool(conversations, entry))
  }
}

/** The extension with its defaults: `pi -e midfold/pi.js`. */
module.exports = midfold()
module.exports.default = module.exports
module.exports.midfold = midfold
