/** What recall finds. */
// Written by tools/door-types: change the sources that it reads.
import type { NameReference } from './session.js'

/** A line of a message. */
export interface TextLine {
  /** Whether it matches; else it is context. */
  hit: boolean
  /** Its number, from 1. */
  number: number
  /** What it says, cut around the match where it is long. */
  text: string
}

/** Whether a message shows the newest state of a file that the log has at several times. */
export interface FileVersion {
  /** Nothing later reads or writes it. */
  newest: boolean
  /** The file. */
  path: string
  /** The message that shows its newest state, or changes it last. */
  see: number
}

/** A found message. */
export interface FoundMessage {
  /** Tool and target of its calls, or of the calls that its results answer. */
  action?: string | null
  /** Older messages of the same file or command whose best line is the same. */
  also?: number[]
  /** Characters of its text. */
  chars: number
  /** Its number in the log, from 0: what `super::expand` is asked for. */
  event: number
  /** A client wrote it in the user's role: context, a reminder, a recap. */
  injected?: boolean
  /** The line of `snippet`, from 1; none where the message has one line. */
  line?: number | null
  /** The lines to show, in order: those that match, and their context. */
  lines: TextLine[]
  /** Lines that match beside those. */
  more_lines: number
  /** For results: `ok`, `failed (exit 1)`. */
  outcome?: string | null
  /** Who wrote it; `tool` for whatever brings results. */
  role: string
  /** The line that matches best. */
  snippet: string
  /** The turn it belongs to. */
  turn: number
  /** Where the file that it reads or writes was read or written at other times: whether this is the newest. */
  version?: FileVersion | null
}

/** One message of an outline. */
export interface OutlineRow {
  /** Tool and target of its calls, or of the calls that its results answer. */
  action?: string | null
  /** Characters of its text. */
  chars: number
  /** Its number in the log, from 0. */
  event: number
  /** A client wrote it in the user's role: context, a reminder, a recap. */
  injected?: boolean
  /** For results: `ok`, `failed (exit 1)`. */
  outcome?: string | null
  /** Who wrote it; `tool` for whatever brings results. */
  role: string
  /** How it starts; for a result the line that says most, where one does. */
  text: string
  /** The turn it belongs to. */
  turn: number
}

/** A page of an outline. */
export interface OutlinePage {
  /** Runs of messages that the active fold took out or shortened, first and last of each. */
  folded: [number, number][]
  /** The first message of the next page; none when this is the last. */
  next: number | null
  /** In the order of the log. */
  rows: OutlineRow[]
  /** Messages of the session. */
  total: number
}

/** One original, or a part of it. */
export interface Original {
  /** Tool and target of its calls, or of the calls that its results answer. */
  action?: string | null
  /** Characters of its whole text. */
  chars: number
  /** The whole text goes on after it. */
  cut: boolean
  /** Its number in the log, from 0. */
  event: number
  /** Where `text` starts in it, in characters. */
  offset: number
  /** For results: `ok`, `failed (exit 1)`. */
  outcome?: string | null
  /** Who wrote it; `tool` for whatever brings results. */
  role: string
  /** The message of this page that says the same; `text` is empty then. */
  same_as?: number | null
  /** The text: prose and results as they are, arguments of calls unescaped, edits as diffs. */
  text: string
  /** The turn it belongs to. */
  turn: number
}

/** A page of originals. */
export interface OriginalPage {
  /** The cursor of the next page; none when this is the last. */
  next: string | null
  /** In the order of the log. */
  originals: Original[]
}

/** What a fold covers. */
export interface FoldDescription {
  /** Whether contexts are read through it. */
  active: boolean
  /** Those of the lost identifiers that the user or the model used again, and where. */
  asked_again: NameReference[]
  /**
   * Runs of messages that it does not send as they were, first and last of each: what `super::expand` brings back.
   */
  covered: [number, number][]
  /** Messages of them that are sent in an edited form. */
  edited: number[]
  /** Messages of the session when it was made. */
  folded_at: number
  /** Its id. */
  id: string
  /** Messages of the span that stay as they are. */
  kept: number
  /** Identifiers of the covered messages that the context no longer names: worth a `super::grep`. */
  lost_ids: string[]
  /** Its number in the session, from 1. */
  number: number
  /** Its policy. */
  policy: string
  /** The text of the recap or marker. */
  recap: string | null
  /** What stands for the covered messages: `computed`, `marker`, `static`; none when nothing does. */
  stand_in: string | null
  /** Tokens of the context after. */
  tokens_after: number
  /** Tokens of the context before. */
  tokens_before: number
}

/** Names that the covered events have and the context has not. */
export interface GoneNames {
  /** How many more there are. */
  more: number
  /** The most likely needed first. */
  names: string[]
}
