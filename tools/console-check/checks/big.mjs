// 10,000 sessions, and a session of 100,000 messages: how soon they stand, how they scroll, what they take.

import { launch, open as openPage, settled, WIDE } from "../browser.mjs";
import { place, same } from "./support.mjs";

/** The long session of the made-up server. */
const BIG = "session-00001";
/** Far below what 10,000 rows would be. */
const MOST_NODES = 4000;

/** When something stands, by the page's own clock. */
const timing = (page, name) => page.evaluate((mark) => ({
  paint: performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? -1, stands: performance.getEntriesByName(mark)[0]?.startTime ?? -1,
}), name);

/** Scrolls through a box, or the page, in big steps; gives the longest frame, and the most nodes at a time. */
const scrollThrough = (page, selector, frames) => page.evaluate(async ([wanted, most]) => {
  const box = wanted ? document.querySelector(wanted) : document.scrollingElement;
  let [longest, nodes, last] = [0, 0, performance.now()];
  const gaps = [];
  const step = () => Math.max(900, (box.scrollHeight - box.clientHeight) / most);
  for (let frame = 0; frame < most * 3; frame += 1) {
    if (box.scrollTop + box.clientHeight >= box.scrollHeight - 2 && frame > most) break;
    box.scrollTop += step();
    await new Promise(requestAnimationFrame);
    const now = performance.now();
    gaps.push(now - last);
    longest = Math.max(longest, now - last);
    last = now;
    nodes = Math.max(nodes, document.getElementsByTagName("*").length);
  }
  gaps.sort((a, b) => a - b);
  return { longest: Math.round(longest), p95: Math.round(gaps[Math.floor(gaps.length * 0.95)]), frames: gaps.length, nodes };
}, [selector, frames]);

const heap = (page) => page.evaluate(() => {
  window.gc?.();
  return Math.round(performance.memory.usedJSHeapSize / 1e6);
});
const tell = (what, seen) => console.log(`      ${what}: longest frame ${seen.longest} ms, 95th percentile ${seen.p95} ms of ${seen.frames}, ${seen.nodes} nodes at most`);

export async function big({ test, mock, base, long }) {
  const id = mock ? BIG : long;
  if (!id) return;
  const browser = await launch();
  const open = async (hash, selector) => {
    const opened = await openPage(browser, base, "#/forgot", WIDE);
    await opened.page.addInitScript((wanted) => {
      const observer = new MutationObserver(() => {
        if (!document.querySelector(wanted)) return;
        performance.mark("stands");
        observer.disconnect();
      });
      observer.observe(document, { childList: true, subtree: true });
    }, selector);
    await opened.page.goto("about:blank");
    await opened.page.goto(`${base}/${hash}`);
    await opened.page.waitForSelector(selector);
    await settled(opened.page);
    return opened;
  };

  await test("10,000 sessions: stand at once, scroll to the end, few rows in the page", async () => {
    const { page, faults, close } = await open("#/", "[data-session]");
    const { paint, stands } = await timing(page, "stands");
    console.log(`      first paint ${Math.round(paint)} ms, rows after ${Math.round(stands)} ms`);
    if (Math.max(paint, stands) > 1000) throw new Error("not within 1 s");
    const seen = await scrollThrough(page, null, 400);
    tell("scrolling while pages are read", seen);
    for (let i = 0; i < 200 && (await page.evaluate(() => Number(document.querySelector("[data-index]")?.getAttribute("aria-setsize")))) < 10_000; i += 1) {
      await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
      await page.waitForTimeout(50);
    }
    await page.evaluate(() => scrollTo(0, 0));
    const again = await scrollThrough(page, null, 200);
    tell("scrolling through all of them", again);
    const size = await page.evaluate(() => Number(document.querySelector("[data-index]")?.getAttribute("aria-setsize")));
    if (size < 10_000) throw new Error(`the list has ${size} rows`);
    console.log(`      heap ${await heap(page)} MB`);
    if (Math.max(seen.nodes, again.nodes) > MOST_NODES) throw new Error("too many nodes");
    same(faults, [], "faults");
    await close();
  });

  await test("a session of 100,000 messages: the fabric stands, a fold opens", async () => {
    const { page, faults, close } = await open(place(id), ".fabric canvas");
    const { paint, stands } = await timing(page, "stands");
    console.log(`      first paint ${Math.round(paint)} ms, fabric after ${Math.round(stands)} ms`);
    if (paint > 1000) throw new Error("not within 1 s");
    const drawn = await page.evaluate(async () => {
      const begun = performance.now();
      [...document.querySelectorAll(".segments button")].find((button) => button.textContent === "By tokens").click();
      await new Promise(requestAnimationFrame);
      return Math.round(performance.now() - begun);
    });
    console.log(`      drawn again by tokens in ${drawn} ms`);
    const begun = Date.now();
    const rows = await page.locator(".fabric .rows button").count();
    await page.locator(".fabric .rows button").nth(mock ? 59 : 0).click();
    await page.waitForSelector(".seam .pair");
    console.log(`      a fold opens in ${Date.now() - begun} ms; heap ${await heap(page)} MB`);
    if (mock) same(rows, 61, "rows");
    same(faults, [], "faults");
    await close();
  });

  await test("100,000 messages: scroll to the end, jump to a number, few rows in the page", async () => {
    const { page, faults, close } = await open(place(id, "/messages"), ".message-row .who");
    const { paint, stands } = await timing(page, "stands");
    console.log(`      first paint ${Math.round(paint)} ms, messages after ${Math.round(stands)} ms`);
    const seen = await scrollThrough(page, ".messages-box", 300);
    tell("scrolling through all of them", seen);
    if (seen.nodes > MOST_NODES) throw new Error("too many nodes");
    await page.locator("#jump").fill("77777");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.querySelector('[data-index="77777"] .who') && document.querySelector(".message h3")?.textContent.includes("77777"));
    console.log(`      heap ${await heap(page)} MB`);
    same(faults, [], "faults");
    await close();
  });

  if (mock) await test("5,000 requests: the chart and the table stand", async () => {
    const { page, faults, close } = await open(place(id, "/requests"), ".call-row");
    const { paint, stands } = await timing(page, "stands");
    console.log(`      first paint ${Math.round(paint)} ms, requests after ${Math.round(stands)} ms; heap ${await heap(page)} MB`);
    tell("scrolling through the table", await scrollThrough(page, ".calls-box", 120));
    same(await page.locator("[data-mark=context]").count(), 1, "lines");
    same(faults, [], "faults");
    await close();
  });
  await browser.close();
}
