// Texts that try to break out of the page are text and nothing else.

import { HOSTILE } from "../../../ui/console/mock/session.mjs";
import { PHONE, settled, WIDE } from "../browser.mjs";
import { makeSession, open, place, same } from "./support.mjs";

export async function hostile(given) {
  const { test, mock, call } = given;
  const made = mock ? { id: "session-00002" } : await makeSession(given, HOSTILE.flatMap((text) => [{ role: "user", content: text }, { role: "assistant", content: text }]), { id: "console-check-hostile", model: HOSTILE[3] });
  const text = encodeURIComponent(HOSTILE[0]);
  const all = ["", "/messages/4", "/requests", `/forgot?text=${text}`, ...(mock ? ["/fold/1", "/fold/2", "/fold/3", "/requests/1"] : [])].map((part) => place(made.id, part));
  for (const hash of ["#/", `#/?q=${text}`, `#/forgot?text=${text}`, ...all]) {
    await test(`hostile texts at ${decodeURIComponent(hash).slice(0, 44)}: nothing runs, nothing is fetched`, async () => {
      for (const view of [WIDE, PHONE]) {
        const { page, faults, close } = await open(given, hash, view);
        for (const button of await page.locator(".seam .segments button").all()) {
          await button.click();
          await settled(page);
        }
        for (const each of await page.locator(".sent summary, .message-row button").all().then((list) => list.slice(0, 6))) await each.click();
        const box = await page.locator("canvas").first().boundingBox().catch(() => null);
        if (box && (await page.locator("canvas").count())) for (let x = 2; x < 80; x += 3) await page.mouse.move(box.x + x, box.y + 50);
        await settled(page);
        same(await page.evaluate(() => [window.pwned ?? null, document.images.length, document.querySelectorAll("main script, main img, main svg[onload], main iframe").length]), [null, 0, 0], "pwned, images, elements");
        same(faults, [], "faults");
        await close();
      }
    });
  }
  if (!mock) await call("DELETE", `/v1/sessions/${encodeURIComponent(made.id)}`);
}
