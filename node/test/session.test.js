'use strict'

const assert = require('node:assert/strict')
const { mkdtempSync, rmSync, writeFileSync } = require('node:fs')
const { tmpdir } = require('node:os')
const path = require('node:path')
const { test } = require('node:test')

const midfold = require('midfold')
const { history, step } = require('./helpers.js')

function store(t) {
  const folder = mkdtempSync(path.join(tmpdir(), 'midfold-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return `sqlite:${path.join(folder, 'sessions.db')}`
}

test('a list that grows is one session, and each prompt extends the one before', (t) => {
  for (const place of [undefined, store(t)]) {
    const session = new midfold.Session({ window: 8_000, store: place })
    const kept = history(0)
    let before = []
    let folds = 0
    for (let n = 0; n < 60; n++) {
      kept.push(...step(n))
      const context = session.project(kept)
      assert.ok(context.tokens <= 8_000)
      if (!context.folded) before.forEach((message, at) => assert.equal(context.messages[at], message))
      folds += context.folded
      before = context.messages
    }
    assert.ok(folds >= 3)
    assert.equal(session.length, kept.length)
  }
})

test('places say what each message is made of', () => {
  const kept = history(40)
  const { messages, places, bytes } = new midfold.Session({ window: 8_000 }).project(kept)
  assert.equal(places.length, messages.length)
  assert.equal(messages[0], kept[0])
  assert.equal(messages.at(-1), kept.at(-1))
  assert.ok(places.includes(null))
  assert.deepEqual(JSON.parse(bytes), messages)
})

test('a host may keep what it was given', () => {
  const session = new midfold.Session({ window: 8_000 })
  let kept = history(0)
  for (let n = 0; n < 60; n++) {
    kept.push(...step(n))
    const context = session.project(kept)
    if (context.folded) kept = [...context.messages]
  }
  assert.equal(session.length, 2 + 2 * 60)
  assert.match(session.recall('recall_show', { messages: '@9' }), /settle_3/)
  const names = (context) => context.tools.map((tool) => tool.function.name)
  assert.deepEqual(names(session.context()), ['recall_find', 'recall_show'])
  assert.deepEqual(names(new midfold.Session().project(history(0))), [])
})

test('after a list went back its messages are its own', () => {
  const session = new midfold.Session({ window: 100_000 })
  session.project(history(12))
  const back = history(4)
  for (let n = 20; n < 30; n++) back.push(...step(n))
  const { folded, messages } = session.project(back, { force: true })
  assert.ok(folded)
  session.project([...messages])
  session.undo()
  assert.deepEqual(session.context().messages, back)
})

test('append and context, as in Python', () => {
  const session = new midfold.Session({ window: 8_000 })
  const question = { role: 'user', content: 'Why?' }
  assert.deepEqual(session.append(question), [0])
  const context = session.context({ inject: { memory: 'They like tabs.' }, reserve: { memory: 200 } })
  assert.equal(context.messages[0], question)
  assert.match(JSON.stringify(context.messages.at(-1)), /They like tabs/)
  assert.equal(context.places, null)
  session.observe(context.tokens + 40, 12)
  assert.throws(() => session.append(question, { expect: 7 }), midfold.StoreError)
  const wrong = [
    () => session.append(question, { expect: -1 }),
    () => session.recover('too long', { status: -400 }),
    () => session.recover('too long', { reply: -1 }),
    () => session.updateModel('gpt-5', -1),
    () => session.explain('@0', { call: -1 })
  ]
  for (const call of wrong) assert.throws(call, (error) => error instanceof midfold.InputError && / is -\d+/.test(error.message), String(call))
})

test('a fold is previewed, made, read, audited, taken back', () => {
  const session = new midfold.Session({ window: 20_000 })
  session.append(history(30))
  assert.ok(session.preview('settle_4').recap)
  assert.equal(session.folds().length, 0)
  const done = session.compact()
  assert.equal(done.outcome, 'folded')
  assert.equal(session.folds().length, 1)
  assert.equal(session.audit().ok, true)
  assert.ok(session.explain('settle_4'))
  const line = session.folds()[0].recap.text.split('\n').find((it) => /^@\d+ (ran|changed|failed|saw) /.test(it))
  const writes = (content) => {
    const call = { id: 'new', type: 'function', function: { name: 'write_file', arguments: JSON.stringify({ content }) } }
    return { role: 'assistant', tool_calls: [call] }
  }
  assert.deepEqual(session.placeholders([writes(`See "${line}".`), writes('x = 1')]), [])
  const [copied] = session.placeholders(writes(`// notes\n${line}\n`))
  assert.deepEqual([copied.id, copied.placeholders[0].mark], ['new', line])
  session.undo()
  assert.equal(session.context().messages.length, 62)
})

test('what a model writes is judged', () => {
  const session = new midfold.Session({ window: 8_000, narrate: true })
  const kept = history(0)
  let request = null
  for (let n = 0; n < 60 && request === null; n++) {
    kept.push(...step(n))
    session.project(kept)
    request = session.wants()
  }
  assert.equal(request.messages.length, 2)
  assert.match(session.complete(request, { error: 'timeout' }), /timeout/)
})

test('too long: what to send instead, once', () => {
  const session = new midfold.Session({ window: 100_000 })
  const kept = history(30)
  session.project(kept)
  const message =
    "This model's maximum context length is 6000 tokens. However, your messages resulted in 9000 tokens."
  const error = { error: { code: 'context_length_exceeded', message } }
  const context = session.recover(error, { status: 400 })
  assert.equal(context.messages[0], kept[0])
  assert.ok(context.places.includes(null))
  assert.equal(session.recover('rate limited', { status: 429 }), null)
})

test('conversations are found by id, by content, and after a restart', (t) => {
  const place = store(t)
  const sessions = new midfold.Sessions({ window: 8_000, store: place })
  const [one, two] = [history(20, 'Task one.'), history(20, 'Task two.')]
  assert.equal(sessions.project(one, { id: 'a' }).session.id, 'a')
  const other = sessions.project(two).session.id
  two.push(...step(20))
  assert.equal(sessions.project(two).session.id, other)
  assert.equal(sessions.find(two).id, other)
  assert.equal(sessions.find([], { id: 'b' }), null)
  one.push(...step(20))
  const after = new midfold.Sessions({ window: 8_000, store: place }).project(one, { id: 'a' })
  assert.equal(after.folded, false)
  assert.equal(after.session.length, one.length)
  assert.equal(midfold.Session.open(place, 'a').length, one.length)
})

test('each fold puts back a text, and files as they are', (t) => {
  const place = store(t)
  const plan = path.join(path.dirname(place.slice('sqlite:'.length)), 'PLAN.md')
  writeFileSync(plan, 'Mend the quay gate.')
  const afterFold = { text: 'Answer briefly.', files: [plan, 'gone.md'], tokens: 500 }
  const recap = (session) => session.compact().recap
  for (const at of [undefined, place]) {
    const session = new midfold.Session({ window: 20_000, store: at, id: 'a', afterFold })
    session.append(history(30))
    for (const text of ['Mend the quay gate.', 'Answer briefly.', 'there is no such file']) {
      assert.ok(session.preview().recap.includes(text))
    }
    assert.equal(session.fork({ id: 'b' }).preview().fold.put_back.parts.length, 3)
  }
  writeFileSync(plan, 'The quay gate is mended.')
  assert.match(recap(midfold.Session.open(place, 'a', { afterFold })), /is mended/)
  assert.doesNotMatch(midfold.Session.open(place, 'b').preview().recap, /quay/)
  const sessions = new midfold.Sessions({ window: 8_000, store: place, afterFold: { text: 'Answer in verse.' } })
  assert.match(JSON.stringify(sessions.project(history(60), { id: 'b' }).messages), /Answer in verse/)
  assert.throws(() => new midfold.Session({ afterFold: { texts: [] } }), midfold.InputError)
})

test('compact takes objects, a body, text and bytes', () => {
  const kept = history(40)
  const { messages, before, after, recap, fold } = midfold.compact(kept, { window: 8_000, keepLast: 3 })
  assert.ok(after.tokens < before.tokens)
  assert.ok(recap.length > 0 && fold.policy === 'default')
  assert.deepEqual(messages.at(-1), kept.at(-1))
  const body = midfold.compact({ model: 'gpt-5.6', messages: kept, temperature: 0 }, { window: 8_000 }).messages
  assert.deepEqual(Object.keys(body), ['model', 'messages', 'temperature'])
  const text = midfold.compact(JSON.stringify(kept), { window: 8_000, keepLast: 3 }).messages
  assert.deepEqual(JSON.parse(text), messages)
  const bytes = midfold.compact(Buffer.from(JSON.stringify(kept)), { window: 8_000, keepLast: 3 }).messages
  assert.equal(bytes.toString(), text)
})

test('errors say what to do', () => {
  assert.throws(() => new midfold.Session({ preset: 'defualt' }), (error) => {
    assert.ok(error instanceof midfold.PolicyError && error instanceof midfold.MidfoldError)
    assert.equal(error.hints[0], 'did you mean `default`?')
    return true
  })
  assert.throws(() => new midfold.Session({ windo: 5 }), /no option `windo`/)
  assert.throws(() => new midfold.Session({ window: 8_000 }).project({}), midfold.InputError)
  assert.throws(() => new midfold.Session({ window: 8_000 }).project([1]), midfold.InputError)
  assert.throws(() => midfold.compact([{ role: 'user', content: 1n }]), midfold.InputError)
  assert.throws(() => new midfold.Session({ window: 1e3, outputReserve: 5e3 }), midfold.MidfoldError)
})

test('counting, and what there is', () => {
  assert.equal(midfold.countTokens('Keep the ends, fold the middle.', { tokenizer: 'o200k' }), 8)
  assert.ok(midfold.countTokens(history(1)) > 100)
  assert.equal(midfold.presets()[0], 'default')
  assert.ok(midfold.tokenizers().includes('o200k'))
  assert.equal(midfold.recallTools('anthropic')[0].name, 'recall_find')
})

test('import has the same names', async () => {
  const module = await import('midfold')
  assert.deepEqual(Object.keys(module).filter((name) => name !== 'default').sort(), Object.keys(midfold).sort())
})

test('a session folds early after a pause in which its cache was lost', (t) => {
  const kept = history(30)
  const window = Math.floor(new midfold.Session({ window: 1_000_000 }).project(kept).tokens / 0.7)
  const folds = (options) => {
    const session = new midfold.Session({ window, ...options })
    assert.ok(!session.project(kept).folded)
    const sent = Date.now()
    while (Date.now() < sent + 3);
    return session.project(kept).folded
  }
  for (const place of [undefined, store(t)]) {
    assert.ok(folds({ cacheLifetime: 0.001, store: place }))
    assert.ok(!folds({ cacheLifetime: 300, store: place }))
    assert.ok(!folds({ store: place }))
  }
  assert.throws(() => new midfold.Session({ cacheLifetime: -1 }), /does not keep prompts/)
})
