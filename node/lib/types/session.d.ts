/** What a session says of itself. */
// Written by tools/door-types: change the sources that it reads.
import type { RepairReason } from './entry.js'
import type { Meter } from './fold.js'

/** The provider counted the last prompt, and nothing was added since. */
export interface FillSourceCounted {
  kind: 'counted'
}

/** The provider counted the last prompt. Newer messages are estimated. */
export interface FillSourceCountedAndNewer {
  /** Tokens of the last prompt, as the provider counted them. */
  counted: number
  kind: 'counted-and-newer'
}

/** All of it is estimated. */
export interface FillSourceEstimated {
  kind: 'estimated'
}

/** The source of a context's tokens. */
export type FillSource = FillSourceCounted | FillSourceCountedAndNewer | FillSourceEstimated

/**
 * A class of content that can have a cap. `results`: Results of tool calls. `arguments`: Arguments of tool calls.
 * `dialogue`: Text of the user and the assistant.
 */
export type TierName = 'results' | 'arguments' | 'dialogue'

/**
 * The rules by which a policy can say when to fold. `share`: `threshold`: a share of the budget. `floor`:
 * `floor_tokens`: the share, raised to this number of tokens (Hermes Agent). `tokens`: `tokens`: a number of tokens.
 * `reserve`: `reserve`: the number of tokens that have to stay free. `cliff`: `cliffs`: a prompt size above which the
 * whole prompt costs more. `buffer`: `buffer`: the line while the provider's cache is cold. `seam`: `seam`: the line
 * where some work has just ended. `agent`: The line where the agent asks for a fold.
 */
export type LineRule = 'share' | 'floor' | 'tokens' | 'reserve' | 'cliff' | { tier: TierName } | 'buffer' | 'seam' | 'agent'

