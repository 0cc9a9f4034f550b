/** The record of a fold: docs/RECORD.md. */
// Written by tools/door-types: change the sources that it reads.
import type { BlockEdit, FoldEntry, PutBackRecord, RepairRecord } from './entry.js'

/** Each event's fate, counted. `verbatim + edited + recap + marker == events`. */
export interface FateCounts {
  /** Edited by a reducer, or rendered otherwise by a repair. */
  edited: number
  /** Events of the log when the fold was made. */
  events: number
  /** Covered by a marker. */
  marker: number
  /** Covered by a recap. */
  recap: number
  /** Carried byte for byte. */
  verbatim: number
}

/** What a context may cost. */
export interface Budget {
  /** Kept free for what hooks add after compaction (projection note: 2,000 in its preset). */
  injection_reserve: number
  /** Kept free for the reply. */
  output_reserve: number
  /**
   * What classes of content may take, as shares of the budget. A class of the policy's own `[budget.tiers]` counts
   * where it is not named here.
   */
  tiers?: Record<string, number>
  /** The model's window, in tokens. */
  window: number
}

/**
 * Why there should be a fold. `check`: Nobody has looked at the threshold yet: planning does. `threshold`: The line
 * was crossed. `tier`: A class of content passed its cap (`budget.tiers`). `cold`: The provider's cache of the prompt
 * is cold, and the context above the buffer line: a fold spoils nothing. `seam`: A piece of work has just ended, and
 * the seam line is crossed. `agent`: The agent asked by a tool. `manual`: A person asked: threshold and minimum
 * reclaim do not apply. `overflow`: The provider said that the request was too long: the same. `prepared`: A
 * narration came back: a fold to take when the line is crossed.
 */
export type FoldCause = 'check' | 'threshold' | 'tier' | 'cold' | 'seam' | 'agent' | 'manual' | 'overflow' | 'prepared'

/** Identifiers of the covered span: how many, and the best of them. */
export interface IdList {
  /** How many. */
  count: number
  /** The first of them, best first, at most 200. */
  first: string[]
}

/**
 * Joins a fold to what else is known of the request (Head, Middle, Tail and Summarizing Evicted Turns: the joining
 * tuple).
 */
export interface FoldJoin {
  /** The request in the turn: the step. */
  request: number
  /** The session. */
  session: string
  /** The turn in it. */
  turn: number
}

/**
 * What set the tail's boundary. `tokens`: The token floor was met last. `messages`: The message floor was met last.
 * `last-user`: The tail was extended to the last real user message. `ceiling`: The soft ceiling stopped the walk
 * (Hermes Agent). `budget`: The floors did not fit into the budget: the tail was shortened. `everything`: No cut
 * satisfies the floors: head and tail are everything.
 */
export type TailFloor = 'tokens' | 'messages' | 'last-user' | 'ceiling' | 'budget' | 'everything'

/** One region of the layout. */
export interface RegionRecord {
  /** One past the last event. */
  end: number
  /** First event. */
  start: number
  /** Tokens in the log. */
  tokens: number
}

/** Where the cuts lay, and what set them. */
export interface LayoutRecord {
  /** The last real user message, where it was carried as a pin. */
  carried_user: number | null
  /** What set the tail's boundary. */
  floor: TailFloor
  /** The head. */
  head: RegionRecord
  /** The middle. */
  middle: RegionRecord
  /** Pinned events of the middle. */
  pinned: number[]
  /** The tail. */
  tail: RegionRecord
}

/** The state of the meter, as a fold records it. */
export interface Meter {
  /** Added on top where a limit must not be passed. */
  margin: number
  /** Real tokens per counted token: most often more than one. */
  ratio: number
  /** Requests that the ratio was learned from. */
  samples: number
  /**
   * Tokens of every request that the log does not hold: tools and system prompts that a host keeps to itself. Anchors
   * the figure on the provider's last count.
   */
  unseen?: number
}

/** The events that a fold replaces, named by the chain hashes at their ends. */
export interface Span {
  /** Chain hash of everything before `start`. */
  before: string
  /** One past the last event. */
  end: number
  /** First event. */
  start: number
  /** Chain hash of everything before `end`: names the whole prefix. */
  through: string
}

/** A reply that passed all checks, ready for the next fold that covers its span. */
export interface AcceptedNarration {
  /** Lines of it that are in no section: they could not stand, or were beyond its cap. */
  left_out?: number
  /** The model that wrote it. */
  model: string
  /** The request that it answers. */
  request: string
  /** Each section's name and its lines, harmless in any place of a recap. */
  sections: [string, string][]
  /** What it covers. */
  span: Span
}

/** What one reducer took from covered events, by one rule. */
export interface PrunedCount {
  /** Blocks that it edited. */
  blocks: number
  /** Its reason code. */
  reason: string
  /** The reducer. */
  reducer: string
  /** And after. */
  tokens_after: number
  /** Their tokens before. */
  tokens_before: number
}

