/** What a session says of itself. */
// Written by tools/door-types: change the sources that it reads.
import type { RepairReason } from './entry.js'
import type { Meter } from './fold.js'

/**
 * A class of content that can have a cap. `results`: Results of tool calls. `arguments`: Arguments of tool calls.
 * `dialogue`: Text of the user and the assistant.
 */
export type TierName = 'results' | 'arguments' | 'dialogue'

/**
 * The forms in which a policy can say when to fold. `share`: `threshold`: a share of the budget. `floor`:
 * `floor_tokens`: the share, raised (Hermes Agent). `tokens`: `tokens`: an absolute number. `reserve`: `reserve`: so
 * many tokens are to stay free. `cliff`: `cliffs`: the price of the whole prompt rises there. `buffer`: `buffer`:
 * where folding starts while the provider's cache is cold. `seam`: `seam`: where folding starts at the end of a piece
 * of work. `agent`: Where folding starts when the agent asks for it.
 */
export type LineRule = 'share' | 'floor' | 'tokens' | 'reserve' | 'cliff' | { tier: TierName } | 'buffer' | 'seam' | 'agent'

/** Whether a fold is due. */
export interface Due {
  /** Held: the folds before freed too little. */
  breaker?: null
  /** What fits, in tokens. */
  limit?: number
  /** Held: the last fold freed little. */
  'little-gained'?: null
  /** Held: planning found nothing to fold. */
  'nothing-to-gain'?: null
  /** Held: the policy is off. */
  off?: null
  /** Held: a call has no result yet. */
  'open-call'?: null
  /** The rule that set the line. */
  rule?: LineRule
  /** Below the line, over one of the lines, over the window, or held back. */
  state: 'below' | 'threshold' | 'cold' | 'seam' | 'agent' | 'hard-window' | 'held'
  /** The line, in tokens. */
  tokens?: number
  /** Held: a person took a fold back. */
  undone?: null
}

/** Where folding starts, and which rule says so. */
export interface TriggerLine {
  /** The rule that set it: the lowest of those that a policy names. */
  rule: LineRule
  /** Fires at this many tokens. */
  tokens: number
}

/** What the engine says of a session: `midfold session status --json` and the HTTP API have it as `status`. */
export interface SessionStatus {
  /** The active fold. */
  active_fold?: string | null
  /** What a context may cost: the window without reserves. */
  budget_tokens: number
  /** Folds that were made. */
  compaction_count: number
  /** The same since the last reset, by the seed's name. */
  compression_count: number
  /** The window, as far as the provider let know. */
  context_length: number
  /** Percent of the window in use, as estimated. */
  context_percent: number
  /** What the provider will count for the context. */
  context_tokens: number
  /** Seconds until a model is asked again. */
  cooldown_seconds: number
  /** Whether a fold is due, and what holds it back. */
  due: Due
  /** The engine. */
  engine: string
  /** Events of the log. */
  events: number
  /** The provider's count of the last reply. */
  last_completion_tokens: number
  /** The provider's count of the last prompt. */
  last_prompt_tokens: number
  /** Both. */
  last_total_tokens: number
  /** Counted tokens of the whole log. */
  log_tokens: number
  /** Messages of the context. */
  messages: number
  /** The meter. */
  meter: Meter
  /** The model, where one was named. */
  model: string
  /** A narration is being written. */
  narration_asked: boolean
  /** A narration waits for its fold. */
  narration_ready: boolean
  /** Pinned events. */
  pins: number[]
  /** The policy's name. */
  policy: string
  /** Its fingerprint, as the records of folds have it. */
  policy_fingerprint: string
  /** Events that there were when the policy was changed; none where it never was. */
  policy_since?: number | null
  /** Messages that the policy keeps at the front, beside what its rule finds. */
  protect_first_n: number
  /**
   * Messages at the end that the policy leaves as they are at least: its tail, or what its reducers may not touch,
   * where that is more (Hermes Agent: 6).
   */
  protect_last_n: number
  /** The session. */
  session: string
  /** Folds in a row that freed too little. */
  strikes: number
  /** Where folding starts, and by which rule. */
  threshold: TriggerLine
  /** The share of the budget in the policy. */
  threshold_percent: number
  /** `threshold.tokens`, by the seed's name. */
  threshold_tokens: number
  /** Percent of the window that the last prompt took, as the provider counted it (Hermes Agent). */
  usage_percent: number
}

