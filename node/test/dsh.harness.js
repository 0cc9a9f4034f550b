'use strict'
// DeepSeek Harness out of its own packages, with a model that is a script: it calls the tool `work` so many times.

// The harness is for Node 22; this is all that its loop misses in Node 20.
Promise.withResolvers ??= function () {
  const made = {}
  made.promise = new this((resolve, reject) => Object.assign(made, { resolve, reject }))
  return made
}

/** The packages, or null where they are not installed. Their tests of a session's log are installed with them. */
async function packages() {
  const names = {
    cordis: 'cordis',
    llm: 'dsh-llm',
    session: 'dsh-session',
    prompt: 'dsh-system-prompt',
    agent: 'dsh-agent',
    tools: 'dsh-tools',
    meter: 'dsh-token-meter',
    loop: 'dsh-agent-loop',
    commands: 'dsh-commands',
    compact: 'dsh-command-compact',
    compaction: 'dsh-compaction',
    invariants: 'dsh-invariants',
    ofSession: 'dsh-session/invariant',
    ofCompaction: 'dsh-compaction/invariant',
  }
  try {
    const found = Object.entries(names).map(async ([key, name]) => [key, await import(`@deepseek-ai/${name}`)])
    return Object.fromEntries(await Promise.all(found))
  } catch (error) {
    if (error.code === 'ERR_MODULE_NOT_FOUND') return null
    throw error
  }
}

/** What a step prints. */
function printed(n) {
  return `part ${n}: the code is K${n}-${(n * 7919) % 9973}\n` + `value ${n} checked in src/part_${n}.rs\n`.repeat(180)
}

/** Tokens of a request, as this model counts them. */
function size({ messages, system = '', tools = [] }) {
  return Math.ceil(JSON.stringify([messages.map(({ content }) => content), system, tools]).length / 3.5)
}

/** A model with a window of which it tells, and a limit beyond which it refuses. `weight` is by how much it counts more. */
function scripted({ LlmAdapter, LlmError }, { window, limit, steps, weight }) {
  return new (class extends LlmAdapter {
    requests = []
    overflows = 0
    calls = 0

    providerInfo(id) {
      return { id, name: 'Scripted' }
    }

    async resolveModel(provider, id) {
      return { provider, id, name: id, ...(window ? { context: { contextWindow: window } } : {}) }
    }

    async *stream(options) {
      const tokens = size(options) * weight
      if (tokens > limit) {
        this.overflows += 1
        const text = `This model's maximum context length is ${limit} tokens. However, you requested ${tokens} tokens.`
        throw new LlmError(text, 'CONTEXT_WINDOW_EXCEEDED', { status: 400 })
      }
      this.requests.push(options.messages)
      const n = this.calls
      if (n < steps) {
        this.calls += 1
        const block = { type: 'tool-call', id: `c${n}`, name: 'work', arguments: JSON.stringify({ part: n }) }
        yield { type: 'block-start', index: 0, blockType: 'tool-call' }
        yield { type: 'block-end', index: 0, block }
      } else {
        const block = { type: 'text', text: `All ${steps} steps are done.` }
        yield { type: 'block-start', index: 0, blockType: 'text' }
        yield { type: 'block-end', index: 0, block }
      }
      yield { type: 'usage', usage: { inputTokens: tokens, outputTokens: 20 } }
      yield { type: 'finish', reason: { kind: n < steps ? 'tool-calls' : 'stop' } }
    }
  })()
}

/** A harness with our engine, one agent, and the model. */
async function harness(t, found, { engine, config = {}, window = 24_000, limit = window, steps = 24, weight = 1, seed }) {
  const ctx = new found.cordis.Context()
  t.after(() => ctx.fiber.dispose())
  const model = scripted(found.llm, { window, limit, steps, weight })
  const plain = [found.llm, found.session, found.prompt, found.agent, found.tools, found.meter, found.commands]
  for (const { default: plugin } of [found.invariants, ...plain]) await ctx.plugin(plugin)
  for (const plugin of [found.ofSession, found.ofCompaction]) await ctx.plugin(plugin)
  await ctx.plugin(found.loop.default, { agents: [] })
  await ctx.plugin(engine, config)
  await ctx.plugin(found.compact)
  ctx.llm.registerAdapter(['scripted'], model)
  ctx.tools.register({
    name: 'work',
    description: 'Does a part.',
    parameters: { type: 'object', properties: { part: { type: 'number' } } },
    output: { schema: { type: 'string' }, render: (_args, text) => [{ type: 'text', text }] },
    execute: async ({ part }) => printed(part),
  })
  const agentOptions = { provider: 'scripted', model: 'one' }
  const { agent } = await ctx.agents.create({ sessionId: 'session-1', agentOptions, ...(seed ? { seed } : {}) })
  const user = (text) => found.llm.createUserMessage({ content: [{ type: 'text', text }], source: { kind: 'user' } })
  const ask = async (text) => {
    agent.followup(user(text))
    await agent.whenIdle()
  }
  return { ctx, agent, session: agent.session, model, ask, user }
}

/** The texts of messages, as one. */
function read(messages) {
  const text = (block) => (block.type === 'tool-result' ? block.content.map(text).join('\n') : (block.text ?? ''))
  return messages.map(({ content }) => content.map(text).join('\n')).join('\n')
}

module.exports = { harness, packages, printed, read }
