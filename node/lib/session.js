'use strict'
// Sessions: objects go in and come out, and what is kept is the host's own object.

const { folding } = require('./folding.js')
const { randomUUID } = require('node:crypto')
const native = require('./native.js')
const { inspect } = require('node:util')
const { call, json } = require('./errors.js')
const { array, options: read, present, refusal, text, whole } = require('./given.js')

/** What is to be sent. */
class Context {
  #handed

  constructor(handed, messages, session, places) {
    this.#handed = handed
    this.messages = messages
    this.tokens = handed.tokens
    this.folded = handed.folded
    this.call = handed.call ?? null
    this.places = places
    this.session = session
  }

  get tools() {
    return JSON.parse(call(() => this.#handed.tools()))
  }

  get injections() {
    return JSON.parse(call(() => this.#handed.injections()))
  }

  get bytes() {
    return this.#handed.bytes()
  }
}

/** What to keep, in words. */
function focusOf(focus) {
  return focus == null ? undefined : text('focus', focus, 'the plan')
}

const PROJECT = ['focus', 'force']
const OPEN = ['window', 'preset', 'policy', 'model', 'afterFold']

/** One conversation: its log, its folds, its meter; in memory, or in a store. */
class Session {
  #native
  /** The objects of messages, by their numbers. */
  #known = new Map()
  /** What midfold wrote, by its JSON: the same object until the next fold. */
  #made = new Map()
  /** The list that was projected last. */
  #list = []

  constructor(options = {}) {
    this.#native =
      options instanceof native.Session
        ? options
        : call(() => new native.Session(json(read(options), 'options'), randomUUID()))
  }

  static open(store, id, options) {
    text('store', store, 'sqlite:sessions.db')
    text('id', id, 'thread-7')
    const named = json(read(options, OPEN), 'options')
    return new Session(call(() => native.Session.open(store, id, named)))
  }

  [inspect.custom](depth, options) {
    const { id, length: messages, store } = this
    const { context_length: window } = this.status()
    const shown = store === null ? { id, messages, window } : { id, messages, window, store }
    return `Session ${inspect(shown, options)}`
  }

  get id() {
    return this.#native.id
  }

  get store() {
    return this.#native.store ?? null
  }

  get length() {
    return this.#native.length
  }

  append(messages, options) {
    const { key, expect } = read(options, ['key', 'expect'], "{ key: 'import-1' }")
    const list = json(present(messages), 'messages')
    const places = call(() => this.#native.append(list, key, expect))
    const objects = Array.isArray(messages) ? messages : [messages]
    places.forEach((place, at) => this.#known.set(place, objects[at]))
    return places
  }

  context(options) {
    const { inject, reserve } = read(options, ['inject', 'reserve'], "{ inject: { memory: '…' }, reserve: { memory: 200 } }")
    const texts = Object.entries(inject ?? {}).map(([name, said]) => [name, text(`inject.${name}`, said, 'They like tabs.')])
    const sizes = Object.entries(reserve ?? {}).map(([name, size]) => [name, whole(`reserve.${name}`, size, '200, in tokens')])
    const hooks = json({ inject: texts, reserve: sizes }, 'hooks')
    return this.#handedOut(call(() => this.#native.context(hooks)))
  }

  project(messages, options) {
    const { focus, force } = read(options, PROJECT, '{ force: true }')
    const list = json(array(messages), 'messages')
    const handed = call(() => this.#native.project(list, messages.length, focus, force ?? false))
    return this._projected(handed, messages)
  }

  recover(error, options) {
    const { status, reply } = read(options, ['status', 'reply'], '{ status: 400 }')
    const said = refusal(error)
    const handed = call(() => this.#native.recover(said.body, status ?? said.status, reply ?? 0))
    return handed ? this.#handedOut(handed) : null
  }

  observe(prompt, output, options) {
    const known = ['cacheRead', 'cacheWrite', 'call']
    const { cacheRead, cacheWrite, call: number } = read(options, known, '{ call: context.call }')
    const counted = {
      prompt: whole('prompt', prompt, '1200: the tokens that the provider counted'),
      output: whole('output', output ?? 0, '80: the tokens of the reply'),
      cacheRead: cacheRead ?? 0,
      cacheWrite: cacheWrite ?? 0,
      call: number ?? null,
    }
    call(() => this.#native.observe(json(counted, 'counts')))
  }

  compact(focus) {
    return folding(call(() => this.#native.compact(focusOf(focus), false)))
  }

  preview(focus) {
    return folding(call(() => this.#native.compact(focusOf(focus), true)))
  }

  undo(fold) {
    call(() => this.#native.undo(fold == null ? undefined : text('fold', fold, this.folds().at(-1)?.id ?? 'the id of a fold')))
  }

  pin(seq) {
    call(() => this.#native.pin(whole('seq', seq, 12), true))
  }

  unpin(seq) {
    call(() => this.#native.pin(whole('seq', seq, 12), false))
  }

  updateModel(model, window) {
    text('model', model, 'gpt-5.6')
    const size = window == null ? undefined : whole('window', window, 128_000)
    call(() => this.#native.updateModel(model, size))
  }

  setPolicy(options) {
    const named = json(read(options), 'options')
    call(() => this.#native.setPolicy(named))
  }

  explain(textOrEvent, options) {
    const { call: number } = read(options, ['call'], '{ call: 1 }')
    const explained =
      typeof textOrEvent === 'number'
        ? () => this.#native.explainEvent(whole('textOrEvent', textOrEvent, 12), number)
        : () => this.#native.explain(text('textOrEvent', textOrEvent, 'src/main.py'), number)
    return JSON.parse(call(explained))
  }

  placeholders(messages) {
    return JSON.parse(call(() => this.#native.placeholders(json(present(messages), 'messages'))))
  }

  audit() {
    return JSON.parse(call(() => this.#native.audit()))
  }

  status() {
    return JSON.parse(call(() => this.#native.status()))
  }

  folds() {
    return JSON.parse(call(() => this.#native.folds()))
  }

  wants() {
    const request = call(() => this.#native.wants())
    return request ? new SummaryRequest(request) : null
  }

  complete(request, answer) {
    const given = typeof answer === 'string' ? { text: answer } : answer
    return call(() => this.#native.complete(request._native, json(given, 'answer')))
  }

  recall(name, args = {}) {
    const given = typeof args === 'string' ? args : json(args, 'arguments')
    return call(() => this.#native.recall(text('name', name, 'recall_find'), given))
  }

  fork(options) {
    const { id, at } = read(options, ['id', 'at'], "{ id: 'try-2', at: 12 }")
    return new Session(call(() => this.#native.fork(id ?? randomUUID(), at)))
  }

  /** The context with the host's own objects, wherever a message is one of its list. */
  _projected(handed, list) {
    this.#list = list
    if (handed.wentBack != null) {
      // From there on these are other messages.
      for (const seq of this.#known.keys()) if (seq >= handed.wentBack) this.#known.delete(seq)
    }
    const pieces = handed.pieces()
    for (const { place, seq, json: text } of pieces) {
      if (text == null && seq != null) this.#known.set(seq, list[place])
    }
    return this.#handedOut(handed, pieces, true)
  }

  #handedOut(handed, pieces = handed.pieces(), follows = pieces.some(({ place }) => place != null)) {
    const made = new Map()
    const message = ({ place, seq, json: text }) => {
      if (text == null) return this.#list[place]
      if (seq != null && this.#known.has(seq)) return this.#known.get(seq)
      const object = this.#made.get(text) ?? JSON.parse(text)
      if (seq != null) this.#known.set(seq, object)
      else made.set(text, object)
      return object
    }
    const messages = pieces.map(message)
    this.#made = made
    const places = follows ? pieces.map(({ place }) => place ?? null) : null
    return new Context(handed, messages, this, places)
  }
}

/** What a session would like a model to write. */
class SummaryRequest {
  constructor(request) {
    Object.defineProperty(this, '_native', { value: request })
    Object.assign(this, JSON.parse(call(() => request.json())))
  }
}

/** The conversations of one host, found by the host's own ids, else by what is in them. */
class Sessions {
  #native

  constructor(options = {}) {
    this.#native = call(() => new native.Sessions(json(read(options), 'options')))
  }

  project(messages, options) {
    const { id, focus, force } = read(options, ['id', ...PROJECT], "{ id: 'thread-7' }")
    const list = json(array(messages), 'messages')
    const projected = call(() => this.#native.project(list, messages.length, id, focus, force ?? false))
    return new Session(projected.session())._projected(projected.take(), messages)
  }

  find(messages = [], options) {
    const { id } = read(options, ['id'], "{ id: 'thread-7' }")
    const found = call(() => this.#native.find(json(array(messages), 'messages'), id))
    return found ? new Session(found) : null
  }
}

module.exports = { Context, Session, Sessions, SummaryRequest }
