'use strict'

const assert = require('node:assert/strict')
const { mkdtempSync, rmSync } = require('node:fs')
const { tmpdir } = require('node:os')
const path = require('node:path')
const { before, test } = require('node:test')

const { Session } = require('midfold')
const { harness, packages, printed, read } = require('./dsh.harness.js')

const TASK = 'LED-4100: do all steps of the plan, one after another.'
const NEVER = new AbortController().signal
let found, engine

before(async () => {
  found = await packages()
  if (found) engine = (await import('midfold/dsh')).default
})

/** A test with a harness in it; skipped where its packages are not installed. */
function hosted(name, options, work) {
  test(name, async (t) => {
    if (!found) return t.skip('DeepSeek Harness is not installed')
    await work(await harness(t, found, { engine, ...options }), t)
  })
}

function compactions(session) {
  return session.events.filter(({ type }) => type.startsWith('compaction/')).map(({ type }) => type.slice(11))
}

/** Runs something once within a turn, before it ends. */
function withinTurn(ctx, work) {
  let done
  ctx.on('agent/turn-stopping', async () => {
    done ??= work()
    await done
  })
  return () => done
}

hosted('a task goes on in a window that it does not fit in', {}, async ({ session, model, ask }) => {
  await ask(TASK)
  assert.match(read(session.deriveMessages()), /All 24 steps are done/)
  assert.equal(model.overflows, 0)
  const kinds = compactions(session)
  assert.ok(kinds.length >= 6)
  kinds.forEach((kind, at) => assert.equal(kind, ['start', 'summary', 'end'][at % 3]))
  const results = session.events.filter(({ type }) => type === 'tool/result')
  assert.deepEqual(results.map(({ data }) => read([data.message])), results.map((_, n) => printed(n)))
})

hosted('between folds a prompt begins with the one before, and the task stays in front', {}, async ({ session, model, ask }) => {
  await ask(TASK)
  const ids = model.requests.map((messages) => messages.map(({ id }) => id))
  const breaks = ids.filter((now, at) => at > 0 && !ids[at - 1].every((id, place) => now[place] === id))
  assert.equal(breaks.length, compactions(session).length / 3)
  assert.ok(model.requests.every(([first]) => read([first]) === TASK))
})

hosted('a window that is too large is learned from the refusal', { window: 200_000, limit: 16_000 }, async ({ session, model, ask }) => {
  await ask(TASK)
  assert.match(read(session.deriveMessages()), /All 24 steps are done/)
  assert.equal(model.overflows, 1)
})

hosted('a policy that shortens results shortens those of the surface', { config: { preset: 'verbatim' } }, async ({ session, model, ask }) => {
  await ask(TASK)
  assert.match(read(session.deriveMessages()), /All 24 steps are done/)
  assert.equal(model.overflows, 0)
  const prunes = session.events.filter(({ type }) => type === 'compaction/prune')
  assert.ok(prunes.length > 0)
  for (const { seq, data } of prunes) {
    const [whole, cut] = [session.events[data.shadowedSeqs[0]], session.events[seq + 1]].map((event) => event.data)
    assert.deepEqual({ ...cut, message: { ...cut.message, content: null } }, { ...whole, message: { ...whole.message, content: null } })
    assert.ok(read([cut.message]).length < read([whole.message]).length)
  }
})

hosted('a model that tells no window works, too', { window: undefined, limit: 20_000, steps: 12 }, async ({ session, ask }) => {
  await ask(TASK)
  assert.match(read(session.deriveMessages()), /All 12 steps are done/)
})

hosted('what is about to enter a step counts before it is sent', { steps: 6 }, async ({ session, model, ask }) => {
  await ask(TASK)
  await ask(`These are the notes. ${'note '.repeat(9_000)}`)
  assert.ok(compactions(session).length > 0)
  assert.equal(model.overflows, 0)
})

hosted('what the model counts is taken into account', { weight: 2, window: 40_000 }, async ({ session, model, ask }) => {
  await ask(TASK)
  assert.match(read(session.deriveMessages()), /All 24 steps are done/)
  assert.equal(model.overflows, 0)
})

hosted('the agent brings back what was folded', {}, async ({ ctx, agent, ask }) => {
  const recall = (args) => ctx.tools.execute({ callId: 'r', name: 'recall_find', arguments: args, signal: NEVER, agent })
  assert.equal((await recall({ query: 'K3-' })).value, 'There is nothing to recall yet.')
  await ask(TASK)
  const { value, content } = await recall({ query: 'K3-3811' })
  assert.match(value, /the code is K3-3811/)
  assert.deepEqual(content, [{ type: 'text', text: value }])
})

test('options that are none are refused at once', async (t) => {
  if (!found) return t.skip('DeepSeek Harness is not installed')
  await assert.rejects(harness(t, found, { engine, config: { presett: 'lean' } }), /presett/)
})

hosted('without recall there are no tools', { config: { recall: false }, steps: 1 }, async ({ ctx }) => {
  assert.deepEqual(ctx.tools.schemas().map(({ name }) => name), ['work'])
})

