'use strict'
// What callers give by mistake is an error that names it and says what is right.

const assert = require('node:assert/strict')
const { mkdtempSync, rmSync } = require('node:fs')
const { tmpdir } = require('node:os')
const path = require('node:path')
const { test } = require('node:test')
const { inspect } = require('node:util')

const midfold = require('midfold')
const { Session, Sessions, compact, countTokens } = midfold
const { history } = require('./helpers.js')

const LIST = history(2)

function store(t) {
  const folder = mkdtempSync(path.join(tmpdir(), 'midfold-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return `sqlite:${path.join(folder, 'sessions.db')}`
}

/** Every call is an `InputError` with these words, and none shows the inside. */
function refused(calls) {
  for (const [call, words] of calls) {
    assert.throws(call, (error) => {
      assert.ok(error instanceof midfold.InputError, `${call}: ${error}`)
      assert.match(error.message, words, String(call))
      assert.doesNotMatch(error.message, /u64|u32|line 1|dialect=|invalid type/, String(call))
      assert.ok(error.hints.length > 0, String(call))
      return true
    })
  }
}

test('an unknown option of a method is named, with the one that was meant', (t) => {
  const place = store(t)
  const session = new Session({ store: place, id: 'a' })
  const sessions = new Sessions()
  refused([
    [() => session.project(LIST, { forse: true }), /no option `forse`[^]*did you mean `force`/],
    [() => session.append(LIST[0], { kee: 1 }), /no option `kee`[^]*`key`/],
    [() => session.observe(1, 1, { cal: 4 }), /no option `cal`[^]*`call`/],
    [() => session.fork({ idd: 'b' }), /no option `idd`[^]*`id`/],
    [() => session.context({ injects: {} }), /no option `injects`[^]*`inject`/],
    [() => session.recover('too long', { stats: 400 }), /no option `stats`[^]*`status`/],
    [() => session.explain('a', { cal: 1 }), /no option `cal`/],
    [() => Session.open(place, 'a', { windw: 1 }), /no option `windw`[^]*`window`/],
    [() => sessions.project(LIST, { di: 't' }), /no option `di`[^]*`id`/],
    [() => sessions.find(LIST, { ids: 't' }), /no option `ids`/],
  ])
})

test('options that are no object are refused', () => {
  refused([
    [() => new Sessions().project(LIST, 't'), /options are "t", not an object[^]*\{ id: 'thread-7' \}/],
    [() => new Session(128_000), /options are 128000, not an object[^]*window/],
    [() => new Sessions([]), /options are an array/],
    [() => compact(LIST, 16_000), /options are 16000/],
    [() => countTokens(LIST, 'o200k'), /options are "o200k"/],
  ])
})

test('a value of the wrong kind is named', () => {
  const session = new Session()
  session.append(LIST)
  refused([
    [() => new Session({ window: NaN }), /`window` is NaN, not a whole number[^]*128000/],
    [() => new Session({ window: '128k' }), /`window` is "128k"/],
    [() => new Session({ window: -5 }), /`window` is -5/],
    [() => new Session({ window: 1.5 }), /`window` is 1.5/],
    [() => new Session({ outputReserve: true }), /`outputReserve` is true/],
    [() => new Session({ preset: 5 }), /`preset` is 5, not a string[^]*'default'/],
    [() => new Session({ narrate: 'yes' }), /`narrate` is "yes", not true or false/],
    [() => new Session({ tools: ['read'] }), /tools\[0\] is a string/],
    [() => compact(LIST, { keepLast: '3' }), /`keepLast` is "3"/],
    [() => session.observe(undefined, undefined), /`prompt` is undefined[^]*the provider counted/],
    [() => session.observe(-3), /`prompt` is -3/],
    [() => session.pin(-1), /`seq` is -1/],
    [() => session.explain(-1), /`textOrEvent` is -1/],
    [() => session.explain(9_999), /no message 9,?999/],
    [() => session.updateModel(5), /`model` is 5/],
    [() => session.compact(5), /`focus` is 5/],
    [() => session.context({ reserve: { memory: 'much' } }), /`reserve.memory` is "much"/],
  ])
})

test('a promise of messages is no messages', () => {
  const promised = Promise.resolve(LIST)
  const session = new Session()
  refused([
    [() => session.project(promised), /messages is a promise[^]*await/],
    [() => session.append(promised), /messages is a promise/],
    [() => compact(promised), /messages is a promise/],
    [() => countTokens(promised), /messages is a promise/],
    [() => new Sessions().find(promised), /messages is a promise/],
  ])
})

test('hints are spelled as options of Node', () => {
  const session = new Session()
  const told = [
    () => session.append({ role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'b', input: {} }] }),
    () => session.project([{ role: 'user', parts: [{ text: 'hi' }] }]),
    () => compact({ a: 1 }),
    () => session.context({ inject: { memory: 'They like tabs.' } }),
    () => session.append(LIST[0], { expect: 7 }),
    () => session.explain('settle', { call: 3 }),
    () => new Session({ policy: 'nope.toml' }),
  ]
  for (const call of told) {
    assert.throws(call, (error) => {
      assert.ok(error instanceof midfold.MidfoldError, `${call}: ${error}`)
      assert.doesNotMatch(error.message, /dialect=|Session\(dialect|reserve=|expect=|call=/, String(call))
      return true
    })
  }
  assert.throws(told[0], /new Session\(\{ dialect: 'anthropic' \}\)/)
  assert.throws(told.at(-1), /nope\.toml[^]*readFileSync/)
})

test('messages of the AI SDK are named, and where they are taken', () => {
  const output = { type: 'text', value: 'def settle(): ...' }
  const messages = [
    { role: 'user', content: [{ type: 'text', text: 'Why?' }] },
    { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'c1', toolName: 'read', input: {} }] },
    { role: 'tool', content: [{ type: 'tool-result', toolCallId: 'c1', toolName: 'read', output }] },
  ]
  refused([
    [() => new Session().project(messages), /message 1: [^]*AI SDK[^]*midfold\/ai/],
    [() => new Session({ dialect: 'anthropic' }).project(messages), /AI SDK/],
    [() => new Sessions().project(messages), /AI SDK/],
    [() => new Session().append(messages[2]), /AI SDK/],
    [() => compact(messages), /AI SDK/],
  ])
})

