'use strict'
// Builds the addon from source and puts it beside this file: `npm run build`, in a checkout with a Rust
// toolchain. `CARGO_TARGET_DIR` and the profile (`node build.js --profile dist`) are cargo's.

const { execFileSync } = require('node:child_process')
const { copyFileSync } = require('node:fs')
const path = require('node:path')

const root = path.join(__dirname, '..')
const at = process.argv.indexOf('--profile')
const profile = at > 0 ? process.argv[at + 1] : 'release'
const arguments_ = ['build', '--locked', '--profile', profile, '-p', 'midfold-node', '--features', 'hf']
execFileSync('cargo', arguments_, { cwd: root, stdio: 'inherit' })

const names = { win32: 'midfold_node.dll', darwin: 'libmidfold_node.dylib' }
const name = names[process.platform] ?? 'libmidfold_node.so'
const target = path.resolve(root, process.env.CARGO_TARGET_DIR ?? 'target')
const built = path.join(target, profile === 'dev' ? 'debug' : profile, name)
copyFileSync(built, path.join(__dirname, 'midfold.node'))