/** What the recap says, and what it does not. */
export interface RecapRecord {
  /** Files that it names. */
  files: number
  /** A hash over its text. */
  hash: string
  /** Secrets that were replaced in it. */
  redacted: number
  /** Its role. */
  role: string
  /** Its text. */
  text: string
  /** Its tokens. */
  tokens: number
}

/** A line of a reply that was left out of the narration. */
export interface DroppedLine {
  /** Its start, without secrets and without what forges structure. */
  line: string
  /** A code (`false-quote`, `ungrounded`, `injected`), and what it is about. */
  why: string
}

/** What became of one request to a model. */
export interface VerdictRecord {
  /** `accepted`, why the text was refused, why there is none, or `pending` where the fold did not wait for it. */
  code: string
  /** For people; holds no key and no text of the log. */
  detail: string
  /** The lines of the reply that were left out. */
  dropped?: DroppedLine[]
  /** The request. */
  request: string
}

/** Signed reasoning that its model refuses: what it is bound to is not there any more. */
export interface VoidReasoning {
  /** It is void in events before this one. */
  before: number
  /** The first message of the round that was the newest then, where its calls are told as text. */
  told_round?: number | null
}

/** The record of one compaction pass. */
export interface Fold {
  /** Each event's fate, counted. */
  accounts: FateCounts
  /** The budget that the plan used. */
  budget: Budget
  /** Why the fold was made. */
  cause: FoldCause
  /** What counted the tokens. */
  counter: string
  /** What reducers did. */
  edits: BlockEdit[]
  /** What is there instead. */
  entries: FoldEntry[]
  /** Messages that left the context. */
  evicted: number
  /**
   * What is there where no model narrated, or behind what one narrated: `computed`, `marker`, `static`, or `host` for
   * a recap of the host's own; none when a model narrated, or nothing was covered.
   */
  fallback: string | null
  /** Whether a fallback of midfold's own is there: the flag of Summarizing Evicted Turns. */
  fallback_used: boolean
  /** Tokens of the head, envelope included. */
  head_tokens: number
  /** Every message of the head is the same slice of the log. */
  head_verbatim: boolean
  /** Hash of this record, chained over the fold before it. */
  id: string
  /** Identifiers of the recap that no source has: none in a computed one. */
  invented_ids: IdList
  /** Joins it to a request. */
  joining: FoldJoin
  /** User and assistant took turns so far: what the fold adds keeps to that. */
  keeps_turns?: boolean
  /** Identifiers of the covered span that the context still names. */
  kept_ids: IdList
  /** Head, middle and tail. */
  layout: LayoutRecord
  /** Identifiers of the covered span that it does not. */
  lost_ids: IdList
  /** Messages of the context after. */
  messages_after: number
  /** Messages of the context before. */
  messages_before: number
  /** The meter that the plan used. */
  meter: Meter
  /** Tokens of the middle before. */
  middle_tokens: number
  /** The narration that is in the recap, where a model wrote one. */
  narrated?: AcceptedNarration | null
  /** Name of the policy. */
  policy: string
  /** Hash over the policy. */
  policy_fingerprint: string
  /** The fold before it. */
  prev: string | null
  /** Name of the profile. */
  profile: string
  /** The lines of the recap that somebody asked for. */
  put_back?: PutBackRecord | null
  /** What reducers took from events that the recap covers, before it was made. */
  read?: PrunedCount[]
  /** The recap, where there is one. */
  recap: RecapRecord | null
  /**
   * Lost identifiers that the user or the assistant used again after the fold: null in a record that was just made,
   * filled where it is read again.
   */
  referenced_later: IdList | null
  /** What validity asked for. */
  repairs: RepairRecord[]
  /** What it replaces. */
  span: Span
  /** Strategy (Head, Middle, Tail and Summarizing Evicted Turns). */
  strategy: string
  /** Tokens of the tail. */
  tail_tokens: number
  /** Every message of the tail is the same slice of the log. */
  tail_verbatim: boolean
  /** Counted tokens of the context after. */
  tokens_after: number
  /** Counted tokens of the context before. */
  tokens_before: number
  /**
   * The first message of the model's newest round, where its calls are told as text: it would have to start with
   * reasoning that is void.
   */
  told_round?: number | null
  /** What became of the model's replies since the fold before. */
  verdicts?: VerdictRecord[]
  /** Shape of the record. */
  version: number
  /** What was void before the fold, where the folds before it do not say so. */
  void_before?: VoidReasoning | null
  /**
   * Signed reasoning of events before this one leaves the context: the model binds it to all that stood before it,
   * and that is not there any more. What came later is bound to the fold's own context, and stays. 0 where the model
   * does not bind.
   */
  void_reasoning?: number
}
