/** pi: what goes to the model is projected before every call; pi's session file keeps all of it. */
import type { ExtensionFactory } from '@earendil-works/pi-coding-agent'
import type { SessionOptions } from './index.js'

/** The options of `Sessions`, and whether the agent has recall tools. */
export type PiOptions = Omit<SessionOptions, 'dialect' | 'id'> & { limit?: number; recall?: boolean }

/** The extension with options of one's own. The window is that of pi's model unless there is one in them. */
export function midfold(options?: PiOptions): ExtensionFactory
/** The extension with its defaults. */
declare const extension: ExtensionFactory
export default extension
