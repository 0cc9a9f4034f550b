/** opencode: what goes to the model is projected before every call; what opencode stores stays whole. */
import type { Hooks, PluginInput } from '@opencode-ai/plugin'
import type { SessionOptions } from './index.js'

/** The options of `Sessions`, and whether the agent has recall tools. */
export type OpencodeOptions = Omit<SessionOptions, 'dialect' | 'id'> & { limit?: number; recall?: boolean }

/** The plug-in. The window is that of the model in opencode's configuration unless there is one in the options. */
export default function midfold(input: PluginInput, options?: OpencodeOptions): Promise<Hooks>
