// What vendor_anthropic.py does, with the SDK for TypeScript.
import assert from "node:assert";
import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";

const given = (name) => process.env[`CHECK_${name}`];
const require = createRequire(`${given("PACKAGES")}/here.js`);
const { Anthropic, BadRequestError } = require("@anthropic-ai/sdk");

const client = new Anthropic({ baseURL: given("BASE"), apiKey: given("KEY") });
const { description, parameters } = JSON.parse(given("TOOL"));
const tool = { name: "shell", description, input_schema: parameters };
const shell = ({ command }) => execFileSync("bash", ["-c", command], { encoding: "utf8" });
const clear = {
  type: "clear_tool_uses_20250919",
  trigger: { type: "tool_uses", value: 6 },
  keep: { type: "tool_uses", value: 3 },
};
const compact = { type: "compact_20260112", trigger: { type: "input_tokens", value: 50_000 } };
const [editing, threshold] = ["context-management-2025-06-27", "compact-2026-01-12"];
const onDemand = ["compact-2026-09-04"];
const first = { role: "user", content: given("TASK") };
const goOn = { role: "user", content: "Say again that all steps are done." };

async function ask(messages, streamed, more = {}) {
  const model = given("MODEL");
  const request = { model, max_tokens: 1000, system: given("SYSTEM"), messages, ...more };
  if (!streamed) return client.beta.messages.create(request);
  return client.beta.messages.stream(request).finalMessage();
}

const text = (reply) => reply.content.map((block) => block.text ?? "").join("");

async function work(history, edits, betas) {
  const messages = [...history];
  let [cleared, blocks] = [0, 0];
  for (let step = 0; step < 100; step += 1) {
    const more = { tools: [tool], context_management: { edits }, betas };
    const reply = await ask(messages, step % 2, more);
    for (const edit of reply.context_management.applied_edits) {
      cleared = Math.max(cleared, edit.cleared_tool_uses);
    }
    if (reply.content.some((block) => block.type === "compaction")) {
      blocks += 1;
      assert.deepEqual(reply.usage.iterations.map((one) => one.type), ["compaction", "message"]);
    }
    messages.push({ role: "assistant", content: reply.content });
    const calls = reply.content.filter((block) => block.type === "tool_use");
    if (!calls.length) return { messages, cleared, blocks };
    const result = (call) => {
      return { type: "tool_result", tool_use_id: call.id, content: shell(call.input) };
    };
    messages.push({ role: "user", content: calls.map(result) });
  }
  throw new Error("it does not end");
}

const refused = (code, messages) =>
  assert.rejects(ask(messages, false, { betas: onDemand }), (error) => {
    const found = error.error?.error?.details?.error_code;
    return error instanceof BadRequestError && found === code;
  });

let { messages, cleared } = await work([first], [clear], [editing]);
assert(cleared >= 3, `${cleared} tool uses were cleared`);
const counted = await client.beta.messages.countTokens({
  model: given("MODEL"),
  messages: messages.slice(0, -1),
  tools: [tool],
  context_management: { edits: [clear] },
  betas: [editing],
});
assert(counted.context_management.original_input_tokens > counted.input_tokens);
const lines = Array.from({ length: 9_000 }, (_, at) => `line ${at} of the log`).join("\n");
const read = { role: "assistant", content: `I read the log:\n${lines}` };
const history = [first, read, { role: "user", content: "Now begin." }];
const { blocks } = await work(history, [clear, compact], [editing, threshold]);
assert(blocks >= 1, "no block at the threshold");
let swapped = [];
for (const streamed of [false, true]) {
  const more = { compaction: { type: "summarize" }, betas: onDemand };
  const reply = await ask(messages, streamed, more);
  assert.equal(reply.stop_reason, "compaction");
  swapped = [{ role: "assistant", content: reply.content }, goOn];
  messages = [...swapped, { role: "assistant", content: "They are." }];
  assert(text(await ask(swapped, false, { betas: onDemand })));
}
await refused("compaction_block_misplaced", [goOn, ...swapped]);
const changed = [{ ...swapped[0].content[0], content: "Something else." }];
await refused("compaction_content_mismatch", [{ role: "assistant", content: changed }, goOn]);
const runner = client.beta.messages.toolRunner({
  model: given("MODEL"),
  max_tokens: 1000,
  system: given("SYSTEM"),
  messages: [first],
  tools: [{ ...tool, type: "custom", run: shell, parse: (input) => input }],
  betas: onDemand,
});
let [summaries, at, last] = [0, 0, null];
for await (const reply of runner) {
  last = reply;
  summaries += reply.stop_reason === "compaction" ? 1 : 0;
  if (at === 5) runner.compactBeforeNextTurn();
  at += 1;
}
assert.equal(summaries, 1);
console.log(text(last));
