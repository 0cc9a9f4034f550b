/** The Vercel AI SDK: what goes to the model is projected; what the application keeps stays whole. */
import type { LanguageModelMiddleware, ModelMessage, ToolSet } from 'ai'
import type { SessionOptions } from './index.js'

/** The options of `Sessions`, and `id`, where all calls are one conversation. */
export type MidfoldOptions = Omit<SessionOptions, 'dialect'> & { limit?: number }

/** Middleware for `wrapLanguageModel`. A call names its conversation with
 * `providerOptions: { midfold: { id } }`; without a name it is found by its content. */
export function midfoldMiddleware(options?: MidfoldOptions): LanguageModelMiddleware
/** A `prepareStep`, where the model is not to be wrapped. */
export function midfoldPrepareStep(
  options?: MidfoldOptions,
): (step: { messages: ModelMessage[] }) => { messages: ModelMessage[] }
/** The recall tools of a middleware, for `tools`. */
export function midfoldTools(middleware: LanguageModelMiddleware): ToolSet
