/** OpenClaw: a context engine. What was said before the turn is projected; OpenClaw's transcript keeps all of it. */
import type { OpenClawPluginApi } from 'openclaw/plugin-sdk/plugin-entry'
import type { SessionOptions } from './index.js'

/** What `plugins.entries.midfold.config` may have: the options of `Sessions`, and whether there are recall tools. */
export type OpenClawOptions = Omit<SessionOptions, 'dialect' | 'id'> & { limit?: number; recall?: boolean }

export const id: 'midfold'
export const name: 'midfold'
/** Registers the context engine `midfold`, for `plugins.slots.contextEngine`. */
export function register(api: OpenClawPluginApi): void
