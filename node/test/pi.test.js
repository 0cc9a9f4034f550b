'use strict'

const assert = require('node:assert/strict')
const { readFileSync, readdirSync } = require('node:fs')
const path = require('node:path')
const readline = require('node:readline')
const { test } = require('node:test')

const { Session } = require('midfold')
const { finish, home, installed, start, write } = require('./programs.js')
const { program, upstream } = require('./upstream.js')

const pi = installed('@earendil-works/pi-coding-agent')
const node = process.env.MIDFOLD_TEST_NODE ?? process.execPath
const old = !process.env.MIDFOLD_TEST_NODE && Number(process.versions.node.split('.')[0]) < 22
const skip =
  (!program && 'SCRIPTED_UPSTREAM names no program') || (!pi && 'pi is not installed') || (old && 'pi needs Node 22')
const EXTENSION = require.resolve('midfold/pi')
const EXAMPLE = require.resolve('./pi.example.js')
const TASK = 'Do the 14 steps of the plan one after another. The code of part 0 is K0-3039.'

/** pi in an empty home, against a model with a limit, and told a window. */
async function host(t, { limit, window, steps = 14, api = 'openai-completions', compaction = {} }) {
  const server = await upstream(t, '--limit', `${limit}`, '--steps', `${steps}`, '--result-tokens', '2000')
  const folder = home(t)
  const model = { id: 'scripted-model', name: 'scripted', contextWindow: window, maxTokens: 2_000 }
  const baseUrl = api.startsWith('anthropic') ? server.url : `${server.url}/v1`
  write(folder, 'pi/models.json', { providers: { scripted: { baseUrl, api, apiKey: 'none', models: [model] } } })
  write(folder, 'pi/settings.json', { compaction })
  const cli = path.join(pi, 'dist/bundle/cli.js')
  const command = (extension, ...more) =>
    [node, cli, '--provider', 'scripted', '--model', model.id, '-e', extension, ...more]
  const env = { PI_CODING_AGENT_DIR: `${folder}/pi`, PI_OFFLINE: '1' }
  return { server, folder, command, env }
}

/** How many prompts of the task did not begin with the one before, and what went wrong. */
async function seen(server) {
  const { totals, requests } = await server.stats()
  const turns = requests.filter(({ kind, outcome }) => kind === 'turn' && outcome === 'answered')
  const breaks = turns.filter(({ append_only: extended }) => extended === false).length
  return { totals, turns: turns.length, breaks }
}

/** The entries of pi's session file. */
function entries(folder) {
  const sessions = path.join(folder, 'pi/sessions')
  const [file] = readdirSync(sessions, { recursive: true }).filter((name) => name.endsWith('.jsonl'))
  return readFileSync(path.join(sessions, file), 'utf8').trim().split('\n').map((line) => JSON.parse(line))
}

for (const api of ['openai-completions', 'openai-responses', 'anthropic-messages']) {
  test(`pi finishes, and its file keeps all: ${api}`, { skip }, async (t) => {
    const { server, folder, command, env } = await host(t, { limit: 24_000, window: 24_000, api })
    const done = await finish(t, folder, command(EXTENSION, '-p', TASK), env)
    assert.match(done.out, /All 14 steps are done/, done.err)
    const { totals, breaks } = await seen(server)
    assert.deepEqual([totals.refused, totals.overflows, totals.summaries, totals.facts_missing], [0, 0, 0, 0])
    assert.ok(breaks >= 2 && breaks <= 6, `${breaks} breaks`)
    const results = entries(folder).filter(({ message }) => message?.role === 'toolResult')
    assert.equal(results.length, 14)
    assert.ok(results.every(({ message }) => message.content[0].text.length > 2_000))
    assert.equal(entries(folder).filter(({ type }) => type === 'compaction').length, 0)
  })
}

test('a window that is too large is learned from the refusal', { skip }, async (t) => {
  const compaction = { keepRecentTokens: 3_000 }
  const { server, folder, command, env } = await host(t, { limit: 16_000, window: 200_000, compaction })
  const done = await finish(t, folder, command(EXTENSION, '-p', TASK), env)
  assert.match(done.out, /All 14 steps are done/, done.err)
  const { totals } = await seen(server)
  assert.deepEqual([totals.refused, totals.overflows, totals.summaries], [0, 1, 0])
})

/** pi as a process that takes commands; `ask` waits for the answer, `idle` for the end of a run. */
function conversation(t, folder, command, env) {
  const { child } = start(t, folder, [...command, '--mode', 'rpc'], env)
  const waiting = []
  readline.createInterface({ input: child.stdout }).on('line', (line) => {
    const event = JSON.parse(line)
    const at = waiting.findIndex(({ wanted }) => wanted(event))
    if (at >= 0) waiting.splice(at, 1)[0].resolve(event)
  })
  const until = (wanted) => new Promise((resolve) => waiting.push({ wanted, resolve }))
  const ask = (type, more) => {
    const answer = until((event) => event.type === 'response' && event.command === type)
    child.stdin.write(`${JSON.stringify({ type, ...more })}\n`)
    return answer
  }
  return { ask, idle: () => until(({ type }) => type === 'agent_settled') }
}

test('/compact folds, and the conversation goes on from it', { skip }, async (t) => {
  const compaction = { keepRecentTokens: 3_000, reserveTokens: 2_000 }
  const { server, folder, command, env } = await host(t, { limit: 60_000, window: 60_000, steps: 8, compaction })
  const store = `sqlite:${folder}/midfold.db`
  const { ask, idle } = conversation(t, folder, command(EXAMPLE), { ...env, MIDFOLD_STORE: store })
  const first = idle()
  assert.equal((await ask('prompt', { message: TASK })).success, true)
  await first
  const { success, data } = await ask('compact', { customInstructions: 'the code of part 0' })
  assert.ok(success && data.summary.includes('K0-3039'), JSON.stringify(data))
  assert.ok(data.estimatedTokensAfter < data.tokensBefore)
  const second = idle()
  await ask('prompt', { message: 'Are all steps done?' })
  await second
  const [session] = entries(folder)
  const { length } = Session.open(store, session.id)
  const messages = entries(folder).filter(({ type }) => type === 'message')
  assert.equal(length, messages.filter(({ message }) => message.role !== 'system').length - 1)
  const { totals, breaks } = await seen(server)
  assert.deepEqual([totals.refused, totals.summaries, breaks], [0, 0, 1])
  const { recall_find: found } = { recall_find: Session.open(store, session.id).recall('recall_find', { query: 'K0-3039' }) }
  assert.match(found, /K0-3039/)
})
