/** What is in the place of the events of a fold. */
// Written by tools/door-types: change the sources that it reads.

/** A recap, as the message that is sent. */
export interface FoldEntryRecap {
  /** Its bytes. */
  bytes: string
  kind: 'recap'
}

/** A marker, as the message that is sent. */
export interface FoldEntryMarker {
  /** Its bytes. */
  bytes: string
  kind: 'marker'
}

/** Events that stay as they are. */
export interface FoldEntryVerbatim {
  /** First event. */
  from: number
  kind: 'verbatim'
  /** One past the last. */
  to: number
}

/** An event with edits. */
export interface FoldEntryEdited {
  /** The message as it is sent. */
  bytes: string
  kind: 'edited'
  /** The event. */
  seq: number
}

/** What is in the place of the span, in order. */
export type FoldEntry = FoldEntryRecap | FoldEntryMarker | FoldEntryVerbatim | FoldEntryEdited

/** What a reducer did to one part of one event. */
export interface BlockEdit {
  /** The block in it. */
  block: number
  /** `replaced` or `removed`. */
  kind: string
  /** Its reason code. */
  reason: string
  /** The reducer. */
  reducer: string
  /** The event. */
  seq: number
  /** Tokens of the block after. */
  tokens_after: number
  /** Tokens of the block before. */
  tokens_before: number
}

/**
 * Why a message was added to a context or an event was changed, so that the provider takes it: the trouble, and the
 * remedy. `unanswered-call`: The log has no result for a call: one was added. `orphan-result`: A result has no call:
 * it is sent as text. `duplicate-id`: Calls of one step share an id, or their id is empty: all but the first, and all
 * that are empty, got one of their own, and so did their results. `half-character`: A client that cuts texts left
 * half a character (a lone surrogate): U+FFFD is in its place. `empty-message`: A message has no content: a fixed
 * text was put in, or its blank blocks left out. `other-shape`: A message has a shape that the provider does not
 * know: its source is sent as text. `unknown-role`: The provider does not know a message's role: it is sent as the
 * user's. `system-inside`: The provider takes no system message in the middle: it is sent as the user's.
 * `bound-reasoning`: Signed reasoning is void after a fold: it was removed. `told-call`: Calls need reasoning in
 * front of them that is void: they are sent as text. `bridge`: Two messages in a row have one role: a message was put
 * between them. `lone-reasoning`: Nothing follows reasoning that the provider wants something behind: it was added.
 */
export type RepairReason = 'unanswered-call' | 'orphan-result' | 'duplicate-id' | 'half-character' | 'empty-message' | 'other-shape' | 'unknown-role' | 'system-inside' | 'bound-reasoning' | 'told-call' | 'bridge' | 'lone-reasoning'

/** A repair in the context that the fold led to. */
export interface RepairRecord {
  /** Position in the context. */
  index: number
  /** The event that was rendered otherwise; none for an added piece. */
  seq: number | null
  /** Why. */
  why: RepairReason
}

/**
 * Who asked for something to be put back. `note`: The agent, by a note. `text`: The settings, with a text of their
 * own. `file`: The settings, with the name of a file.
 */
export type PutBackSource = 'note' | 'text' | 'file'

/** One note, text or file that was to be put back. */
export interface PutBackPart {
  /** Why it is not there, in words. */
  missing?: string | null
  /** The file's name; empty for what has none. */
  name?: string
  /** Who asked for it. */
  source: PutBackSource
  /** Its tokens; 0 where it is missing. */
  tokens: number
}

/** The lines of a recap that somebody asked for, and that the log does not say. */
export interface PutBackRecord {
  /** A hash over its lines in the recap. */
  hash: string
  /** Each of its parts, in order. */
  parts: PutBackPart[]
  /** Tokens that it takes of the recap. */
  tokens: number
}
