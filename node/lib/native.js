'use strict'
// The addon: the one that was built here, else the one that came with the package for this system.

const { existsSync } = require('node:fs')
const path = require('node:path')

const folder = path.join(__dirname, '..')
const system = `${process.platform}-${process.arch}`
const names = [process.env.MIDFOLD_ADDON, 'midfold.node', `midfold.${system}.node`]
const files = names.filter(Boolean).map((name) => path.resolve(folder, name))
const file = files.find((file) => existsSync(file))
if (file === undefined) {
  throw new Error(
    `midfold has no addon for ${system} in ${folder}: build it in a checkout, with Rust: npm run build`,
  )
}

module.exports = require(file)