/** Something that does not hold. */
export interface AuditFinding {
  /** What it is about: `fold 2`, `call 17`. */
  at: string
  /** What is wrong. */
  detail: string
  /** One of `rule`. */
  rule: string
}

/** A lost name that came up again. */
export interface NameReference {
  /** The name. */
  name: string
  /** The first event after the fold in which the user or the assistant used it. */
  seq: number
}

/** A fold, as answers name it. */
export interface FoldRef {
  /** Events of the log when it was made. */
  events: number
  /** Its id. */
  id: string
  /** Its number in the session, from 1. */
  number: number
}

/** What one rule took out. */
export interface RemovedByRule {
  /** Events, or blocks of events. */
  items: number
  /** The reducer's reason code; what the stand-in was made of. */
  reason: string
  /** The rule: `recap`, `marker`, or a reducer. */
  rule: string
  /** Tokens of what is there now. */
  tokens_after: number
  /** Their tokens before. */
  tokens_before: number
}

/**
 * How a fold stands. `in-force`: A request was read through it, or the context is read through it now, or what is
 * read now was built on it while no request was recorded yet. `prepared`: Prepared ahead by a worker, and not taken.
 * `undone`: Taken back before a request was read through it. `superseded`: Another fold was made on top of it before
 * a request was read through it.
 */
export type FoldStanding = 'in-force' | 'prepared' | 'undone' | 'superseded'

/** What one fold lost, and kept. */
export interface FoldReceipt {
  /** Those of them that the user or the assistant used again, and where first. */
  asked_again: NameReference[]
  /** One past its last. */
  end: number
  /** The fold. */
  fold: FoldRef
  /** Whether the head is the log's own. */
  head_verbatim: boolean
  /** Whether the log still holds those, byte for byte. */
  intact: boolean
  /** Identifiers that the context still names: how many, and the best of them. */
  kept_ids: [number, string[]]
  /** Identifiers that it does not. */
  lost_ids: [number, string[]]
  /** Messages of the context after. */
  messages_after: number
  /** Messages of the context before. */
  messages_before: number
  /** Pinned events of the span, sent as they were. */
  pins: number[]
  /** Its policy. */
  policy: string
  /** Events of the span that are not sent as they were: recall returns each of them. */
  recallable: number[]
  /** What left, by rule; the costliest first. */
  removed: RemovedByRule[]
  /** How it stands: what was never in force lost nothing. */
  standing: FoldStanding
  /** First event of the span. */
  start: number
  /** Whether the tail is the log's own. */
  tail_verbatim: boolean
  /** Tokens of the context after. */
  tokens_after: number
  /** Tokens of the context before. */
  tokens_before: number
}

/** What came of an audit. */
export interface Audit {
  /** Calls that were checked. */
  calls: number
  /** What does not hold; empty when all does. */
  findings: AuditFinding[]
  /** Folds that were in force. Those that were not are checked, too, and have their receipts. */
  folds: number
  /** What each fold took out of the context. */
  receipts: FoldReceipt[]
}

/**
 * The answer in one word. `never-said`: No event of the log holds it. `not-yet`: It was said later. `gone`: It had
 * left: neither an event nor the recap named it. `in-recap`: Only the recap named it. `edited`: Only an edited or
 * repaired event named it. `verbatim`: An event carried it as it was.
 */
export type SightAnswer = 'never-said' | 'not-yet' | 'gone' | 'in-recap' | 'edited' | 'verbatim'

