// Opens report.html in a real Chromium and looks whether it works: see README.md.
//
//   node check.mjs out-folder [report.html made by midfold measure replay]

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { fill } from "../../ui/report/fill.mjs";
import { HOSTILE, odd, sample } from "../../ui/report/sample.mjs";
import { launch, open, pictures, VIEWS } from "./shoot.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] ?? join(here, "out");
const given = process.argv[3];
mkdirSync(out, { recursive: true });

let passed = 0;
let failed = 0;
// What breaks outside of a test is a failure too, and the last line stays what it is.
process.on("uncaughtException", (error) => {
  console.log(`FAIL  the check itself\n      ${String(error.message ?? error)}`);
  console.log(`${passed} passed, ${failed + 1} failed`);
  process.exit(1);
});
async function test(name, body) {
  try {
    await body();
    passed += 1;
    console.log(`ok    ${name}`);
  } catch (error) {
    failed += 1;
    console.log(`FAIL  ${name}\n      ${String(error.message ?? error).split("\n").join("\n      ")}`);
  }
}
function same(found, wanted, what) {
  const [a, b] = [JSON.stringify(found), JSON.stringify(wanted)];
  if (a !== b) throw new Error(`${what}: found ${a.slice(0, 600)}, wanted ${b.slice(0, 600)}`);
}
function holds(text, part) {
  if (!String(text).includes(part)) throw new Error(`${JSON.stringify(part)} is not in ${JSON.stringify(text)}`);
}
const sum = (list) => list.reduce((total, value) => total + value, 0);

const data = sample();
const file = join(out, "sample.html");
writeFileSync(file, fill(JSON.stringify(data)));
const [desktop, phone] = VIEWS;
const browser = await launch();

// What a page says where something was not there. A real transcript may say so itself.
const BROKEN = ["could not be drawn"];
const BAD = [...BROKEN, "undefined", "NaN", "[object"];

/** Whether a page opens without a word of complaint, a request or a part that could not be drawn. */
async function sound(path, view, scheme, look = async () => {}, bad = BAD) {
  const { page, faults, requests, dialogs, close } = await open(browser, path, view, scheme);
  await look(page);
  same(faults, [], "console");
  same(requests, [], "network");
  same(dialogs, [], "dialogs");
  const room = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
  if (room[0] > room[1]) throw new Error(`the page is ${room[0]} wide in a window of ${room[1]}`);
  const text = await page.locator("main").innerText();
  for (const word of bad) if (text.includes(word)) throw new Error(`the page says "${word}"`);
  await close();
}

for (const view of VIEWS) {
  for (const scheme of ["light", "dark"]) {
    await test(`${view.name} ${scheme}: opens from a file, loads nothing, complains of nothing, is not wider than the window`, () => sound(file, view, scheme));
  }
}

const { page, faults, requests, dialogs, close } = await open(browser, file, desktop);
const tip = page.locator("#tip");
const run = data.runs.find((each) => each.window === 32000 && each.strategy === "default");
const part = run.conversations[0];

await test("the sentence names the strategy that keeps most and its figures", async () => {
  const text = await page.locator("#summary .answer").nth(1).innerText();
  holds(text, "default keeps most");
  holds(text, `${(run.totals.at_risk * 100).toFixed(1)} %`);
  holds(text, run.totals.cost.toFixed(3));
});

await test("scatter: one point and one label a strategy, a Pareto line, for each window", async () => {
  for (const [index, window] of [16000, 32000].entries()) {
    const chart = page.locator(".scatter").nth(index);
    const runs = data.runs.filter((each) => each.window === window);
    same(await chart.locator("[data-mark=points] path, [data-mark=points] circle").count(), runs.length, "points");
    same((await chart.locator('[aria-label="labels"] text').allTextContents()).sort(), runs.map((each) => each.strategy).sort(), "labels");
    same(await chart.locator("[data-mark=pareto] path").count(), 1, "lines");
  }
});

await test("scatter: labels stand on no other label", async () => {
  for (const index of [0, 1]) {
    const boxes = await page.locator(".scatter").nth(index).locator('[aria-label="labels"] text').evaluateAll((nodes) => nodes.map((node) => node.getBoundingClientRect().toJSON()));
    boxes.forEach((a, i) => boxes.slice(i + 1).forEach((b) => {
      if (a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 3 && b.top < a.bottom - 3) throw new Error(`two labels overlap near ${Math.round(a.left)}, ${Math.round(a.top)}`);
    }));
  }
});

