'use strict'
// The scripted provider, as a process of its own.

const { spawn } = require('node:child_process')
const { once } = require('node:events')
const readline = require('node:readline')

const program = process.env.SCRIPTED_UPSTREAM

/** Starts it for one test, with these options. */
async function upstream(t, ...options) {
  const child = spawn(program, options, { stdio: ['ignore', 'pipe', 'inherit'] })
  t.after(() => child.kill('SIGKILL'))
  const [line] = await once(readline.createInterface({ input: child.stdout }), 'line')
  const url = line.replace('listening on ', '')
  return { url, stats: async () => (await fetch(`${url}/__stats`)).json() }
}

module.exports = { program, upstream }
