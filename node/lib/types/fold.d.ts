/** The record of a fold: docs/RECORD.md. */
// Written by tools/door-types: change the sources that it reads.
import type { BlockEdit, FoldEntry, PutBackRecord, RepairRecord } from './entry.js'

/** The number of events with each fate: `verbatim + edited + recap + marker == events`. */
export interface FateCounts {
  /** Events that a reducer edited, or that a repair sends in another form. */
  edited: number
  /** The number of events in the log when the fold was made. */
  events: number
  /** Events that a marker covers. */
  marker: number
  /** Events that a recap covers. */
  recap: number
  /** Events that are sent byte for byte. */
  verbatim: number
}

/** The limits of a context, in tokens. */
export interface Budget {
  /** Tokens that are kept free for texts that hooks add after a fold (projection note: 2,000 in its preset). */
  injection_reserve: number
  /** Tokens of the window that are kept free for the reply. */
  output_reserve: number
  /**
   * The most that classes of content may take, as shares of the budget. For a class that is not named here the
   * policy's `[budget.tiers]` applies.
   */
  tiers?: Record<string, number>
  /** The model's window, in tokens. */
  window: number
}

/**
 * The reason for which a fold is made. `check`: Not decided yet: planning compares the context with the threshold.
 * `threshold`: The context reached the threshold. `tier`: A class of content exceeded its cap (`budget.tiers`).
 * `cold`: The provider's cache of the prompt is cold and the context above the buffer line, so a fold wastes no
 * cached tokens. `seam`: Some work has just ended, and the context is above the seam line. `agent`: The agent asked
 * for a fold by a tool. `manual`: A person asked for a fold. Threshold and least gain do not apply. `overflow`: The
 * provider refused a request as too long. Threshold and least gain do not apply. `pictures`: The context has more
 * pictures than the provider takes. Threshold and least gain do not apply. `prepared`: A narration was ready. The
 * fold is made ahead of time and is used when the line is crossed.
 */
export type FoldCause = 'check' | 'threshold' | 'tier' | 'cold' | 'seam' | 'agent' | 'manual' | 'overflow' | 'pictures' | 'prepared'

/** A list of identifiers (paths, ids, symbols) of the covered span. */
export interface IdList {
  /** The number of identifiers. */
  count: number
  /** The identifiers that matter most, best first; at most 200. */
  first: string[]
}

/**
 * The step of a session that a fold belongs to, to join it with other records of the request (Head, Middle, Tail and
 * Summarizing Evicted Turns: the joining tuple).
 */
export interface FoldJoin {
  /** The number of the request: the steps of the session so far. */
  request: number
  /** The id of the session. */
  session: string
  /** The turn in the session. */
  turn: number
}

/**
 * The rule that set where the tail begins. `tokens`: The floor in tokens decided. `messages`: The floor in messages
 * decided. `last-user`: The tail was extended to the user's last real message. `ceiling`: The soft ceiling stopped
 * the walk towards the start (Hermes Agent). `budget`: The floors did not fit into the budget, so the tail was
 * shortened. `everything`: No cut meets the floors: head and tail hold all events.
 */
export type TailFloor = 'tokens' | 'messages' | 'last-user' | 'ceiling' | 'budget' | 'everything'

/** One region of the layout: head, middle or tail. */
export interface RegionRecord {
  /** One past the last event of the region. */
  end: number
  /** The first event of the region. */
  start: number
  /** Tokens of these events in the log. */
  tokens: number
}

/** The head, the middle and the tail of the log when the fold was made. */
export interface LayoutRecord {
  /** The number of the user's last real message, if it was carried as a pin; else null. */
  carried_user: number | null
  /** The rule that set where the tail begins. */
  floor: TailFloor
  /** The head. */
  head: RegionRecord
  /** The middle. */
  middle: RegionRecord
  /** The numbers of the pinned events in the middle. */
  pinned: number[]
  /** The tail. */
  tail: RegionRecord
}

/** The state of the meter, which turns counted tokens into the provider's tokens. */
export interface Meter {
  /** The share that is added to an estimate before it is compared with a limit. */
  margin: number
  /** Provider tokens per counted token; most often more than 1. */
  ratio: number
  /** The number of requests from which the ratio was learned. */
  samples: number
  /**
   * Tokens of every request that are not in the log: tools and system prompts that only the host knows. They are the
   * part of the provider's last count that the log does not explain.
   */
  unseen?: number
}

/** The events that a fold replaces. The chain hashes at their ends identify them. */
export interface Span {
  /** The chain hash of all events before `start`. */
  before: string
  /** One past the last event. */
  end: number
  /** The first event. */
  start: number
  /** The chain hash of all events before `end`. */
  through: string
}

/** A model's reply that passed all checks, ready for the next fold that covers its span. */
export interface AcceptedNarration {
  /** The names for which lines were left out: no message before them has these. */
  invented?: string[]
  /** The number of its lines that are in no section, because they failed a check or exceeded the cap. */
  left_out?: number
  /** The model that wrote it. */
  model: string
  /** The id of the request that it answers. */
  request: string
  /** The name and the lines of each section. The lines cannot forge the structure of a recap. */
  sections: [string, string][]
  /** The events that it covers. */
  span: Span
}

/** The blocks of covered events that one reducer edited for one reason. */
export interface PrunedCount {
  /** The number of edited blocks. */
  blocks: number
  /** The reason code of the reducer. */
  reason: string
  /** The reducer that edited the blocks. */
  reducer: string
  /** Tokens of these blocks after the edits. */
  tokens_after: number
  /** Tokens of these blocks before the edits. */
  tokens_before: number
}

