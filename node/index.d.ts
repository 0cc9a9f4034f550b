/** Context compaction for LLM agents: keep the ends, fold the middle. */

/** A message as the dialect has it. */
export type Message = Record<string, any>
/** Messages: an array of them, a request's body, or JSON. */
export type Messages = readonly Message[] | Message | string | Uint8Array

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
  /** A name (`tokenizers()`), `chars:3.2`, or the path of a `tokenizer.json`. */
  tokenizer?: string
  /** The rules of a provider. */
  profile?: string
  model?: string
}

/** When and how to fold. */
export interface FoldOptions {
  /** The name of a preset (`presets()`). */
  preset?: string
  /** TOML, or what differs from a preset (`base`). */
  policy?: string | Record<string, any>
  /** Caps of classes of content, as shares of the budget. */
  tiers?: Partial<Record<'results' | 'arguments' | 'dialogue', number>>
}

export interface CompactOptions extends CountOptions, FoldOptions {
  /** How messages are read, where they alone do not tell. */
  dialect?: string
  /** What should be kept, in words. */
  focus?: string
  /** At most this many tokens afterwards. */
  target?: number
  /** Keep at least the last N messages. */
  keepLast?: number
  /** Fold only where the policy's trigger fires. */
  ifNeeded?: boolean
  /** Places of messages that stay as they are. */
  pin?: readonly number[]
}

export interface Report {
  /** Why nothing was folded. */
  noop: string | null
  tokensBefore: number
  tokensAfter: number
  messagesBefore: number
  messagesAfter: number
  /** The target, where more was needed. */
  missed: number | null
  window: number
  dialect: string
  profile: string
  tokenizer: string
  problems: string[]
}

/** What a person is told of a fold. */
export interface Feedback {
  noop: boolean
  headline: string
  token_line: string
  note: string | null
  [name: string]: unknown
}

export interface Compacted<T> {
  /** In the shape of what was given. */
  messages: T
  /** The text that the model reads where messages were folded. */
  recap: string | null
  /** The fold's record. */
  fold: Record<string, any> | null
  report: Report
  feedback: Feedback
}

/** Makes a conversation fit a model's window: head and tail stay, the middle is folded. */
export function compact(messages: string, options?: CompactOptions): Compacted<string>
export function compact(messages: Uint8Array, options?: CompactOptions): Compacted<Buffer>
export function compact<T extends readonly Message[] | Message>(
  messages: T,
  options?: CompactOptions,
): Compacted<T>

/** Counts the tokens of a text (a string), or of messages. */
export function countTokens(messages: Messages, options?: CompactOptions): number
/** The names of the presets, `default` first. */
export function presets(): string[]
/** The names of the tokenizers of this build. */
export function tokenizers(): string[]
/** The tools that an agent is given to bring back what was folded. */
export function recallTools(shape?: 'openai' | 'anthropic'): Record<string, any>[]
export const version: string

export interface SessionOptions extends CountOptions, FoldOptions {
  dialect?: Dialect
  /** The system prompt, where it is no message. */
  system?: string | readonly Message[]
  /** The tools of requests: they count. */
  tools?: readonly Record<string, any>[]
  /** Tokens of the window that stay free for the reply. */
  outputReserve?: number
  /**
   * Seconds that the provider's cache keeps a prompt, as 300. After a longer pause a context above the buffer line is
   * folded before it is sent: no cache is spoilt by that. Without it a pause means nothing.
   */
  cacheLifetime?: number
  /** Whether models narrate: see `wants`. */
  narrate?: boolean
  /** Where it is kept: `sqlite:PATH`, `postgres://…`; without it in memory. */
  store?: string
  id?: string
}

/** What is to be sent. */
export class Context {
  private constructor()
  /** Those that were kept as they were are the objects that were given. */
  readonly messages: Message[]
  /** Counted tokens, with what travels beside the messages. */
  readonly tokens: number
  /** Whether it was folded for this. */
  readonly folded: boolean
  /** The number of the request in the ledger of a stored session. */
  readonly call: number | null
  /** Of what `project` made: for each message the index, in the list that was given, of the one that it is
   * or was made of; `null` for what midfold wrote. */
  readonly places: (number | null)[] | null
  readonly session: Session
  readonly injections: { hook: string; reserve: number; tokens: number }[]
  /** The messages as one JSON list: the very bytes of the log. */
  readonly bytes: Buffer
}

