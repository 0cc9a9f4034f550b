/** How a model narrates, as a policy says it. */
// Written by tools/door-types: change the sources that it reads.

/**
 * The form of a narrated section. `bullets`: `- **Decisions:** …` (Summarizing Evicted Turns). `headings`: `## Active
 * Task` (Hermes Agent).
 */
export type NarrationStyle = 'bullets' | 'headings'

/** How a model narrates. This is data only: the engine decides what to ask, and a driver calls the model. */
export interface NarrationPolicy {
  /**
   * The hard cap of the reply, in tokens (Summarizing Evicted Turns: 512). Without it, the cap follows from the
   * words.
   */
  max_tokens?: number | null
  /** The most words to ask for by `share`. */
  max_words?: number | null
  /** The largest cap by `token_share`, in tokens. */
  most_tokens?: number | null
  /**
   * Whether a model is asked at all. Off by default. It costs one call of the narrator for each fold, which reads the
   * covered messages; no turn waits for it.
   */
  on?: boolean
  /** The names of the sections that the model is asked for, in order. */
  sections?: string[]
  /**
   * The number of words to ask for, as a share of the covered tokens: a long span deserves a long narration. 0.04 in
   * `default`.
   */
  share?: number | null
  /**
   * The value of `strategy` in the record of a narrated fold; the policy's own without it (Summarizing Evicted
   * Turns).
   */
  strategy?: string | null
  /** The form of a section. */
  style?: NarrationStyle
  /** The sampling temperature (Summarizing Evicted Turns: 0.2). */
  temperature?: number | null
  /**
   * The longest time for an answer, from the request to the last byte, in seconds (Summarizing Evicted Turns: 25).
   * `default` has 120, since 1,600 words take a small model a minute. Where it is over, the fold is made without a
   * narration.
   */
  timeout_seconds?: number | null
  /**
   * The cap as a share of the covered tokens, at least `max_tokens` and at most `most_tokens` (Hermes Agent: the
   * summary's budget scales with the summarised messages).
   */
  token_share?: number | null
  /**
   * Whether a narrated fold covers the whole middle. Messages after those that the model was asked about are then in
   * the computed sections (What Survives the Compression). Otherwise they stay verbatim if the fold reaches its
   * target that way.
   */
  whole_middle?: boolean
  /** The number of words to ask for (Summarizing Evicted Turns: 200); with a `share`, the fewest. */
  words?: number | null
}
