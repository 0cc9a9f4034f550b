// Puts a replay into the built page, by the rule of crates/cli/src/html.rs:
//
//   node fill.mjs replay.json > report.html

import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const template = join(dirname(fileURLToPath(import.meta.url)), "../../crates/cli/assets/report.html");

export function fill(json) {
  const [before, after] = readFileSync(template, "utf8").split("@@REPLAY@@");
  return before + json.replaceAll("<", "\\u003c") + after;
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  process.stdout.write(fill(readFileSync(process.argv[2], "utf8")));
}
