// What vendor_openai.py does, with the SDK for TypeScript.
import assert from "node:assert";
import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";

const given = (name) => process.env[`CHECK_${name}`];
const require = createRequire(`${given("PACKAGES")}/here.js`);
const { OpenAI, BadRequestError } = require("openai");

const client = new OpenAI({ baseURL: `${given("BASE")}/v1`, apiKey: given("KEY") });
const tool = { type: "function", name: "shell", strict: null, ...JSON.parse(given("TOOL")) };
const management = [{ type: "compaction", compact_threshold: 12_000 }];
const goOn = { role: "user", content: "Say again that all steps are done." };
const shell = ({ command }) => execFileSync("bash", ["-c", command], { encoding: "utf8" });

async function ask(input, streamed, more = {}) {
  const model = given("MODEL");
  const request = { model, instructions: given("SYSTEM"), input, store: false, ...more };
  if (!streamed) return client.responses.create(request);
  return client.responses.stream(request).finalResponse();
}

async function work() {
  let items = [{ role: "user", content: given("TASK") }];
  let found = 0;
  for (let step = 0; step < 100; step += 1) {
    const reply = await ask(items, step % 2, { tools: [tool], context_management: management });
    for (const item of reply.output) {
      if (item.type === "compaction") [items, found] = [[], found + 1];
      const { parsed_arguments: _, ...plain } = item;
      items.push(plain);
    }
    const calls = reply.output.filter((item) => item.type === "function_call");
    if (!calls.length) return [items, found];
    for (const call of calls) {
      const output = shell(JSON.parse(call.arguments));
      items.push({ type: "function_call_output", call_id: call.call_id, output });
    }
  }
  throw new Error("it does not end");
}

let [items, found] = await work();
assert(found >= 1, "no compaction at the threshold");
for (const streamed of [false, true]) {
  const reply = await ask([...items, { type: "compaction_trigger" }], streamed);
  assert.deepEqual(reply.output.map((item) => item.type), ["compaction"]);
  items = [...reply.output, goOn];
  items.push(...(await ask(items, streamed)).output.map(({ role, content }) => ({ role, content })));
}
for (const item of items) {
  for (const part of Array.isArray(item.content) ? item.content : []) delete part.parsed;
}
const compacted = await client.responses.compact({ model: given("MODEL"), input: items });
assert.equal(compacted.object, "response.compaction");
const last = compacted.output.at(-1);
assert.equal(last.type, "compaction");
const broken = { ...last, encrypted_content: `${last.encrypted_content.slice(0, -8)}AAAAAAAA` };
await assert.rejects(ask([broken, goOn], false), (error) => {
  return error instanceof BadRequestError && error.code === "invalid_encrypted_content";
});
console.log((await ask([...compacted.output, goOn], false, { tools: [tool] })).output_text);
