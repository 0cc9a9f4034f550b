// The reading exam, where its figures were given: score against cost, and against mean context.

import { el } from "./dom.js";
import { cost, percentSign } from "./format.js";
import { domains, scatter } from "./scatter.js";

const rows = (run) => [["exam score", percentSign(run.figure.score)], ["mean context, in windows", cost(run.figure.context)], ["cost, times raw", cost(run.figure.cost)]];

const PICTURES = [
  { title: "By cost", of: (figure) => figure.cost, axes: { x: "cost, times raw history", y: "exam score", name: "Exam score against cost", rows, value: cost } },
  { title: "By mean context", of: (figure) => figure.context, axes: { x: "mean context, in windows", y: "exam score", name: "Exam score against context", rows, value: cost } },
];

/** A figure as a run, so that it is drawn like one. */
const asRun = (figure, x) => ({ strategy: figure.strategy, figure, conversations: [], totals: { cost: x, at_risk: figure.score, over: figure.over, invalid: figure.invalid } });

export function exam(figures, { chosen, choose }) {
  if (figures.length === 0) return null;
  return el("div", {}, el("h3", {}, "The reading exam"),
    el("p", { class: "lead" }, "Questions about what an agent has to know to carry on, held against what each strategy would have sent. These are the exam's own conversations, not those above."),
    el("div", { class: "multiples", style: "margin-top:14px" }, PICTURES.map(({ title, of, axes }) => {
      const runs = figures.map((figure) => asRun(figure, of(figure)));
      return el("figure", {}, el("figcaption", {}, title), scatter(runs, { chosen, choose, domain: domains(runs), axes }));
    })));
}
