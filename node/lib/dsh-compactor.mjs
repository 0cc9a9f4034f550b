// What the engine for DeepSeek Harness does. The harness hands out its services as proxies, which see no private
// members: so this is no service itself.

import { ManualCompactionError, toolPairingBalancedAfter, toolPairingBalancedBefore } from '@deepseek-ai/dsh-compaction'
import midfold from '../index.js'
import { replace, shorten, unlocked } from './dsh-checkpoint.mjs'
import { Conversations, region } from './dsh-conversations.js'
import surface from './dsh-surface.js'

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

/** The turn that is open: what is not asked for by a person is compacted within one. */
function openTurn(session) {
  const turn = unlocked(session)
  if (turn === null) throw new Error('midfold: the session has no open turn')
  return turn
}

/** An error of a compaction that a person asked for, as the harness tells it. */
function told(error) {
  if (error instanceof ManualCompactionError) return error
  const code = error instanceof midfold.MidfoldError ? 'summary' : 'commit'
  return new ManualCompactionError(code, `midfold: ${error.message}`, { cause: error })
}

/** Compacts the sessions of one harness, with the services `llm`, `tokenMeter` and `sessions` of its context. */
export class Compactor {
  #ctx
  #conversations

  constructor(ctx, options) {
    this.#ctx = ctx
    this.#conversations = new Conversations(options)
  }

  /** Answers a call of a recall tool. */
  recall(id, name, args) {
    return this.#conversations.find(id)?.recall(name, args) ?? 'There is nothing to recall yet.'
  }

  forget(id) {
    this.#conversations.forget(id)
  }

  /** Folds before a request where that is due. `entering` are the messages that will be appended for it. */
  async press(agent, entering, signal) {
    const limits = await this.#limits(agent, signal)
    const turn = openTurn(agent.session)
    return this.#apply(agent.session, this.#conversations.project(agent.session, limits, { entering }), turn)
  }

  /** Folds after a provider refused a request as too long, of which the failure tells. */
  async recover(agent, failure, signal) {
    const limits = await this.#limits(agent, signal)
    const turn = openTurn(agent.session)
    return this.#apply(agent.session, this.#conversations.recover(agent.session, limits, failure), turn)
  }

  /** Folds because a person asked, while the agent is idle; `own` is the agent's signal. */
  async ask(agent, own, signal, command) {
    const { session } = agent
    const either = AbortSignal.any([own, signal])
    let result
    try {
      const limits = await this.#limits(agent, either)
      if (unlocked(session) !== null) throw new ManualCompactionError('busy', 'midfold: the session has an open turn')
      result = this.#apply(session, this.#conversations.project(session, limits, { force: true }), null, command)
    } catch (error) {
      signal.throwIfAborted()
      if (!own.aborted) throw told(error)
      throw new ManualCompactionError('cancelled', 'midfold: the compaction was cancelled', { cause: error })
    }
    if (result !== null) await this.#save(session)
    return result
  }

  /** Folds a span of the surface, whatever the policy would keep of it. */
  async fold(start, end, agent, signal) {
    const { session } = agent
    const limits = await this.#limits(agent, signal)
    const turn = openTurn(session)
    const seqs = span(session, start, end)
    const content = region(surface.whole(session), seqs.flatMap((seq) => surface.origins(session.events, seq)), limits)
    const result = replace(this.#ctx.tokenMeter, session, { seqs, content }, turn)
    if (result === null) throw new Error(`midfold: a recap of ${start} to ${end} would not be smaller`)
    return result
  }

  /** Makes the surface what was projected. */
  #apply(session, { context, said }, turn, command) {
    const found = surface.replacement(session, said, context, cuts(session))
    const result = found && replace(this.#ctx.tokenMeter, session, found, turn, command)
    for (const cut of surface.shortened(session, said, context)) shorten(this.#ctx.tokenMeter, session, cut)
    this.#conversations.sent(session, { context, said })
    return result
  }

  async #save(session) {
    try {
      await this.#ctx.sessions.flush(session)
    } catch (error) {
      throw new ManualCompactionError('persistence', 'midfold: the session could not be saved', { cause: error })
    }
  }

  /** The model that a session is routed to, its window, and what of it a reply may take. */
  async #limits({ session, options }, signal) {
    signal?.throwIfAborted()
    const { provider, model, maxTokens } = session.requestHeader()?.config ?? options
    if (!provider || !model) return {}
    const info = await this.#ctx.llm.resolveModelInfo(provider, model, signal)
    signal?.throwIfAborted()
    return { model, window: info.context?.contextWindow, reply: maxTokens ?? info.defaultMaxTokens }
  }
}
