'use strict'
// The examples of docs/NODE.md: the loop is run against a provider with a limit.

const assert = require('node:assert/strict')
const { existsSync, readFileSync, rmSync, writeFileSync } = require('node:fs')
const path = require('node:path')
const { test } = require('node:test')

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

test('every other block is that of a test of its own', () => {
  const others = blocks().slice(1)
  assert.equal(others.length, 1)
  // ai.example.mjs
  assert.match(others[0], /midfold\/ai/)
})
