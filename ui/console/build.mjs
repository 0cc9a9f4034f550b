// Bundles src/ into the three files that midfold serve has inside: index.html, console.js, console.css.
//
//   node build.mjs           writes crates/serve/assets/console/
//   node build.mjs --check   builds beside it and compares byte for byte; exit code 1 when they differ

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const target = join(here, "../../crates/serve/assets/console");

/** Replaces what must stand once in a text; a rule that no longer fits is an error, not a page that is subtly wrong. */
function once(text, pattern, put, what) {
  const found = text.match(new RegExp(pattern, "g"));
  if (found?.length !== 1) throw new Error(`${what}: found ${found?.length ?? 0} times, wanted once`);
  return text.replace(pattern, put);
}

/** Plot puts a style element into each chart, which the page's policy forbids; its rules stand in src/chart.css. */
const plotWithoutStyle = {
  name: "plot-without-style",
  setup(plugins) {
    plugins.onLoad({ filter: /@observablehq\/plot\/src\/plot\.js$/ }, ({ path }) => ({
      contents: once(readFileSync(path, "utf8"), /\.call\(\(svg\) =>\s*(?:\/\/[^\n]*\s*)?svg\.append\("style"\)\.text\(\s*`[^`]*`\s*\)\s*\)/, "", path), loader: "js",
    }));
  },
};

/** The parts follow the system's light or dark; here a switch, `data-scheme` of the root, goes before that. */
const schemeSwitch = {
  name: "scheme-switch",
  setup(plugins) {
    plugins.onLoad({ filter: /parts\/colours\.css$/ }, ({ path }) => {
      const text = readFileSync(path, "utf8");
      const dark = /@media \(prefers-color-scheme: dark\) \{\s*:root \{([^}]*)\}\s*\}/;
      const rules = text.match(dark)?.[1];
      return {
        contents: once(text, dark, () => `@media (prefers-color-scheme: dark) { :root:not([data-scheme="light"]) {${rules}} }\n:root[data-scheme="dark"] { color-scheme: dark; ${rules}}\n:root[data-scheme="light"] { color-scheme: light; }`, path),
        loader: "css",
      };
    });
  },
};

async function bundle(entry) {
  const result = await build({
    entryPoints: [join(here, "src", entry)], bundle: true, minify: true, write: false, absWorkingDir: here,
    format: "iife", target: ["es2022", "chrome109", "firefox115", "safari16"], charset: "utf8", legalComments: "none",
    // The parts lie outside of this folder, and so have no packages of their own.
    nodePaths: [join(here, "node_modules")], plugins: [plotWithoutStyle, schemeSwitch],
  });
  return `${result.outputFiles[0].text.trim()}\n`;
}

const files = {
  "index.html": readFileSync(join(here, "src/index.html"), "utf8"),
  "console.js": await bundle("main.ts"),
  "console.css": await bundle("style.css"),
};
const sizes = Object.entries(files).map(([name, text]) => `${name} ${Buffer.byteLength(text)}`).join(", ");

if (process.argv.includes("--check")) {
  const read = (name) => {
    try {
      return readFileSync(join(target, name), "utf8");
    } catch {
      return "";
    }
  };
  const stale = Object.keys(files).filter((name) => read(name) !== files[name]);
  const more = readdirSync(target).filter((name) => !(name in files));
  if (stale.length + more.length > 0) {
    console.error(`crates/serve/assets/console is not what ui/console builds (${[...stale, ...more].join(", ")}): run ui/console/build and commit it`);
    process.exit(1);
  }
  console.log(`the console is up to date (bytes: ${sizes})`);
} else {
  mkdirSync(target, { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(target, name), text);
  console.log(`the console (bytes): ${sizes}`);
}
