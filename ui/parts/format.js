// Numbers and words as they are shown.

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const isNumber = (value) => typeof value === "number" && Number.isFinite(value);

/** What stands where the replay has no figure. */
export const NONE = "–";

export const count = (value) => (isNumber(value) ? whole.format(value) : NONE);

/** 51,200 as 51.2k: for axes and narrow places. */
export function short(value) {
  if (!isNumber(value)) return NONE;
  if (Math.abs(value) < 1000) return String(Math.round(value));
  const [unit, name] = Math.abs(value) < 999500 ? [1e3, "k"] : Math.abs(value) < 999.5e6 ? [1e6, "M"] : [1e9, "G"];
  const scaled = value / unit;
  return `${scaled < 99.95 ? scaled.toFixed(1) : Math.round(scaled)}${name}`;
}

/** Likewise for the round figures of an axis: 20k. */
export const tick = (value) => short(value).replace(/\.0(?=\D|$)/, "");

/** A share as a percentage without its sign: 97.1. Only a whole is 100. */
export function percent(share) {
  if (!isNumber(share)) return NONE;
  if (share < 1 && share > 0.9995) return "99.9";
  return share === 1 ? "100" : (share * 100).toFixed(1);
}
export const percentSign = (share) => (isNumber(share) ? `${percent(share)} %` : NONE);

export const cost = (value) => (isNumber(value) ? value.toFixed(value < 10 ? 3 : 1) : NONE);
export const costSign = (value) => (isNumber(value) ? `${cost(value)} ×` : NONE);

export function price(value, unit) {
  if (!isNumber(value)) return NONE;
  if (/^USD/.test(unit)) return `$${value.toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: value < 1 ? 4 : 2 })}`;
  return short(value);
}

export function micros(value) {
  if (!isNumber(value)) return NONE;
  if (value < 1000) return `${Math.round(value)} µs`;
  if (value < 1e6) return `${(value / 1000).toFixed(value < 1e4 ? 1 : 0)} ms`;
  return `${(value / 1e6).toFixed(1)} s`;
}

/** "1 fold", "3 folds". */
export const many = (n, one, more = `${one}s`) => `${count(n)} ${n === 1 ? one : more}`;

export function list(words) {
  if (words.length < 2) return words.join("");
  return `${words.slice(0, -1).join(", ")} and ${words[words.length - 1]}`;
}
