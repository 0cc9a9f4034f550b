// What the types say of `import`: checked, not run.
import { wrapLanguageModel, type LanguageModelMiddleware } from 'ai'
import midfold, { Session, Sessions, compact, type Context } from 'midfold'
import { midfoldMiddleware, midfoldPrepareStep, midfoldTools } from 'midfold/ai'
import Dsh, { type DshOptions } from 'midfold/dsh'
import { id } from 'midfold/openclaw'
import opencode, { type OpencodeOptions } from 'midfold/opencode'
import { midfold as pi } from 'midfold/pi'

const session: Session = new Session({ window: 8_000, policy: { trigger: { threshold: 0.7 } } })
const context: Context = session.project([{ role: 'user', content: 'hi' }], { focus: 'all' })
const places: (number | null)[] | null = context.places
const text: string = compact('[]', { keepLast: 3 }).messages
const bytes: Buffer = compact(new Uint8Array(), {}).messages
const found: Session | null = new Sessions({ limit: 2 }).find([], { id: 'a' })
const middleware: LanguageModelMiddleware = midfoldMiddleware({ window: 8_000 })
const mine: { role: 'user' | 'assistant'; content: string }[] = [{ role: 'user', content: 'hi' }]
const kept = session.project(mine)
const back: typeof mine = kept.messages
let less: typeof kept | null = session.recover(new Error('too long'))
less = new Sessions().project(mine, { id: 'a' })
const opened: Session = Session.open('memory', 'a', { window: 8_000, preset: 'lean', model: 'm' })
const again: typeof Session = midfold.Session
const options: OpencodeOptions = { preset: 'lean', recall: false }
const dsh: DshOptions = { preset: 'lean', auto: false }
const extension = pi({ window: 8_000 })
// @ts-expect-error there is no such option
pi({ windo: 8_000 })
// @ts-expect-error there is no such option
new Session({ windo: 8_000 })
// @ts-expect-error there is no such option
Session.open('memory', 'a', { windo: 8_000 })
// @ts-expect-error a session makes contexts
new midfold.Context()
export { Dsh, again, back, less, opened, bytes, dsh, extension, found, id, midfoldPrepareStep, midfoldTools, middleware, opencode, options, places, text, wrapLanguageModel }
