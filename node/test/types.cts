// What the types say of `require`: checked, not run.
import midfold = require('midfold')
import ai = require('midfold/ai')

const folding: midfold.Folding = midfold.compact([{ role: 'user', content: 'hi' }])
const verdict: string = new midfold.Session().complete(null as never, { error: 'timeout' })
export = { folding, verdict, middleware: ai.midfoldMiddleware() }
