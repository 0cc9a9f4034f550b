'use strict'
// Messages of the AI SDK as blocks of Messages, one message for one, and back. The prompt of a model and the
// messages of an application differ in what may be a plain string.

/** The parts of a message. */
function parts(message) {
  return typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : message.content
}

function base64(data) {
  return data instanceof Uint8Array ? Buffer.from(data).toString('base64') : String(data)
}

/** A result as text, and whether it is an error. */
function result(output) {
  if (output === undefined || output === null) return { text: '', isError: false }
  if (output.type === 'execution-denied') return { text: output.reason ?? 'denied', isError: true }
  const text = typeof output.value === 'string' ? output.value : JSON.stringify(output.value)
  return { text, isError: output.type.startsWith('error') }
}

/** A part as a block. */
function block(part) {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text }
    case 'reasoning':
      return { type: 'thinking', thinking: part.text, signature: '' }
    case 'tool-call':
      return { type: 'tool_use', id: part.toolCallId, name: part.toolName, input: part.input }
    case 'tool-result': {
      const { text, isError } = result(part.output)
      return { type: 'tool_result', tool_use_id: part.toolCallId, content: text, is_error: isError }
    }
    case 'file':
    case 'image': {
      const data = part.data ?? part.image
      const type = part.mediaType ?? 'image/*'
      const url = data instanceof URL || /^https?:/.test(String(data).slice(0, 6))
      const source = url
        ? { type: 'url', url: String(data) }
        : { type: 'base64', media_type: type, data: base64(data) }
      return { type: type.startsWith('image/') ? 'image' : 'document', source }
    }
    default:
      return { type: 'text', text: JSON.stringify(part) }
  }
}

/** A message as the engine reads it. */
function blocks(message) {
  const role = message.role === 'assistant' ? 'assistant' : 'user'
  return { role, content: parts(message).map(block) }
}

/** A part with what a block says; the part itself where that is the same. */
function changed(part, block) {
  switch (block.type) {
    case 'text':
      return part.text === block.text ? part : { ...part, text: block.text }
    case 'thinking':
      return part
    case 'tool_use':
      return JSON.stringify(part.input) === JSON.stringify(block.input) ? part : { ...part, input: block.input }
    case 'tool_result': {
      const { text, isError } = result(part.output)
      const said = plain(block.content)
      if (said === text) return part
      return { ...part, output: { type: isError ? 'error-text' : 'text', value: said } }
    }
    default:
      return part
  }
}

function plain(content) {
  if (typeof content === 'string') return content
  return (content ?? []).map((block) => block.text ?? '').join('\n')
}

/** Which part a block was made of. */
function matches(part, block) {
  if (block.type === 'tool_use') return part.type === 'tool-call' && part.toolCallId === block.id
  if (block.type === 'tool_result') return part.type === 'tool-result' && part.toolCallId === block.tool_use_id
  if (block.type === 'text') return part.type === 'text'
  if (block.type === 'thinking') return part.type === 'reasoning'
  return part.type === 'file' || part.type === 'image'
}

/** A message of the host, with what the engine made of it. */
function edited(message, projected) {
  const left = [...parts(message)]
  const content = []
  const list = typeof projected.content === 'string' ? [{ type: 'text', text: projected.content }] : projected.content
  for (const block of list) {
    const at = left.findIndex((part) => matches(part, block))
    if (at >= 0) content.push(changed(left.splice(at, 1)[0], block))
    else if (block.type === 'text') content.push({ type: 'text', text: block.text })
  }
  return { ...message, content }
}

/** A message that midfold wrote. */
function written(projected) {
  return { role: projected.role, content: [{ type: 'text', text: plain(projected.content) }] }
}

/** The messages to send: the host's own wherever they are unchanged. `given` is its list as blocks. */
function apply(context, list, given) {
  return context.messages.map((message, at) => {
    const place = context.places[at]
    if (place === null) return written(message)
    return message === given[place] ? list[place] : edited(list[place], message)
  })
}

module.exports = { apply, blocks }