export interface Folding {
  fold: Record<string, any> | null
  noop: string | null
  recap: string | null
  feedback: Feedback
}

export interface ProjectOptions {
  /** What should be kept, in words; folds now. */
  focus?: string
  /** Folds now. */
  force?: boolean
}

/** A model's answer: a text, or why there is none (`timeout`, `server: 503`). */
export interface Answer {
  text?: string
  error?: string
  finish?: string
  model?: string
  prompt?: number
  output?: number
}

/** What a session would like a model to write. */
export class SummaryRequest {
  private constructor()
  readonly id: string
  readonly messages: { role: 'system' | 'user'; content: string }[]
  readonly maxTokens: number
  readonly temperature: number
  /** Seconds. */
  readonly timeout: number
}

/** One conversation: its log, its folds, its meter; in memory, or in a store. Calls are synchronous. */
export class Session {
  constructor(options?: SessionOptions)
  /** Goes on with a session of a store. */
  static open(store: string, id: string): Session
  readonly id: string
  readonly store: string | null
  /** Number of messages. */
  readonly length: number
  /** Appends a message, messages or JSON: all or none. Returns their places. */
  append(messages: Messages, options?: { key?: string; expect?: number }): number[]
  /** The context to send, folded first where that is due. */
  context(options?: { inject?: Record<string, string>; reserve?: Record<string, number> }): Context
  /** Takes all messages that a host keeps, as its list is now, and returns what to send. */
  project(messages: readonly Message[], options?: ProjectOptions): Context
  /** What to send after the provider refused a request with this error, once; `null` where compacting is not
   * what it needs. */
  recover(error: unknown, options?: { status?: number; reply?: number }): Context | null
  /** Tells what the provider counted for the last context. */
  observe(
    prompt: number,
    output?: number,
    options?: { cacheRead?: number; cacheWrite?: number; call?: number | null },
  ): void
  /** Folds now, because you ask. */
  compact(focus?: string): Folding
  /** Says what `compact` would do, without doing it. */
  preview(focus?: string): Folding
  /** Takes back a fold and those after it; without an id the active one. */
  undo(fold?: string): void
  pin(seq: number): void
  unpin(seq: number): void
  updateModel(model: string, window?: number): void
  setPolicy(options: FoldOptions & { narrate?: boolean }): void
  /** Whether the model sees a text, or a message by its number, and when and why it left. */
  explain(textOrEvent: string | number, options?: { call?: number }): Record<string, any>
  /** Every record held against the log. */
  audit(): Record<string, any>
  status(): Record<string, any>
  /** All folds that were made, oldest first. */
  folds(): Record<string, any>[]
  /** What a model should be asked now, if anything. In memory only. */
  wants(): SummaryRequest | null
  /** Takes the model's answer. Returns the verdict. */
  complete(request: SummaryRequest, answer: string | Answer): string
  /** Answers a call of one of the tools of `recallTools`: plain text, always. */
  recall(name: string, args?: string | Record<string, any>): string
  /** A session of its own over the first `at` messages, with the folds that apply. */
  fork(options?: { id?: string; at?: number }): Session
}

/** The conversations of one host, found by the host's own ids, else by what is in them. */
export class Sessions {
  /** `limit` is how many conversations are held; of those in a store all are found again by their id. */
  constructor(options?: Omit<SessionOptions, 'id'> & { limit?: number })
  project(messages: readonly Message[], options?: ProjectOptions & { id?: string }): Context
  /** The session of this id, else of the conversation that has most in common with the messages. */
  find(messages?: readonly Message[], options?: { id?: string }): Session | null
}

/** Every failure of midfold, with what to do. */
export class MidfoldError extends Error {
  readonly hints: string[]
}
export class InputError extends MidfoldError {}
export class PolicyError extends MidfoldError {}
export class BudgetError extends MidfoldError {}
export class StoreError extends MidfoldError {}
export class TokenizerError extends MidfoldError {}
