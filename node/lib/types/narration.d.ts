/** How a model narrates, as a policy says it. */
// Written by tools/door-types: change the sources that it reads.

/**
 * How a narrated section is written. `bullets`: `- **Decisions:** …` (Summarizing Evicted Turns). `headings`: `##
 * Active Task` (Hermes Agent).
 */
export type NarrationStyle = 'bullets' | 'headings'

/** How a model would narrate. Data only: the engine asks, a driver calls. */
export interface NarrationPolicy {
  /** Hard cap of the reply, in tokens (Summarizing Evicted Turns: 512). Without one, it follows from the words. */
  max_tokens?: number | null
  /** The most words that a share may come to. */
  max_words?: number | null
  /** The most that `token_share` may come to. */
  most_tokens?: number | null
  /** Whether a model is asked at all. */
  on?: boolean
  /** The sections asked for, in order. */
  sections?: string[]
  /** Words asked for as a share of the covered tokens: a long span deserves a long narration. */
  share?: number | null
  /** `strategy` in the record of a narrated fold, where it is not the policy's (Summarizing Evicted Turns). */
  strategy?: string | null
  /** How a section is written. */
  style?: NarrationStyle
  /** Sampling temperature (Summarizing Evicted Turns: 0.2). */
  temperature?: number | null
  /** Longest time of an answer, from the request to the last byte, in seconds (Summarizing Evicted Turns: 25). */
  timeout_seconds?: number | null
  /**
   * The cap as a share of the covered tokens, at least `max_tokens` and at most `most_tokens` (Hermes Agent: the
   * summary's budget scales with what is summarised).
   */
  token_share?: number | null
  /**
   * A narrated fold covers the whole middle, also what came after the model was asked, which is then told by the
   * computed sections (What Survives the Compression). Otherwise that stays as it is, where the fold reaches its
   * target so.
   */
  whole_middle?: boolean
  /** Words asked for (Summarizing Evicted Turns: 200); with a `share`, the fewest. */
  words?: number | null
}