/** The recap of a fold, with figures. */
export interface RecapRecord {
  /** The number of files that the recap names. */
  files: number
  /** A hash over the text. */
  hash: string
  /** The number of secrets that were replaced in it. */
  redacted: number
  /** The role of the message that holds it. */
  role: string
  /** The text of the recap. */
  text: string
  /** Tokens of the recap. */
  tokens: number
}

/** A line of a reply that was left out of the narration. */
export interface DroppedLine {
  /** The start of the line, without secrets and without text that could forge structure. */
  line: string
  /** The reason code (`false-quote`, `ungrounded`, `injected`), and the words that it is about. */
  why: string
}

/** The outcome of one request for a narration. */
export interface VerdictRecord {
  /**
   * `accepted`, `unused` (it is not in the recap), why the reply was refused or is missing, or `pending` (no wait).
   */
  code: string
  /** The outcome in words for people, without keys and without text of the log. */
  detail: string
  /** The lines of the reply that were left out of the narration. */
  dropped?: DroppedLine[]
  /** The id of the request. */
  request: string
}

/** Signed reasoning that its model would refuse, because what it is bound to has changed. */
export interface VoidReasoning {
  /** All signed reasoning in events before this one is void. */
  before: number
  /** The first message of the round that was the newest then, if the calls of that round are sent as text. */
  told_round?: number | null
}

/** The immutable record of one compaction. */
export interface Fold {
  /** The number of events with each fate. */
  accounts: FateCounts
  /** The budget for which the fold was planned. */
  budget: Budget
  /** The reason for which the fold was made. */
  cause: FoldCause
  /** The name of the counter that counted the tokens. */
  counter: string
  /** The edits of reducers. */
  edits: BlockEdit[]
  /** The parts of the context that replace them, in order. */
  entries: FoldEntry[]
  /** The number of events that a recap or a marker covers. */
  evicted: number
  /**
   * The kind of text that replaces the covered events where no narration does: `computed`, `marker`, `static`, or
   * `host` for a recap of the host's own. Null if a model narrated alone, or if nothing was covered.
   */
  fallback: string | null
  /** Whether `fallback` is one of midfold's own texts: the flag of Summarizing Evicted Turns. */
  fallback_used: boolean
  /**
   * Whether a message up to the end of the span has reasoning, for a model that then wants some in each later
   * message.
   */
  follows_reasoning?: boolean
  /** Tokens of the head, with system prompt and tools. */
  head_tokens: number
  /** Whether every message of the head is sent with the bytes of the log. */
  head_verbatim: boolean
  /** The hash of this record, chained over the fold before it. */
  id: string
  /**
   * The identifiers that a written recap invented: a narration lost the lines that had them, a host's recap has them
   * still. Empty for a computed recap.
   */
  invented_ids: IdList
  /** The step of the session at which the fold was made. */
  joining: FoldJoin
  /** Whether user and assistant took turns so far. If so, the messages that the fold adds keep to that. */
  keeps_turns?: boolean
  /** The identifiers of the covered span that the context still has. */
  kept_ids: IdList
  /** The head, the middle and the tail when the fold was made. */
  layout: LayoutRecord
  /** The identifiers of the covered span that the context no longer has. */
  lost_ids: IdList
  /** Messages of the context after the fold. */
  messages_after: number
  /** Messages of the context before the fold. */
  messages_before: number
  /** The state of the meter when the fold was planned. */
  meter: Meter
  /** Tokens of the middle before the fold. */
  middle_tokens: number
  /** The narration in the recap; left out if no model wrote one. */
  narrated?: AcceptedNarration | null
  /** The name of the policy. */
  policy: string
  /** A hash over the whole policy. */
  policy_fingerprint: string
  /** The id of the fold that this one builds on; null for the first. */
  prev: string | null
  /** The name of the profile: the provider's rules. */
  profile: string
  /** The lines of the recap that the agent or the settings asked for; left out if there are none. */
  put_back?: PutBackRecord | null
  /**
   * The edits of reducers in events that the recap covers. They were made before the recap, which reads their result.
   */
  read?: PrunedCount[]
  /** The recap; null if the fold has none. */
  recap: RecapRecord | null
  /**
   * The lost identifiers that the user or the assistant used again after the fold. Null in a new record; filled where
   * the record is read again.
   */
  referenced_later: IdList | null
  /** The changes without which the provider would refuse the context. */
  repairs: RepairRecord[]
  /** The events that the fold replaces. */
  span: Span
  /** The name of the strategy (Head, Middle, Tail and Summarizing Evicted Turns). */
  strategy: string
  /** Tokens of the tail. */
  tail_tokens: number
  /** Whether every message of the tail is sent with the bytes of the log. */
  tail_verbatim: boolean
  /** Counted tokens of the context after the fold. */
  tokens_after: number
  /** Counted tokens of the context before the fold. */
  tokens_before: number
  /**
   * The first message of the model's newest round, if the calls of that round are sent as text. As calls they would
   * have to start with reasoning that is void.
   */
  told_round?: number | null
  /** The outcomes of the requests for a narration since the fold before. */
  verdicts?: VerdictRecord[]
  /** The version of the record's format. */
  version: number
  /** The reasoning that was void before this fold, if the earlier folds do not say so. */
  void_before?: VoidReasoning | null
  /**
   * Signed reasoning of events before this one leaves the context: it is bound to everything before it, and the fold
   * changes that. Later reasoning is bound to the folded context, and stays. 0 if the model does not bind reasoning.
   */
  void_reasoning?: number
}
