/** A policy: when and how to fold. */
// Written by tools/door-types: change the sources that it reads.
import type { NarrationPolicy } from './narration.js'

/** Settings of `arguments`. */
export interface ArgumentsPolicy {
  /** Longer strings inside are cut to this length (Hermes Agent: 200). */
  leaf_chars?: number
  /** Arguments up to this length stay, in characters (Hermes Agent: 500). */
  max_chars?: number
}

/** Caps of classes of content, as `[budget.tiers]` of a policy. */
export interface TierCaps {
  /**
   * What a class may take of the budget, over the whole context. Passed, it is evicted from the oldest on, before the
   * threshold is reached.
   */
  tiers?: Record<string, number>
}

/** Settings of `dedup`. */
export interface DedupPolicy {
  /** Results shorter than this are left alone, in characters (Hermes Agent: 200). */
  min_chars?: number
}

/**
 * An engine, by name (Hermes Agent: engines are pluggable and chosen by configuration). `midfold`: The built-in one.
 * `passthrough`: Sends everything, always.
 */
export type EngineName = 'midfold' | 'passthrough' | { command: string[] } | (string & {})

/**
 * What the shares of a policy are of in a compaction by hand of less than the budget, where no size is asked for.
 * `context`: Of what there is: who asks for a compaction gets one. `budget`: Of the budget, as when the line is
 * crossed: what the floors protect stays, and a list that they protect whole is left alone (Head, Middle, Tail:
 * nothing to compress).
 */
export type ManualShare = 'context' | 'budget'

/** What a fold has to reach. */
export interface FoldGoals {
  /** What the policy's shares are of where a person asks for a fold of less than the budget. */
  by_hand?: ManualShare
  /** A fold that frees less than this share of the budget is not made. */
  min_reclaim?: number
  /** The context after a fold should cost at most this share of the budget. */
  target?: number
}

/**
 * How the head is found. `task`: Leading system messages and everything up to the first real task. `first-user`:
 * Leading system messages and the message after them if it is the user's (Head, Middle, Tail). `messages`: The first
 * n messages. `system`: Leading system messages only (projection note).
 */
export type HeadRule = 'task' | 'first-user' | 'messages' | 'system'

/** What stays verbatim at the front. A cut snaps forward to a unit boundary. */
export interface HeadPolicy {
  /** For `messages`: leading system messages are among them. */
  count_system?: boolean
  /** The first task leaves the head after the first fold, once a later request replaced it. */
  decay?: boolean
  /** For `messages`: how many. */
  messages?: number
  /** How the head is found. */
  rule?: HeadRule
}

/**
 * Messages of the user, the assistant or the application whose words match this regular expression. What a tool
 * answered is asked for by its file.
 */
export interface KeepRuleMessage {
  message: string
}

/**
 * The newest content of each file that matches this glob, as it was read or written, with its call, and the edits of
 * it since.
 */
export interface KeepRuleFile {
  file: string
}

/** One entry of `keep`: `{ message = "…" }` or `{ file = "…" }`. */
export type KeepRule = KeepRuleMessage | KeepRuleFile

/**
 * How much of the middle a recap covers. `middle`: All of it. `overflow`: The oldest part that has to go to reach the
 * target (projection note).
 */
export type CoverExtent = 'middle' | 'overflow'

/**
 * What a recap is made of when no model answers. `computed`: The computed sections. `marker`: The fixed marker (Head,
 * Middle, Tail and Summarizing Evicted Turns). `static`: A fixed sentence with the number of messages (Hermes Agent).
 */
export type RecapFallback = 'computed' | 'marker' | 'static'

/**
 * What a recap is made from, by a model or without one. `log`: The messages as the log has them. `reduced`: What the
 * reducers before it left of them: they run first, and a model is sent less (Hermes Agent, What Survives the
 * Compression).
 */
export type RecapSource = 'log' | 'reduced'

/**
 * The role of a recap. `assistant`: Assistant (Summarizing Evicted Turns and What Survives the Compression). `user`:
 * User. `opposite`: User after an assistant or tool message, else assistant (Hermes Agent).
 */
export type RecapRole = 'assistant' | 'user' | 'opposite'

/** What is in the place of a covered span. */
export interface RecapPolicy {
  /** At most this share of the budget … */
  cap?: number
  /** … and at most this many tokens (0: no further cap). */
  cap_tokens?: number
  /** How much of the middle it covers. */
  cover?: CoverExtent
  /** What it is made of when no model answers. */
  fallback?: RecapFallback
  /** Adds `<read-files>` and `<modified-files>` blocks (What Survives the Compression). */
  file_blocks?: boolean
  /** Where head and tail leave more of the target than the share, it may take that, too. */
  fills?: boolean
  /** Its first line. */
  header?: string
  /** The text that stands for a span when there is no recap (Summarizing Evicted Turns). */
  marker?: string
  /** A line below the header (Hermes Agent writes it behind the system prompt, which stays as it is here). */
  note?: string
  /** What of the covered messages it is made from. */
  reads?: RecapSource
  /** The role that it takes where the profile allows it. */
  role?: RecapRole
}

