// Every view: it stands, says nothing on the console, asks no other host, is no wider than the window, is accessible.

import { PHONE, settled, WIDE } from "../browser.mjs";
import { axeFaults, holds, open, place, same, someSession, sound } from "./support.mjs";

// A window of 1,400 pixels at 200 % is one of 700.
const SIZES = { wide: WIDE, phone: PHONE, "at 200 %": { width: 700, height: 450 } };

export async function views(given) {
  const { test, mock, call } = given;
  const session = await someSession(given);
  const { id, folds } = session ?? {};
  const calls = session?.calls ?? 0;
  const all = {
    list: "#/", forgot: "#/forgot?text=test", server: "#/server",
    ...(id ? { session: place(id), messages: place(id, "/messages/1"), requests: place(id, calls ? "/requests/1" : "/requests"), "forgot in a session": place(id, "/forgot?text=test"), compare: place(id, "/compare") } : {}),
    ...(folds ? { fold: place(id, "/fold/1") } : {}),
    ...(mock ? { "compare, run": place(id, "/compare?a=default&b=hermes"), "no messages": place("session-00003"), "no requests": place("session-00003", "/requests") } : {}),
    "a session that is not there": place("no/such session"),
  };
  for (const [name, hash] of Object.entries(all)) {
    for (const [size, view] of Object.entries(SIZES)) {
      for (const scheme of size === "at 200 %" ? ["light"] : ["light", "dark"]) {
        await test(`${name}, ${size} ${scheme}: stands, complains of nothing, is accessible`, async () => {
          const { page, faults, close } = await open(given, hash, view, scheme);
          if (name === "a session that is not there") {
            // The browser itself says on the console that a request was answered with 404.
            same(faults.filter((fault) => !fault.includes("404")), [], "faults");
            holds(await page.locator("main").innerText(), "no session");
          } else await sound(page, faults);
          // Colours differ by scheme and places by width: not every pair of them.
          if (size === "wide" || (size === "phone" && scheme === "light")) same(await axeFaults(page), [], "axe");
          await close();
        });
      }
    }
  }

  await test("the list says title, fill, cost, cache, folds, model and age of a session", async () => {
    const { page, close } = await open(given, "#/");
    const { sessions } = await call("GET", "/v1/sessions?limit=1");
    const row = page.locator(`[data-session="${sessions[0].id}"]`);
    const text = await row.innerText();
    holds(text, sessions[0].id);
    if (sessions[0].cache_share !== null) holds(text, `${(sessions[0].cache_share * 100).toFixed(1)} %`);
    holds(await row.locator(".fill").getAttribute("aria-label"), sessions[0].fill.toLocaleString("en"));
    await close();
  });

  if (mock) await test("a session with faults says so on its row, and why in its head; one without says nothing", async () => {
    const { sessions } = await call("GET", "/v1/sessions?limit=100");
    const faulty = sessions.find(({ faults, id: own }) => faults.length && own !== "session-00002");
    const { page, close } = await open(given, `#/?q=${faulty.id}`);
    const tag = page.locator(`[data-session="${faulty.id}"] .fault`);
    holds(await tag.getAttribute("title"), faulty.faults[0].reason);
    holds(await tag.innerText(), `${faulty.faults[0].requests} fault`);
    await page.goto(`${given.base}/${place(faulty.id)}`);
    await page.waitForSelector(".fault-line");
    holds(await page.locator(".fault-line").innerText(), faulty.faults[0].reason);
    await close();
    const sound = sessions.find(({ faults }) => faults.length === 0);
    const other = await open(given, place(sound.id));
    same(await other.page.locator(".fault-line").count(), 0, "fault lines of a session without");
    await other.close();
  });

  await test("the server says its version, its places, its faults and who says how much a model holds", async () => {
    const { page, faults, close } = await open(given, "#/server");
    const server = await call("GET", "/v1/server");
    const text = await page.locator("main").innerText();
    for (const part of [server.version, server.listen, server.store, ...server.upstreams.flatMap(({ name, url }) => [name, url]), ...server.windows.map(({ window }) => window.toLocaleString("en"))]) holds(text, part);
    for (const { cause, requests } of server.faults) same(await page.locator("td code", { hasText: new RegExp(`^${cause}$`) }).count(), requests > 0 ? 1 : 0, cause);
    holds(await page.locator(".up").innerText(), server.now - server.started < 60_000 ? " s" : "min");
    same(faults, [], "faults");
    await close();
  });

  await test("the search finds by id, keeps its text over a reload, and says when nothing matches", async () => {
    const { page, close } = await open(given, "#/");
    await page.locator("#search").fill(id);
    await page.waitForFunction((wanted) => [...document.querySelectorAll("[data-session]")].every((row) => row.dataset.session.includes(wanted)) && document.querySelector("[data-session]"), id);
    await page.reload();
    await page.waitForSelector("[data-session]");
    same(await page.locator("#search").inputValue(), id, "text after a reload");
    await page.locator("#search").fill("no such thing anywhere");
    await page.waitForSelector(".list-body .empty");
    holds(await page.locator(".list-body").innerText(), "no such thing anywhere");
    await close();
  });

  if (session.events > 2) await test("messages: a text is found in them, whatever its case, and what was found opens", async () => {
    const { page, faults, close } = await open(given, place(id, "/messages"));
    const text = (await call("GET", `/v1/sessions/${encodeURIComponent(id)}/messages?from=1&limit=1`)).messages[0].text.match(/\w{4,}/)[0];
    await page.locator("#find").fill(text.toUpperCase());
    await page.waitForSelector(".find-rows li");
    const found = page.locator(".find-rows li button").last();
    holds((await found.innerText()).toLowerCase(), text.toLowerCase());
    const name = (await found.locator(".seq").innerText()).trim();
    await found.click();
    await page.waitForFunction((wanted) => document.querySelector(".message h3")?.textContent.startsWith(`${wanted} `), name);
    await page.locator("#find").fill("(no such [thing");
    await page.waitForFunction(() => document.querySelector(".finds .told")?.textContent.startsWith("No message says"));
    same(faults, [], "faults");
    await close();
  });

  if (!folds) return;
  await test("the newest fold is open when a session is opened; closed, it stays closed while something is appended", async () => {
    const { page, faults, close } = await open(given, place(id));
    await page.waitForSelector(".seam");
    const { active, folds: made } = await call("GET", `/v1/sessions/${encodeURIComponent(id)}/fabric`);
    holds(await page.locator("#seam-title").innerText(), `Fold ${active ?? made[made.length - 1].number}`);
    await page.locator(".seam").getByRole("button", { name: "Close", exact: true }).click();
    await page.waitForSelector(".seam", { state: "detached" });
    same(faults, [], "faults");
    await close();
  });

  await test("a fold: a row of the fabric opens it, a reload keeps it, all its parts can be shown", async () => {
    const { page, faults, close } = await open(given, place(id));
    // The newest is open: of a session with one fold, a row opens it once it was closed.
    await page.locator(".seam").getByRole("button", { name: "Close", exact: true }).click();
    await page.waitForSelector(".seam", { state: "detached" });
    await page.locator(".fabric .rows button").first().click();
    await page.waitForSelector(".seam");
    holds(page.url(), "/fold/1");
    for (const name of ["What it lost", "Edits", "Narration", "Before and after", "Recap"]) {
      await page.locator(".seam .segments button").filter({ hasText: name }).click();
      await settled(page);
      if (!(await page.locator(".seam-body").innerText()).trim()) throw new Error(`${name} is empty`);
    }
    await page.reload();
    await page.waitForSelector(".seam");
    same(faults, [], "faults");
    await close();
  });

  await test("the switch of colours holds over a reload", async () => {
    const { page, close } = await open(given, "#/", WIDE, "light");
    const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await ground();
    await page.locator(".scheme").click();
    same(await ground(), light, "set to light");
    await page.locator(".scheme").click();
    const dark = await ground();
    if (dark === light) throw new Error("dark is as light");
    await page.reload();
    await page.waitForSelector("html[data-ready]");
    same(await ground(), dark, "after a reload");
    await close();
  });
}
