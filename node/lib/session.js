'use strict'
// Sessions: objects go in and come out, and what is kept is the host's own object.

const { folding } = require('./folding.js')
const { randomUUID } = require('node:crypto')
const native = require('./native.js')
const { InputError, call, json } = require('./errors.js')

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

/** All messages of a host, as an array. */
function array(messages) {
  if (!Array.isArray(messages)) {
    throw new InputError(`messages is ${typeof messages}, not an array`, [
      'pass all messages of the conversation, as an array of objects',
    ])
  }
  return messages
}

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
        : call(() => new native.Session(json(options, 'options'), randomUUID()))
  }

  static open(store, id, { afterFold = {} } = {}) {
    return new Session(call(() => native.Session.open(store, id, json(afterFold, 'afterFold'))))
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

  append(messages, { key, expect } = {}) {
    const places = call(() => this.#native.append(json(messages, 'messages'), key, expect))
    const objects = Array.isArray(messages) ? messages : [messages]
    places.forEach((place, at) => this.#known.set(place, objects[at]))
    return places
  }

  context({ inject = {}, reserve = {} } = {}) {
    const hooks = json({ inject: Object.entries(inject), reserve: Object.entries(reserve) }, 'hooks')
    return this.#handedOut(call(() => this.#native.context(hooks)))
  }

  project(messages, { focus, force = false } = {}) {
    const list = json(array(messages), 'messages')
    const handed = call(() => this.#native.project(list, messages.length, focus, force))
    return this._projected(handed, messages)
  }

  recover(error, { status, reply = 0 } = {}) {
    const text = typeof error === 'string' ? error : json(error, 'error')
    const handed = call(() => this.#native.recover(text, status, reply))
    return handed ? this.#handedOut(handed) : null
  }

  observe(prompt, output = 0, { cacheRead = 0, cacheWrite = 0, call: number } = {}) {
    const counted = { prompt, output, cacheRead, cacheWrite, call: number ?? null }
    call(() => this.#native.observe(json(counted, 'counts')))
  }

  compact(focus) {
    return folding(call(() => this.#native.compact(focus, false)))
  }

  preview(focus) {
    return folding(call(() => this.#native.compact(focus, true)))
  }

  undo(fold) {
    call(() => this.#native.undo(fold))
  }

  pin(seq) {
    call(() => this.#native.pin(seq, true))
  }

  unpin(seq) {
    call(() => this.#native.pin(seq, false))
  }

  updateModel(model, window) {
    call(() => this.#native.updateModel(model, window))
  }

  setPolicy(options) {
    call(() => this.#native.setPolicy(json(options, 'options')))
  }

  explain(textOrEvent, { call: number } = {}) {
    const text = typeof textOrEvent === 'number' ? `@${textOrEvent}` : textOrEvent
    return JSON.parse(call(() => this.#native.explain(text, number)))
  }

  placeholders(messages) {
    return JSON.parse(call(() => this.#native.placeholders(json(messages, 'messages'))))
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
    return call(() => this.#native.recall(name, given))
  }

  fork({ id = randomUUID(), at } = {}) {
    return new Session(call(() => this.#native.fork(id, at)))
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
    this.#native = call(() => new native.Sessions(json(options, 'options')))
  }

  project(messages, { id, focus, force = false } = {}) {
    const list = json(array(messages), 'messages')
    const projected = call(() => this.#native.project(list, messages.length, id, focus, force))
    return new Session(projected.session())._projected(projected.take(), messages)
  }

  find(messages = [], { id } = {}) {
    const found = call(() => this.#native.find(json(array(messages), 'messages'), id))
    return found ? new Session(found) : null
  }
}

module.exports = { Context, Session, Sessions, SummaryRequest }
