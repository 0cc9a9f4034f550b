// Reads the replay out of the page and fills in what may be missing.

const array = (value) => (Array.isArray(value) ? value : []);
const object = (value) => (value && typeof value === "object" && !Array.isArray(value) ? value : {});

/** The replay, with every list there and every run numbered. */
export function read(text) {
  const raw = object(JSON.parse(text));
  const conversations = array(raw.conversations).map((talk, index) => {
    const own = object(talk);
    return { ...own, index, name: String(own.name ?? `conversation ${index + 1}`), events: array(own.events) };
  });
  const runs = array(raw.runs).map((run, index) => {
    const own = object(run);
    const parts = array(own.conversations).map(object);
    // Sums over nothing say nothing, whatever they are written as.
    const nothing = parts.length > 0 && parts.every((part) => part.error);
    return {
      ...own, index,
      strategy: String(own.strategy ?? "unnamed"), window: Number(own.window) || 0, form: String(own.form ?? "stateless"),
      totals: nothing ? {} : withReach(object(own.totals)),
      conversations: parts.map((it) => ({
        ...it, totals: object(it.totals), requests: array(it.requests),
        folds: withReasons(array(it.folds)),
        losses: array(it.losses),
      })),
    };
  });
  const unique = (list) => [...new Set(list)];
  return {
    ...raw, conversations, runs, prices: object(raw.prices),
    exam: array(raw.exam).map(object).filter((figure) => [figure.score, figure.context, figure.cost].every(Number.isFinite)).map((figure) => ({ ...figure, strategy: String(figure.strategy ?? "unnamed") })),
    windows: unique(runs.map((run) => run.window)).sort((a, b) => a - b),
    forms: unique(runs.map((run) => run.form)),
    strategies: unique(runs.map((run) => run.strategy)),
  };
}

/** What was in the context, or one search away. */
function withReach(totals) {
  const { at_risk: held, reachable: back } = totals;
  const both = Number.isFinite(held) && Number.isFinite(back) ? { within_reach: held + (1 - held) * back } : {};
  return { ...both, ...totals };
}

/** A fold says only the reasons that are new: those of the folds before stand. */
function withReasons(folds) {
  let why = {};
  return folds.map((fold, number) => {
    why = { ...why, ...object(fold?.why) };
    return { ...object(fold), number, fates: array(fold?.fates), why };
  });
}

export const runsOf = (data, window, form) => data.runs.filter((run) => run.window === window && run.form === form);

export const runOf = (data, { window, form, strategy }) =>
  data.runs.find((run) => run.window === window && run.form === form && run.strategy === strategy);

export const partOf = (run, conversation) => run?.conversations.find((part) => part.conversation === conversation);

/** Runs that can be placed in the picture: both figures are there, and something was at risk. */
export const placed = (runs) =>
  runs.filter((run) => Number.isFinite(run.totals.cost) && Number.isFinite(run.totals.at_risk) && run.totals.at_risk_need !== 0);

/** Whether every context of the run could really have been sent. */
export const sendable = (run) => !(run.totals.over > 0) && !(run.totals.invalid > 0);

/** Whether a run may be the best: what it left out, others had to replay. */
export const fair = (run) => sendable(run) && run.conversations.every((part) => !part.error);

/** The runs that no other run beats on one axis without being worse on the other, cheapest first. */
export function pareto(runs) {
  const better = (a, b) => a.totals.cost <= b.totals.cost && a.totals.at_risk >= b.totals.at_risk
    && (a.totals.cost < b.totals.cost || a.totals.at_risk > b.totals.at_risk);
  return placed(runs).filter((run) => !placed(runs).some((other) => better(other, run)))
    .sort((a, b) => a.totals.cost - b.totals.cost);
}

export const FATES = {
  v: { name: "verbatim", text: "sent as it was" },
  s: { name: "stub", text: "replaced by a line that says what stood there" },
  c: { name: "clipped", text: "shortened, its ends kept" },
  r: { name: "in the recap", text: "its place is taken by the recap" },
  m: { name: "behind the marker", text: "left out, a fixed marker in its place" },
  p: { name: "pinned", text: "kept although it is old" },
  x: { name: "other edit", text: "repaired, or dropped by another rule" },
};

/** Over how many events a fold reaches. */
export const foldLength = (fold) => fold.fates.reduce((total, [, length]) => total + (Number(length) || 0), 0);
