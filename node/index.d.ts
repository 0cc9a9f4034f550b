/**
 * Context compaction for LLM agents: keep the ends, fold the middle.
 *
 * Names are in camel case. The records of `lib/types` alone have the names of their JSON, which files, stores and the
 * HTTP interface have, too: a policy, a fold, a status, an audit, an explanation.
 *
 * Sizes are in tokens, places are numbers of messages from 0. Every call is synchronous, and throws a `MidfoldError`.
 */
import type { Fold } from './lib/types/fold.js'
import type { Policy } from './lib/types/policy.js'
import type { Audit, Explanation, Injection, SessionStatus, TierName } from './lib/types/session.js'

export type * from './lib/types/entry.js'
export type * from './lib/types/fold.js'
export type * from './lib/types/narration.js'
export type * from './lib/types/policy.js'
export type * from './lib/types/session.js'
export type * from './lib/types/tool.js'

/** A message as its provider defines it. midfold reads it, and defines no key of it. */
export type Message = Record<string, any>
/** The definition of a tool as its provider defines it, for the `tools` of a request. */
export type Tool = Record<string, any>
/** Messages: an array of them, a request's body with such an array, or JSON of either. */
export type Messages = readonly Message[] | Message | string | Uint8Array

/** The form of a provider's messages. */
export type Dialect =
  | 'openai-chat'
  | 'openai-responses'
  | 'anthropic'
  | 'gemini'
  | 'bedrock'
  | 'ollama'
  | 'sharegpt'

/** How tokens are counted, and for what. */
export interface CountOptions {
  /** The model's window, in tokens. Without it the one of `model`, else 128,000. */
  window?: number
  /** What counts: a name of `tokenizers()`, `chars:3.2`, or the path of a `tokenizer.json`. */
  tokenizer?: string
  /** The rules of a provider; without it those of the dialect and the model. */
  profile?: string
  /** The model's name. */
  model?: string
}

/** When and how to fold. */
export interface FoldOptions {
  /** The name of a preset (`presets()`). */
  preset?: string
  /** TOML, or what differs from a preset (`base`). */
  policy?: string | Policy
  /** The most that a class of content may take, as shares of the budget from 0 to 1. */
  tiers?: Partial<Record<TierName, number>>
}

/** How one conversation is folded. */
export interface CompactOptions extends CountOptions, FoldOptions {
  /** How messages are read, if they alone do not tell. */
  dialect?: string
  /** What should be kept, in words. */
  focus?: string
  /** The most tokens that should be left; `Result.missed` says where more are. */
  target?: number
  /** How many messages stay at the end at least. */
  keepLast?: number
  /** Whether it folds only if the policy's trigger fires. */
  ifNeeded?: boolean
  /** Places of messages that stay as they are. */
  pin?: readonly number[]
}

/** The size of a context. */
export interface ContextSize {
  /** The number of messages. */
  messages: number
  /** The number of tokens, with what travels beside the messages. */
  tokens: number
}

/** What a compaction did, or would do. */
export interface Folding {
  /** The record of the fold; `null` if nothing was folded. */
  fold: Fold | null
  /** `folded`, or `nothing` if no fold was made. */
  outcome: 'folded' | 'nothing'
  /** Why nothing was folded, in words; `null` if something was. */
  reason: string | null
  /** How many messages there were and are, in words for a person. */
  headline: string
  /** How many tokens there were and are, in words for a person. */
  tokenLine: string
  /** Why fewer messages take more tokens; `null` if they do not. */
  note: string | null
  /** What is in the place of the messages that left, in words; `null` if nothing was folded. */
  instead: string | null
  /** The size of the context before the fold. */
  before: ContextSize
  /** The size of the context after the fold. */
  after: ContextSize
  /** The text that the model reads where messages were folded; `null` if no message left. */
  recap: string | null
}

/** Content that a reader or a conversion could not carry over. */
export interface Problem {
  /** A word that names the kind of problem. */
  code: string
  /** What could not be carried over, in words. */
  detail: string
  /** The line of the input, or the number of the message that was read, from 1. */
  line?: number
  /** The number of the message that was converted, from 0. */
  message?: number
}