hosted('/compact folds at once, and does nothing where there is nothing', { window: 100_000, steps: 8 }, async (host) => {
  const { ctx, agent, session, ask } = host
  const compact = async () => (await ctx.commands.execute(agent, '/compact', [], NEVER)).result
  const domain = () => session.events.filter(({ type }) => !type.startsWith('command/')).length
  const empty = domain()
  assert.deepEqual(await compact(), { kind: 'success', text: 'No compactable history yet.' })
  assert.equal(domain(), empty)
  await ask(TASK)
  const long = session.surface.nodes.length
  assert.match((await compact()).text, /^Compacted \d+ history items/)
  assert.ok(session.surface.nodes.length < long)
  assert.match(read(session.deriveMessages()), new RegExp(`^${TASK}\n## Conversation Summary`))
  const [start, , end] = session.events.filter(({ type }) => type.startsWith('compaction/'))
  assert.deepEqual([start.data.turn, end.data], [null, start.data])
  const after = domain()
  assert.equal((await compact()).text, 'No compactable history yet.')
  assert.equal(domain(), after)
  await ask('Are all steps done?')
  assert.match(read(session.deriveMessages()), /Are all steps done\?\nAll 8 steps are done/)
})

hosted('a recap that is no smaller than what it covers is not written', { steps: 0 }, async ({ ctx, agent, session, ask }) => {
  await ask('Question 1')
  const [first, last] = session.surface.nodes
  const done = withinTurn(ctx, () => assert.rejects(ctx.compaction.compactRegion(first, last, agent), /would not be smaller/))
  await ask('Question 2')
  await done()
  assert.equal(await ctx.compaction.compactNow(agent, NEVER), null)
  assert.deepEqual(compactions(session), [])
})

hosted('a compaction by hand says why there is none', { window: 100_000, steps: 8 }, async ({ ctx, agent, session, model, ask, user }) => {
  await ask(TASK)
  agent.followup(user('And now?'))
  assert.throws(() => ctx.compaction.compactNow(agent, NEVER), { code: 'busy' })
  await agent.whenIdle()
  const reason = new Error('not now')
  assert.throws(() => ctx.compaction.compactNow(agent, AbortSignal.abort(reason)), reason)
  let resolving
  const asked = new Promise((resolve) => (resolving = resolve))
  model.resolveModel = (_provider, _model, signal) => {
    resolving()
    return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  }
  const cancelled = assert.rejects(ctx.compaction.compactNow(agent, NEVER), { code: 'cancelled' })
  await asked
  agent.cancel({ kind: 'user' })
  await cancelled
  assert.deepEqual(compactions(session), [])
})

hosted('a compaction that could not be saved says so', { window: 100_000, steps: 8 }, async ({ ctx, agent, session, ask }) => {
  await ask(TASK)
  ctx.on('session/flush', async () => {
    throw new Error('the disk is full')
  })
  await assert.rejects(ctx.compaction.compactNow(agent, NEVER), { code: 'persistence' })
  assert.deepEqual(compactions(session), ['start', 'summary', 'end'])
})

hosted('a lock of this process keeps others out', { window: 100_000, steps: 8 }, async ({ ctx, agent, session, ask }) => {
  await ask(TASK)
  const lock = { compactionId: 'other', turn: null }
  session.append('compaction/start', lock)
  await assert.rejects(ctx.compaction.compactNow(agent, NEVER), { code: 'busy' })
  session.append('compaction/end', { ...lock, error: 'given up' })
  assert.notEqual(await ctx.compaction.compactNow(agent, NEVER), null)
})

hosted('a lock of a process that is gone keeps nobody out', { window: 100_000, steps: 8 }, async ({ session, ask }, t) => {
  await ask(TASK)
  session.append('compaction/start', { compactionId: 'gone', turn: null })
  const { ctx, agent } = await harness(t, found, { engine, window: 100_000, seed: structuredClone(session.events) })
  assert.notEqual(await ctx.compaction.compactNow(agent, NEVER), null)
})

hosted('a span is folded where the caller says', { window: 100_000, steps: 8, config: { auto: false } }, async (host) => {
  const { ctx, agent, session, ask } = host
  const fold = (first, last) => ctx.compaction.compactRegion(session.surface.nodes[first], session.surface.nodes[last], agent)
  const done = withinTurn(ctx, async () => {
    await assert.rejects(fold(2, 6), /parts a call from its result/)
    await assert.rejects(fold(5, 4), /is no span/)
    const before = [...session.surface.nodes]
    const result = await fold(3, 10)
    assert.deepEqual(result.shadowedSeqs, before.slice(3, 11))
    const after = session.surface.nodes
    assert.deepEqual([...after.slice(0, 3), ...after.slice(4)], [...before.slice(0, 3), ...before.slice(11)])
    assert.match(result.summary[0].text, /8 earlier messages, @3 to @10, are folded/)
    const again = await fold(1, 5)
    assert.match(again.summary[0].text, /12 earlier messages, @1 to @12, are folded/)
  })
  await ask(TASK)
  await done()
  await assert.rejects(fold(1, 3), /no open turn/)
  assert.equal(compactions(session).length, 6)
})

test('a session is taken up again with its store', async (t) => {
  if (!found) return t.skip('DeepSeek Harness is not installed')
  const folder = mkdtempSync(path.join(tmpdir(), 'midfold-dsh-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const store = `sqlite:${folder}/midfold.db`
  const one = await harness(t, found, { engine, config: { store } })
  await one.ask(TASK)
  const { length } = Session.open(store, 'session-1')
  const seed = structuredClone(one.session.events)
  const two = await harness(t, found, { engine, config: { store }, seed, steps: 0 })
  await two.ask('Are all steps done?')
  // A session that was closed goes on with its surface as it was.
  const [before, after] = [one, two].map(({ session }) => session.deriveMessages().map(({ id }) => id))
  assert.deepEqual(after.slice(0, before.length), before)
  assert.equal(Session.open(store, 'session-1').length, length + 2)
})
