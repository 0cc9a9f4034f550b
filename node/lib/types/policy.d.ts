/** A policy: when and how to fold. */
// Written by tools/door-types: change the sources that it reads.
import type { NarrationPolicy } from './narration.js'
import type { ToolDefinition } from './tool.js'

/** Settings of the reducer `arguments`, which cuts long arguments of old calls. */
export interface ArgumentsPolicy {
  /** In longer arguments, strings are cut to this many characters (Hermes Agent: 200). */
  leaf_chars?: number
  /** Arguments of up to this many characters stay (Hermes Agent: 500). */
  max_chars?: number
  /** Whether a cut string ends with the number of the message, such as `@12`, by which recall shows it. */
  numbers?: boolean
}

/** The caps of classes of content: `[budget.tiers]` of a policy. */
export interface TierCaps {
  /**
   * The share of the budget that a class may take in the whole context. Above it, the oldest content of the class is
   * evicted, even below the threshold.
   */
  tiers?: Record<string, number>
}

/** Settings of the reducer `dedup`, which keeps the newest of identical results. */
export interface DedupPolicy {
  /** Results shorter than this many characters are left alone (Hermes Agent: 200). */
  min_chars?: number
}

/**
 * The name of an engine (Hermes Agent: engines are pluggable and chosen by configuration). `midfold`: The built-in
 * engine. `passthrough`: An engine that sends every message and never folds.
 */
export type EngineName = 'midfold' | 'passthrough' | { command: string[] } | (string & {})

/**
 * What the shares of a policy refer to in a manual compaction of a context within the budget, without a requested
 * size. `context`: The tokens of the present context, so that a person who asks for a compaction gets one. `budget`:
 * The budget, as in an automatic fold. What the floors protect stays, and a conversation that they protect as a whole
 * is left alone (Head, Middle, Tail: nothing to compress). In automatic folds, too, the recap gives way before the
 * tail.
 */
export type ManualShare = 'context' | 'budget'

/** The goals of a fold. */
export interface FoldGoals {
  /** What the policy's shares refer to if a person asks for a compaction while the context is within the budget. */
  by_hand?: ManualShare
  /**
   * The share of the budget that a fold has to free; otherwise it is not made. 0.1 in `default`: a smaller gain does
   * not pay for the lost cache.
   */
  min_reclaim?: number
  /**
   * The share of the budget that the context should take at most after a fold: 0.44 in `default`. A lower share
   * leaves more requests between two folds, each of which loses the cache, and less room for the recap.
   */
  target?: number
}

/**
 * The rules that find the head. `task`: Leading system messages, and everything up to the user's first real task.
 * `first-user`: Leading system messages, and the next message if it is the user's (Head, Middle, Tail). `messages`:
 * The first `messages` messages. `system`: Leading system messages only (projection note).
 */
export type HeadRule = 'task' | 'first-user' | 'messages' | 'system'

/** The messages that stay unchanged at the front. The cut moves forward to the end of a unit. */
export interface HeadPolicy {
  /** For `messages`: whether `messages` counts the leading system messages. */
  count_system?: boolean
  /**
   * Whether the first task leaves the head once there was a fold and the user made another request. Off by default:
   * the provider's cache then ends before the task at that fold.
   */
  decay?: boolean
  /** For `messages`: the number of messages. */
  messages?: number
  /**
   * The rule that finds the head; `task` in midfold's own presets. A longer head costs its tokens in each request,
   * and keeps more of the cache through a fold.
   */
  rule?: HeadRule
}

/**
 * Keeps messages of the user, the assistant or the application whose words match this regular expression. Results of
 * tools are not searched; they are kept by their file.
 */
export interface KeepRuleMessage {
  message: string
}

/**
 * Keeps the newest content of each file that matches this glob: the read or write with its call, and the edits since.
 */
export interface KeepRuleFile {
  file: string
}

/** An entry of `keep`: `{ message = "…" }` or `{ file = "…" }`. */
export type KeepRule = KeepRuleMessage | KeepRuleFile

/**
 * How much of the middle a recap covers. `middle`: The whole middle. `overflow`: The oldest part, as much as has to
 * go to reach the target (projection note).
 */