/** A conversation, compacted or left as it was. */
export interface Result<T> extends Folding {
  /** The messages in the shape of what was given. */
  messages: T
  /** The target, in tokens, if more than that are left. */
  missed: number | null
  /** The model's window, in tokens. */
  window: number
  /** The form of the messages. */
  dialect: string
  /** The rules of a provider that the result keeps. */
  profile: string
  /** The counter of the tokens. */
  counter: string
  /** Whether the counter estimates, instead of using the model's vocabulary. */
  estimate: boolean
  /** What a reader or a conversion could not carry over. */
  problems: Problem[]
}

/**
 * Makes a conversation fit a model's window: head and tail stay, the middle is folded. It folds even if there is
 * room left, because you ask.
 *
 * @throws {InputError} for what is no conversation
 * @throws {PolicyError} for a policy that cannot be used
 * @throws {TokenizerError} for an unknown tokenizer
 * @throws {BudgetError} if nothing that fits can be made
 * @example
 * const { messages, recap } = compact(history, { window: 16_000 })
 */
export function compact(messages: string, options?: CompactOptions): Result<string>
/** The same of JSON as bytes. */
export function compact(messages: Uint8Array, options?: CompactOptions): Result<Buffer>
/** The same of an array, or of a request's body. */
export function compact<T extends readonly Message[] | Message>(
  messages: T,
  options?: CompactOptions,
): Result<T>

/**
 * Counts the tokens of a text (a string), or of messages and what travels beside them.
 *
 * @throws {InputError} for what is no conversation
 * @throws {TokenizerError} for an unknown tokenizer
 * @example
 * countTokens('Keep the ends, fold the middle.', { tokenizer: 'o200k' }) // 8
 */
export function countTokens(messages: Messages, options?: CompactOptions): number
/** The names of the presets, `default` first. */
export function presets(): string[]
/** The names of the tokenizers of this build. */
export function tokenizers(): string[]

/** A function that a model may call. */
export interface FunctionDefinition {
  /** Its name: what `Session.recall` is given. */
  name: string
  /** What the model reads of it. */
  description: string
  /** The JSON schema of its arguments. */
  parameters: Record<string, unknown>
}

/** A tool in the `tools` of Chat Completions. */
export interface OpenAiTool {
  /** Always a function. */
  type: 'function'
  /** The function. */
  function: FunctionDefinition
}

/** A tool in the `tools` of the Messages API, with its names. */
export interface AnthropicTool {
  /** Its name: what `Session.recall` is given. */
  name: string
  /** What the model reads of it. */
  description: string
  /** The JSON schema of its arguments. */
  input_schema: Record<string, unknown>
}

/**
 * Returns the tools that an agent is given to bring back what was folded, for the `tools` of a request of this shape.
 * `Session.recall` answers their calls.
 *
 * @throws {InputError} for an unknown shape
 */
export function recallTools(shape?: 'openai'): OpenAiTool[]
/** The same for the Messages API. */
export function recallTools(shape: 'anthropic'): AnthropicTool[]
/** The tools in the shape of another API. */
export function recallTools(shape: 'responses' | 'gemini' | 'bedrock'): Record<string, unknown>[]
/** The version of the engine. */
export const version: string

/**
 * What is put back with each fold: it is at the end of the recap until the next one. A file that is missing, binary,
 * empty or too large is named there instead, and in the record.
 */
export interface AfterFold {
  /** A text of yours. */
  text?: string
  /** Files of text, which are read again at each fold; named from the working folder. */
  files?: readonly string[]
  /** The most tokens that all of it takes; 4,000 without it, and an eighth of the budget at most. */
  tokens?: number
}

/** How a session is made. An unknown option is an error. */
export interface SessionOptions extends CountOptions, FoldOptions {
  /** The form of the messages; `openai-chat` without it. */
  dialect?: Dialect
  /** The system prompt, if it is no message. */
  system?: string | readonly Message[]
  /** The tools of requests: they count. */
  tools?: readonly Tool[]
  /** Tokens of the window that stay free for the reply. */
  outputReserve?: number
  /**
   * Seconds that the provider's cache keeps a prompt, as 300. After a longer pause a context above the buffer line is
   * folded before it is sent: no cache is spoilt by that. Without it a pause means nothing.
   */
  cacheLifetime?: number
  /** What is put back with each fold. */
  afterFold?: AfterFold
  /** Whether models narrate: see `wants`. */
  narrate?: boolean
  /** The place where it is kept: `sqlite:PATH`, `postgres://…`; without it in memory. */
  store?: string
  /** Its name; a new one without it. */
  id?: string
}

