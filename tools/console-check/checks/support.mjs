// What the checks share.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { open as openPage } from "../browser.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Opens a place, with the key where one was given. */
export const open = ({ browser, base, key }, hash, view, scheme) =>
  openPage(browser, base, hash, view, scheme, key);

export function same(found, wanted, what) {
  const [a, b] = [JSON.stringify(found), JSON.stringify(wanted)];
  if (a !== b) throw new Error(`${what}: found ${a?.slice(0, 900)}, wanted ${b?.slice(0, 600)}`);
}
export function holds(text, part) {
  if (!String(text).includes(part)) throw new Error(`${JSON.stringify(part)} is not in ${JSON.stringify(String(text).slice(0, 600))}`);
}

/** What axe finds, whatever its weight. */
export async function axeFaults(page) {
  await page.evaluate(axe);
  const found = await page.evaluate(async () => {
    const { violations } = await window.axe.run(document, { resultTypes: ["violations"] });
    return violations.map(({ id, impact, nodes }) => ({ id, impact, nodes: nodes.slice(0, 3).map(({ target, failureSummary }) => `${target.join(" ")}: ${failureSummary?.split("\n")[1]?.trim() ?? ""}`), all: nodes.length }));
  });
  return found.map(({ id, impact, nodes, all }) => `${id} (${impact}, ${all}): ${nodes.join(" | ")}`);
}

/** A session of the check's own, to be deleted again. */
export async function makeSession({ call }, messages, more = {}) {
  const made = await call("POST", "/v1/sessions", more);
  if (messages.length) await call("POST", `/v1/sessions/${encodeURIComponent(made.id)}/messages`, { messages });
  return made;
}

/** A session that has folds and requests, if the server has one. */
export async function someSession({ call }) {
  const { sessions } = await call("GET", "/v1/sessions?limit=100");
  return sessions.find(({ folds, calls, events }) => folds > 1 && calls > 0 && events < 5000) ?? sessions.find(({ folds }) => folds > 0) ?? sessions[0] ?? null;
}

export const place = (id, part = "") => `#/session/${encodeURIComponent(id)}${part}`;

/** Nothing may say these where it shows data that were made up. */
const BAD = ["undefined", "NaN", "[object", "Infinity"];
export async function sound(page, faults, { strict = true } = {}) {
  same(faults, [], "console, policy, dialogs, foreign requests");
  const room = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
  if (room[0] > room[1]) throw new Error(`the page is ${room[0]} wide in a window of ${room[1]}`);
  same(await page.locator(".empty.bad").allInnerTexts(), [], "errors that the page shows");
  if (!strict) return;
  const text = await page.locator("body").innerText();
  for (const word of BAD) if (text.includes(word)) throw new Error(`the page says "${word}"`);
}
