'use strict'
// The types say what the package has: each name, in one spelling and with words, and the values that come out.

const assert = require('node:assert/strict')
const { mkdtempSync, rmSync } = require('node:fs')
const { tmpdir } = require('node:os')
const path = require('node:path')
const { test } = require('node:test')

const midfold = require('midfold')
const { history, step } = require('./helpers.js')

let ts
try {
  ts = require('typescript')
} catch {
  ts = null
}
const skip = ts ? false : 'TypeScript is not installed'
const options = () => ({
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  target: ts.ScriptTarget.ES2022,
  strict: true,
  noEmit: true,
  skipLibCheck: true,
  types: ['node'],
  typeRoots: [path.join(__dirname, '..', 'node_modules', '@types')],
})

/** The program over the package's types, and its files by their names in the package. */
function declared() {
  const root = path.dirname(require.resolve('midfold/package.json'))
  const program = ts.createProgram([path.join(root, 'index.d.ts')], options())
  // The path within the package: a checkout may be in a folder of the same name.
  const within = (file) => path.relative(root, file.fileName)
  const own = program.getSourceFiles().filter((file) => !within(file).startsWith('..'))
  return { checker: program.getTypeChecker(), files: new Map(own.map((file) => [within(file), file])) }
}

/** Every exported declaration and each of its members: a name and the node. */
function* declarations(file) {
  for (const node of file.statements) {
    if (!node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) continue
    const named = ts.isVariableStatement(node) ? node.declarationList.declarations[0] : node
    yield [named.name.text, node]
    for (const member of node.members ?? []) {
      if (member.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.PrivateKeyword)) continue
      yield [`${named.name.text}.${member.name?.text ?? 'constructor'}`, member]
    }
  }
}

test('everything in the types has words', { skip }, () => {
  const { files } = declared()
  const records = ['entry', 'fold', 'narration', 'policy', 'session', 'tool'].map((name) => `lib/types/${name}.d.ts`)
  assert.deepEqual([...files.keys()].sort(), ['index.d.ts', ...records])
  const silent = []
  for (const [name, file] of files) {
    for (const [what, node] of declarations(file)) {
      // The one word that tells the parts of a union apart says itself; a part of one field is said by its own words.
      const isTag = node.type && ts.isLiteralTypeNode(node.type) && name !== 'index.d.ts'
      const isOnly = node.parent.members?.length === 1
      if (!ts.getJSDocCommentsAndTags(node).length && !isTag && !isOnly) silent.push(what)
    }
  }
  assert.deepEqual(silent, [])
})

test('names are in camel case, and what is known is no any', { skip }, () => {
  const file = declared().files.get('index.d.ts')
  const words = [...declarations(file)].map(([what]) => what)
  assert.ok(words.includes('Folding.tokenLine'))
  assert.deepEqual(words.filter((what) => what.includes('_')), ['AnthropicTool.input_schema'])
  const open = []
  const look = (node, within) => {
    const name = ts.isTypeAliasDeclaration(node) ? node.name.text : within
    if ([ts.SyntaxKind.AnyKeyword, ts.SyntaxKind.ObjectKeyword].includes(node.kind)) open.push(within)
    ts.forEachChild(node, (child) => look(child, name))
  }
  look(file)
  assert.deepEqual(open, ['Message', 'Tool'])
})

test('classes and functions are those of the package', { skip }, () => {
  const { checker, files } = declared()
  const exports = checker.getExportsOfModule(checker.getSymbolAtLocation(files.get('index.d.ts')))
  const values = exports.filter(({ flags }) => flags & ts.SymbolFlags.Value)
  assert.deepEqual(values.map(({ name }) => name).sort(), Object.keys(midfold).sort())
  const session = new midfold.Session({ window: 8_000 })
  const context = session.project(history(1))
  for (const object of [session, context, new midfold.Sessions()]) {
    const type = checker.getDeclaredTypeOfSymbol(values.find(({ name }) => name === object.constructor.name))
    const typed = type.getProperties().map(({ name }) => name)
    const own = [object, Object.getPrototypeOf(object)].flatMap(Object.getOwnPropertyNames)
    const there = own.filter((name) => name !== 'constructor' && !name.startsWith('_'))
    assert.deepEqual(typed.sort(), there.sort())
  }
})

/** What comes out, with the type of each. */
function returned(place) {
  const session = new midfold.Session({ window: 8_000, store: place, narrate: place === undefined })
  const kept = history(0)
  const values = []
  let request = null
  for (let n = 0; n < 60; n++) {
    kept.push(...step(n))
    const context = session.project(kept)
    session.observe(context.tokens + 40, 12, { call: context.call })
    if (place !== undefined) continue
    request ??= session.wants()
    if (request) session.complete(request, { error: 'timeout' })
  }
  session.pin(3)
  const folding = session.compact('settle_4')
  const sent = session.context({ inject: { memory: 'They like tabs.' }, reserve: { memory: 200 } })
  assert.ok(session.folds().length > 2 && sent.injections.length === 1)
  values.push(['Folding', folding], ['Folding', session.preview()], ['Fold[]', session.folds()])
  values.push(['SessionStatus', session.status()], ['AuditReport', session.audit()], ['Injection[]', sent.injections])
  for (const asked of ['settle_4', 'LED-4100', 'nowhere', 0, 3, 30]) values.push(['Explanation', session.explain(asked)])
  for (const preset of midfold.presets()) values.push(['Result<Message[]>', midfold.compact(kept, { window: 8_000, preset })])
  values.push(['OpenAiTool[]', midfold.recallTools()], ['AnthropicTool[]', midfold.recallTools('anthropic')])
  if (request) values.push(['PromptMessage[]', request.messages])
  return values
}

/** What TypeScript says of constants of these types. */
function complaints(values) {
  const names = [...new Set(values.flatMap(([type]) => type.match(/[A-Z]\w+/g)))]
  const lines = values.map(([type, value], at) => `export const value${at}: ${type} = ${JSON.stringify(value)}`)
  const text = [`import type { ${names.join(', ')} } from 'midfold'`, ...lines].join('\n')
  const file = path.join(__dirname, 'returned.mts')
  const host = ts.createCompilerHost(options())
  const { getSourceFile, fileExists, readFile } = host
  host.fileExists = (name) => name === file || fileExists.call(host, name)
  host.readFile = (name) => (name === file ? text : readFile.call(host, name))
  host.getSourceFile = (name, target) =>
    name === file ? ts.createSourceFile(name, text, target, true) : getSourceFile.call(host, name, target)
  const program = ts.createProgram([file], options(), host)
  return ts.getPreEmitDiagnostics(program).map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))
}

test('what comes out is of its type', { skip }, (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'midfold-'))
  t.after(() => rmSync(folder, { recursive: true }))
  for (const place of [undefined, `sqlite:${path.join(folder, 'sessions.db')}`]) {
    assert.deepEqual(complaints(returned(place)), [])
  }
  const status = new midfold.Session().status()
  assert.match(complaints([['SessionStatus', { ...status, more: 1 }]]).join(), /more/)
  delete status.events
  assert.match(complaints([['SessionStatus', status]]).join(), /events/)
})
