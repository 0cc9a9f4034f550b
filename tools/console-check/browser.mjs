// A browser, and a page of the console that keeps what went wrong in it.

import { existsSync } from "node:fs";
import { chromium } from "playwright-core";
import { listen } from "./answers.mjs";

export const WIDE = { width: 1400, height: 900 };
export const PHONE = { width: 390, height: 844, hasTouch: true };

export function browserPath() {
  const places = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
  return places.find((place) => place && existsSync(place));
}

export const launch = () => chromium.launch({
  executablePath: browserPath(), args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--font-render-hinting=none", "--enable-precise-memory-info", "--js-flags=--expose-gc"],
});

/**
 * Opens a place of the console and waits until it stands. `faults` gathers what the console says, broken policies,
 * dialogs, and requests to anywhere but the page's own origin.
 */
export async function open(browser, base, hash, { width, height, hasTouch = false } = WIDE, colorScheme = "light", key = undefined) {
  const context = await browser.newContext({ viewport: { width, height }, deviceScaleFactor: hasTouch ? 2 : 1, hasTouch, isMobile: hasTouch, colorScheme, reducedMotion: "reduce", locale: "en-GB" });
  context.setDefaultTimeout(15_000);
  const page = await context.newPage();
  const faults = [];
  const origin = new URL(base).origin;
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && faults.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => faults.push(`error: ${error}`));
  page.on("dialog", (dialog) => { faults.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on("request", (request) => !request.url().startsWith("data:") && new URL(request.url()).origin !== origin && faults.push(`request: ${request.url()}`));
  await page.addInitScript(() => document.addEventListener("securitypolicyviolation", (event) => console.error(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber}`)));
  if (key) await page.addInitScript((own) => sessionStorage.setItem("midfold-key", own), key);
  listen(page);
  await page.goto(`${base}/${hash}`);
  await page.waitForSelector("html[data-ready]");
  await settled(page);
  return { page, faults, close: () => context.close() };
}

/** Waits until nothing in the page is being read. */
export async function settled(page) {
  await page.waitForFunction(() => !document.querySelector('[aria-busy="true"], .waiting') || document.querySelector(".message-pane .waiting"));
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
}