await test("scatter: a frame near the best leaves the others out and says so", async () => {
  const frame = page.getByRole("group", { name: "Frame" });
  await frame.getByRole("button", { name: "Near the best" }).click();
  const labels = await page.locator(".scatter").nth(1).locator('[aria-label="labels"] text').allTextContents();
  if (!labels.includes("default") || labels.includes("sliding")) throw new Error(labels.join());
  holds(await page.locator(".multiples .note").nth(1).innerText(), "sliding");
  await page.getByRole("group", { name: "Frame" }).getByRole("button", { name: "All" }).click();
});

await test("scatter: hover and keyboard focus give the figures of the point", async () => {
  const target = page.locator(".scatter").nth(1).locator('.hit[aria-label^="default:"]');
  await target.hover();
  const text = await tip.innerText();
  for (const part of ["default", `${(run.totals.at_risk * 100).toFixed(1)} %`, run.totals.cost.toFixed(3), run.totals.mean.toLocaleString("en")]) holds(text, part);
  await page.mouse.move(2, 2);
  same(await tip.isVisible(), false, "tip after leaving");
  // By keyboard, from a control before the points of this picture.
  await page.locator(".scatter").nth(0).locator(".hit").last().focus();
  await page.keyboard.press("Tab");
  same(await tip.isVisible(), true, "tip on focus");
  holds(await tip.innerText(), await page.evaluate(() => document.activeElement.getAttribute("aria-label").split(":")[0]));
  await page.keyboard.press("Escape");
  same(await tip.isVisible(), false, "tip after Escape");
});

await test("table: the best is marked, faults are warned of, a head sorts", async () => {
  const grid = page.getByRole("region", { name: "The strategies compared" });
  same(await grid.locator("tbody tr").count(), 9, "rows");
  const row = (name) => grid.locator("tbody tr").filter({ has: page.getByRole("button", { name, exact: true }) });
  holds(await row("default").locator("td").first().getAttribute("class"), "best");
  const raw = data.runs.find((each) => each.window === 32000 && each.strategy === "raw");
  holds(await row("raw").locator("td.bad").innerText(), String(raw.totals.over));
  await grid.getByRole("button", { name: "cost", exact: true }).click();
  const costs = (await grid.locator("tbody tr td:nth-child(10)").allTextContents()).map(Number);
  same(costs, costs.slice().sort((a, b) => a - b), "costs in order");
});

await test("what the contexts are made of: a bar a part, hover gives its tokens", async () => {
  const bars = page.locator("[data-mark=bars] rect");
  if (await bars.count() < 9 * 4) throw new Error(`${await bars.count()} bars`);
  await bars.nth(4).hover();
  holds(await tip.innerText(), "tokens");
});

await test("context: raw line, context line, window, a mark a fold and a cache break, hover says them", async () => {
  const chart = page.locator(".context");
  for (const name of ["raw", "context", "window"]) same(await chart.locator(`[data-mark=${name}] path, [data-mark=${name}] line`).count(), 1, name);
  same(await chart.locator("[data-mark=folds] path").count(), part.folds.length, "folds");
  same(await chart.locator("[data-mark=breaks] line").count(), sum(part.requests.map((row) => row[5])), "breaks");
  const shield = chart.locator(".shield");
  await shield.focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("PageDown");
  holds(await tip.innerText(), `Fold 1: ${part.folds[0].before.toLocaleString("en")} → ${part.folds[0].after.toLocaleString("en")} tokens`);
  await shield.hover({ position: { x: 500, y: 120 } });
  holds(await tip.innerText(), "raw history");
});

await test("context: other strategies can be laid over, three at most", async () => {
  const group = page.getByRole("group", { name: "Strategies to lay over" });
  for (const name of ["head-tail", "clear-3", "hermes", "sliding"]) await group.getByRole("button", { name, exact: true }).click();
  same(await page.locator('.context [data-mark^="over-"] path').count(), 3, "lines laid over");
  same(await group.locator('[aria-pressed="true"]').allTextContents(), ["sliding", "clear-3", "hermes"], "pressed");
});

