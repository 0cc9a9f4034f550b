'use strict'

const assert = require('node:assert/strict')
const path = require('node:path')
const { test } = require('node:test')

const { finish, home, installed, write } = require('./programs.js')
const { program, upstream } = require('./upstream.js')

const openclaw = installed('openclaw')
const node = process.env.MIDFOLD_TEST_NODE ?? process.execPath
const old = !process.env.MIDFOLD_TEST_NODE && Number(process.versions.node.split('.')[0]) < 24
const skip =
  (!program && 'SCRIPTED_UPSTREAM names no program') ||
  (!openclaw && 'openclaw is not installed') ||
  (old && 'openclaw needs Node 24')
const LIMIT = 34_000

/** A message of some 4,400 tokens. */
function note(turn) {
  const facts = Array.from({ length: 450 }, (_, n) => `fact ${turn}-${n} is v${(turn * n * 7919) % 10007}`)
  return `Note ${turn}. ${facts.join('. ')}`
}

test('turns go on in a window that their notes do not fit in', { skip }, async (t) => {
  const server = await upstream(t, '--limit', `${LIMIT}`, '--script', 'fixed', '--text', 'I have noted it.')
  const folder = home(t)
  const model = { id: 'scripted-model', name: 'scripted-model', contextWindow: LIMIT, maxTokens: 1_000 }
  const mock = { baseUrl: `${server.url}/v1`, apiKey: 'none', api: 'openai-completions', models: [model] }
  const store = `sqlite:${folder}/midfold.db`
  write(folder, '.openclaw/openclaw.json', {
    models: { providers: { mock } },
    agents: { defaults: { model: { primary: 'mock/scripted-model' } } },
    plugins: {
      load: { paths: [path.dirname(require.resolve('midfold'))] },
      slots: { contextEngine: 'midfold' },
      entries: { midfold: { enabled: true, config: { store } } },
    },
  })
  const cli = [node, path.join(openclaw, 'openclaw.mjs'), 'agent', '--local', '--agent', 'main', '--json']
  for (let turn = 1; turn <= 6; turn++) {
    const done = await finish(t, folder, [...cli, '--message', note(turn)], { PATH: `${path.dirname(node)}:${process.env.PATH}` })
    assert.equal(done.code, 0, done.err)
    assert.match(done.out, /I have noted it/, done.err)
    assert.doesNotMatch(done.err, /degraded to|quarantin/)
  }
  const { totals, requests } = await server.stats()
  const [first, second, ...later] = requests.filter(({ kind }) => kind === 'turn').map((request) => request.prompt_tokens)
  const unfolded = first + 5 * (second - first)
  assert.ok(unfolded > LIMIT && later.at(-1) < unfolded, `${[first, second, ...later]}`)
  assert.deepEqual([totals.refused, totals.overflows, totals.summaries], [0, 0, 0])
})
