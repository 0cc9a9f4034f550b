'use strict'
// Messages of DeepSeek Harness as messages of Chat Completions, one for one, and what a checkpoint says of them.

function part(block) {
  if (block.type === 'text') return { type: 'text', text: block.text }
  // The bytes are in the harness' own store: the reference stands for them.
  if (block.type === 'image') return { type: 'image_url', image_url: { url: `attachment:${block.attachment.attachmentId}` } }
  return { type: 'text', text: JSON.stringify(block) }
}

function texts(blocks, type = 'text') {
  return blocks.filter((block) => block.type === type).map(({ text }) => text)
}

function assistant({ content }) {
  const said = { role: 'assistant', content: texts(content).join('\n') }
  const thought = texts(content, 'reasoning')
  const calls = content.filter(({ type }) => type === 'tool-call')
  if (thought.length > 0) said.reasoning_content = thought.join('\n')
  if (calls.length > 0) {
    said.tool_calls = calls.map(({ id, name, arguments: args }) => ({ id, type: 'function', function: { name, arguments: args } }))
  }
  return said
}

/** A message as the engine reads it. Instructions out of files of the workspace are those of the application. */
function chat(message) {
  if (message.role === 'assistant') return assistant(message)
  const [first] = message.content
  if (first?.type === 'tool-result') {
    return { role: 'tool', tool_call_id: first.toolCallId, content: first.content.map(part) }
  }
  return { role: message.source.form === 'instructions' ? 'system' : 'user', content: message.content.map(part) }
}

/** What is to be read of a message of the engine. */
function plain({ content }) {
  return typeof content === 'string' ? content : texts(content ?? []).join('\n')
}

/** A message that stays but loses its place of its own, as blocks in a checkpoint. */
function told(own, projected, unchanged) {
  if (projected.role === 'user' || projected.role === 'system') {
    return unchanged ? own.content : [{ type: 'text', text: plain(projected) }]
  }
  const calls = (projected.tool_calls ?? []).map(({ function: { name, arguments: args } }) => `[called ${name} ${args}]`)
  const said = plain(projected)
  const text = [projected.role === 'tool' ? `[result] ${said}` : said && `[from the assistant] ${said}`, ...calls]
  return [{ type: 'text', text: text.filter(Boolean).join('\n') }]
}

module.exports = { chat, plain, told }
