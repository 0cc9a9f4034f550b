// Short names for what midfold's API answers, and the few types that are the console's own. Every text in them is untrusted.

import type { components } from "./openapi.js";

type Schemas = components["schemas"];

export type Overview = Schemas["Overview"];
export type Detail = Schemas["Detail"];
export type SessionsPage = Schemas["Listed"];
/** Where the next page begins: it is sent back as it came. */
export type Cursor = NonNullable<SessionsPage["next"]>;

export type Message = Schemas["Message"];
export type MessagesPage = Schemas["Messages"];
export type Hits = Schemas["Hits"];

export type FoldBrief = Schemas["FoldBrief"];
/** A letter that says what became of a message; `FATES` of the parts has its words. */
export type Fate = Message["fate"];
/** A fold that was made: a brief has no number only where it is a preview. */
export interface MadeFold extends FoldBrief { number: number; fates: [Fate, number][] }
export type FabricAnswer = Schemas["Fabric"];
export interface Fabric extends FabricAnswer { folds: MadeFold[] }
export type FoldDetail = Schemas["FoldDetail"];
export type Edit = Schemas["EditLine"];
export type LostGroup = Schemas["LostGroup"];
export type Removed = Schemas["Removed"];
export type Diff = Schemas["Diff"];
export type DiffRow = Schemas["Changed"];

export type Calls = Schemas["Calls"];
export type Call = Schemas["Call"];
export type CallDetail = Schemas["CallDetail"];
export type SentMessage = Schemas["Piece"];

export type Outcome = Schemas["Compacting"];
export type Undone = Schemas["Undone"];
export type Pinned = Schemas["Pinned"];
export type Deleted = Schemas["Extent"];
export type PolicyChange = Schemas["NewRules"];
export type Presets = Schemas["Presets"];

export type Explanation = Schemas["Explanation"];
export type Occurrence = Schemas["Occurrence"];
export type Forgot = Schemas["Forgot"];

export type Server = Schemas["Server"];
export type Problem = Pick<Schemas["Problem"], "title" | "status" | "detail" | "hints" | "code">;

/** What an event says of a session, and its name. */
export type Change = Schemas["Change"] & { kind: string };
