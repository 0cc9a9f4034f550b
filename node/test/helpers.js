'use strict'
// What the tests share.

/** A call and its result. */
function step(n) {
  const fn = { name: 'read_file', arguments: JSON.stringify({ path: `src/part_${n}.py` }) }
  return [
    { role: 'assistant', content: `Reading part ${n}.`, tool_calls: [{ id: `c${n}`, type: 'function', function: fn }] },
    { role: 'tool', tool_call_id: `c${n}`, content: `def settle_${n}(): ...\n`.repeat(60) },
  ]
}

/** A conversation of so many steps. */
function history(steps, task = 'LED-4100: refunds are booked twice. Find out why.') {
  const messages = [
    { role: 'system', content: 'You are careful.' },
    { role: 'user', content: task },
  ]
  for (let n = 0; n < steps; n++) messages.push(...step(n))
  return messages
}

module.exports = { step, history }
