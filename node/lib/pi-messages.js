'use strict'
// Messages of pi, which OpenClaw has too, as messages of Chat Completions, one for one, and back.

/** Whether pi sends a message at all: it leaves out what was broken off, and what a user ran beside. */
function sends(message) {
  if (message.role === 'assistant') return message.stopReason !== 'error' && message.stopReason !== 'aborted'
  return message.role !== 'system' && message.excludeFromContext !== true
}

function list(content) {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? [])
}

function part(block) {
  if (block.type === 'text') return { type: 'text', text: block.text }
  if (block.type === 'image') {
    return { type: 'image_url', image_url: { url: `data:${block.mimeType};base64,${block.data}` } }
  }
  return { type: 'text', text: JSON.stringify(block) }
}

function texts(blocks) {
  return blocks.filter(({ type }) => type === 'text').map(({ text }) => text)
}

/** The parts of a message that is no answer of the model. */
function parts(message) {
  switch (message.role) {
    case 'bashExecution':
      return [{ type: 'text', text: `Ran \`${message.command}\`\n${message.output}` }]
    case 'branchSummary':
    case 'compactionSummary':
      return [{ type: 'text', text: message.summary }]
    default:
      return list(message.content).map(part)
  }
}

function assistant(message) {
  const blocks = list(message.content)
  const thinking = blocks.filter(({ type }) => type === 'thinking').map((block) => block.thinking)
  const calls = blocks.filter(({ type }) => type === 'toolCall')
  const said = { role: 'assistant', content: texts(blocks).join('\n') }
  if (thinking.length > 0) said.reasoning_content = thinking.join('\n')
  if (calls.length > 0) {
    said.tool_calls = calls.map(({ id, name, arguments: args }) => ({
      id,
      type: 'function',
      function: { name, arguments: JSON.stringify(args ?? {}) },
    }))
  }
  return said
}

/** A message as the engine reads it. What changes from call to call (times, usage) stays outside. */
function chat(message) {
  if (message.role === 'assistant') return assistant(message)
  const content = parts(message)
  if (message.role === 'toolResult') return { role: 'tool', tool_call_id: message.toolCallId, content }
  return { role: 'user', content }
}

/** Content as the engine left it, with the host's own blocks wherever they say the same. */
function blocks(message, content) {
  const own = list(message.content)
  const left = own.map((block) => JSON.stringify(part(block)))
  return list(content).map((block) => {
    const at = left.indexOf(JSON.stringify(block))
    if (at < 0) return { type: 'text', text: block.text ?? '' }
    left[at] = null
    return own[at]
  })
}

function answer(message, projected) {
  const own = list(message.content)
  const said = texts(list(projected.content)).join('\n')
  const same = said === texts(own).join('\n')
  const calls = new Map((projected.tool_calls ?? []).map((call) => [call.id, call.function.arguments]))
  let told = same
  const content = []
  for (const block of own) {
    if (block.type === 'thinking') {
      if (projected.reasoning_content !== undefined) content.push(block)
    } else if (block.type === 'toolCall') {
      const args = calls.get(block.id)
      if (args === undefined) continue
      const unchanged = args === JSON.stringify(block.arguments ?? {})
      content.push(unchanged ? block : { ...block, arguments: JSON.parse(args) })
    } else if (same) {
      content.push(block)
    } else if (!told) {
      told = true
      content.push({ type: 'text', text: said })
    }
  }
  if (!told && said) content.unshift({ type: 'text', text: said })
  return { ...message, content }
}

/** A message of the host, with what the engine made of it. */
function edited(message, projected) {
  if (message.role === 'assistant') return answer(message, projected)
  const content = blocks(message, projected.content)
  return message.content === undefined
    ? { role: 'user', content, timestamp: message.timestamp }
    : { ...message, content }
}

/** What is to be read of a message of the engine. */
function plain(projected) {
  return texts(list(projected.content)).join('\n')
}

/** When what midfold wrote was written. pi goes by that: what was counted before is of another prompt. */
class Dates {
  #known = new Map()

  of(id, written, now) {
    const text = JSON.stringify(written)
    if (this.#known.get(id)?.text !== text) this.#known.set(id, { text, date: now })
    return this.#known.get(id).date
  }
}

/** The messages to send: the host's own wherever they are unchanged. `given` is its list for the engine. */
function apply(context, own, given, dates) {
  const written = context.messages.filter((_, at) => context.places[at] === null)
  const timestamp = dates.of(context.session.id, written, own.at(-1)?.timestamp ?? 0)
  return context.messages.map((message, at) => {
    const place = context.places[at]
    if (place === null) return { role: 'user', content: [{ type: 'text', text: plain(message) }], timestamp }
    return message === given[place] ? own[place] : edited(own[place], message)
  })
}

module.exports = { Dates, apply, chat, plain, sends }