/**
 * A reducer. `terminal`: Collapse carriage-return progress, strip ANSI. `dedup`: Point identical results to the
 * newest. `supersede`: Stub reads that a later read or write made stale. `retain`: Expire results by age or count.
 * `stub`: One-line stubs. `arguments`: Clip call arguments. `reasoning`: Drop reasoning in the middle. `window`: Cap
 * plain dialogue. `recap`: Cover the oldest span by a recap.
 */
export type ReducerName = 'terminal' | 'dedup' | 'supersede' | 'retain' | 'stub' | 'arguments' | 'reasoning' | 'window' | 'recap'

/** A rule for some tools. */
export interface RetainRule {
  /** As in `RetainPolicy`. */
  age?: number | null
  /** As in `RetainPolicy`. */
  count?: number | null
  /** Tool names, or kinds in angle brackets: `<read>`, `<search>`. */
  names?: string[]
  /** Their results never expire. */
  never_evict?: boolean
}

/**
 * How the age of a result is counted. `steps`: Assistant messages after the result (What Survives the Compression).
 * `turns`: Real user messages after the result (projection note).
 */
export type AgeUnit = 'steps' | 'turns'

/** Settings of `retain`: how long results stay. */
export interface RetainPolicy {
  /** Counts the results of all tools together. */
  across?: boolean
  /** A result expires when more than this many units came after it. */
  age?: number | null
  /** Of one tool, only the newest n results stay. */
  count?: number | null
  /** Tools whose results never expire, and stay beside a recap, too. */
  never_evict?: string[]
  /** What expired results say. */
  stub?: string
  /** Rules for single tools or kinds of tools; the first that names the tool wins. */
  tools?: RetainRule[]
  /** What age counts. */
  unit?: AgeUnit
}

/** Settings of `stub`. */
export interface StubPolicy {
  /** Results up to this length stay, in characters (Hermes Agent: 200). */
  min_chars?: number
  /** Salient lines (errors, failing tests, outliers) kept below the stub, in characters. */
  salient_chars?: number
}

/** Settings of `supersede`. */
export interface SupersedePolicy {
  /** Results shorter than this are left alone, in characters. */
  min_chars?: number
}

/**
 * How the tail is found. `floors`: Walk back until both floors hold (Head, Middle, Tail). `ceiling`: Walk back while
 * the tail stays below 1.5 × its budget, counting chars/4 + 10 (Hermes Agent).
 */
export type TailRule = 'floors' | 'ceiling'

/** What stays verbatim at the end. */
export interface TailPolicy {
  /**
   * The last real user message stays verbatim: in the tail where that costs at most half as much again, else as a pin
   * after the recap.
   */
  last_user?: boolean
  /** And at least this many messages. */
  min_messages?: number
  /**
   * For `ceiling`: reducers leave at least so many of the newest messages alone, and those within `ratio` (Hermes
   * Agent: `protect_last_n`).
   */
  protect_messages?: number
  /** At least this share of the budget (for `ceiling`: of the threshold). */
  ratio?: number
  /** How the tail is found. */
  rule?: TailRule
}

/** Settings of `terminal`. */
export interface TerminalPolicy {
  /** Results shorter than this are left alone, in characters. */
  min_chars?: number
}

/**
 * Whose words the result of a tool holds. `nobody`: The tool's own. `marked`: A person's where the client marks them
 * as such: a plan that is approved with a remark. `person`: A person's, all of them: a question to the user.
 */
export type AnswerSource = 'nobody' | 'marked' | 'person'

/**
 * What a tool does. `read`: Shows a file. `write`: Writes a whole file. `edit`: Changes a part of a file. `search`:
 * Looks for text or names. `list`: Lists a folder. `shell`: Runs a command or a program. `web`: Fetches or searches
 * the web, drives a browser. `task`: Hands work to another agent. `todo`: Keeps the list of what is to be done.
 * `other`: Anything else, and every unknown tool.
 */
export type ToolKind = 'read' | 'write' | 'edit' | 'search' | 'list' | 'shell' | 'web' | 'task' | 'todo' | 'other'

/** An argument whose value decides what a tool does. */
export interface ToolMode {
  /** The argument. */
  arg?: string
  /** Kind by value. */
  kinds?: Record<string, ToolKind>
}

