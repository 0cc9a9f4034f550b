// Lists in a window that is too small for them: what comes into sight is there, whatever it was that scrolled.

import { PHONE, settled } from "../browser.mjs";
import { open, place, same, someSession } from "./support.mjs";

const SMALL = { "390 pixels": PHONE, "a low window": { width: 1400, height: 420 }, "a low phone": { ...PHONE, height: 520 } };

/** The messages whose rows are in sight, and what they say. */
const inSight = (page, box) => page.evaluate((name) => {
  const seen = document.querySelector(name).getBoundingClientRect();
  const [top, bottom] = [Math.max(0, seen.top), Math.min(innerHeight, seen.bottom)];
  return [...document.querySelectorAll(`${name} [data-index]`)].filter((row) => {
    const own = row.getBoundingClientRect();
    return own.bottom > top + 1 && own.top < bottom - 1;
  }).map((row) => [Number(row.dataset.index), row.innerText.trim()]);
}, box);

export async function scroll(given) {
  const { test } = given;
  const session = await someSession(given);
  if (!session || session.events < 40) return;
  const { id } = session;
  const lists = { messages: [place(id, "/messages"), ".messages-box"], ...(session.calls > 40 ? { requests: [place(id, "/requests"), ".calls-box"] } : {}) };
  for (const [name, [hash, box]] of Object.entries(lists)) {
    for (const [size, view] of Object.entries(SMALL)) {
      await test(`${name}, ${size}: rows are there after the page was scrolled, and others after the list was`, async () => {
        const { page, faults, close } = await open(given, hash, view);
        await page.waitForSelector(box);
        // The page goes first, then the list, as under a wheel.
        await page.evaluate((wanted) => document.querySelector(wanted).scrollIntoView({ block: "start" }), box);
        await filled(page, box);
        const first = (await inSight(page, box)).map(([index]) => index);
        if (first.length < 4) throw new Error(`${first.length} rows in sight`);
        await page.evaluate((wanted) => { document.querySelector(wanted).scrollTop = 1e7; }, box);
        await page.waitForFunction((wanted) => [...document.querySelectorAll(`${wanted} [data-index]`)].some((row) => row.getAttribute("aria-posinset") === row.getAttribute("aria-setsize")), box);
        await filled(page, box);
        const later = (await inSight(page, box)).map(([index]) => index);
        same(later.filter((index) => first.includes(index)), [], "rows of before that are still in sight");
        same(faults, [], "faults");
        await close();
      });
    }
  }

  await test("messages, a low phone: the keyboard's row is in sight in the page too", async () => {
    const { page, close } = await open(given, lists.messages[0], SMALL["a low phone"]);
    await page.getByRole("button", { name: "Newest" }).click();
    await page.waitForFunction((last) => document.activeElement?.closest("[data-index]")?.dataset.index === String(last), session.events - 1);
    await settled(page);
    const [top, bottom, height] = await page.evaluate(() => { const own = document.activeElement.getBoundingClientRect(); return [own.top, own.bottom, innerHeight]; });
    if (top < 0 || bottom > height) throw new Error(`the row is at ${top} to ${bottom} of ${height}`);
    await close();
  });
}

/** Waits until each row in sight says something: none is missing in the box, none still waits for its message. */
async function filled(page, box) {
  await page.waitForFunction((name) => {
    const seen = document.querySelector(name).getBoundingClientRect();
    const [top, bottom] = [Math.max(0, seen.top), Math.min(innerHeight, seen.bottom)];
    const rows = [...document.querySelectorAll(`${name} [data-index]`)].map((row) => [row.getBoundingClientRect(), row.innerText.trim() && !row.querySelector(".first.dim")]).filter(([own]) => own.bottom > top && own.top < bottom);
    const covered = rows.reduce((sum, [own]) => sum + Math.min(own.bottom, bottom) - Math.max(own.top, top), 0);
    return bottom - top > 100 && covered > (bottom - top) * 0.9 && rows.every(([, says]) => says);
  }, box);
}
