'use strict'
// What callers give: messages, options and numbers. What cannot be used is an error that names it and says what is right.

const native = require('./native.js')
const { InputError, call, json } = require('./errors.js')

/** What an option holds, where that is not a whole number or a text: an example of the right value. */
const NUMBERS = {
  window: 128_000,
  outputReserve: 4_000,
  limit: 64,
  target: 20_000,
  keepLast: 4,
  expect: 12,
  at: 12,
  call: 1,
  status: 400,
  reply: 1_000,
  cacheRead: 0,
  cacheWrite: 0,
}
const TEXTS = {
  preset: 'default',
  dialect: 'openai-chat',
  profile: 'openai',
  tokenizer: 'o200k',
  model: 'gpt-5.6',
  store: 'sqlite:sessions.db',
  id: 'thread-7',
  key: 'import-1',
  focus: 'the plan',
}
const SWITCHES = ['force', 'narrate', 'ifNeeded']

/** A value in a message: short. */
function shown(value) {
  if (typeof value === 'string') return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value)
  if (Array.isArray(value)) return 'an array'
  if (isPromise(value)) return 'a promise'
  if (typeof value === 'object' && value !== null) return 'an object'
  return typeof value === 'function' ? 'a function' : String(value)
}

function isPromise(value) {
  return typeof value?.then === 'function'
}

function isMissing(value) {
  return value === undefined || value === null
}

/** A number of something, from 0 on. `example` is a right one. */
function whole(name, value, example) {
  if (Number.isSafeInteger(value) && value >= 0) return value
  throw new InputError(`\`${name}\` is ${shown(value)}, not a whole number from 0 on`, [
    `give a number, such as ${example}`,
  ])
}

/** A text. `example` is a right one. */
function text(name, value, example) {
  if (typeof value === 'string') return value
  throw new InputError(`\`${name}\` is ${shown(value)}, not a string`, [`give a string, such as '${example}'`])
}

/** Refuses a value that is of the wrong kind for its option. */
function checkOption(name, value) {
  if (isMissing(value)) return
  if (Object.hasOwn(NUMBERS, name)) whole(name, value, NUMBERS[name])
  else if (Object.hasOwn(TEXTS, name)) text(name, value, TEXTS[name])
  else if (SWITCHES.includes(name) && typeof value !== 'boolean') {
    throw new InputError(`\`${name}\` is ${shown(value)}, not true or false`, [`write { ${name}: true }`])
  } else if (name === 'cacheLifetime' && !Number.isFinite(value)) {
    throw new InputError(`\`cacheLifetime\` is ${shown(value)}, not a number of seconds`, ['say 300 for five minutes'])
  } else if (isPromise(value)) {
    throw new InputError(`\`${name}\` is a promise`, ['await it first'])
  }
}

/** The options of a call. Where `known` names them, any other is an error; the engine knows those of a session. */
function options(given, known, example = '{ window: 128_000 }') {
  if (isMissing(given)) return {}
  if (typeof given !== 'object' || Array.isArray(given) || isPromise(given)) {
    throw new InputError(`the options are ${shown(given)}, not an object`, [`pass an object, such as ${example}`])
  }
  for (const name of Object.keys(given)) {
    if (known && !known.includes(name)) call(() => native.unknownOption(name, known))
    checkOption(name, given[name])
  }
  return given
}

/** Messages that are to be read: no promise of them. */
function present(messages) {
  if (isPromise(messages)) throw new InputError('messages is a promise, not messages', ['await it first'])
  return messages
}

/** All messages of a host, as an array. */
function array(messages) {
  if (!Array.isArray(present(messages))) {
    throw new InputError(`messages is ${shown(messages)}, not an array`, [
      'pass all messages of the conversation, as an array of objects',
    ])
  }
  return messages
}

/** The members in which errors of SDKs and of fetch wrappers have the provider's answer. */
const BODIES = ['body', 'responseBody', 'error', 'data']

/** What a provider said when it refused a request, as text, and the status of its answer. */
function refusal(error) {
  if (typeof error === 'string') return { body: error }
  if (!(error instanceof Error)) return { body: json(present(error), 'error') }
  const said = [...BODIES.map((name) => error[name]), error.response?.data].find(isAnswer) ?? error.message
  const status = [error.status, error.statusCode, error.response?.status].find(Number.isSafeInteger)
  return { body: typeof said === 'string' ? said : json(said, 'error'), status }
}

/** Whether a value is a text or plain data: a stream of an answer says nothing. */
function isAnswer(value) {
  if (typeof value === 'string') return value !== ''
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
}

module.exports = { array, options, present, refusal, text, whole }
