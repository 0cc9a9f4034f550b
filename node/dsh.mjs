// DeepSeek Harness: a compaction engine. A span of the surface gives way to a recap; the harness' log keeps all of it.

import { CompactionEngine, ManualCompactionError } from '@deepseek-ai/dsh-compaction'
import { CONTEXT_WINDOW_EXCEEDED_CODE } from '@deepseek-ai/dsh-llm'
import midfold from './index.js'
import { Compactor } from './lib/dsh-compactor.mjs'

/** A tool of the harness that answers from what was folded. */
function tool(compactor, { name, description, input_schema: parameters }) {
  return {
    name,
    description,
    parameters,
    output: { schema: { type: 'string' }, render: (_args, text) => [{ type: 'text', text }] },
    isConcurrencySafe: () => true,
    execute: async (args, { agent }) => compactor.recall(agent?.session.id, name, args),
  }
}

/** Has the compactor look before every step, and after a refusal. */
function listen(ctx, compactor) {
  const failed = (error) => ctx.logger.warn(`midfold: ${error.message}`)
  ctx.on('agent/pre-step', async ({ agent, signal }, next) => {
    const decision = await next()
    if (decision.kind === 'enter' && !signal.aborted) {
      await compactor.press(agent, decision.messages, signal).catch(failed)
    }
    return decision
  })
  ctx.on('agent/request-error', async ({ agent, failure, signal }, next) => {
    if (failure.code !== CONTEXT_WINDOW_EXCEEDED_CODE || signal.aborted) return next()
    const { surface } = agent.session
    const before = surface.replaceGeneration
    await compactor.recover(agent, failure, signal).catch(failed)
    // Only with another prompt is there a point in asking once more.
    return surface.replaceGeneration > before && !signal.aborted ? { kind: 'retry' } : next()
  })
}

/**
 * The engine, in place of the plug-in `@deepseek-ai/dsh-compaction-basic`. Options are those of `Sessions`;
 * `recall: false`, where the agent is to have no recall tools; and `auto: false`, where only a person compacts. The
 * window is that of the routed model unless there is one in the options.
 */
export default class MidfoldCompaction extends CompactionEngine {
  static inject = ['llm', 'tokenMeter', 'sessions']

  constructor(ctx, { recall = true, auto = true, ...options } = {}) {
    super(ctx)
    const compactor = new Compactor(ctx, options)
    this.compactor = compactor
    ctx.on('session/disposed', ({ id }) => compactor.forget(id))
    if (auto) listen(ctx, compactor)
    if (recall) {
      ctx.inject(['tools'], ({ tools }) => {
        for (const entry of midfold.recallTools('anthropic')) tools.register(tool(compactor, entry))
      })
    }
  }

  async compactIfNeeded(agent, trigger, signal) {
    return trigger === 'pressure' ? this.compactor.press(agent, [], signal) : this.compactor.recover(agent, {}, signal)
  }

  compactNow(agent, signal, command) {
    signal.throwIfAborted()
    try {
      return agent.runMaintenance((own) => this.compactor.ask(agent, own, signal, command))
    } catch (error) {
      throw new ManualCompactionError('busy', 'midfold: the agent is not idle', { cause: error })
    }
  }

  async compactRegion(start, end, agent, signal) {
    return this.compactor.fold(start, end, agent, signal)
  }
}