/** One entry of the table: tools that work alike. Also the form in which a policy adds tools. */
export interface ToolDefinition {
  /** Whose words its results hold. */
  answers?: AnswerSource
  /** Arguments that hold a program in another language. */
  code?: string[]
  /** Arguments that hold a shell command. */
  commands?: string[]
  /** Arguments with the last line of a partial read. */
  end?: string[]
  /** What they do. */
  kind?: ToolKind
  /** Arguments with the number of lines of a partial read. */
  limit?: string[]
  /** An argument whose value decides the kind. */
  mode?: ToolMode | null
  /** Their names; `*` at the end stands for any rest. */
  names?: string[]
  /** Arguments with the first line of a partial read. */
  offset?: string[]
  /** Arguments that hold a patch. */
  patches?: string[]
  /** Arguments that name files; for a listing the folder. */
  paths?: string[]
  /** Arguments that say what is looked for. */
  queries?: string[]
  /** Arguments with a pair of first and last line. */
  range?: string[]
}

/** Trigger rules for models whose name contains `name`; the longest such name counts. What is not said stays. */
export interface ModelTrigger {
  /** Price cliffs. */
  cliffs?: number[] | null
  /** Part of the model's name; case does not matter. */
  name?: string
  /** Tokens to leave free. */
  reserve?: number | null
  /** Share of the budget. */
  threshold?: number | null
  /** Absolute number of tokens. */
  tokens?: number | null
}

/** When to fold. */
export interface TriggerPolicy {
  /**
   * A model is asked to narrate from this share of the budget on, so that the narration is there when the trigger
   * fires. Below `threshold`; where another rule sets the line, the buffer keeps its proportion to it.
   */
  buffer?: number
  /** Prompt sizes above which a model charges more for the whole prompt: folding starts 5 % below the lowest. */
  cliffs?: number[]
  /** The threshold is at least this many tokens (Hermes Agent: 64,000) … */
  floor_tokens?: number
  /**
   * … and where that reaches the window, this share of it instead, below the window (Hermes Agent: `min(0.85 ×
   * window, window − 1)`).
   */
  floored_share?: number | null
  /** Kept free for what hooks inject (projection note: 2,000 tokens). */
  injection_reserve?: number
  /** Added to every estimate that a limit is held against (projection note: 10 %). */
  margin?: number
  /** Conversations of at most this many messages are left alone (Hermes Agent: 7). */
  min_messages?: number
  /** Other rules for single models. */
  models?: ModelTrigger[]
  /** Off: nothing folds by itself, not even at the window; a person still can. */
  on?: boolean
  /** And where fewer than this many tokens of the budget are left (0: no such rule). */
  reserve?: number
  /**
   * From this share of the budget on a fold comes where a piece of work has just ended: a user's turn, an item of the
   * to-do list, a commit, a check that passed. It waits for that up to the threshold. 0, or not below `threshold`:
   * the threshold alone counts. Where another rule sets the line, it keeps its proportion to it.
   */
  seam?: number
  /** Fires at this share of the budget. */
  threshold?: number
  /** And at this many tokens, where that is less (0: no such rule). */
  tokens?: number
}

/** Settings of `window`: a cap on plain dialogue (projection note), off unless one is set. */
export interface WindowPolicy {
  /** Keep the newest dialogue up to this many tokens. */
  tokens?: number | null
  /** Keep the dialogue of the newest n turns. */
  turns?: number | null
}

/** When and how to fold. Every ratio multiplies the budget's tokens; every threshold is `≥`. */
export interface Policy {
  /** The preset that holds where nothing else is said; `default` without it. */
  base?: string
  /** Clips long call arguments. */
  arguments?: ArgumentsPolicy
  /** Caps of classes of content. */
  budget?: TierCaps
  /** Points identical results to the newest. */
  dedup?: DedupPolicy
  /** Which engine: `midfold`, or `passthrough`, which changes nothing. */
  engine?: EngineName
  /** What a fold has to reach. */
  fold?: FoldGoals
  /** What stays verbatim at the front. */
  head?: HeadPolicy
  /** What stays word for word through every fold: messages by their words, files by their paths. */
  keep?: KeepRule[]
  /** Name for records and reports. */
  name?: string
  /** How a model would narrate, where one is at hand. */
  narration?: NarrationPolicy
  /** What is in the place of a covered span. */
  recap?: RecapPolicy
  /** The reducers to run, in order, cheap to expensive. */
  reducers?: ReducerName[]
  /** Lets results expire by age or count. */
  retain?: RetainPolicy
  /** Which document or measurement the constants come from. */
  source?: string
  /** `strategy` in fold records (Head, Middle, Tail: `head-tail`, Summarizing Evicted Turns: `summarize`). */
  strategy?: string
  /** Replaces results by one line that says what happened. */
  stub?: StubPolicy
  /** One line for people. */
  summary?: string
  /** Drops reads that a later read or write made stale. */
  supersede?: SupersedePolicy
  /** What stays verbatim at the end. */
  tail?: TailPolicy
  /** Collapses progress output. */
  terminal?: TerminalPolicy
  /** Tools that the built-in table does not know, or knows otherwise. */
  tools?: ToolDefinition[]
  /** When to fold. */
  trigger?: TriggerPolicy
  /** Caps plain dialogue. */
  window?: WindowPolicy
}