export type CoverExtent = 'middle' | 'overflow'

/**
 * The kinds of recap when no model narrates. `computed`: The sections that midfold computes. `marker`: The fixed
 * marker (Head, Middle, Tail and Summarizing Evicted Turns). `static`: A fixed sentence with the number of messages
 * (Hermes Agent).
 */
export type RecapFallback = 'computed' | 'marker' | 'static'

/**
 * The form of the covered messages from which a recap is made, by a model or without one. `log`: The messages as the
 * log has them. `reduced`: The messages as the other reducers left them. These run first, and a model is sent less
 * (Hermes Agent, What Survives the Compression).
 */
export type RecapSource = 'log' | 'reduced'

/**
 * The role of a recap. `assistant`: Assistant (Summarizing Evicted Turns and What Survives the Compression). `user`:
 * User. `opposite`: User after an assistant or tool message, else assistant (Hermes Agent).
 */
export type RecapRole = 'assistant' | 'user' | 'opposite'

/** The text that replaces covered events. */
export interface RecapPolicy {
  /**
   * The recap takes at most this share of the budget … 0.25 in `default`, 0.2 in `lean`, 0.45 in `generous`. A recap
   * is sent with each request until the next fold; while it has room, it leaves nothing out.
   */
  cap?: number
  /** … and at most this many tokens (0: no cap in tokens). */
  cap_tokens?: number
  /** How much of the middle the recap covers. */
  cover?: CoverExtent
  /** The kind of recap when no model narrates. */
  fallback?: RecapFallback
  /** Whether the recap ends with `<read-files>` and `<modified-files>` blocks (What Survives the Compression). */
  file_blocks?: boolean
  /**
   * Whether the recap may exceed its share: by hand up to the target, else as far as it covers words of the user. On
   * in `default` and `generous`; it costs nothing in conversations where tools do most.
   */
  fills?: boolean
  /** The first line of the recap. */
  header?: string
  /** The text that replaces a span when there is no recap (Summarizing Evicted Turns). */
  marker?: string
  /** A line below the header. (Hermes Agent writes it after the system prompt, which stays unchanged here.) */
  note?: string
  /** The form of the covered messages from which the recap is made. */
  reads?: RecapSource
  /** The role of the recap, if the profile allows it. */
  role?: RecapRole
}

/**
 * The name of a reducer: a rule that makes the middle smaller. `terminal`: Collapses progress output with carriage
 * returns, and strips ANSI codes. `dedup`: Points identical results to the newest. `supersede`: Replaces reads that a
 * later read or write made stale by a line. `retain`: Lets results expire by age or count. `stub`: Replaces results
 * by one line that says what happened. `arguments`: Clips long arguments of calls. `reasoning`: Drops reasoning in
 * the middle. `window`: Caps plain dialogue. `cut`: Shows the longest results cut: their first and last lines, and a
 * line that says what is left out. `recap`: Covers the oldest span by a recap.
 */
export type ReducerName = 'terminal' | 'dedup' | 'supersede' | 'retain' | 'stub' | 'arguments' | 'reasoning' | 'window' | 'cut' | 'recap'

/** The limits of `retain` for some tools. */
export interface RetainRule {
  /** The limit of age, as in `RetainPolicy`. */
  age?: number | null
  /** The limit of number, as in `RetainPolicy`. */
  count?: number | null
  /** Names of tools, or kinds in angle brackets: `<read>`, `<search>`. */
  names?: string[]
  /** Whether the results of these tools never expire. */
  never_evict?: boolean
}

/**
 * The unit in which the age of a result is counted. `steps`: Assistant messages after the result (What Survives the
 * Compression). `turns`: Real user messages after the result (projection note).
 */
export type AgeUnit = 'steps' | 'turns'

/** Settings of the reducer `retain`: how long results stay. */
export interface RetainPolicy {
  /** Whether `count` counts the results of all tools together. */
  across?: boolean
  /** A result expires when more than this many steps or turns came after it. Without it, age does not matter. */
  age?: number | null
  /** Of each tool, only this many of the newest results stay. Without it, their number does not matter. */
  count?: number | null
  /** Tools whose results never expire. These results also stay beside a recap. */
  never_evict?: string[]
  /** The text that replaces an expired result. */
  stub?: string
  /** Limits for single tools or kinds of tools; the first rule that names the tool wins. */
  tools?: RetainRule[]
  /** The unit of `age`. */
  unit?: AgeUnit
}

