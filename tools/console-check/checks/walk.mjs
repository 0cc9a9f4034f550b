// With the keyboard alone: list, session, fold, what it lost, why it forgot, the dialog of an action, and back.

import { open, same, someSession } from "./support.mjs";
import { settled } from "../browser.mjs";

export async function walk(given) {
  const { test } = given;
  const session = await someSession(given);
  if (!session?.folds) return;

  await test("keyboard only: list → session → fold → what it lost → forgot → dialog → back; the focus is always seen", async () => {
    const { page, faults, close } = await open(given, `#/?q=${encodeURIComponent(session.id)}`);
    await page.waitForSelector("[data-session]");
    const hidden = [];
    const look = async () => {
      const seen = await page.evaluate(() => {
        const node = document.activeElement;
        if (!node || node === document.body) return "nothing has the focus";
        const { outlineStyle, outlineWidth } = getComputedStyle(node);
        return outlineStyle !== "none" && Number.parseFloat(outlineWidth) >= 2 ? "" : `${node.tagName}.${node.className}`;
      });
      if (seen) hidden.push(seen);
    };
    /** Presses Tab until what has the focus fits; counts the steps. */
    const tabTo = async (what, selector, most = 60) => {
      for (let step = 1; step <= most; step += 1) {
        await page.keyboard.press("Tab");
        await look();
        if (await page.evaluate((wanted) => document.activeElement?.matches(wanted), selector)) return step;
      }
      throw new Error(`${most} steps of Tab do not lead to ${what}`);
    };
    await page.keyboard.press("Tab");
    same(await page.evaluate(() => document.activeElement?.className), "skip", "the first stop");
    await tabTo("a session", "[data-session] a");
    await page.keyboard.press("End");
    await page.keyboard.press("Home");
    await page.keyboard.press("Enter");
    await page.waitForSelector(".fabric canvas");
    await settled(page);
    await tabTo("the fabric", ".fabric canvas");
    await page.keyboard.press("ArrowUp");
    await page.waitForSelector(".seam");
    await settled(page);
    await page.keyboard.press("Enter");
    await look();
    same(await page.evaluate(() => document.activeElement?.textContent), "Recap", "Enter on the fabric");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.waitForSelector(".names a, .seam-body .lead");
    if (await page.locator(".names a").count()) {
      await tabTo("a lost name", ".names a");
      await page.keyboard.press("Enter");
    } else {
      await page.goto(`${given.base}/#/session/${encodeURIComponent(session.id)}/forgot?text=the`);
    }
    await page.waitForSelector(".explanation");
    await settled(page);
    if (await page.locator(".occurrence .actions button").count()) {
      await tabTo("an action", ".occurrence .actions button", 200);
      await page.keyboard.press("Enter");
      await page.waitForSelector("dialog[open]");
      await page.waitForFunction(() => !document.querySelector("dialog .waiting, dialog [aria-busy]"));
      await look();
      await page.keyboard.press("Escape");
      await page.waitForFunction(() => !document.querySelector("dialog"));
      same(await page.evaluate(() => document.activeElement?.matches(".occurrence .actions button")), true, "the focus is back on the button");
    }
    await page.goBack();
    await page.waitForSelector(".seam, .fabric canvas");
    same(hidden, [], "stops without an outline");
    same(faults, [], "faults");
    await close();
  });

  await test("`?` says the keys of the keyboard, `/` goes to the search", async () => {
    const { page, faults, close } = await open(given, "#/");
    await page.waitForSelector("[data-session]");
    await page.keyboard.press("?");
    await page.waitForSelector("dialog[open] .keys");
    await page.keyboard.press("Escape");
    await page.waitForFunction(() => !document.querySelector("dialog"));
    await page.keyboard.press("/");
    same(await page.evaluate(() => document.activeElement?.id), "search", "what `/` goes to");
    await page.keyboard.type("?/");
    same(await page.locator("#search").inputValue(), "?/", "keys in a field are its text");
    same(faults, [], "faults");
    await close();
  });

  await test("a list is one stop of the Tab key, whatever its length", async () => {
    const { page, close } = await open(given, "#/");
    same(await page.locator('.virtual [tabindex="0"]').count(), 1, "stops of the list");
    await page.locator('.virtual [tabindex="0"]').focus();
    for (let i = 0; i < 30; i += 1) await page.keyboard.press("ArrowDown");
    const at = await page.evaluate(() => Number(document.activeElement?.closest("[data-index]")?.dataset.index));
    const there = Math.min(30, (await given.call("GET", "/v1/sessions?limit=100")).sessions.length - 1);
    same(at, there, "row after 30 steps down");
    same(await page.locator('.virtual [tabindex="0"]').count(), 1, "stops after moving");
    await close();
  });
}
