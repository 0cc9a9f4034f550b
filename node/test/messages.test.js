'use strict'
// Messages of pi, OpenClaw and opencode, there and back, without the hosts.

const assert = require('node:assert/strict')
const path = require('node:path')
const { test } = require('node:test')

const { Session } = require('midfold')
const lib = path.join(path.dirname(require.resolve('midfold')), 'lib')
const pi = require(`${lib}/pi-messages.js`)
const opencode = require(`${lib}/opencode-messages.js`)

const lines = (n) => `value ${n} checked in src/part_${n}.rs\n`.repeat(60)

/** A conversation of pi: thinking, calls, results with images. */
function piMessages(steps) {
  const messages = [{ role: 'user', content: 'LED-4100: find out why.', timestamp: 1 }]
  for (let n = 0; n < steps; n++) {
    const content = [
      { type: 'thinking', thinking: `Part ${n}.`, thinkingSignature: 's' },
      { type: 'text', text: `Reading part ${n}.` },
      { type: 'toolCall', id: `c${n}`, name: 'read', arguments: { path: `src/part_${n}.rs` } },
    ]
    messages.push({ role: 'assistant', content, stopReason: 'toolUse', usage: {}, timestamp: 10 * n + 2 })
    const result = [{ type: 'text', text: lines(n) }]
    if (n % 5 === 0) result.push({ type: 'image', data: 'aGk=', mimeType: 'image/png' })
    messages.push({ role: 'toolResult', toolCallId: `c${n}`, toolName: 'read', content: result, isError: false, timestamp: 10 * n + 3 })
  }
  return messages
}

function opencodeMessages(steps) {
  const sessionID = 'ses_1'
  const part = (message, at, more) => ({ id: `prt_${message}_${at}`, sessionID, messageID: `msg_${message}`, ...more })
  const info = (message, role, more) => ({ id: `msg_${message}`, sessionID, role, time: { created: message }, ...more })
  const messages = [
    { info: info(0, 'user', { agent: 'build', model: { providerID: 'p', modelID: 'm' } }), parts: [part(0, 0, { type: 'text', text: 'LED-4100: find out why.' })] },
  ]
  for (let n = 1; n <= steps; n++) {
    const state = { status: 'completed', input: { path: `src/part_${n}.rs` }, output: lines(n), title: 'read', metadata: { n }, time: { start: 1, end: 2 } }
    const parts = [
      part(n, 0, { type: 'step-start' }),
      part(n, 1, { type: 'text', text: `Reading part ${n}.` }),
      part(n, 2, { type: 'tool', callID: `c${n}`, tool: 'read', state }),
    ]
    messages.push({ info: info(n, 'assistant', {}), parts })
  }
  return messages
}

test('what is not folded of pi is the object that was given', () => {
  const own = piMessages(60)
  const given = own.map(pi.chat)
  const context = new Session({ window: 12_000 }).project(given)
  const sent = pi.apply(context, own, given, new pi.Dates())
  assert.equal(sent[0], own[0])
  assert.equal(sent.at(-1), own.at(-1))
  const written = sent.filter((message) => !own.includes(message))
  assert.equal(written.length, 1)
  // pi takes what was counted before a newer message for another prompt's.
  assert.deepEqual([written[0].role, written[0].timestamp], ['user', own.at(-1).timestamp])
})

test('a result that was cut keeps what else pi has in it', () => {
  const own = piMessages(60)
  const given = own.map(pi.chat)
  const context = new Session({ window: 12_000, preset: 'projection' }).project(given)
  const sent = pi.apply(context, own, given, new pi.Dates())
  const cut = sent.filter((message) => message.role === 'toolResult' && !own.includes(message))
  assert.ok(cut.length > 0)
  for (const message of cut) {
    const whole = own.find(({ toolCallId }) => toolCallId === message.toolCallId)
    assert.deepEqual({ ...message, content: whole.content }, whole)
    assert.ok(message.content[0].text.length < whole.content[0].text.length)
  }
})

test('the recap keeps its date until the next fold', () => {
  const dates = new pi.Dates()
  assert.equal(dates.of('a', ['one'], 5), 5)
  assert.equal(dates.of('a', ['one'], 9), 5)
  assert.equal(dates.of('a', ['two'], 9), 9)
})

test('what pi does not send is not counted', () => {
  assert.equal(pi.sends({ role: 'assistant', stopReason: 'error', content: [] }), false)
  assert.equal(pi.sends({ role: 'bashExecution', excludeFromContext: true }), false)
  assert.equal(pi.sends({ role: 'toolResult', content: [] }), true)
})

test('what is not folded of opencode is the object that was given', () => {
  const own = opencodeMessages(60)
  const list = opencode.flat(own)
  assert.equal(list.given.length, 121)
  const context = new Session({ window: 12_000 }).project(list.given)
  const sent = opencode.unflat(context, list, own)
  assert.equal(sent[0], own[0])
  assert.equal(sent.at(-1), own.at(-1))
  const [recap, ...more] = sent.filter((message) => !own.includes(message))
  assert.equal(more.length, 0)
  assert.equal(recap.info.role, 'user')
  assert.ok(recap.parts[0].synthetic && recap.parts[0].text.length > 0)
})

test('a tool part that was cut keeps the rest of its state', () => {
  const own = opencodeMessages(60)
  const list = opencode.flat(own)
  const context = new Session({ window: 12_000, preset: 'projection' }).project(list.given)
  const sent = opencode.unflat(context, list, own)
  const cut = sent.filter((message) => message.info.role === 'assistant' && !own.includes(message))
  assert.ok(cut.length > 0)
  for (const message of cut) {
    const whole = own.find(({ info }) => info.id === message.info.id)
    const [state, before] = [message, whole].map(({ parts }) => parts.find(({ type }) => type === 'tool').state)
    assert.deepEqual([state.input, state.metadata, state.title], [before.input, before.metadata, before.title])
    assert.ok(state.output.length < before.output.length)
    assert.equal(whole.parts.at(-1).state.output, lines(whole.info.time.created))
  }
})
