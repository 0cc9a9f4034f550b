'use strict'
// For an adapter that runs in the process of its host: writes what each fold took, in milliseconds, a line each.

const { appendFileSync } = require('node:fs')
const path = require('node:path')

/** The same hook, measured. `adapter` is the folder of the package under test. */
function measure(adapter, file) {
  const { Sessions } = require(path.join(adapter, 'index.js'))
  const project = Sessions.prototype.project
  let folded = false
  Sessions.prototype.project = function (...given) {
    const context = project.apply(this, given)
    folded ||= context.folded
    return context
  }
  return (hook) =>
    async (...given) => {
      folded = false
      const started = performance.now()
      const result = await hook(...given)
      if (folded) appendFileSync(file, `${(performance.now() - started).toFixed(1)}\n`)
      return result
    }
}

module.exports = { measure }
