// Claude Code's event `session.compact`: midfold folds the messages, in place of a summary by the model.
// All thought is in the command. Where it fails, the client's own compaction follows.

const MIDFOLD = ['midfold']
const STORE = []

/** Milliseconds after which a terminal has drawn a compaction. It draws its transcript anew, without earlier lines. */
const REDRAWN = 500

const later = ($, text) => $.clock.after(REDRAWN, () => $.ui.log(text))

/** The row without what the client repeats in it: results beside their calls. */
const slim = ({ role, text, toolUses, toolResults, handle }) => ({
  role,
  text,
  handle,
  toolUses: toolUses.map(({ tool_use_id, tool, input }) => ({ tool_use_id, tool, input })),
  toolResults: toolResults?.map(({ tool_use_id, text, isError }) => ({ tool_use_id, text, isError })),
})

/** The id of the stored session. */
const stored = async ($, agent) => (await $.session.id()) + (agent ? `-agent-${agent}` : '')

/** What midfold makes of the event. */
async function folded($, event) {
  const usage = await $.session.usage()
  const stdin = JSON.stringify({
    session: await stored($, event.agentId),
    trigger: event.trigger,
    instructions: event.instructions,
    window: usage.context?.window,
    model: await $.session.model(),
    messages: event.messages.map(slim),
  })
  const argv = [...MIDFOLD, 'hooks', 'session-compact', ...STORE]
  const { exitCode, stdout, stderr } = await $.process.run(argv, { stdin, timeoutMs: 60_000 })
  if (exitCode !== 0) throw new Error(stderr.trim() || `exit code ${exitCode}`)
  return JSON.parse(stdout)
}

/** The last line of a recap. */
const RECAP = /\n\[End of recap [0-9a-f]{16}\b.*\]\s*$/

/** @type {import('claude-code').Register} */
export const register = on => {
  let isInteractive = false
  // Where a conversation went back, its session goes on under another id.
  const sessions = new Map()

  on('session.start', ($, event, next) => {
    isInteractive = event.isInteractive
    return next(event)
  }).catch(($, event, next) => next(event))

  on('session.compact', async ($, event, next) => {
    // A fold takes milliseconds, so nothing is computed ahead of time.
    if (event.trigger === 'precompute') return { skip: 'midfold folds when it is due' }
    try {
      const { skip, messages, receipt, session } = await folded($, event)
      if (skip) return { skip }
      sessions.set(event.agentId, session)
      const own = new Map(event.messages.map(message => [message.handle, message]))
      const answer = messages.map(message => own.get(message.handle) ?? message)
      if (isInteractive) later($, receipt)
      else $.ui.log(receipt)
      return { messages: answer }
    } catch (error) {
      const why = `could not fold: ${error.message}. Claude Code compacts by itself.`
      $.ui.log(why)
      const done = await next(event)
      if (isInteractive) later($, why)
      return done
    }
  }).catch(($, event, next) => next(event))

  // The recap is for the model. On the screen one line is enough.
  on('ui.render', { component: 'UserMessage' }, ($, event, next) => {
    const { text, isExpanded } = event.props
    if (isExpanded || !RECAP.test(text)) return next(event)
    return next({ ...event, props: { ...event.props, text: 'Recap by midfold (ctrl+o to see it)' } })
  }).catch(($, event, next) => next(event))

  // Recall looks into this conversation, where the model names no other.
  on('tool.call', { tool: /^mcp__(plugin_midfold_)?midfold__(recall_\w+|explain)$/ }, async ($, event, next) => {
    if (event.session || event.said) return next(event)
    const session = sessions.get(event.agentId) ?? (await stored($, event.agentId))
    return next({ ...event, session })
  }).catch(($, event, next) => next(event))
}