test('recover takes what an SDK throws', () => {
  const said =
    "This model's maximum context length is 6000 tokens. However, your messages resulted in 9000 tokens."
  const inner = { message: said, code: 'context_length_exceeded', type: 'invalid_request_error' }
  const made = (more) => Object.assign(new Error(`400 ${said}`), more)
  const errors = [
    made({ status: 400, error: inner }), // openai
    made({ status: 400, error: { type: 'error', error: inner } }), // @anthropic-ai/sdk
    made({ statusCode: 400, responseBody: JSON.stringify({ error: inner }), data: { error: inner } }), // ai
    made({ status: 400, body: { error: inner } }),
    made({ response: { status: 400, data: { error: inner } } }), // axios
    made({}),
  ]
  for (const error of errors) {
    const session = new Session({ window: 100_000 })
    session.project(history(30))
    assert.equal(session.recover(error)?.folded, true, inspect(error))
    assert.equal(session.status().context_length, 6_000)
  }
  const session = new Session({ window: 100_000 })
  session.project(history(30))
  assert.equal(session.recover(Object.assign(new Error('slow down'), { status: 429, error: { message: 'rate limit' } })), null)
})

test('what is named at a reopening holds, and a learned window stays', (t) => {
  const place = store(t)
  const window = (session) => session.status().context_length
  const first = new Sessions({ store: place, window: 64_000, preset: 'lean' })
  first.project(history(30), { id: 't' })
  const again = new Sessions({ store: place, window: 8_000, preset: 'default', model: 'gpt-5.6' }).project(history(30), { id: 't' })
  assert.equal(window(again.session), 8_000)
  assert.equal(again.session.status().policy, 'default')
  assert.equal(again.session.status().model, 'gpt-5.6')
  const said = 'maximum context length is 6000 tokens, your messages resulted in 9000 tokens'
  again.session.recover({ error: { code: 'context_length_exceeded', message: said } })
  assert.equal(window(Session.open(place, 't')), 6_000)
  assert.equal(window(Session.open(place, 't', { window: 8_000 })), 6_000)
  assert.equal(window(Session.open(place, 't', { window: 7_000, preset: 'lean' })), 7_000)
  assert.equal(Session.open(place, 't').status().policy, 'lean')
  assert.throws(() => Session.open(place, 't', { preset: 'defualt' }), midfold.PolicyError)
})

test('a session shows what it is', (t) => {
  const session = new Session({ window: 8_000, id: 'thread-7' })
  session.append(LIST)
  const shown = inspect(session)
  for (const word of ['Session', 'thread-7', `messages: ${LIST.length}`, 'window: 8000']) assert.ok(shown.includes(word), shown)
  assert.match(inspect(new Session({ store: store(t) })), /sqlite/)
})
