// Bundles src/ into one HTML file: the template that the midfold command fills with a replay.
//
//   node build.mjs           writes crates/cli/assets/report.html
//   node build.mjs --check   builds beside it and compares byte for byte; exit code 1 when they differ

import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const target = join(here, "../../crates/cli/assets/report.html");

/** Where the replay goes. Stands once in the built file. */
export const SLOT = "@@REPLAY@@";

async function bundle(entry) {
  const result = await build({
    entryPoints: [join(here, "src", entry)], bundle: true, minify: true, write: false, absWorkingDir: here,
    format: "iife", target: ["es2020", "chrome100", "firefox100", "safari15"], charset: "utf8", legalComments: "none",
    // The parts lie outside of this folder, and so have no packages of their own.
    nodePaths: [join(here, "node_modules")],
  });
  return result.outputFiles[0].text.trim();
}

/** Puts `part` where `slot` stands; a function, so that `$&` in minified code stays what it is. */
const put = (text, slot, part) => text.replace(slot, () => part);

export async function page() {
  const style = (await bundle("style.css")).replaceAll("</", "<\\/");
  // A script element ends at the first `</script`, and `<!--` puts the parser into another state.
  const script = (await bundle("main.js")).replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
  const hash = `sha256-${createHash("sha256").update(script).digest("base64")}`;
  let text = readFileSync(join(here, "src/template.html"), "utf8");
  text = put(text, "@@HASH@@", hash);
  text = put(text, "@@STYLE@@", style);
  text = put(text, "@@SCRIPT@@", script);
  if (text.split(SLOT).length !== 2) throw new Error(`${SLOT} must stand once in the page`);
  return text;
}

const built = await page();
if (process.argv.includes("--check")) {
  let committed = "";
  try {
    committed = readFileSync(target, "utf8");
  } catch {
    // Compared as empty.
  }
  if (committed !== built) {
    console.error("crates/cli/assets/report.html is not what ui/report builds: run ui/report/build and commit it");
    process.exit(1);
  }
  console.log(`report.html is up to date (${Buffer.byteLength(built)} bytes)`);
} else {
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, built);
  console.log(`report.html: ${Buffer.byteLength(built)} bytes`);
}
