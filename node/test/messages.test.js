'use strict'
// Messages of pi, OpenClaw, opencode and DeepSeek Harness, there and back, without the hosts.

const assert = require('node:assert/strict')
const path = require('node:path')
const { test } = require('node:test')

const { Session } = require('midfold')
const lib = path.join(path.dirname(require.resolve('midfold')), 'lib')
const pi = require(`${lib}/pi-messages.js`)
const opencode = require(`${lib}/opencode-messages.js`)
const dsh = require(`${lib}/dsh-messages.js`)
const surface = require(`${lib}/dsh-surface.js`)

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

const text = (said) => [{ type: 'text', text: said }]

/** A session of the harness with these nodes, each a question or what replaces a span of them. */
function dshSession(nodes) {
  const events = []
  let seqs = []
  for (const node of nodes) {
    const seq = events.length
    const { start, end, type = 'user/message', content = text(`message ${seq}`) } = node
    const surfaceOp = start === undefined ? 'append' : { op: 'replace', start, end }
    const [first, last] = [seqs.indexOf(start), seqs.indexOf(end)]
    const sourceEventSeqs = start === undefined ? [] : seqs.slice(first, last + 1)
    events.push({ seq, type, surfaceOp, sourceEventSeqs, data: { role: 'user', source: { kind: 'user' }, content } })
    seqs = start === undefined ? [...seqs, seq] : [...seqs.slice(0, first), seq, ...seqs.slice(last + 1)]
  }
  return { events, surface: { nodes: seqs }, deriveEventMessage: ({ data }) => (data.content.length > 0 ? data : null) }
}

/** A context that keeps these places, with a recap at each null. */
function dshContext(said, places) {
  return { places, messages: places.map((place) => (place === null ? { role: 'user', content: 'the recap' } : said[place].given)) }
}

const ANYWHERE = { before: () => true, after: () => true }

test('messages of DeepSeek Harness are read for what they are', () => {
  const source = { kind: 'user' }
  const image = { type: 'image', attachment: { attachmentId: 'a1' } }
  assert.deepEqual(dsh.chat({ role: 'user', source, content: [...text('look'), image] }), {
    role: 'user',
    content: [...text('look'), { type: 'image_url', image_url: { url: 'attachment:a1' } }],
  })
  const instructions = { kind: 'plugin', plugin: 'files', form: 'instructions' }
  assert.equal(dsh.chat({ role: 'user', source: instructions, content: text('use tabs') }).role, 'system')
  const call = { type: 'tool-call', id: 'c1', name: 'read', arguments: '{"path": "a"}' }
  const thought = { type: 'reasoning', text: 'hm' }
  const answer = dsh.chat({ role: 'assistant', source, content: [thought, ...text('I read.'), call] })
  assert.deepEqual([answer.content, answer.reasoning_content], ['I read.', 'hm'])
  assert.deepEqual(answer.tool_calls[0].function, { name: 'read', arguments: '{"path": "a"}' })
  const result = { type: 'tool-result', toolCallId: 'c1', content: text('the file') }
  const asked = dsh.chat({ role: 'user', source, content: [result] })
  assert.deepEqual([asked.role, asked.tool_call_id, dsh.plain(asked)], ['tool', 'c1', 'the file'])
  assert.equal(dsh.told({}, answer, true)[0].text, '[from the assistant] I read.\n[called read {"path": "a"}]')
  assert.equal(dsh.told({}, asked, true)[0].text, '[result] the file')
})

test('a span gives way to the recap, and what stays in its midst is in the text', () => {
  const session = dshSession(Array.from({ length: 8 }, () => ({})))
  const said = surface.whole(session)
  const { seqs, content } = surface.replacement(session, said, dshContext(said, [0, null, 3, 6, 7]), ANYWHERE)
  assert.deepEqual(seqs, [1, 2, 3, 4, 5])
  assert.deepEqual(content, [...text('the recap'), ...text('message 3')])
  assert.equal(surface.replacement(session, said, dshContext(said, [0, 1, 2, 3, 4, 5, 6, 7]), ANYWHERE), null)
})

test('a later fold takes the checkpoint in, and what stood behind it', () => {
  const session = dshSession([...Array.from({ length: 6 }, () => ({})), { start: 1, end: 3 }, {}, {}])
  const said = surface.whole(session)
  assert.deepEqual(session.surface.nodes, [0, 6, 4, 5, 7, 8])
  const kept = dshContext(said, [0, null, 2, 6, 7])
  const { seqs, content } = surface.replacement(session, said, kept, ANYWHERE)
  assert.deepEqual(seqs, [6, 4, 5])
  assert.deepEqual(content, [...text('the recap'), ...text('message 2')])
  assert.deepEqual(surface.origins(session.events, 6), [1, 2, 3])
})

test('a span is widened until it parts no call from its result', () => {
  const session = dshSession(Array.from({ length: 8 }, () => ({})))
  const said = surface.whole(session)
  const cuts = { before: (seq) => seq !== 2, after: (seq) => seq !== 4 }
  const { seqs, content } = surface.replacement(session, said, dshContext(said, [0, 1, null, 5, 6, 7]), cuts)
  assert.deepEqual(seqs, [1, 2, 3, 4, 5])
  assert.deepEqual(content, [...text('message 1'), ...text('the recap'), ...text('message 5')])
  assert.equal(surface.replacement(session, said, dshContext(said, [0, null, 7]), { ...cuts, after: () => false }), null)
})

test('a result that another plug-in cut is still that result', () => {
  const session = dshSession([{}, { type: 'tool/result' }, {}, {}, { start: 1, end: 1, type: 'tool/result' }])
  const said = surface.whole(session)
  assert.deepEqual(session.surface.nodes, [0, 4, 2, 3])
  assert.equal(surface.replacement(session, said, dshContext(said, [0, 1, 2, 3]), ANYWHERE), null)
  assert.deepEqual(surface.replacement(session, said, dshContext(said, [0, 1, null, 3]), ANYWHERE).seqs, [2])
})

test('what was counted is of the context only where the surface is', () => {
  const session = dshSession([{}, {}, {}, { start: 1, end: 1, content: text('the recap') }])
  const said = surface.whole(session)
  assert.equal(surface.exact(session, said, dshContext(said, [0, null, 2])), true)
  assert.equal(surface.exact(session, said, dshContext(said, [0, 1, 2])), false)
  assert.equal(surface.exact(session, said, dshContext(said, [0, null])), false)
})
