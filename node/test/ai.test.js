'use strict'

const assert = require('node:assert/strict')
const { execFileSync } = require('node:child_process')
const { test } = require('node:test')

const { program, upstream } = require('./upstream.js')

let skip = program ? false : 'SCRIPTED_UPSTREAM names no program'
try {
  require.resolve('ai')
} catch {
  skip = 'the package ai is not installed'
}

const TASK = 'Do the 14 steps of the plan one after another, each with the shell tool. The code of part 0 is K0-3039.'

async function parts() {
  const ai = await import('ai')
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
  const midfold = await import('midfold/ai')
  const shell = ai.tool({
    description: 'Runs a command in a shell and returns what it prints.',
    inputSchema: ai.jsonSchema({
      type: 'object',
      properties: { command: { type: 'string' } },
      required: ['command'],
    }),
    execute: ({ command }) => execFileSync('bash', ['-c', command], { encoding: 'utf8' }),
  })
  return { ...ai, createOpenAICompatible, ...midfold, shell }
}

/** A loop of 14 steps of 2,000 tokens against a limit of 12,000. */
async function provider(t, createOpenAICompatible) {
  const server = await upstream(t, '--limit', '12000', '--steps', '14', '--result-tokens', '2000')
  const made = createOpenAICompatible({ name: 'scripted', baseURL: `${server.url}/v1`, apiKey: 'none', includeUsage: true })
  return { server, model: made('scripted-model') }
}

async function check(server, text) {
  assert.match(text, /All 14 steps are done/)
  const { totals, requests } = await server.stats()
  assert.equal(totals.refused, 0)
  const turns = requests.filter(({ kind, outcome }) => kind === 'turn' && outcome === 'answered')
  const extended = turns.filter(({ append_only: extended }) => extended !== false).length
  return { totals, turns: turns.length, extended }
}

test('without midfold the loop does not end', { skip }, async (t) => {
  const { generateText, stepCountIs, createOpenAICompatible, shell } = await parts()
  const { model } = await provider(t, createOpenAICompatible)
  const run = generateText({ model, prompt: TASK, tools: { shell }, stopWhen: stepCountIs(50), maxRetries: 0 })
  await assert.rejects(run, /context|too long|maximum/i)
})

test('a wrapped model finishes, and the application keeps all messages', { skip }, async (t) => {
  const { generateText, stepCountIs, wrapLanguageModel, createOpenAICompatible, midfoldMiddleware, shell } = await parts()
  const { server, model } = await provider(t, createOpenAICompatible)
  const middleware = midfoldMiddleware({ window: 12_000 })
  const wrapped = wrapLanguageModel({ model, middleware })
  const done = await generateText({ model: wrapped, prompt: TASK, tools: { shell }, stopWhen: stepCountIs(50) })
  const { totals, turns, extended } = await check(server, done.text)
  assert.equal(totals.overflows, 0)
  const messages = [{ role: 'user', content: TASK }, ...done.response.messages]
  const folds = middleware.conversations.find(messages).folds().length
  assert.ok(folds >= 3 && turns - extended <= folds, `${folds} folds, ${extended} of ${turns} prompts extend`)
  const results = done.response.messages.filter(({ role }) => role === 'tool')
  assert.equal(results.length, 14)
  assert.ok(results.every(({ content }) => JSON.stringify(content).length > 2_000))
})

test('a stream finishes too, and what was counted is observed', { skip }, async (t) => {
  const { streamText, stepCountIs, wrapLanguageModel, createOpenAICompatible, midfoldMiddleware, shell } = await parts()
  const { server, model } = await provider(t, createOpenAICompatible)
  const middleware = midfoldMiddleware({ window: 12_000 })
  const wrapped = wrapLanguageModel({ model, middleware })
  const run = streamText({ model: wrapped, prompt: TASK, tools: { shell }, stopWhen: stepCountIs(50) })
  const { totals } = await check(server, await run.text)
  assert.equal(totals.overflows, 0)
  const messages = [{ role: 'user', content: TASK }, ...(await run.response).messages]
  const status = middleware.conversations.find(messages).status()
  assert.ok(status.last_prompt_tokens > 0, JSON.stringify(status))
})

test('a window that is too large is learned from the refusal', { skip }, async (t) => {
  const { generateText, stepCountIs, wrapLanguageModel, createOpenAICompatible, midfoldMiddleware, shell } = await parts()
  const { server, model } = await provider(t, createOpenAICompatible)
  const wrapped = wrapLanguageModel({ model, middleware: midfoldMiddleware({ window: 200_000 }) })
  const done = await generateText({ model: wrapped, prompt: TASK, tools: { shell }, stopWhen: stepCountIs(50), maxRetries: 0 })
  const { totals } = await check(server, done.text)
  assert.ok(totals.overflows >= 1)
})

test('prepareStep does it without a wrapped model', { skip }, async (t) => {
  const { generateText, stepCountIs, createOpenAICompatible, midfoldPrepareStep, shell } = await parts()
  const { server, model } = await provider(t, createOpenAICompatible)
  const prepareStep = midfoldPrepareStep({ window: 12_000 })
  const done = await generateText({ model, prompt: TASK, tools: { shell }, stopWhen: stepCountIs(50), prepareStep })
  await check(server, done.text)
})

test('the example runs, and its tools recall', { skip }, async (t) => {
  const { createOpenAICompatible, midfoldMiddleware, midfoldTools, shell } = await parts()
  const { agent } = await import('./ai.example.mjs')
  const { server } = await provider(t, createOpenAICompatible)
  const done = await agent({ baseURL: `${server.url}/v1`, prompt: TASK, tools: { shell }, window: 12_000 })
  await check(server, done.text)
  const middleware = midfoldMiddleware({ window: 12_000 })
  const messages = [{ role: 'user', content: TASK }, ...done.response.messages]
  middleware.conversations.project(messages)
  const { recall_find: grep } = midfoldTools(middleware)
  const found = await grep.execute({ query: 'K0-3039' }, { messages, toolCallId: 'c' })
  assert.match(found, /K0-3039/)
})
