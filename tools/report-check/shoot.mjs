// A browser, and pictures of a page: used by check.mjs, and by hand:
//
//   node shoot.mjs report.html out-folder

import { existsSync, mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

export const VIEWS = [
  { name: "desktop", width: 1280, height: 900 },
  { name: "phone", width: 390, height: 844, hasTouch: true },
];

export function browserPath() {
  const places = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
  return places.find((place) => place && existsSync(place));
}

export const launch = () => chromium.launch({
  executablePath: browserPath(), args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--font-render-hinting=none"],
});

/** Opens a file and keeps what it says on the console and what it asks the network for. */
export async function open(browser, file, { width, height, hasTouch = false }, colorScheme = "light") {
  const context = await browser.newContext({ viewport: { width, height }, deviceScaleFactor: hasTouch ? 2 : 1, hasTouch, isMobile: hasTouch, colorScheme, reducedMotion: "reduce", locale: "en-GB" });
  context.setDefaultTimeout(15000);
  const page = await context.newPage();
  const faults = [];
  const requests = [];
  const dialogs = [];
  const url = pathToFileURL(resolve(file)).href;
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && faults.push(message.text()));
  page.on("pageerror", (error) => faults.push(String(error)));
  page.on("request", (request) => request.url() !== url && !request.url().startsWith("data:") && requests.push(request.url()));
  page.on("dialog", (dialog) => { dialogs.push(dialog.message()); dialog.dismiss(); });
  await page.goto(url);
  await page.waitForSelector("html[data-ready]", { timeout: 15000 });
  return { page, faults, requests, dialogs, close: () => context.close() };
}

/** Full-page pictures at both widths, light and dark; returns their paths. */
export async function pictures(browser, file, folder, stem = "report") {
  mkdirSync(folder, { recursive: true });
  const made = [];
  for (const view of VIEWS) {
    for (const scheme of ["light", "dark"]) {
      const { page, close } = await open(browser, file, view, scheme);
      const path = join(folder, `${stem}-${view.width}-${scheme}.png`);
      await page.screenshot({ path, fullPage: true });
      made.push(path);
      await close();
    }
  }
  return made;
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const browser = await launch();
  for (const path of await pictures(browser, process.argv[2], process.argv[3] ?? "out")) console.log(path);
  await browser.close();
}