/** A name of the text that a fold lost, and that came up again. */
export interface AskedAgain {
  /** The fold that lost it. */
  fold: FoldRef
  /** The name. */
  name: string
  /** The first event after the fold in which the user or the assistant used it. */
  seq: number
}

/** When an event stopped carrying the text. */
export interface WhenLeft {
  /** The fold that did it. */
  fold: FoldRef
  /** Its reason: the reducer's code, or what the recap was made of. */
  reason: string
  /** By which rule: `recap`, `marker`, or the reducer. */
  rule: string
}

/**
 * Who speaks in an event. `system`: System prompt. `developer`: Developer message (`OpenAI`): a system message by
 * another name. `user`: The user, or what a client sends in the user's role. `assistant`: The model. `tool`: A tool's
 * result. `other`: A role that no dialect knows (`exit`, `critic`, …). Carried, never interpreted.
 */
export type Role = 'system' | 'developer' | 'user' | 'assistant' | 'tool' | 'other'

/**
 * Where a verbatim event stands. `head`: Before the fold's span. `pinned`: In the span, pinned (or carried as the
 * last request). `kept`: In the span, which did not cover it. `tail`: In the tail, or there is no fold.
 */
export type VerbatimPlace = 'head' | 'pinned' | 'kept' | 'tail'

/** The event was not there yet. */
export interface SightNotYet {
  is: 'not-yet'
}

/** All of it. */
export interface SightVerbatim {
  is: 'verbatim'
  /** Where. */
  place: VerbatimPlace
}

/** An edited form of it. */
export interface SightEdited {
  is: 'edited'
  /** Whether that still names the text. */
  named: boolean
  /** Its reason code. */
  reason: string
  /** The reducer that edited it. */
  reducer: string
}

/** Another form of it, because the provider would have refused it. */
export interface SightRepaired {
  is: 'repaired'
  /** Whether that still names the text. */
  named: boolean
  /** Why. */
  why: RepairReason
}

/** The recap instead of it. */
export interface SightRecap {
  is: 'recap'
  /** Whether the recap names the text. */
  named: boolean
}

/** A marker instead of it. */
export interface SightMarker {
  is: 'marker'
}

/** What the model saw of one event. */
export type Sight = SightNotYet | SightVerbatim | SightEdited | SightRepaired | SightRecap | SightMarker

/** A later event that used the text. */
export interface TextUse {
  /** Whether the event before had stopped carrying it by then. */
  after_left: boolean
  /** Who used it. */
  by: Role
  /** The event. */
  seq: number
}

/** One event that holds the text. */
export interface Occurrence {
  /** When the event stopped carrying it. */
  left: WhenLeft | null
  /** Whether recall can bring it back: the event is in the log, which loses nothing. */
  recall: boolean
  /** Who wrote it. */
  role: Role
  /** The event: what recall is asked for. */
  seq: number
  /** What the model saw of it. */
  sight: Sight
  /** The text with what is around it. */
  snippet: string
  /** The first later message of the user or the model that names it. */
  used: TextUse | null
}

/** What came of the question. */
export interface Explanation {
  /** The answer. */
  answer: SightAnswer
  /** Names of it that a fold lost and that the user or the model used again. */
  asked_again?: AskedAgain[]
  /** The call that was asked about; none for the session as it stands. */
  call: number | null
  /** Events that it was made from. */
  events: number
  /** The fold that it was read through. */
  fold: FoldRef | null
  /** Whether the recap names it. */
  in_recap: boolean
  /** The fold with which it left the model's sight: neither an event nor the recap named it any more. */
  lost_with: FoldRef | null
  /** Every event that holds it, in order. */
  occurrences: Occurrence[]
  /** What was asked for. */
  text: string
}

/** What one hook added to one request. */
export interface Injection {
  /** A hash of its text: the ledger holds no content. */
  hash: string
  /** The hook. */
  hook: string
  /** What it took of its reserve. */
  tokens: number
}
