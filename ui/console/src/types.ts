// Short names for what midfold's API answers, and the few types that are the console's own. Every text in them is untrusted.

import type { components } from "./openapi.js";

type Schemas = components["schemas"];

export type Overview = Schemas["Overview"];
export type Detail = Schemas["SessionDetail"];
export type SessionsPage = Schemas["SessionPage"];
/** Where the next page begins: it is sent back as it came. */
export type Cursor = NonNullable<SessionsPage["next"]>;

export type Message = Schemas["MessageView"];
export type MessagesPage = Schemas["MessagePage"];
export type Hits = Schemas["HitPage"];

export type FoldBrief = Schemas["FoldBrief"];
/** A letter that says what became of a message; `FATES` of the parts has its words. */
export type Fate = Message["fate"];
/** A fold that was made: a brief has no number only where it is a preview. */
export interface MadeFold extends FoldBrief { number: number; fates: [Fate, number][] }
export type FabricAnswer = Schemas["FabricView"];
export interface Fabric extends FabricAnswer { folds: MadeFold[] }
export type FoldDetail = Schemas["FoldDetail"];
export type Edit = Schemas["EditLine"];
export type LostGroup = Schemas["LostGroup"];
export type Removed = Schemas["RemovedByRule"];
export type Diff = Schemas["ContextDiff"];
export type DiffRow = Schemas["ChangedMessage"];

export type Calls = Schemas["CallList"];
export type Call = Schemas["CallView"];
export type CallDetail = Schemas["CallDetail"];
export type SentMessage = Schemas["PieceView"];

export type Outcome = Schemas["CompactionView"];
export type Undone = Schemas["UndoView"];
export type Pinned = Schemas["PinView"];
export type Deleted = Schemas["SessionExtent"];
export type PolicyChange = Schemas["NewRules"];
export type Presets = Schemas["PresetList"];

export type Explanation = Schemas["Explanation"];
export type Occurrence = Schemas["Occurrence"];
export type Forgot = Schemas["ForgottenText"];

export type Server = Schemas["ServerReport"];
export type Problem = Pick<Schemas["Problem"], "title" | "status" | "detail" | "hints" | "code">;

/** What an event says of a session, and its name. */
export type Change = Schemas["SessionChange"] & { kind: string };