/** The middle of a cell of the fabric, in pixels of the canvas. */
async function cell(row, seq) {
  return page.locator("#fabric canvas").evaluate((canvas, [row, seq, folds, size]) => {
    const rows = [...document.querySelectorAll("#fabric .rows button")];
    const box = canvas.getBoundingClientRect();
    const line = rows[row].getBoundingClientRect();
    return { x: ((seq + 0.5) / size) * box.width, y: line.top + line.height / 2 - box.top };
  }, [row, seq, part.folds.length, data.conversations[0].events.length]);
}
function fate(fold, seq) {
  let end = 0;
  for (const [letter, length] of fold.fates) if (seq < (end += length)) return letter;
  return null;
}
const NAMES = { v: "verbatim", s: "stub", c: "clipped", r: "in the recap", m: "behind the marker", p: "pinned", x: "other edit" };

await test("fabric: a row a fold, the canvas holds the colours of its fates", async () => {
  same(await page.locator("#fabric .rows button").count(), part.folds.length, "rows");
  const colours = await page.locator("#fabric canvas").evaluate((canvas) => {
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const counts = {};
    for (let i = 0; i < data.length; i += 4) if (data[i + 3] === 255) { const key = `${data[i]},${data[i + 1]},${data[i + 2]}`; counts[key] = (counts[key] ?? 0) + 1; }
    const style = getComputedStyle(document.documentElement);
    const rgb = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)).join(",");
    return Object.fromEntries(["v", "r", "s", "p"].map((fate) => [fate, counts[rgb(style.getPropertyValue(`--fate-${fate}`).trim())] ?? 0]));
  });
  for (const [letter, count] of Object.entries(colours)) if (count < 20) throw new Error(`${NAMES[letter]}: ${count} pixels`);
});

await test("fabric: hover on a cell says the event, its tokens, its fate and why", async () => {
  const fold = part.folds[5];
  const seq = Number(Object.keys(fold.why)[3]);
  await page.getByRole("group", { name: "Zoom" }).getByRole("button", { name: "8×" }).click();
  const { x, y } = await cell(5, seq);
  const scroll = page.locator("#fabric .scroll");
  await scroll.evaluate((box, x) => { box.scrollLeft = x - box.clientWidth / 2; }, x);
  await page.waitForTimeout(100);
  await page.locator("#fabric canvas").hover({ position: { x, y } });
  const [role, tokens, first] = data.conversations[0].events[seq];
  const flat = (text) => text.trim().replaceAll(/\s+/g, " ");
  const text = flat(await tip.innerText());
  for (const part of [`@${seq}`, role, tokens.toLocaleString("en"), flat(first), NAMES[fate(fold, seq)], flat(fold.why[seq])]) holds(text, part);
  await page.getByRole("group", { name: "Zoom" }).getByRole("button", { name: "Fit" }).click();
});

await test("fabric: a press on a row shows the recap of that fold, arrow keys move between cells", async () => {
  const { x, y } = await cell(2, 40);
  await page.locator("#fabric canvas").click({ position: { x, y } });
  const text = await page.locator("#fabric .recap").innerText();
  holds(text, "Fold 3");
  holds(text, part.folds[2].recap.split("\n")[1]);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowRight");
  holds(await page.locator("#fabric .recap").innerText(), "Fold 4");
  holds(await tip.innerText(), "fold 4");
  await page.locator("#fabric .rows button").first().click();
  holds(await page.locator("#fabric .recap").innerText(), "Fold 1");
});

await test("fold: a line of the recap lights the messages that it names, a message the lines that name it", async () => {
  await page.locator("#fabric .rows button").last().click();
  const [before, after] = [page.locator(".pair section").nth(0), page.locator(".pair section").nth(1)];
  const line = after.locator(".line").filter({ hasText: /^@\d+ / }).nth(4);
  const seq = /@(\d+)/.exec(await line.innerText())[1];
  await line.hover();
  same(await before.locator(".lit b").allTextContents(), [`@${seq}`], "lit messages");
  same(await before.locator(".lit").evaluate((node) => { const [own, box] = [node.getBoundingClientRect(), node.closest(".body").getBoundingClientRect()]; return own.top >= box.top && own.bottom <= box.bottom; }), true, "scrolled to");
  holds(await page.locator(".recap .said").innerText(), `names @${seq}.`);
  await page.mouse.move(2, 2);
  same(await page.locator(".pair .lit").count(), 0, "lit after leaving");
  await before.locator(".line:not(.unnamed)").first().click();
  await page.mouse.move(2, 2);
  if (await after.locator(".lit").count() === 0) throw new Error("a named message lights no line");
});

