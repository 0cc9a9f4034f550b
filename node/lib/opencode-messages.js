'use strict'
// Messages of opencode as messages of Chat Completions, and back. One of opencode's may be several: its tool parts
// hold a call and the result.

const INTERRUPTED = '[Tool execution was interrupted]'

/** The text of a part that the model is to read, or null. */
function text(part) {
  if (part.type === 'text') return part.ignored ? null : part.text
  if (part.type === 'compaction') return 'What did we do so far?'
  if (part.type === 'subtask') return 'The following tool was executed by the user'
  return null
}

function block(part) {
  if (part.type === 'file') {
    return part.mime?.startsWith('image/')
      ? { type: 'image_url', image_url: { url: part.url } }
      : { type: 'text', text: `[Attached ${part.mime}: ${part.filename ?? 'file'}]` }
  }
  const said = text(part)
  return said === null || said === '' ? null : { type: 'text', text: said }
}

/** What a tool part says of its call. */
function output(part) {
  const { state } = part
  if (state.status === 'completed') {
    return state.time?.compacted ? '[Old tool result content cleared]' : state.output
  }
  if (state.status === 'error') {
    return state.metadata?.interrupted === true && typeof state.metadata.output === 'string'
      ? state.metadata.output
      : state.error
  }
  return INTERRUPTED
}

function result(part) {
  const images = part.state.time?.compacted ? [] : (part.state.attachments ?? [])
  const seen = images.filter(({ mime }) => mime?.startsWith('image/')).map(block)
  const said = output(part)
  return {
    role: 'tool',
    tool_call_id: part.callID,
    content: seen.length > 0 ? [{ type: 'text', text: said }, ...seen] : said,
  }
}

function call(part) {
  const args = JSON.stringify(part.state.input ?? {})
  return { id: part.callID, type: 'function', function: { name: part.tool, arguments: args } }
}

function assistant(parts) {
  const said = parts.filter(({ type }) => type === 'text').map((part) => part.text)
  const thought = parts.filter(({ type }) => type === 'reasoning').map((part) => part.text)
  const message = { role: 'assistant', content: said.join('\n') }
  if (thought.length > 0) message.reasoning_content = thought.join('\n')
  const calls = parts.filter(({ type }) => type === 'tool').map(call)
  if (calls.length > 0) message.tool_calls = calls
  return message
}

/** The host's list for the engine: `given`, and for each the message and, of a result, the part that it is of. */
function flat(messages) {
  const given = []
  const origins = []
  const add = (made, origin) => {
    given.push(made)
    origins.push(origin)
  }
  for (const message of messages) {
    const { info, parts } = message
    if (info.role === 'user') {
      const content = parts.map(block).filter(Boolean)
      if (content.length > 0) add({ role: 'user', content }, { message })
      continue
    }
    const tools = parts.filter(({ type }) => type === 'tool')
    // An answer that failed is not sent; an empty one has just been begun.
    const said = tools.length > 0 || parts.some(({ type, text }) => type === 'text' && text)
    if (!said || (info.error && info.error.name !== 'MessageAbortedError')) continue
    add(assistant(parts), { message })
    for (const part of tools) add(result(part), { message, part })
  }
  return { given, origins }
}

/** What is to be read of a message of the engine. */
function plain({ content }) {
  if (typeof content === 'string') return content
  return (content ?? []).filter(({ type }) => type === 'text').map(({ text }) => text).join('\n')
}

/** A tool part whose result says something else; the rest of its state stays. */
function cut(part, projected) {
  const said = plain(projected)
  const { state } = part
  if (said === output(part)) return part
  if (state.status === 'completed') {
    const time = { ...state.time }
    delete time.compacted
    return { ...part, state: { ...state, output: said, time, attachments: undefined } }
  }
  return state.status === 'error' ? { ...part, state: { ...state, error: said } } : part
}

/** The parts of a user's message, with those that say the same as they are. */
function asked(message, projected) {
  const content = typeof projected.content === 'string' ? [{ type: 'text', text: projected.content }] : projected.content
  const left = content.map((block) => JSON.stringify(block))
  const parts = []
  for (const part of message.parts) {
    const at = left.indexOf(JSON.stringify(block(part)))
    if (at < 0) continue
    left[at] = null
    parts.push(part)
  }
  const [first] = message.parts
  for (const [at, block] of content.entries()) {
    if (left[at] === null || block.type !== 'text') continue
    const { id, sessionID, messageID } = first
    parts.push({ id, sessionID, messageID, type: 'text', text: block.text })
  }
  return parts
}

/** The parts of an answer, with its texts and the arguments of its calls as the engine left them. */
function answered(message, projected) {
  const calls = new Map((projected.tool_calls ?? []).map((call) => [call.id, call.function.arguments]))
  const texts = message.parts.filter(({ type }) => type === 'text')
  const said = plain(projected)
  const same = said === texts.map(({ text }) => text).join('\n')
  const parts = []
  for (const part of message.parts) {
    if (part.type === 'text' && !same) {
      if (part === texts[0]) parts.push({ ...part, text: said })
    } else if (part.type === 'reasoning') {
      if (projected.reasoning_content !== undefined) parts.push(part)
    } else if (part.type === 'tool') {
      const args = calls.get(part.callID)
      if (args === undefined) continue
      const unchanged = args === JSON.stringify(part.state.input ?? {})
      parts.push(unchanged ? part : { ...part, state: { ...part.state, input: JSON.parse(args) } })
    } else parts.push(part)
  }
  return parts
}

/** A message that midfold wrote, as one that opencode could have made: of the user, synthetic. */
function written(text, info, at) {
  const id = `msg_midfold_${at}`
  const part = { id: `prt_midfold_${at}`, sessionID: info.sessionID, messageID: id, type: 'text', text, synthetic: true }
  const { sessionID, time, agent, model } = info
  return { info: { id, sessionID, role: 'user', time, agent, model }, parts: [part] }
}

/** The messages to send: the host's own wherever they are unchanged. */
function unflat(context, { given, origins }, messages) {
  const user = messages.find(({ info }) => info.role === 'user')?.info ?? messages[0].info
  const sent = []
  let last = null
  for (const [at, projected] of context.messages.entries()) {
    const place = context.places[at]
    if (place === null) {
      sent.push(written(plain(projected), user, at))
      last = null
      continue
    }
    const { message, part } = origins[place]
    const unchanged = projected === given[place]
    if (part === undefined) {
      const parts = message.info.role === 'user' ? asked : answered
      last = unchanged ? message : { ...message, parts: parts(message, projected) }
      sent.push(last)
    } else if (!unchanged && last !== null) {
      // The message may be the host's own still: a copy takes its place.
      const parts = last.parts.map((own) => (own.callID === part.callID && own.type === 'tool' ? cut(own, projected) : own))
      last = { ...last, parts }
      sent[sent.length - 1] = last
    }
  }
  return sent
}

module.exports = { flat, unflat }
