// The answers of midfold's API, as far as the console reads them. Every text in them is untrusted.

export type Fate = string;
export interface Size { messages: number; tokens: number }
export interface Usage { calls?: number; prompt: number; output: number; cache_read: number; cache_write: number }

export interface Overview {
  id: string; title: string; source: string | null; client: string | null; model: string; owner: string | null;
  dialect: string; policy: string; created: number; changed: number;
  events: number; turns: number; tokens: number; window: number; fill: number;
  threshold?: number | null;
  folds: number; active: number | null; calls: number; usage: Usage | null;
  /** Why requests went on as they came; older servers do not say it. */
  faults?: { cause: string; reason: string; requests: number }[];
  cost: { sent: number; everything: number; unit: string } | null;
  cache_share: number | null; parent: { id: string; at: number } | null;
}

export interface Status {
  context_tokens?: number; context_length?: number; budget_tokens?: number; log_tokens?: number; messages?: number;
  threshold?: { tokens: number; rule: string } | null; due?: { state?: string } | null;
  pins?: number[]; policy_since?: number | null; strikes?: number; narration_asked?: boolean; narration_ready?: boolean;
}
export interface Detail extends Overview { status: Status; line: string }

/** Where the next page begins: whatever it is, it is sent back as it came. */
export type Cursor = string | number;
export interface SessionsPage { sessions: Overview[]; next: Cursor | null; total?: number | null }

export interface Message {
  seq: number; role: string; turn: number; step: number; tokens: number; tool: string | null; target?: string | null;
  pinned: boolean; fate: Fate; why: string | null; text: string; cut: boolean; chars: number; time?: number | null; json?: string;
}
export interface MessagesPage { messages: Message[]; total: number }

export interface Hits { found: { event: number; role: string; snippet: string; also?: number[] }[]; total: number; next: number | null }

export interface FoldBrief {
  number: number; id: string; at: number; before: number; after: number; recap_tokens: number; active: boolean; undone: boolean; made: number;
  policy?: string; cause?: string; stand_in?: string; freed?: number;
}
export interface FabricFold extends FoldBrief { fates: [Fate, number][] }
export interface Fabric {
  session: string; events: number; tokens: number[]; roles: string; tools: string[]; tool: number[]; turns: number[];
  layout: { head: [number, number]; middle: [number, number]; tail: [number, number] } | null;
  pins: number[]; active: number | null; folds: FabricFold[];
}

export interface Edit { seq: number; kind: string; reducer: string; reason: string; tokens_before: number; tokens_after: number }
export interface Verdict { code?: string; detail?: string; dropped?: { line: string; reason?: string; why?: string }[] }
export interface FoldDetail {
  fold: FoldBrief; recap: { role: string; text: string; tokens: number } | null; edits: Edit[]; why: Record<string, string>;
  verdicts: Verdict[]; receipt: Receipt | null; record: unknown; lost: LostGroup[]; kept_names: number; lost_names: number;
  events: Gone[];
  /** How many left, where not all of them are listed. */
  gone?: number;
}
/** What is lost of one kind; of those that were said, with the message that says it. */
export interface LostGroup { kind: string; title: string; count: number; first: { text: string; seq: number | null }[] }
/** A message that left the context with a fold, or before it. */
export interface Gone { seq: number; role: string; tool: string | null; line: string; tokens: number }
export interface Removed { rule: string; reason: string; items: number; tokens_before: number; tokens_after: number }
export interface Receipt { removed?: Removed[]; intact?: boolean }
export interface DiffRow {
  seq: number; role: string; tool: string | null; fate: Fate; reason: string | null; before: string; after: string | null;
  tokens_before: number; tokens_after: number;
}

export interface Call {
  number: number; time: number; events: number; fold: number | null; messages: number; bytes: number;
  tokens_counted: number; tokens_estimated: number; everything: number;
  prefix: { messages: number; bytes: number; tokens: number } | null;
  injections: { hook: string; tokens: number }[]; usage: Omit<Usage, "calls"> | null;
}
export interface SentMessage { seq: number | null; role: string; fate: Fate; text: string; tokens: number }
export interface CallDetail extends Call { sent: SentMessage[] }

export interface Outcome {
  outcome: "folded" | "nothing"; preview: boolean; reason: string | null; headline: string; token_line: string; note: string | null;
  instead: string | null; before: Size; after: Size; fold: FoldBrief | null; recap: string | null; cache: unknown;
}
export interface Undone { undone: number[]; active: number | null; before: Size; after: Size; preview: boolean }
export interface Pinned { pins: number[]; changed: boolean; unit: number[]; preview: boolean; folded?: boolean }
export interface Deleted { session: string; events: number; folds: number; calls: number; jobs: number; bytes: number; changed: boolean }
export interface PolicyChange { before: PolicyState; after: PolicyState; preview: boolean }
export interface PolicyState { policy: string | { name?: string }; line: string }

export interface FoldName { number: number; id: string; events: number }
export interface Occurrence {
  seq: number; role: string; snippet: string; sight: { is: string; named?: boolean; reducer?: string; reason?: string };
  left: { fold: FoldName; rule: string; reason: string } | null; recall: boolean;
  used: { seq: number; by: string; after_left: boolean } | null;
}
export interface Explanation {
  text: string; call: number | null; events: number; fold: FoldName | null; answer: string; lost_with: FoldName | null;
  in_recap: boolean; asked_again?: unknown[]; occurrences: Occurrence[];
}
export interface Forgot { found: { session: Overview; explanation: Explanation }[]; looked_at: number; next: Cursor | null }

export interface Server {
  version: string; started: number; now: number; listen: string; store: string; policy: string; asks_for_keys: boolean; strict: boolean;
  requests: { all: number; with_history: number; folded: number; folds: number; overflows: number; recovered: number; truncated: number; unanswered: number; broken: number };
  faults: { cause: string; reason: string; requests: number }[];
  upstreams: { name: string; url: string; models: string[] }[];
  windows: { upstream: string | null; model: string; window: number; from: string }[];
}

export interface Change { kind: string; session: string; events: number; folds: number; calls: number; active: number | null; changed: number }
