'use strict'

const assert = require('node:assert/strict')
const { cpSync, mkdirSync, symlinkSync } = require('node:fs')
const path = require('node:path')
const { test } = require('node:test')

const { recallTools } = require('midfold')
const { finish, home, installed, write } = require('./programs.js')
const { program, recorder, upstream } = require('./upstream.js')

const opencode = ['opencode-linux-x64-baseline', 'opencode-linux-x64', 'opencode-linux-arm64'].map(installed).find(Boolean)
const skip = (!program && 'SCRIPTED_UPSTREAM names no program') || (!opencode && 'opencode is not installed')
const TASK = 'Do the 14 steps of the plan one after another. The code of part 0 is K0-3039.'
const PACKAGES = { chat: '@ai-sdk/openai-compatible', messages: '@ai-sdk/anthropic' }

/** opencode in an empty home with the example as its plug-in, against a model with a limit, and told a window. */
async function host(t, { limit, window, dialect = 'chat' }) {
  const server = await upstream(t, '--limit', `${limit}`, '--steps', '14', '--result-tokens', '2000')
  const { url, bodies } = await recorder(t, server.url)
  const folder = home(t)
  const model = { name: 'scripted', limit: { context: window, output: 2_000 } }
  const options = { baseURL: `${url}/v1`, apiKey: 'none' }
  write(folder, 'project/opencode.json', {
    $schema: 'https://opencode.ai/config.json',
    model: 'scripted/scripted-model',
    provider: { scripted: { npm: PACKAGES[dialect], options, models: { 'scripted-model': model } } },
    permission: 'allow',
    autoupdate: false,
    share: 'disabled',
  })
  const plugin = path.join(folder, 'project/.opencode/plugin')
  mkdirSync(plugin, { recursive: true })
  cpSync(path.join(__dirname, 'opencode.example.mjs'), path.join(plugin, 'midfold.js'))
  mkdirSync(path.join(folder, 'project/node_modules'))
  symlinkSync(path.dirname(require.resolve('midfold')), path.join(folder, 'project/node_modules/midfold'))
  const store = `sqlite:${folder}/midfold.db`
  const env = { OPENCODE_DISABLE_MODELS_FETCH: '1', MIDFOLD_STORE: store }
  const run = (...given) => finish(t, folder, [path.join(opencode, 'bin/opencode'), 'run', ...given], env)
  return { server, bodies, run }
}

for (const dialect of Object.keys(PACKAGES)) {
  test(`opencode finishes without a summary: ${dialect}`, { skip }, async (t) => {
    const { server, bodies, run } = await host(t, { limit: 30_000, window: 30_000, dialect })
    const done = await run(TASK)
    assert.match(done.out, /All 14 steps are done/, done.err)
    const { totals } = await server.stats()
    assert.deepEqual([totals.refused, totals.overflows, totals.summaries, totals.facts_missing], [0, 0, 0, 0])
    const { tools } = bodies.find((body) => body.tools?.length > 0)
    const tool = tools.map((tool) => tool.function ?? tool).find(({ name }) => name === 'recall_find')
    const schema = tool.parameters ?? tool.input_schema
    assert.equal(schema.properties.query.type, 'string', JSON.stringify(schema))
    // opencode by itself requires all properties of a plain schema.
    assert.deepEqual(schema.required ?? [], recallTools('anthropic')[0].input_schema.required ?? [])
  })
}

test('a second run goes on with the stored session', { skip }, async (t) => {
  const { server, bodies, run } = await host(t, { limit: 60_000, window: 60_000 })
  assert.match((await run(TASK)).out, /All 14 steps are done/)
  const before = bodies.length
  await run('--continue', 'Are all steps done?')
  const { totals } = await server.stats()
  assert.equal(totals.refused, 0)
  const [first, second] = [bodies[before - 1], bodies.at(-1)].map(({ messages }) => JSON.stringify(messages).slice(0, -1))
  assert.ok(second.startsWith(first.slice(0, -1)), 'the prompt does not begin with the one before')
})

test('a window that is too large is learned from the refusal', { skip }, async (t) => {
  const { server, run } = await host(t, { limit: 30_000, window: 200_000 })
  const done = await run(TASK)
  assert.match(done.out, /All 14 steps are done/, done.err)
  const { totals } = await server.stats()
  assert.equal(totals.refused, 0)
  // opencode's list begins anew with its summary, and may be refused once more.
  assert.ok(totals.overflows >= 1 && totals.overflows <= 2, `${totals.overflows} overflows`)
})
