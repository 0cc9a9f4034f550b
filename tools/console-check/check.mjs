// Opens the console in a real Chromium and looks whether it works: see README.md.
//
//   node check.mjs [--url http://… [--key KEY]] [--only name,…]

import { start } from "../../ui/console/mock.mjs";
import { hold } from "./answers.mjs";
import { launch } from "./browser.mjs";
import { actions } from "./checks/actions.mjs";
import { big } from "./checks/big.mjs";
import { hostile } from "./checks/hostile.mjs";
import { live } from "./checks/live.mjs";
import { scroll } from "./checks/scroll.mjs";
import { views } from "./checks/views.mjs";
import { walk } from "./checks/walk.mjs";

const args = process.argv.slice(2);
const option = (name) => (args.includes(name) ? args[args.indexOf(name) + 1] : undefined);

let [passed, failed] = [0, 0];
// What breaks outside of a test is a failure too, and the last line stays what it is.
process.on("uncaughtException", (error) => {
  console.log(`FAIL  the check itself\n      ${String(error.stack ?? error)}`);
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
    console.log(`FAIL  ${name}\n      ${String(error.stack ?? error).split("\n").slice(0, 14).join("\n      ")}`);
  }
}

/** Requests to the server that is looked at. */
function client(base, key) {
  return async (method, path, body) => {
    const response = await fetch(base + path, { method, headers: { ...(key ? { "midfold-key": key } : {}), ...(body ? { "content-type": "application/json" } : {}) }, body: body ? JSON.stringify(body) : undefined });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text.slice(0, 300)}`);
    return text ? JSON.parse(text) : null;
  };
}

const mock = option("--url") ? null : await start();
const base = (option("--url") ?? mock.url).replace(/\/$/, "");
const key = option("--key");
const browser = await launch();
const given = { browser, base, key, mock, call: client(base, key), test, long: option("--long") };

const all = { views, scroll, walk, live, hostile, actions, big };
const wanted = option("--only")?.split(",") ?? Object.keys(all);
for (const name of wanted) await all[name](given);
await test("every answer that the page got is what docs/openapi.json says", hold);

await browser.close();
await mock?.close();
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
