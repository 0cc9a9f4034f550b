// What the made-up server says of itself.

const FAULTS = [
  ["too-large", "it is larger than what may be in memory", 0], ["encoded", "it is packed in a way that is not read here", 0],
  ["unread", "it is no request of the format that its path says", 3], ["path", "it has messages, and nothing is known of its path", 12],
  ["floor", "what may not be folded does not fit", 1], ["panic", "a fault in midfold", 0],
];
const UPSTREAMS = [
  ["openai", "https://api.openai.com", []], ["anthropic", "https://api.anthropic.com", []], ["gemini", "https://generativelanguage.googleapis.com", []],
  ["local", "http://127.0.0.1:11434/v1", ["qwen3*", "llama3*"]],
];
const WINDOWS = [
  [null, "llama3*", 131_072, "setting"], ["anthropic", "claude-sonnet-4-5", 200_000, "table"], ["local", "qwen3:8b", 40_960, "server"],
  ["openai", "gpt-5", 272_000, "learned"], ["openai", "a-model-of-the-house-with-a-long-name-2026-01", 128_000, "default"],
];

export const serverFacts = ({ started, memory, key }) => ({
  version: "0.1.0", started, now: Date.now(), listen: "http://127.0.0.1:7878", store: memory ? "memory" : "sqlite:/home/ann/.local/share/midfold/sessions.db",
  policy: "default", asks_for_keys: key !== null, strict: false,
  requests: { all: 4210, with_history: 3977, folded: 2650, folds: 61, overflows: 4, recovered: 4, truncated: 1, unanswered: 2, broken: 0 },
  faults: FAULTS.map(([cause, reason, requests]) => ({ cause, reason, requests })),
  upstreams: UPSTREAMS.map(([name, url, models]) => ({ name, url, models })),
  windows: WINDOWS.map(([upstream, model, window, from]) => ({ upstream, model, window, from })),
});