/** Settings of the reducer `stub`, which replaces old results by a line that names the call. */
export interface StubPolicy {
  /** Results of up to this many characters stay (Hermes Agent: 200). */
  min_chars?: number
  /** Whether the line ends with the number of the message, such as `@12`, by which recall shows it. */
  numbers?: boolean
  /**
   * The most characters of salient lines (errors, failing tests, outliers) that are kept below the stub. 600 by
   * default, about 200 tokens for each old result; 0 keeps the line alone.
   */
  salient_chars?: number
  /** Whether the line quotes from the result how the call ended: the totals of a check, or why it failed. */
  verdicts?: boolean
}

/**
 * Settings of the reducer `supersede`, which replaces what was read of a file that was read or written again later.
 */
export interface SupersedePolicy {
  /** Results shorter than this many characters are left alone. */
  min_chars?: number
}

/**
 * The rules that find the tail. `floors`: Extends the tail towards the start until both floors are met (Head, Middle,
 * Tail). `ceiling`: Extends the tail towards the start while it is below 1.5 × its size, counting chars/4 + 10 for a
 * message. Where a recap reads reduced messages, they are counted as reducers leave them (Hermes Agent).
 */
export type TailRule = 'floors' | 'ceiling'

/** The messages that stay unchanged at the end. */
export interface TailPolicy {
  /**
   * Whether the results and arguments of the newest step are shown cut where nothing smaller fits the window: their
   * first and last lines, and a line that says what is left out. Left out: a server does so in front of local models,
   * and nobody else does.
   */
  cut_results?: boolean | null
  /**
   * Whether the user's last real message stays verbatim. It joins the tail if that makes the tail at most half as
   * large again; else it stays as a pin after the recap.
   */
  last_user?: boolean
  /**
   * The fewest messages of the tail: 4 in `default`, 2 in `lean`. Long steps may make it much larger than the share.
   */
  min_messages?: number
  /** For `ceiling`: the number of newest messages that reducers leave alone (Hermes Agent: `protect_last_n`). */
  protect_messages?: number
  /**
   * The least size of the tail, as a share of the budget (for `ceiling`: of the threshold). `default` has 0.1, `lean`
   * 0.02. What the tail takes is not left for the recap, and the next fold comes earlier.
   */
  ratio?: number
  /** The rule that finds the tail. */
  rule?: TailRule
}

/** Settings of the reducer `terminal`, which keeps what a terminal would finally show. */
export interface TerminalPolicy {
  /** Results shorter than this many characters are left alone. */
  min_chars?: number
}

/**
 * Trigger rules for models whose name contains `name`. If several entries match, the longest `name` wins. A rule that
 * is left out stays as in the policy.
 */
export interface ModelTrigger {
  /** Prompt sizes in tokens above which the model charges more. */
  cliffs?: number[] | null
  /** A part of the model's name, in any case. */
  name?: string
  /** The tokens of the budget that have to stay free. */
  reserve?: number | null
  /** The share of the budget at which folding starts. */
  threshold?: number | null
  /** The number of tokens at which folding starts. */
  tokens?: number | null
}

