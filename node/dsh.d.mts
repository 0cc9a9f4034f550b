/** DeepSeek Harness: a compaction engine. A span of the surface gives way to a recap; the harness' log keeps all. */
import type { Context } from '@deepseek-ai/cordis'
import { CompactionEngine } from '@deepseek-ai/dsh-compaction'
import type { CompactionResult } from '@deepseek-ai/dsh-compaction'
import type { SessionOptions } from './index.js'

type Parameters<Name extends keyof CompactionEngine> = CompactionEngine[Name] extends (...given: infer Given) => unknown
  ? Given
  : never

/** The options of `Sessions`; whether the agent has recall tools; and whether it compacts without being asked. */
export type DshOptions = Omit<SessionOptions, 'dialect' | 'id'> & { limit?: number; recall?: boolean; auto?: boolean }

/** The engine of `ctx.compaction`. The window is that of the routed model unless there is one in the options. */
export default class MidfoldCompaction extends CompactionEngine {
  static inject: string[]
  constructor(ctx: Context, options?: DshOptions)
  compactIfNeeded(...given: Parameters<'compactIfNeeded'>): Promise<CompactionResult | null>
  compactNow(...given: Parameters<'compactNow'>): Promise<CompactionResult | null>
  compactRegion(...given: Parameters<'compactRegion'>): Promise<CompactionResult>
}