/** What of a stored session is to be another one from now on. */
export interface OpenOptions extends Pick<SessionOptions, 'window' | 'model' | 'preset' | 'policy' | 'afterFold'> {}

/** A context: the messages to send, and what they count. `T` is the type of the messages that were given. */
export class Context<T = Message> {
  private constructor()
  /** The messages. Those that were kept as they were are the objects that were given. */
  readonly messages: T[]
  /** The counted tokens, with what travels beside the messages. */
  readonly tokens: number
  /** Whether it was folded for this. */
  readonly folded: boolean
  /** The number of the request in the ledger of a stored session, from 1; `null` in memory. */
  readonly call: number | null
  /**
   * Of what `project` made: for each message the index, in the list that was given, of the one that it is or was made
   * of; `null` for what midfold wrote. `null` for other contexts.
   */
  readonly places: (number | null)[] | null
  /** The session that it is a context of. */
  readonly session: Session
  /**
   * The tools by which the model looks up what was folded, for the `tools` of the request: empty before the first fold.
   * `session.recall` answers their calls.
   */
  readonly tools: Record<string, unknown>[]
  /** The texts that hooks added: each hook's name, and the tokens that it took of its reserve. */
  readonly injections: Injection[]
  /** The messages as one JSON list: the very bytes of the log. */
  readonly bytes: Buffer
}

/** How a list is projected. */
export interface ProjectOptions {
  /** What should be kept, in words; folds now. */
  focus?: string
  /** Folds now. */
  force?: boolean
}

/** A model's answer: a text, or why there is none. */
export interface Answer {
  /** The text. */
  text?: string
  /** Why there is none: `timeout`, `server: 503`. */
  error?: string
  /** The provider's reason for the end of the reply; `stop` without it. */
  finish?: string
  /** The name that records show. */
  model?: string
  /** The provider's count of the prompt, in tokens. */
  prompt?: number
  /** The provider's count of the reply, in tokens. */
  output?: number
}

/** A message for the model that writes a summary. */
export interface PromptMessage {
  /** The rules are the system message, the originals the user's. */
  role: 'system' | 'user'
  /** Its text. */
  content: string
}

/** A summary that a session would like a model to write: give the text to `Session.complete`. */
export class SummaryRequest {
  private constructor()
  /** The name of the work, the same for the same work. */
  readonly id: string
  /** The two messages to send to the model: the rules, and the originals to summarise. */
  readonly messages: PromptMessage[]
  /** The most tokens of the reply. */
  readonly maxTokens: number
  /** The sampling temperature. */
  readonly temperature: number
  /** The longest wait for the whole answer, in seconds. */
  readonly timeout: number
}

/** An argument of a call that holds a mark as content. */
export interface ArgumentPlaceholder {
  /** The text that midfold printed. */
  mark: string
  /** The kind of text that it takes the place of. */
  kind: 'cut-argument' | 'cut-result' | 'line' | 'recap'
  /** The argument: `content`, `edits[0].new_text`; empty where the arguments are one text. */
  argument: string
  /** The numbers of the messages that the mark may stand for, as recall takes them. */
  messages: number[]
}

/** A call of the model with placeholders among its arguments. */
export interface PlaceholderCall {
  /** The id of the call; null where it has none. */
  id: string | null
  /** The name of the tool. */
  tool: string
  /** The placeholders; at least one. */
  placeholders: ArgumentPlaceholder[]
  /** A result for the call that says to the model why it was not run. */
  reason: string
}

/** What an audit found, and whether that is nothing. */
export interface AuditReport extends Audit {
  /** Whether there are no findings. */
  ok: boolean
}

/** What the provider counted beside the prompt and the reply, in tokens. */
export interface ObserveOptions {
  /** Tokens of the prompt that were read from the cache. */
  cacheRead?: number
  /** Tokens of the prompt that were written to the cache. */
  cacheWrite?: number
  /** `Context.call`, for a request of a stored session that is not the last. */
  call?: number | null
}

