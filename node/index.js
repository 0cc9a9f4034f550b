'use strict'
// Context compaction for LLM agents: keep the ends, fold the middle. The types say what each thing does.

const native = require('./lib/native.js')
const errors = require('./lib/errors.js')
const { folding } = require('./lib/folding.js')
const { options: read, present, text } = require('./lib/given.js')
const { Context, Session, Sessions, SummaryRequest } = require('./lib/session.js')

const { call, json } = errors

/** JSON as it was given, or of what was given; and whether it was text. */
function given(messages) {
  if (typeof messages === 'string') return [Buffer.from(messages), 'string']
  if (messages instanceof Uint8Array) return [Buffer.from(messages), 'bytes']
  return [Buffer.from(json(present(messages), 'messages')), 'objects']
}

function compact(messages, options = {}) {
  const [bytes, shape] = given(messages)
  const done = call(() => native.compact(bytes, json(read(options), 'options')))
  const text = shape === 'bytes' ? done.messages : done.messages.toString('utf8')
  return {
    messages: shape === 'objects' ? JSON.parse(text) : text,
    fold: done.record == null ? null : JSON.parse(done.record),
    ...folding(done.report),
  }
}

function countTokens(messages, options = {}) {
  const said = json(read(options), 'options')
  if (typeof messages === 'string') return call(() => native.countText(messages, said))
  return call(() => native.countMessages(given(messages)[0], said))
}

function recallTools(shape = 'openai') {
  return JSON.parse(call(() => native.recallTools(text('shape', shape, 'openai'))))
}

module.exports = {
  compact,
  countTokens,
  recallTools,
  presets: native.presets,
  tokenizers: native.tokenizers,
  version: native.version(),
  Context,
  Session,
  Sessions,
  SummaryRequest,
  MidfoldError: errors.MidfoldError,
  InputError: errors.InputError,
  PolicyError: errors.PolicyError,
  BudgetError: errors.BudgetError,
  StoreError: errors.StoreError,
  TokenizerError: errors.TokenizerError,
}