/** When to fold. */
export interface TriggerPolicy {
  /**
   * The share of the budget from which a model is asked to narrate, so that the narration is ready when the trigger
   * fires. It is below `threshold`; 0.60 if left out. A lower share asks earlier, so more newer messages are left to
   * midfold alone. Without a narrator it only decides where a cold cache or an agent's request may fold. If another
   * rule sets the line, the buffer keeps its proportion to it.
   */
  buffer?: number
  /**
   * Prompt sizes in tokens above which a model charges more for the whole prompt. Folding starts 5 % below the
   * lowest. Without one, by default, price plays no part.
   */
  cliffs?: number[]
  /** The threshold is at least this many tokens (Hermes Agent: 64,000; 0 by default) … */
  floor_tokens?: number
  /**
   * … and if that reaches the window, it is this share of the window instead (Hermes Agent: `min(0.85 × window,
   * window − 1)`).
   */
  floored_share?: number | null
  /**
   * Tokens that are kept free for texts that hooks inject (projection note: 2,000; 0 by default). Set it where hooks
   * add texts, or a request may exceed the window by them.
   */
  injection_reserve?: number
  /**
   * The share that is added to every estimate before it is compared with a limit (projection note: 10 %; 0 by
   * default, as the meter learns from the provider's counts).
   */
  margin?: number
  /** Conversations of at most this many messages are never folded (Hermes Agent: 7; 0 by default). */
  min_messages?: number
  /** Other rules for single models. */
  models?: ModelTrigger[]
  /** Whether the session folds by itself. If off, it does not even at the window; a person still can compact it. */
  on?: boolean
  /**
   * … or where fewer than this many tokens of the budget are left (0, the default: no such rule). Set it to the
   * longest step that is expected.
   */
  reserve?: number
  /**
   * The share of the budget from which the session folds at a seam, where some work has just ended: a user's turn, an
   * item of the to-do list, a commit, a check that passed. 0, the default, or not below `threshold`: seams do not
   * matter. If another rule sets the line, the share keeps its proportion to it.
   */
  seam?: number
  /**
   * Folding starts at this share of the budget … `default` has 0.78, `lean` 0.48. A lower share makes each request
   * cheaper and folds earlier; a higher one leaves less room for a long step.
   */
  threshold?: number
  /**
   * … or at this many tokens, if that is less (0, the default: no such rule) … It holds cost down in a very large
   * window.
   */
  tokens?: number
}

/** Settings of the reducer `window`: a cap on plain dialogue (projection note). Off unless one of them is set. */
export interface WindowPolicy {
  /** The tokens of newest dialogue that stay. */
  tokens?: number | null
  /** The number of newest turns whose dialogue stays. */
  turns?: number | null
}

/** When and how to fold. Every ratio is a share of the budget's tokens; a threshold is crossed when it is reached. */
export interface Policy {
  /** The preset that holds where nothing else is said; `default` without it. */
  base?: string
  /** Settings of `arguments`, which clips long arguments of calls. */
  arguments?: ArgumentsPolicy
  /** The caps of classes of content. */
  budget?: TierCaps
  /** Settings of `dedup`, which points identical results to the newest. */
  dedup?: DedupPolicy
  /** The engine: `midfold`, or `passthrough`, which changes nothing. */
  engine?: EngineName
  /** The goals of a fold. */
  fold?: FoldGoals
  /** The messages that stay unchanged at the front. */
  head?: HeadPolicy
  /** The content that stays word for word through every fold: messages by their words, files by their paths. */
  keep?: KeepRule[]
  /** The name of the policy, for records and reports. */
  name?: string
  /** How a model narrates, if one is configured. */
  narration?: NarrationPolicy
  /** The text that replaces covered events. */
  recap?: RecapPolicy
  /** The reducers to run, in this order: the cheap ones first. */
  reducers?: ReducerName[]
  /** Settings of `retain`, which lets results expire by age or count. */
  retain?: RetainPolicy
  /** The document or the measurement that the constants come from. */
  source?: string
  /**
   * The value of `strategy` in fold records (Head, Middle, Tail: `head-tail`, Summarizing Evicted Turns:
   * `summarize`).
   */
  strategy?: string
  /** Settings of `stub`, which replaces a result by one line that says what happened. */
  stub?: StubPolicy
  /** What the policy does, in one line for people. */
  summary?: string
  /** Settings of `supersede`, which drops reads that a later read or write made stale. */
  supersede?: SupersedePolicy
  /** The messages that stay unchanged at the end. */
  tail?: TailPolicy
  /** Settings of `terminal`, which collapses progress output. */
  terminal?: TerminalPolicy
  /** Tools that the built-in table does not know, or describes otherwise. */
  tools?: ToolDefinition[]
  /** When to fold. */
  trigger?: TriggerPolicy
  /** Settings of `window`, which caps plain dialogue. */
  window?: WindowPolicy
}