/**
 * One conversation: its log, its folds, its meter; in memory, or in a store. None of its methods waits for a model.
 * If a store fails, a method of a stored session throws a `StoreError`.
 *
 * @example
 * const session = new Session({ window: 128_000 })
 * const context = session.project(messages)
 */
export class Session {
  /**
   * Makes a session.
   *
   * @throws {InputError} for an unknown option or name
   * @throws {PolicyError} for a policy that cannot be used
   * @throws {TokenizerError} for an unknown tokenizer
   * @throws {BudgetError} if the reserves leave nothing of the window
   * @throws {StoreError} if the id is taken
   */
  constructor(options?: SessionOptions)
  /**
   * Goes on with a session of a store: `sqlite:PATH` or `postgres://…`. A window, a model, a preset or a policy that
   * you name holds from now on. A smaller window that was learned from a refusal stays, until you name another one.
   * `afterFold` is not stored with it.
   *
   * @throws {InputError} for an unknown option
   * @throws {PolicyError} for a policy that cannot be used
   * @throws {StoreError} if there is no such store or session
   */
  static open(store: string, id: string, options?: OpenOptions): Session
  /** Its id. It changes if a list of `project` went back: the session is a fork then. */
  readonly id: string
  /** The place where it is stored, without a password; `null` in memory. */
  readonly store: string | null
  /** The number of messages in the log. */
  readonly length: number
  /**
   * Appends a message, messages or JSON: all or none. Returns their places. In a store they are durable when this
   * returns, and a retry with the same `key` returns the first answer. With `expect` they are appended only if the
   * session has so many messages.
   *
   * @throws {InputError} for what is no message
   * @throws {StoreError} if there are not `expect`
   */
  append(messages: Messages, options?: { key?: string; expect?: number }): number[]
  /**
   * Returns the context to send, folded first if that is due. `inject` names texts that are sent behind the history
   * and not kept; each needs an entry in `reserve`: tokens that a fold keeps free for it.
   *
   * @throws {BudgetError} if nothing fits the window
   * @throws {InputError} for a text that is longer than its reserve
   */
  context(options?: { inject?: Record<string, string>; reserve?: Record<string, number> }): Context
  /**
   * Takes all messages that a host keeps, as its list is now, and returns what to send, folded first if that is due.
   * What is new is appended. The list may go on with the context that was handed out before. If it went back, the
   * session is a fork from then on, with another `id`.
   *
   * @throws {InputError} for what is no list of messages of the session's dialect
   * @throws {BudgetError} if nothing fits the window
   */
  project<T extends Message = Message>(messages: readonly T[], options?: ProjectOptions): Context<T>
  /**
   * Returns the smaller context to send after the provider refused a request with this error: what your SDK threw, or
   * the body of the answer. `null` if compacting does not help. Call it once a refusal. `status` is the HTTP status;
   * without it that of the error. `reply` is the least tokens to keep free for the reply.
   *
   * @throws {InputError} for what is no error and no JSON
   * @throws {BudgetError} if nothing smaller can be made: then show the provider's error
   */
  recover<T extends Message = Message>(error: unknown, options?: { status?: number; reply?: number }): Context<T> | null
  /**
   * Takes what the provider counted for the last context, in tokens: `prompt` is the whole prompt, with the parts
   * that a cache had, `output` the reply.
   *
   * @throws {InputError} for what is no number of tokens
   * @throws {StoreError} if the call is unknown, or was observed with other figures
   */
  observe(prompt: number, output?: number, options?: ObserveOptions): void
  /**
   * Folds now, because you ask. `focus` says in words what to keep.
   *
   * @throws {BudgetError} if nothing fits the window
   */
  compact(focus?: string): Folding
  /**
   * Says what `compact` would do, without doing it.
   *
   * @throws {BudgetError} if nothing fits the window
   */
  preview(focus?: string): Folding
  /**
   * Takes back a fold and those after it; without an id the active one. Its record stays.
   *
   * @throws {InputError} if there is no such fold
   */
  undo(fold?: string): void
  /**
   * Keeps the message at this place, with its calls and results, out of every later fold.
   *
   * @throws {InputError} if there is no such message
   */
  pin(seq: number): void
  /**
   * Lets a pinned message go.
   *
   * @throws {InputError} if there is no such message
   */
  unpin(seq: number): void
  /**
   * Says that the contexts go to another model from now on. Its window is `window`, in tokens, else the model's own
   * if it is known, else the one before.
   *
   * @throws {BudgetError} if the reserves leave nothing of the window
   */
  updateModel(model: string, window?: number): void
  /**
   * Changes the policy, from the next fold on.
   *
   * @throws {PolicyError} if it cannot be used
   * @throws {BudgetError} if its reserves leave nothing of the window
   */
  setPolicy(options: FoldOptions & { narrate?: boolean }): void
  /**
   * Answers whether the model sees a text, or a message by its place: where it is, when it left and by which rule.
   * `call` asks about an earlier request of a stored session, by its number.
   *
   * @throws {InputError} if there is no such message or request, or the text is empty
   */
  explain(textOrEvent: string | number, options?: { call?: number }): Explanation
  /**
   * Returns the calls of a new message of the model that hold placeholders: texts that a fold printed for what it left
   * out, copied where content was meant. Ask before the calls are run, with the message that will be appended. Answer
   * each with its `reason` in place of running it.
   *
   * @throws {InputError} for what is no message
   */
  placeholders(messages: Messages): PlaceholderCall[]
  /** Holds every record against the log. */
  audit(): AuditReport
  /** Returns the session in figures: its window, its budget, where folding starts, and whether a fold is due. */
  status(): SessionStatus
  /** Returns the records of all folds that were made, oldest first. */
  folds(): Fold[]
  /**
   * Returns what a model should be asked now, if anything.
   *
   * @throws {StoreError} for a stored session: its store has a queue
   */
  wants(): SummaryRequest | null
  /**
   * Takes the model's answer. Returns the verdict: `accepted`, or why it will not be used.
   *
   * @throws {InputError} for a request of another session, or an unknown kind of failure
   */
  complete(request: SummaryRequest, answer: string | Answer): string
  /** Answers a call of one of the tools of `recallTools`: plain text, always, even if the arguments cannot be used. */
  recall(name: string, args?: string | Record<string, unknown>): string
  /**
   * Makes a session of its own over the first `at` messages (all without), with the folds that apply.
   *
   * @throws {InputError} if there are not so many
   * @throws {StoreError} if the id is taken
   */
  fork(options?: { id?: string; at?: number }): Session
}

