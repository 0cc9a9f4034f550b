// What changes on the server shows in the page; a lost connection comes back; a key is asked for.

import { start } from "../../../ui/console/mock.mjs";
import { open as openPage, WIDE } from "../browser.mjs";
import { holds, makeSession, open, place, same } from "./support.mjs";

export async function live(given) {
  const { test, mock, call, browser } = given;
  const made = await makeSession(given, [{ role: "user", content: "A session of the console's check." }]);
  const append = (text) => call("POST", `/v1/sessions/${encodeURIComponent(made.id)}/messages`, { messages: [{ role: "user", content: text }] });
  const events = async () => (await call("GET", `/v1/sessions/${encodeURIComponent(made.id)}`)).events;

  await test("live: the row of a session changes with an append, and a new session comes to the top", async () => {
    const { page, faults, close } = await open(given, "#/");
    await page.waitForSelector('html[data-live="live"]');
    await page.waitForSelector(`[data-session="${made.id}"]`);
    const times = [];
    for (let i = 0; i < 5; i += 1) {
      const wanted = `${((await events()) + 1).toLocaleString("en")} messages`;
      const begun = performance.now();
      await append(`Message ${i}`);
      await page.waitForFunction(([id, text]) => document.querySelector(`[data-session="${id}"]`)?.textContent?.includes(text), [made.id, wanted], { polling: "raf" });
      times.push(performance.now() - begun);
    }
    console.log(`      append to change of the row: ${times.map((time) => `${Math.round(time)} ms`).join(", ")}`);
    // Generous: a second is the aim, and the machine may be busy.
    if (Math.max(...times) > 3000) throw new Error("slower than 3 s");
    const other = await makeSession(given, [{ role: "user", content: "Another one" }]);
    await page.waitForSelector(`[data-session="${other.id}"]`);
    same(await page.locator('[data-index="0"]').getAttribute("data-session"), other.id, "the first row");
    await call("DELETE", `/v1/sessions/${encodeURIComponent(other.id)}`);
    await page.waitForSelector(`[data-session="${other.id}"]`, { state: "detached" });
    same(faults, [], "faults");
    await close();
  });

  await test("live: an open session grows", async () => {
    const { page, faults, close } = await open(given, place(made.id, "/messages"));
    await page.waitForSelector('html[data-live="live"]');
    await append("A message that comes while one looks");
    await page.waitForFunction(() => document.querySelector(".messages-box")?.textContent?.includes("while one looks"));
    same(faults, [], "faults");
    await close();
  });
  await call("DELETE", `/v1/sessions/${encodeURIComponent(made.id)}`);
  if (!mock) return;

  await test("live: eight tabs are live over one stream, and the next one has it when the first is closed", async () => {
    const own = await start({ sessions: 30 });
    const context = await browser.newContext({ viewport: WIDE });
    context.setDefaultTimeout(15_000);
    const pages = [];
    for (let at = 0; at < 8; at += 1) {
      const page = await context.newPage();
      await page.goto(`${own.url}/#/`);
      await page.waitForSelector('html[data-live="live"]');
      await page.waitForSelector("[data-session]");
      pages.push(page);
    }
    const first = (id) => Promise.all(pages.map((page) => page.waitForFunction((wanted) => document.querySelector('[data-index="0"]')?.getAttribute("data-session") === wanted, id)));
    own.append("session-00005");
    await first("session-00005");
    await pages.shift().close();
    // What happens while nobody has the stream is read again.
    own.append("session-00006");
    await first("session-00006");
    own.append("session-00007");
    await first("session-00007");
    await context.close();
    await own.close();
  });

  await test("live: after a lost connection the list is read again", async () => {
    const own = await start({ sessions: 30 });
    const { page, close } = await openPage(browser, own.url, "#/", WIDE);
    await page.waitForSelector('html[data-live="live"]');
    own.dropListeners();
    await page.waitForFunction(() => document.documentElement.dataset.live !== "live");
    own.append("session-00005");
    await page.waitForSelector('html[data-live="live"]');
    await page.waitForFunction(() => document.querySelector('[data-index="0"]')?.getAttribute("data-session") === "session-00005");
    await close();
    await own.close();
  });

  await test("key: asked for once, a wrong one is refused, the right one is kept for the tab", async () => {
    const own = await start({ sessions: 5, key: "right" });
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(own.url);
    await page.waitForSelector("dialog[open] #key");
    same(await page.locator("dialog").count(), 1, "dialogs");
    await page.locator("#key").fill("wrong");
    await page.keyboard.press("Enter");
    await page.waitForSelector("dialog:has-text('not accepted')");
    await page.locator("#key").fill("right");
    await page.keyboard.press("Enter");
    await page.waitForSelector("[data-session]");
    await page.waitForSelector('html[data-live="live"]');
    await page.reload();
    await page.waitForSelector("[data-session]");
    same(await page.evaluate(() => [sessionStorage.getItem("midfold-key"), localStorage.getItem("midfold-key")]), ["right", null], "where the key is");
    await context.close();
    await own.close();
  });

  await test("key: one of another scope says what is wrong, and another one is given on the page, now or later", async () => {
    const own = await start({ sessions: 5, key: "right", narrow: "proxy-only" });
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(`${own.url}/#/`);
    const give = async (key) => {
      await page.locator("#key").fill(key);
      await page.keyboard.press("Enter");
    };
    await page.waitForSelector("dialog[open] #key");
    await give("proxy-only");
    await page.waitForSelector("dialog:has-text('may not look at sessions')");
    holds(await page.locator("dialog").innerText(), "it needs the scope `sessions`");
    holds(await page.locator("dialog").innerText(), "midfold serve key new NAME --scope sessions");
    // Put off: the page says so, and asks again when it is asked to; a reload does not lock it.
    await page.keyboard.press("Escape");
    await page.waitForSelector("main button:has-text('Give another key')");
    await page.waitForSelector('html[data-live="refused"]');
    await page.reload();
    await page.waitForSelector("dialog[open] #key");
    await page.getByRole("button", { name: "Not now" }).click();
    await page.getByRole("button", { name: "Give another key" }).click();
    await page.waitForSelector("dialog[open] #key");
    await give("right");
    await page.waitForSelector("[data-session]");
    await page.waitForSelector('html[data-live="live"]');
    // With a key that is right, another one can still be given.
    await page.getByRole("button", { name: "Key …" }).click();
    await give("proxy-only");
    await page.waitForSelector("dialog:has-text('may not look at sessions')");
    await give("right");
    await page.waitForSelector("[data-session]");
    await context.close();
    await own.close();
  });

  await test("key: one that sees sessions and not the server locks nothing; another one opens the server", async () => {
    const own = await start({ sessions: 5, key: "right", own: "of-ann" });
    const { page, close } = await openPage(browser, own.url, "#/server", WIDE, "light", "of-ann");
    holds(await page.locator("main").innerText(), "--scope admin");
    same(await page.locator("dialog").count(), 0, "dialogs");
    await page.getByRole("link", { name: "Sessions", exact: true }).click();
    await page.waitForSelector("[data-session]");
    await page.getByRole("link", { name: "Server", exact: true }).click();
    await page.getByRole("button", { name: "Give another key" }).click();
    await page.locator("#key").fill("right");
    await page.keyboard.press("Enter");
    await page.waitForSelector(".server .up");
    await close();
    await own.close();
  });

  await test("a server that keeps conversations in memory alone says so, and how to get more; that is no fault", async () => {
    const own = await start({ sessions: 5, memory: true });
    for (const hash of ["#/", place("session-00000")]) {
      const { page, close } = await openPage(browser, own.url, hash, WIDE);
      await page.waitForSelector('html[data-live="memory"]');
      holds(await page.locator("main").innerText(), "midfold serve --store sqlite:");
      same(await page.locator(".empty.bad").count(), 0, "errors that the page shows");
      await page.locator("main").getByRole("link", { name: "Server" }).click();
      await page.waitForFunction(() => document.querySelector(".server")?.textContent.includes("gone when it ends"));
      await close();
    }
    await own.close();
  });

  await test("an empty store says how to get a session", async () => {
    const own = await start({ sessions: 0 });
    const { page, faults, close } = await openPage(browser, own.url, "#/", WIDE);
    const text = await page.locator("main").innerText();
    holds(text, `OPENAI_BASE_URL=${own.url}/v1`);
    holds(text, "midfold import FILE");
    same(faults, [], "faults");
    await close();
    await own.close();
  });
}