await test("fold: one stop of the Tab key a side, arrow keys and Enter keep a line lit, a second Enter lets go", async () => {
  const [before, after] = [page.locator(".pair section").nth(0), page.locator(".pair section").nth(1)];
  for (const side of [before, after]) same(await side.locator('[tabindex="0"]').count(), 1, "stops");
  await after.locator('[tabindex="0"]').focus();
  await page.keyboard.press("End");
  await page.keyboard.press("Enter");
  same(await after.locator('.line[aria-pressed="true"]').count(), 1, "kept");
  same(await after.locator(".line").last().getAttribute("aria-pressed"), "true", "the last line");
  const names = new Set((await after.locator(".line").last().innerText()).match(/@\d+/g)).size;
  same(await before.locator(".lit").count(), names, "lit messages");
  await page.keyboard.press("Enter");
  same(await page.locator('.line[aria-pressed="true"]').count(), 0, "kept after a second Enter");
});

await test("fabric: cells by tokens, a fate singled out", async () => {
  const shot = () => page.locator("#fabric canvas").evaluate((canvas) => canvas.toDataURL());
  const equal = await shot();
  await page.getByRole("button", { name: "By tokens" }).click();
  const tokens = await shot();
  await page.getByRole("group", { name: "Fates" }).getByRole("button", { name: "pinned" }).click();
  if (new Set([equal, tokens, await shot()]).size !== 3) throw new Error("a switch changes nothing");
});

await test("losses: search and class filter the rows, heads sort them", async () => {
  const rows = page.getByRole("region", { name: "Losses" }).locator("tbody tr");
  same(await rows.count(), Math.min(50, part.losses.length), "rows");
  await page.locator("#losses-search").fill("LOCK");
  const wanted = part.losses.filter((loss) => loss.id.toLowerCase().includes("lock")).map((loss) => loss.id).sort();
  same((await rows.locator("th").allTextContents()).sort(), wanted, "found");
  await page.locator("#losses-search").fill("no such thing");
  same(await rows.count(), 0, "rows");
  holds(await page.locator("#losses-count").innerText(), "None matches");
  await page.locator("#losses-search").fill("");
  await page.locator("#losses-class").selectOption("hash");
  same(await rows.count(), part.losses.filter((loss) => loss.class === "hash").length, "of class hash");
});

await test("hostile strings of names, first lines, recaps and losses are text and nothing else", async () => {
  await page.getByLabel("Conversation").selectOption({ index: 1 });
  await page.locator(".bar").getByLabel("Strategy").selectOption("head-tail");
  await page.locator(".bar").getByLabel("Window").selectOption("16,000");
  const box = await page.locator("#fabric canvas").boundingBox();
  await page.mouse.move(0, 0);
  await page.locator("#fabric canvas").focus();
  await page.keyboard.press("PageUp");
  for (let i = 0; i < 40; i += 1) await page.keyboard.press("ArrowLeft");
  for (let i = 0; i < 3; i += 1) await page.keyboard.press("ArrowRight");
  holds(await tip.innerText(), HOSTILE[0]);
  if (!box) throw new Error("no canvas");
  await page.locator(".bar").getByLabel("Strategy").selectOption("default");
  holds(await page.locator("#fabric .recap").innerText(), HOSTILE[0]);
  await page.locator(".bar").getByLabel("Strategy").selectOption("head-tail");
  const ids = await page.getByRole("region", { name: "Losses" }).locator("tbody th").allTextContents();
  if (!ids.some((id) => id.includes("<") || id.includes("pwned"))) throw new Error("no hostile identifier among the losses");
  same(await page.evaluate(() => [document.images.length, document.querySelectorAll("main script, main b:not(.rows b, .line b), svg[onload]").length, window.pwned ?? null]), [0, 0, null], "elements");
});

