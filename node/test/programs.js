'use strict'
// Hosts that are programs: where they are, and a clean home for one run of them.

const { spawn } = require('node:child_process')
const { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } = require('node:fs')
const { once } = require('node:events')
const { tmpdir } = require('node:os')
const path = require('node:path')

/** The folder of a package that may be installed: below MIDFOLD_TEST_HOSTS, else beside the tests. */
function installed(name) {
  const folder = path.join(process.env.MIDFOLD_TEST_HOSTS ?? path.join(__dirname, '..'), 'node_modules', name)
  return existsSync(folder) ? folder : null
}

/** An empty folder that is the home of a host for one test. */
function home(t) {
  const folder = mkdtempSync(path.join(tmpdir(), 'midfold-host-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(path.join(folder, 'project'))
  return folder
}

/** Writes a file below a folder: text as it is, else JSON. */
function write(folder, name, content) {
  const file = path.join(folder, name)
  mkdirSync(path.dirname(file), { recursive: true })
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
  return file
}

/** Starts a host with a clean environment. */
function start(t, folder, [program, ...given], more = {}) {
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    XDG_CONFIG_HOME: `${folder}/.config`,
    XDG_DATA_HOME: `${folder}/.local/share`,
    XDG_STATE_HOME: `${folder}/.local/state`,
    XDG_CACHE_HOME: `${folder}/.cache`,
    TERM: 'dumb',
    CI: '1',
    LANG: 'C.UTF-8',
    ...(process.env.MIDFOLD_ADDON ? { MIDFOLD_ADDON: process.env.MIDFOLD_ADDON } : {}),
    ...more,
  }
  const child = spawn(program, given, { cwd: `${folder}/project`, env, stdio: ['pipe', 'pipe', 'pipe'] })
  t.after(() => child.kill('SIGKILL'))
  const said = { out: '', err: '' }
  child.stdout.on('data', (data) => (said.out += data))
  child.stderr.on('data', (data) => (said.err += data))
  return { child, said }
}

/** Runs a host to its end; what it printed. */
async function finish(t, folder, command, more) {
  const { child, said } = start(t, folder, command, more)
  child.stdin.end()
  const [code] = await once(child, 'close')
  return { code, ...said }
}

module.exports = { installed, home, write, start, finish }
