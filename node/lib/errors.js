'use strict'
// What the engine says of a failure, as exceptions.

/** Every failure of midfold: `message`, and what to do in `hints`. */
class MidfoldError extends Error {
  constructor(message, hints = []) {
    super(hints.length > 0 ? `${message}\n${hints.map((hint) => `hint: ${hint}`).join('\n')}` : message)
    this.name = this.constructor.name
    this.hints = hints
  }
}

/** What was given cannot be used. */
class InputError extends MidfoldError {}
/** There is no such policy, or it cannot be read. */
class PolicyError extends MidfoldError {}
/** Nothing that fits can be made. */
class BudgetError extends MidfoldError {}
/** The store did not do it. */
class StoreError extends MidfoldError {}
/** There is no such tokenizer, or it does not load. */
class TokenizerError extends MidfoldError {}

const kinds = {
  input: InputError,
  policy: PolicyError,
  budget: BudgetError,
  store: StoreError,
  tokenizer: TokenizerError,
}

/** Calls the addon, and throws what it says in its own class. */
function call(work) {
  try {
    return work()
  } catch (error) {
    let told
    try {
      told = JSON.parse(error.message)
    } catch {
      throw error
    }
    const Kind = kinds[told.area] ?? MidfoldError
    throw new Kind(told.message, told.hints)
  }
}

/** JSON of a value that has to have some. */
function json(value, name) {
  let text
  try {
    text = JSON.stringify(value)
  } catch (error) {
    throw new InputError(`${name} cannot be written as JSON: ${error.message}`)
  }
  if (text === undefined) {
    throw new InputError(`${name} is ${value === undefined ? 'undefined' : `a ${typeof value}`}, which JSON has not`)
  }
  return text
}

module.exports = {
  MidfoldError,
  InputError,
  PolicyError,
  BudgetError,
  StoreError,
  TokenizerError,
  call,
  json,
}
