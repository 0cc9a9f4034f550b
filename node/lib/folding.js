'use strict'

/** What a compaction did, from JSON, with the names of Node. */
function folding(json) {
  const { token_line: tokenLine, ...others } = JSON.parse(json)
  return { ...others, tokenLine }
}

module.exports = { folding }
