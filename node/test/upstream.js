'use strict'
// The scripted provider, as a process of its own.

const { spawn } = require('node:child_process')
const { once } = require('node:events')
const { createServer } = require('node:http')
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

/** Stands before a provider, and keeps the bodies of requests. */
async function recorder(t, url) {
  const bodies = []
  const server = createServer((request, response) => {
    const chunks = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', async () => {
      const body = Buffer.concat(chunks)
      if (body.length > 0) bodies.push(JSON.parse(body))
      const headers = { 'content-type': 'application/json' }
      const answer = await fetch(url + request.url, { method: request.method, headers, ...(body.length > 0 ? { body } : {}) })
      response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'text/plain' })
      response.end(Buffer.from(await answer.arrayBuffer()))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return { url: `http://127.0.0.1:${server.address().port}`, bodies }
}

module.exports = { program, recorder, upstream }
