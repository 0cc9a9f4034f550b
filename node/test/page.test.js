'use strict'
// The examples of docs/NODE.md: the loop is run against a provider with a limit.

const assert = require('node:assert/strict')
const { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } = require('node:fs')
const { tmpdir } = require('node:os')
const path = require('node:path')
const { test } = require('node:test')

const { history } = require('./helpers.js')
const { ANSWER, LIMIT, seen } = require('./provider.js')

// `tools/node-check` puts it beside the tests.
const page = [path.join(__dirname, 'NODE.md'), path.join(__dirname, '../../docs/NODE.md')].find(existsSync)

/** The blocks of JavaScript on the page. */
function blocks() {
  return [...readFileSync(page, 'utf8').matchAll(/^```js\n(.*?)^```$/gms)].map(([, text]) => text)
}

test('the loop of the page calls, observes, recovers and recalls', async (t) => {
  const [loop] = blocks()
  const file = path.join(__dirname, 'page.example.mjs')
  t.after(() => rmSync(file))
  const names = "import { READ_FILE, call, readFile } from './provider.js'"
  writeFileSync(file, [names, loop, 'export { kept, session }'].join('\n'))
  const { kept, session } = await import(file)
  assert.equal(kept.at(-1).content, ANSWER)
  assert.equal(seen.refused.length, 1)
  assert.ok(Math.max(...seen.prompts) <= LIMIT)
  assert.equal(session.status().last_prompt_tokens, seen.prompts.at(-1))
  assert.ok(session.folds().length > 1)
  assert.match(seen.recalled, /settle_3/)
})

test('the line of the page opens a session, or makes it', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'midfold-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const text = blocks()[1].replace('sqlite:sessions.db', `sqlite:${path.join(folder, 'sessions.db')}`)
  const kept = `const kept = ${JSON.stringify(history(3))}`
  for (const at of [1, 2]) {
    const file = path.join(__dirname, `page.store${at}.mjs`)
    t.after(() => rmSync(file))
    writeFileSync(file, [text, 'export { session }'].join('\n').replace('\nconst sessions', `\n${kept}\nconst sessions`))
    const { session } = await import(file)
    assert.deepEqual([session.id, session.length], ['led-4100', history(3).length])
  }
})

test('every other block is that of a test of its own', () => {
  const others = blocks().slice(1)
  assert.equal(others.length, 2)
  // ai.example.mjs
  assert.match(others[1], /midfold\/ai/)
})