/** The conversations of one host, found by the host's own ids, else by what is in them. */
export class Sessions {
  /**
   * Says how each session is made. `limit` is how many conversations are held, 64 without it; of those in a store all
   * are found again by their id. A window, a model, a preset or a policy that you name holds for them, too, as in
   * `Session.open`.
   *
   * @throws {InputError} for an unknown option or name
   * @throws {PolicyError} for a policy that cannot be used
   */
  constructor(options?: Omit<SessionOptions, 'id'> & { limit?: number })
  /**
   * Takes all messages of a conversation, and returns what to send, as `Session.project` does. `id` is the host's own
   * name of the conversation.
   *
   * @throws {InputError} for what is no list of messages
   * @throws {BudgetError} if nothing fits the window
   */
  project<T extends Message = Message>(messages: readonly T[], options?: ProjectOptions & { id?: string }): Context<T>
  /**
   * Returns the session of this id, else of the conversation that has most in common with the messages; `null` if
   * there is none. Nothing is appended.
   *
   * @throws {InputError} for what is no list of messages
   */
  find(messages?: readonly Message[], options?: { id?: string }): Session | null
}

/** Every failure of midfold. */
export class MidfoldError extends Error {
  /** What to do about it, one thing each. */
  readonly hints: string[]
}
/** What was given cannot be used: messages that are none, a name that there is not. */
export class InputError extends MidfoldError {}
/** The policy or the preset cannot be used. */
export class PolicyError extends MidfoldError {}
/** Nothing that fits the window can be made: the message names what cannot be folded. */
export class BudgetError extends MidfoldError {}
/** The store did not do it. What was durable before still is. */
export class StoreError extends MidfoldError {}
/** There is no such tokenizer, or its file does not load. */
export class TokenizerError extends MidfoldError {}