/** Whether a fold is due. */
export interface Due {
  /** Held: the folds before freed too little. */
  breaker?: null
  /** Held: the window fits few steps, and is not full. */
  'few-steps'?: null
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

/** The line at which folding starts, and the rule that sets it. */
export interface TriggerLine {
  /** The rule that sets the line. Of several rules, the one with the lowest line wins. */
  rule: LineRule
  /** The number of tokens at which folding starts. */
  tokens: number
}

/** The figures of a session: `status` in `midfold session status --json` and in the HTTP API. */
export interface SessionStatus {
  /** The id of the active fold; left out if nothing is folded. */
  active_fold?: string | null
  /** The tokens that a context may take: the window without its reserves. */
  budget_tokens: number
  /** The number of folds that were in force. */
  compaction_count: number
  /** The number of folds in force since the last reset, under Hermes Agent's name. */
  compression_count: number
  /** The model's window in tokens, as far as the provider revealed it. */
  context_length: number
  /** The percentage of the window that `context_tokens` take. */
  context_percent: number
  /** The source of `context_tokens`. */
  context_source: FillSource
  /** Tokens of the context with what travels beside it, in the provider's tokens. */
  context_tokens: number
  /** Seconds until a model may be asked for a narration again. */
  cooldown_seconds: number
  /** Whether a fold is due, and what holds it back if not. */
  due: Due
  /** The engine: `midfold` or `passthrough`. */
  engine: string
  /** The number of events in the log. */
  events: number
  /** Tokens of the last reply, as the provider counted them. */
  last_completion_tokens: number
  /** Tokens of the last prompt, as the provider counted them. */
  last_prompt_tokens: number
  /** The sum of both. */
  last_total_tokens: number
  /** Counted tokens of the whole log. */
  log_tokens: number
  /** The number of messages in the context. */
  messages: number
  /** The meter, which turns counted tokens into the provider's tokens. */
  meter: Meter
  /** The model that the contexts go to; empty if none was named. */
  model: string
  /** Whether a narration is being written. */
  narration_asked: boolean
  /** Whether a narration is ready for the next fold. */
  narration_ready: boolean
  /** The numbers of the pinned events. */
  pins: number[]
  /** The name of the policy. */
  policy: string
  /** The fingerprint of the policy, as in the records of folds. */
  policy_fingerprint: string
  /** The number of events in the log when the policy was changed; left out if it never was. */
  policy_since?: number | null
  /** The number of messages that the policy keeps at the front, beside those that its head rule finds. */
  protect_first_n: number
  /**
   * The fewest messages at the end that the policy leaves unchanged: the larger of its tail and of what its reducers
   * may not touch (Hermes Agent: 6).
   */
  protect_last_n: number
  /** The id of the session. */
  session: string
  /** The number of the last folds in a row that freed too little. */
  strikes: number
  /** The line in tokens at which folding starts, with the rule that sets it. */
  threshold: TriggerLine
  /** The policy's threshold, as a share of the budget. */
  threshold_percent: number
  /** `threshold.tokens`, under Hermes Agent's name. */
  threshold_tokens: number
  /** The percentage of the window that the last prompt took, as the provider counted it (Hermes Agent). */
  usage_percent: number
}

/** A rule that does not hold. */
export interface AuditFinding {
  /** The record that breaks the rule: `fold 2`, `call 17`. */
  at: string
  /** The fault, in words. */
  detail: string
  /** The name of the rule, one of `rule`. */
  rule: string
}

/** A name that a fold lost and that was used again later. */
export interface NameReference {
  /** The name. */
  name: string
  /** The first event after the fold in which the user or the assistant used it. */
  seq: number
}

/** A reference to a fold in an answer. */
export interface FoldRef {
  /** The number of events in the log when the fold was made. */
  events: number
  /** The id of the fold. */
  id: string
  /** The number of the fold in the session, from 1. */
  number: number
}

/** The content that one rule took out of the context. */
export interface RemovedByRule {
  /**
   * The number of events; for a reducer, the number of blocks. Events that had left with an earlier fold do not
   * count.
   */
  items: number
  /**
   * The reason code of the reducer. For `recap`: what the recap was made of (`narrated`, `computed`, `static`,
   * `host`).
   */
  reason: string
  /** The rule: `recap`, `marker`, or the name of a reducer. */
  rule: string
  /** Tokens of the text that replaces them. */
  tokens_after: number
  /** The tokens in the context before the fold: of these items, and of an earlier stand-in that this one replaces. */
  tokens_before: number
}

/**
 * Whether a fold was ever in force, and if not, why. `in-force`: A request was read through the fold, or it is the
 * active fold. If no request was recorded before it was made, it is enough that the active fold builds on it.
 * `prepared`: A worker prepared the fold ahead of time, and it was never used. `undone`: The fold was taken back
 * before a request was read through it. `superseded`: Another fold was made on top of it before a request was read
 * through it.
 */
export type FoldStanding = 'in-force' | 'prepared' | 'undone' | 'superseded'

/** The account of one fold: what it took out of the context, and what is still there. */
export interface FoldReceipt {
  /** The lost names that the user or the assistant used again, each with the first event that did. */
  asked_again: NameReference[]
  /** One past the last event of the span. */
  end: number
  /** The fold. */
  fold: FoldRef
  /** Whether every message of the head is sent with the bytes of the log. */
  head_verbatim: boolean
  /** Whether the log still holds these events, byte for byte. */
  intact: boolean
  /** The names of the span that the context still has: their number, and those that matter most. */
  kept_ids: [number, string[]]
  /** The names of the span that the context no longer has, in the same form. */
  lost_ids: [number, string[]]
  /** Messages of the context after the fold. */
  messages_after: number
  /** Messages of the context before the fold. */
  messages_before: number
  /**
   * The events of the span that are sent unchanged: pinned ones, and the user's last message where it is not in the
   * tail.
   */
  pins: number[]
  /** The name of the fold's policy. */
  policy: string
  /** The events of the span that are not sent in their original form. Recall returns each of them. */
  recallable: number[]
  /** The content that left, by rule; the rule that freed most tokens first. */
  removed: RemovedByRule[]
  /** Whether the fold was ever in force. A fold that never was lost nothing. */
  standing: FoldStanding
  /** The first event of the fold's span. */
  start: number
  /** Whether every message of the tail is sent with the bytes of the log. */
  tail_verbatim: boolean
  /** Counted tokens of the context after the fold. */
  tokens_after: number
  /** Counted tokens of the context before the fold. */
  tokens_before: number
}

/** The result of an audit. */
export interface Audit {
  /** The number of calls that were checked. */
  calls: number
  /** The faults; empty if every rule holds. */
  findings: AuditFinding[]
  /** The number of folds that were in force. Folds that never were are checked, too, and have receipts. */
  folds: number
  /** For each fold, what it took out of the context. */
  receipts: FoldReceipt[]
}

/**
 * The answer in one word: the best form in which the model saw the text. `never-said`: No event of the log has the
 * text. `not-yet`: Only later events have the text. `gone`: The text had left the context: neither an event nor the
 * recap had it. `in-recap`: Only the recap had the text. `edited`: Only an edited, repaired or cut event had the
 * text. `verbatim`: An unchanged event had the text.
 */
export type SightAnswer = 'never-said' | 'not-yet' | 'gone' | 'in-recap' | 'edited' | 'verbatim'

/** A name in the text that a fold lost and that was used again later. */
export interface AskedAgain {
  /** The fold that lost the name. */
  fold: FoldRef
  /** The name. */
  name: string
  /** The first event after the fold in which the user or the assistant used it. */
  seq: number
}

/**
 * Who speaks in an event. `system`: System prompt. `developer`: Developer message (`OpenAI`): a system message by
 * another name. `user`: The user, or what a client sends in the user's role. `assistant`: The model. `tool`: A tool's
 * result. `other`: A role that no dialect knows (`exit`, `critic`, …). Carried, never interpreted.
 */
export type Role = 'system' | 'developer' | 'user' | 'assistant' | 'tool' | 'other'

/** A message that has words of the text, where no message has the text. */
export interface NearMessage {
  /** Who wrote the event; `tool` for results. */
  role: Role
  /** The number of the event. */
  seq: number
  /** The line with most of the words. */
  snippet: string
}

/** The fold since which an event has not shown the text. */
export interface WhenLeft {
  /** The fold. */
  fold: FoldRef
  /** The reason: the reducer's code, or what the recap was made of. */
  reason: string
  /** The rule: `recap`, `marker`, or the name of a reducer. */
  rule: string
}

/**
 * The region of the context that holds a verbatim event. `head`: The head: before the fold's span. `pinned`: In the
 * span, pinned or carried as the user's last request. `kept`: In the span, but not covered by the fold. `tail`: The
 * tail; also for every event where there is no fold.
 */
export type VerbatimPlace = 'head' | 'pinned' | 'kept' | 'tail'

/** The event came later. */
export interface SightNotYet {
  is: 'not-yet'
}

/** The event is in a transcript whose client decides what is sent. */
export interface SightTranscript {
  is: 'transcript'
}

/** The event was in the context, unchanged. */
export interface SightVerbatim {
  is: 'verbatim'
  /** The region of the context that held it. */
  place: VerbatimPlace
}

/** A reducer had edited the event. */
export interface SightEdited {
  is: 'edited'
  /** Whether the edited form still has the text. */
  named: boolean
  /** The reason code of the edit. */
  reason: string
  /** The reducer that edited it. */
  reducer: string
}

/** The event was sent in another form, because the provider would have refused the original. */
export interface SightRepaired {
  is: 'repaired'
  /** Whether that form still has the text. */
  named: boolean
  /** The reason of the repair. */
  why: RepairReason
}

/** The event was one of the newest, and a proxy had cut it because whole it did not fit. */
export interface SightCut {
  is: 'cut'
  /** Whether the part that was sent has the text. */
  named: boolean
}

/** A recap replaced the event. */
export interface SightRecap {
  is: 'recap'
  /** Whether the recap has the text. */
  named: boolean
}

/** A marker replaced the event. */
export interface SightMarker {
  is: 'marker'
}

/** The form in which the model saw one event. */
export type Sight = SightNotYet | SightTranscript | SightVerbatim | SightEdited | SightRepaired | SightCut | SightRecap | SightMarker

/** A later event that used the text. */
export interface TextUse {
  /** Whether the original event no longer showed the text by then. */
  after_left: boolean
  /** Who used the text. */
  by: Role
  /** The number of the event. */
  seq: number
}

/** One event that has the text. */
export interface Occurrence {
  /** The fold since which the event has not shown the text; null while it shows it. */
  left: WhenLeft | null
  /** Whether recall can bring the event back. True for every event that the log had at that moment. */
  recall: boolean
  /** Who wrote the event; `tool` for results, whatever role the dialect gives them. */
  role: Role
  /** The number of the event, as recall takes it. */
  seq: number
  /** The form in which the model saw the event. */
  sight: Sight
  /** The text with some words around it. */
  snippet: string
  /** The first later message of the user or the model that has the text; null if there is none. */
  used: TextUse | null
}

/** The model reads the contexts that midfold hands out. */
export interface ContextReaderMidfold {
  is: 'midfold'
}

/**
 * As before, and the newest messages are not in the log: a client sends its own history through a proxy, and what is
 * behind its newest answer is stored with the next request.
 */
export interface ContextReaderProxied {
  is: 'proxied'
}

/** As before, but the present context does not fit, so it is folded before it is sent. */
export interface ContextReaderOverfull {
  is: 'overfull'
  /** Tokens of the context. */
  tokens: number
  /** The model's window in tokens. */
  window: number
}

/** A client sends its own messages, of which midfold has a copy. */
export interface ContextReaderClient {
  is: 'client'
}

/** Who decides what the model reads of a session. */
export type ContextReader = ContextReaderMidfold | ContextReaderProxied | ContextReaderOverfull | ContextReaderClient

/** The answer to the question whether the model saw a text. */
export interface Explanation {
  /** The answer. */
  answer: SightAnswer
  /** The names in the text that a fold lost and that the user or the model used again. */
  asked_again?: AskedAgain[]
  /** The number of the call that was asked about; null for the present state of the session. */
  call: number | null
  /** The number of events in the log at that moment. */
  events: number
  /** The fold that was active at that moment; null if there was none. */
  fold: FoldRef | null
  /** Whether the recap has the text. */
  in_recap: boolean
  /** The fold since which neither an event nor the recap has the text; null unless the answer is `gone`. */
  lost_with: FoldRef | null
  /** Where no event has the text: the newest events with most of its words. */
  near?: NearMessage[]
  /** Every event that has the text, in the order of the log. */
  occurrences: Occurrence[]
  /** Who decides what the model reads. */
  reader: ContextReader
  /** The text that was looked for. */
  text: string
  /** The answer in a sentence, for people. */
  verdict: string
}

/** The text that one hook added to one request. */
export interface Injection {
  /** A hash over the text. The text itself is not kept. */
  hash: string
  /** The name of the hook. */
  hook: string
  /** The tokens that it took of its reserve, as the provider is expected to count them. */
  tokens: number
}
