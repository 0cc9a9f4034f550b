// Holds what the page is answered against docs/openapi.json: the made-up server, too, answers as midfold does.

import { readFileSync } from "node:fs";
import Ajv from "ajv/dist/2020.js";

const document = JSON.parse(readFileSync(new URL("../../docs/openapi.json", import.meta.url)));
/** Answers of one operation that are looked at: reading a body takes time from what is measured. */
const MOST = 40;

/** A member that the document does not name is a fault as well, and not only one that is missing. */
function closed(schema) {
  if (typeof schema !== "object" || schema === null) return schema;
  if (Array.isArray(schema)) return schema.map(closed);
  const made = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, closed(value)]));
  return schema.type === "object" && schema.properties && !("additionalProperties" in schema) ? { ...made, additionalProperties: false } : made;
}

const ajv = new Ajv({ strict: false, validateFormats: false });
ajv.addSchema({ ...document, components: { ...document.components, schemas: Object.fromEntries(Object.entries(document.components.schemas).map(([name, schema]) => [name, closed(schema)])) } }, "openapi");

const encoded = (name) => name.replaceAll("~", "~0").replaceAll("/", "~1");
const operations = Object.entries(document.paths).flatMap(([path, methods]) => Object.entries(methods).flatMap(([method, { operationId: id, responses }]) => {
  const status = Object.keys(responses).find((each) => each !== "default");
  if (!responses[status].content["application/json"]) return [];
  const pattern = new RegExp(`^${path.replace(/\{\w+\}/g, "[^/]+")}$`);
  return [{ id, method: method.toUpperCase(), pattern, ref: `openapi#/paths/${encoded(path)}/${method}/responses/${status}/content/application~1json/schema` }];
}));
const PROBLEM = "openapi#/components/responses/Problem/content/application~1problem+json/schema";

const looked = new Map();
const faults = new Set();
const reading = [];

/** What is wrong with an answer, as one line; null where nothing is. */
export function faultOf(ref, answer) {
  const fits = ajv.getSchema(ref);
  if (fits(answer)) return null;
  return fits.errors.slice(0, 3).map(({ instancePath, message, params }) => `${instancePath.replace(/\/\d+/g, "/…")} ${message}${params.additionalProperty ? ` (${params.additionalProperty})` : ""}`).join("; ");
}

/** Takes the answers that a page gets. */
export function listen(page) {
  page.on("response", (response) => {
    const { pathname } = new URL(response.url());
    const method = response.request().method();
    const operation = operations.find((each) => each.method === method && each.pattern.test(pathname));
    const times = looked.get(operation?.id) ?? 0;
    if (!operation || times >= MOST) return;
    looked.set(operation.id, times + 1);
    // A page that is closed meanwhile takes its answers along.
    reading.push(response.json().catch(() => undefined).then((answer) => {
      const fault = answer === undefined ? null : faultOf(response.ok() ? operation.ref : PROBLEM, answer);
      if (fault) faults.add(`${method} ${operation.pattern.source.slice(1, -1)}: ${fault}`);
    }));
  });
}

/** Throws where an answer was not what the document says. */
export async function hold() {
  await Promise.all(reading);
  if (looked.size === 0) throw new Error("no answer was looked at");
  if (faults.size > 0) throw new Error([...faults].join("\n"));
}
