// What the types say of `require`: checked, not run.
import midfold = require('midfold')
import ai = require('midfold/ai')

const report: midfold.Report = midfold.compact([{ role: 'user', content: 'hi' }]).report
const verdict: string = new midfold.Session().complete(null as never, { error: 'timeout' })
export = { report, verdict, middleware: ai.midfoldMiddleware() }
