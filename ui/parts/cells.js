// Cells of a fabric: where events begin, which fate a column of pixels shows. Work is per run and per column, not per
// event, so that 60 folds over 100,000 events are drawn at once.

/** Where each of `size` cells begins, and where the last one ends. */
export function prefix(size, width) {
  const starts = new Float64Array(size + 1);
  for (let seq = 0; seq < size; seq += 1) starts[seq + 1] = starts[seq] + width(seq);
  return starts;
}

const lengthOf = ([, length]) => Math.max(0, Math.min(2e6, Number(length) || 0));

/** Where each run of fates begins, and where the last one ends. */
export function runStarts(fates) {
  const starts = [0];
  for (const run of fates) starts.push(starts[starts.length - 1] + lengthOf(run));
  return starts;
}

/** The fate of event `seq`, or undefined after the last run. */
export function fateAt(fates, starts, seq) {
  if (seq >= starts[starts.length - 1]) return undefined;
  let [low, high] = [0, fates.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (starts[middle] <= seq) low = middle;
    else high = middle - 1;
  }
  return fates[low][0];
}

/**
 * The fate that each column of device pixels shows: the one with the most of it, and of equals the rarer. Pure
 * colours; letting the canvas mix the fates of narrow cells would make colours that stand for nothing. Gives equal
 * neighbours together, as [fate, from column, to column], and how many events have each fate.
 */
export function columnRuns(fates, starts, edges, unit) {
  const counts = {};
  for (const run of fates) counts[run[0]] = (counts[run[0]] ?? 0) + lengthOf(run);
  const end = edges[starts[starts.length - 1]] ?? edges[edges.length - 1];
  const edge = (at) => edges[starts[at]];
  const runs = [];
  let at = 0;
  let column = 0;
  for (let left = 0; left < end - unit / 2; left += unit, column += 1) {
    const right = left + unit;
    while (at < fates.length - 1 && edge(at + 1) <= left) at += 1;
    let best = fates[at][0];
    if (edge(at + 1) < right) {
      const held = {};
      for (let next = at; next < fates.length && edge(next) < right; next += 1) held[fates[next][0]] = (held[fates[next][0]] ?? 0) + Math.min(right, edge(next + 1)) - Math.max(left, edge(next));
      for (const fate of Object.keys(held)) {
        const more = held[fate] - held[best];
        if (more > 1e-9 || (more > -1e-9 && counts[fate] < counts[best])) best = fate;
      }
    }
    const last = runs[runs.length - 1];
    if (last && last[0] === best) last[2] = column + 1;
    else runs.push([best, column, column + 1]);
  }
  return { runs, counts };
}
