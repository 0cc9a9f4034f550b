// Pictures of the console:
//
//   node shoot.mjs out-folder [--url http://…] [--session ID]

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { start } from "../../ui/console/mock.mjs";
import { launch, open, PHONE, settled, WIDE } from "./browser.mjs";

const args = process.argv.slice(2);
const option = (name) => (args.includes(name) ? args[args.indexOf(name) + 1] : undefined);
const out = args[0] ?? "out";
mkdirSync(out, { recursive: true });
const mock = option("--url") ? null : await start();
const base = option("--url") ?? mock.url;
const id = option("--session") ?? "session-00000";
const text = option("--text") ?? "reserve_batch";
const only = option("--only");

const at = (part) => `#/session/${encodeURIComponent(id)}${part}`;
/** Name, place, and what is done there before the picture is taken. */
const VIEWS = [
  ["list", "#/"],
  ["session", at("")],
  ["fold", at("/fold/2")],
  ["lost", at("/fold/2"), async (page) => page.getByRole("button", { name: "What it lost" }).click()],
  ["diff", at("/fold/2"), async (page) => page.getByRole("button", { name: "Before and after" }).click()],
  ["messages", at("/messages/7")],
  ["find", at("/messages"), async (page) => page.locator("#find").fill("crash test")],
  ["server", "#/server"],
  ["keys", "#/", async (page) => page.keyboard.press("?")],
  ["requests", at("/requests/60")],
  ["forgot", at(`/forgot?text=${encodeURIComponent(text)}`)],
  ["forgot-all", `#/forgot?text=${encodeURIComponent(text)}`],
  ["dialog", at(""), async (page) => page.getByRole("button", { name: "Fold now …" }).click()],
  ["compare", at("/compare?a=default&b=hermes")],
  ...(mock ? [["big", "#/session/session-00001"], ["hostile", "#/session/session-00002/fold/3"], ["empty", "#/session/session-00003"]] : []),
];

const browser = await launch();
for (const [name, hash, act] of VIEWS.filter(([name]) => !only || only.split(",").includes(name))) {
  for (const [size, view] of [["1400", WIDE], ["390", PHONE]]) {
    for (const scheme of ["light", "dark"]) {
      const { page, faults, close } = await open(browser, base, hash, view, scheme);
      if (act) {
        await act(page);
        await page.waitForTimeout(150);
        await settled(page);
      }
      await page.mouse.move(0, 0);
      await page.waitForTimeout(200);
      const path = join(out, `${name}-${size}-${scheme}.png`);
      await page.screenshot({ path, fullPage: name !== "list" && name !== "dialog" });
      console.log(path, faults.length ? faults : "");
      await close();
    }
  }
}
await browser.close();
await mock?.close();