await test("a conversation that could not be replayed says so", async () => {
  await page.getByLabel("Conversation").selectOption({ index: 2 });
  await page.locator(".bar").getByLabel("Strategy").selectOption("default");
  holds(await page.locator("#context .bad").innerText(), "19,120 tokens");
});

await test("after all that: nothing on the console, no request, no dialog", async () => {
  same([faults, requests, dialogs], [[], [], []], "faults, requests, dialogs");
});
await close();

await test("phone: a tap on a cell says what it is", async () => {
  const { page, close } = await open(browser, file, phone);
  const canvas = page.locator("#fabric canvas");
  await canvas.scrollIntoViewIfNeeded();
  await canvas.tap({ position: { x: 6, y: 40 } });
  holds(await page.locator("#tip").innerText(), "tokens");
  await close();
});

await test("phone: recap and messages of a fold are in sight together, a tap on a line lights its messages", async () => {
  const { page, close } = await open(browser, file, phone);
  const [before, after] = [page.locator(".pair section").nth(0), page.locator(".pair section").nth(1)];
  const line = after.locator(".line").first();
  await line.tap();
  if (await before.locator(".lit").count() === 0) throw new Error("nothing is lit");
  const [first, second] = [await after.locator(".body").boundingBox(), await before.locator(".body").boundingBox()];
  if (second.y < first.y || second.y + second.height - first.y > phone.height) throw new Error(`from ${first.y} to ${second.y + second.height}`);
  await close();
});

await test("the exam's figures are drawn where they were given, and nowhere else", async () => {
  const path = join(out, "odd-exam.html");
  writeFileSync(path, fill(JSON.stringify(odd().exam)));
  const { page: with_, close } = await open(browser, path, desktop);
  same(await with_.locator('svg[aria-label^="Exam score"]').count(), 2, "pictures");
  same((await with_.locator('svg[aria-label="Exam score against context"] [aria-label="labels"] text').allTextContents()).sort(), ["default", "lean", "raw"], "labels");
  await close();
  const without = await open(browser, file, desktop);
  same(await without.page.locator('svg[aria-label^="Exam score"]').count(), 0, "pictures without figures");
  await without.close();
});

await test("1,200 events in 60 folds: drawn again in a moment", async () => {
  const big = structuredClone(data);
  big.runs = big.runs.filter((each) => each.strategy === "default" && each.window === 32000);
  const [one] = big.runs[0].conversations;
  const last = one.folds[one.folds.length - 1];
  one.folds = Array.from({ length: 60 }, (_, i) => ({ ...last, at: last.at - 60 + i }));
  const path = join(out, "big.html");
  writeFileSync(path, fill(JSON.stringify(big)));
  await sound(path, desktop, "light", async (page) => {
    same(await page.locator("#fabric .rows button").count(), 60, "rows");
    await page.locator("#fabric .segments button").filter({ hasText: "By tokens" }).click();
  });
});

for (const [name, replay] of Object.entries(odd())) {
  await test(`a replay with something missing or unusual: ${name}`, async () => {
    const path = join(out, `odd-${name}.html`);
    writeFileSync(path, fill(JSON.stringify(replay)));
    await sound(path, desktop, "light", (page) => page.screenshot({ path: join(out, `odd-${name}.png`), fullPage: true }));
    await sound(path, phone, "dark");
  });
}

await test("a strategy that got through no conversation is no point and has no figures", async () => {
  const { page, close } = await open(browser, join(out, "odd-unreplayed.html"), desktop);
  const names = await page.locator(".scatter svg").allTextContents();
  if (names.some((text) => text.includes("never-done"))) throw new Error("it is drawn");
  holds(names.join(" "), "head-tail");
  const row = page.locator("tr", { has: page.getByRole("button", { name: "never-done", exact: true }) }).first();
  const figures = (await row.locator("td").allTextContents()).map((text) => text.trim());
  same([...new Set(figures)], ["–"], "figures");
  await close();
});

await test("pictures are kept", async () => {
  same((await pictures(browser, file, out, "sample")).length, 4, "pictures");
});

if (given) {
  for (const view of VIEWS) await test(`${given}, ${view.name}: sound`, () => sound(given, view, "light", undefined, BROKEN));
  await test(`${given}: pictures are kept`, async () => same((await pictures(browser, given, out, "report")).length, 4, "pictures"));
}

await browser.close();
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
