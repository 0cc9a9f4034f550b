// DeepSeek Harness: a compaction engine. A span of the surface gives way to a recap; the harness' log keeps all of it.

import { CompactionEngine, ManualCompactionError, toolPairingBalancedAfter, toolPairingBalancedBefore } from '@deepseek-ai/dsh-compaction'
import { CONTEXT_WINDOW_EXCEEDED_CODE } from '@deepseek-ai/dsh-llm'
import midfold from './index.js'
import { replace, unlocked } from './lib/dsh-checkpoint.mjs'
import { Conversations, region } from './lib/dsh-conversations.js'
import surface from './lib/dsh-surface.js'

/** Where a session may be cut. */
function cuts(session) {
  return {
    before: (seq) => toolPairingBalancedBefore(session, seq),
    after: (seq) => toolPairingBalancedAfter(session, seq),
  }
}

/** The nodes of a span of the surface; an error where it is none, or parts a call from its result. */
function span(session, start, end) {
  const { nodes } = session.surface
  const [first, last] = [nodes.indexOf(start), nodes.indexOf(end)]
  if (first < 0 || last < first) throw new Error(`midfold: ${start} to ${end} is no span of the surface`)
  const { before, after } = cuts(session)
  if (!before(start) || !after(end)) throw new Error(`midfold: ${start} to ${end} parts a call from its result`)
  return nodes.slice(first, last + 1)
}

/** A tool of the harness that answers from what was folded. */
function tool(conversations, { name, description, input_schema: parameters }) {
  return {
    name,
    description,
    parameters,
    output: { schema: { type: 'string' }, render: (_args, text) => [{ type: 'text', text }] },
    isConcurrencySafe: () => true,
    async execute(args, { agent }) {
      const session = agent && conversations.find(agent.session.id)
      return session?.recall(name, args) ?? 'There is nothing to recall yet.'
    },
  }
}

/**
 * The engine, for the row `compaction-basic`. Options are those of `Sessions`; `recall: false`, where the agent is to
 * have no recall tools; and `auto: false`, where only a person compacts. The window is that of the routed model unless
 * there is one in the options.
 */
export default class MidfoldCompaction extends CompactionEngine {
  static inject = ['llm', 'tokenMeter', 'sessions']
  #conversations

  constructor(ctx, { recall = true, auto = true, ...options } = {}) {
    super(ctx)
    this.#conversations = new Conversations(options)
    ctx.on('session/disposed', ({ id }) => this.#conversations.forget(id))
    if (auto) this.#listen()
    if (recall) {
      ctx.inject(['tools'], ({ tools }) => {
        for (const entry of midfold.recallTools('anthropic')) tools.register(tool(this.#conversations, entry))
      })
    }
  }

  async compactIfNeeded(agent, trigger, signal) {
    return trigger === 'pressure' ? this.#press(agent, [], signal) : this.#recover(agent, {}, signal)
  }

  compactNow(agent, signal, command) {
    signal.throwIfAborted()
    try {
      return agent.runMaintenance((own) => this.#ask(agent, AbortSignal.any([own, signal]), own, command))
    } catch (error) {
      throw new ManualCompactionError('busy', 'midfold: the agent is not idle', { cause: error })
    }
  }

  async compactRegion(start, end, agent, signal) {
    const { session } = agent
    const seqs = span(session, start, end)
    const limits = await this.#limits(agent, signal)
    const turn = unlocked(session)
    if (turn === null) throw new Error('midfold: a span is compacted within a turn')
    const content = region(surface.whole(session), seqs.flatMap((seq) => surface.origins(session.events, seq)), limits)
    const result = replace(this.ctx.tokenMeter, session, { seqs, content }, turn)
    if (result === null) throw new Error(`midfold: a recap of ${start} to ${end} would not be smaller`)
    return result
  }

  /** Folds before a request where that is due. `entering` are the messages that will be appended for it. */
  async #press(agent, entering, signal) {
    const limits = await this.#limits(agent, signal)
    const turn = unlocked(agent.session)
    if (turn === null) throw new Error('midfold: automatic compaction is within a turn')
    return this.#apply(agent.session, this.#conversations.project(agent.session, limits, { entering }), turn)
  }

  /** Folds after a provider refused a request as too long. */
  async #recover(agent, failure, signal) {
    const limits = await this.#limits(agent, signal)
    const turn = unlocked(agent.session)
    if (turn === null) throw new Error('midfold: automatic compaction is within a turn')
    return this.#apply(agent.session, this.#conversations.recover(agent.session, limits, failure), turn)
  }

  /** Folds because a person asked. */
  async #ask(agent, signal, own, command) {
    const { session } = agent
    let result
    try {
      const limits = await this.#limits(agent, signal)
      const turn = unlocked(session)
      if (turn !== null) throw new ManualCompactionError('busy', 'midfold: the session has an open turn')
      result = this.#apply(session, this.#conversations.project(session, limits, { force: true }), null, command)
    } catch (error) {
      if (signal.aborted && own.aborted && signal.reason === own.reason) {
        throw new ManualCompactionError('cancelled', 'midfold: the compaction was cancelled', { cause: error })
      }
      signal.throwIfAborted()
      if (error instanceof ManualCompactionError) throw error
      const code = error instanceof midfold.MidfoldError ? 'summary' : 'commit'
      throw new ManualCompactionError(code, `midfold: ${error.message}`, { cause: error })
    }
    if (result === null) return null
    try {
      await this.ctx.sessions.flush(session)
    } catch (error) {
      throw new ManualCompactionError('persistence', 'midfold: the session could not be saved', { cause: error })
    }
    return result
  }

  /** Makes the surface what was projected. */
  #apply(session, { context, said }, turn, command) {
    const found = surface.replacement(session, said, context, cuts(session))
    const result = found && replace(this.ctx.tokenMeter, session, found, turn, command)
    this.#conversations.sent(session, { context, said })
    return result
  }

  /** The model that a session is routed to, its window, and what of it a reply may take. */
  async #limits({ session, options }, signal) {
    const { provider, model, maxTokens } = session.requestHeader()?.config ?? options
    signal?.throwIfAborted()
    if (!provider || !model) return {}
    const info = await this.ctx.llm.resolveModelInfo(provider, model, signal)
    signal?.throwIfAborted()
    return { model, window: info.context?.contextWindow, reply: maxTokens ?? info.defaultMaxTokens }
  }

  #listen() {
    const { ctx } = this
    const failed = (error) => ctx.logger.warn(`midfold: ${error.message}`)
    ctx.on('agent/pre-step', async ({ agent, signal }, next) => {
      const decision = await next()
      if (decision.kind !== 'enter' || signal.aborted) return decision
      await this.#press(agent, decision.messages, signal).catch(failed)
      return decision
    })
    ctx.on('agent/request-error', async ({ agent, failure, signal }, next) => {
      if (failure.code !== CONTEXT_WINDOW_EXCEEDED_CODE || signal.aborted) return next()
      const result = await this.#recover(agent, failure, signal).catch(failed)
      return result && !signal.aborted ? { kind: 'retry' } : next()
    })
  }
}
