'use strict'
// A provider with a limit, for the loop of docs/NODE.md: it reads one file after the other, asks back for one of the
// first, and answers. `crates/python/tests/provider.py` is the same.

/** What it takes, in tokens of four characters. The loop believes in more. */
const LIMIT = 12_000
const STEPS = 30
const ANSWER = 'The batch is retried without its key.'
const READ_FILE = { type: 'function', function: { name: 'read_file', parameters: {} } }

/** What came of the requests. */
const seen = { refused: [], prompts: [], recalled: '' }

/** The answer to the request of this number. */
function answer(number, messages) {
  if (number > STEPS + 1) {
    seen.recalled = messages.at(-1).content
    return { role: 'assistant', content: ANSWER }
  }
  const [name, args] =
    number > STEPS ? ['recall_find', { query: 'settle_3' }] : ['read_file', { path: `src/part_${number}.py` }]
  const fn = { name, arguments: JSON.stringify(args) }
  return { role: 'assistant', content: null, tool_calls: [{ id: `c${number}`, type: 'function', function: fn }] }
}

async function call(messages, tools) {
  const prompt = Math.floor(JSON.stringify([messages, tools]).length / 4)
  if (prompt > LIMIT) {
    seen.refused.push(prompt)
    const message =
      `This model's maximum context length is ${LIMIT} tokens. ` +
      `However, your messages resulted in ${prompt} tokens.`
    // As the error of OpenAI's SDK: `error` holds what the body has under this name.
    throw Object.assign(new Error('400'), { status: 400, error: { code: 'context_length_exceeded', message } })
  }
  seen.prompts.push(prompt)
  return { message: answer(seen.prompts.length, messages), usage: { prompt_tokens: prompt, completion_tokens: 20 } }
}

async function readFile(args) {
  const [part] = JSON.parse(args).path.match(/\d+/)
  return `def settle_${part}(refund): return refund.total\n`.repeat(60)
}

module.exports = { ANSWER, LIMIT, READ_FILE, call, readFile, seen }
