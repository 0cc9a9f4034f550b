// Where one is: the hash of the address, so that a reload and the back button keep the place.

export type Tab = "fabric" | "messages" | "requests" | "forgot" | "compare";
export const TABS: [Tab, string][] = [["fabric", "Fabric"], ["messages", "Messages"], ["requests", "Requests"], ["forgot", "Why did it forget …?"], ["compare", "Compare policies"]];

export type Place =
  | { view: "list"; q: string; sort: string; only: string }
  | { view: "forgot"; text: string }
  | { view: "server" }
  | { view: "session"; id: string; tab: Tab; number: number | null; query: Record<string, string> };

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Reads a hash; what it does not know is the list. */
export function parse(hash: string): Place {
  const [way = "", search = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const query = Object.fromEntries(new URLSearchParams(search));
  const parts = way.split("/").filter(Boolean).map(decode);
  if (parts[0] === "forgot") return { view: "forgot", text: query.text ?? "" };
  if (parts[0] === "server") return { view: "server" };
  if (parts[0] !== "session" || !parts[1]) return { view: "list", q: query.q ?? "", sort: query.sort ?? "", only: query.only ?? "" };
  const [, id, part, number] = parts;
  const known: Record<string, Tab> = { fold: "fabric", messages: "messages", requests: "requests", forgot: "forgot", compare: "compare" };
  const wanted = Number.parseInt(number ?? "", 10);
  return { view: "session", id, tab: known[part ?? ""] ?? "fabric", number: Number.isFinite(wanted) && wanted >= 0 ? wanted : null, query };
}

export function toList(q = "", sort = "", only = ""): string {
  const query = Object.entries({ q, sort, only }).filter(([, value]) => value);
  return query.length ? `#/?${new URLSearchParams(query)}` : "#/";
}
export function toForgot(text = ""): string {
  return text ? `#/forgot?${new URLSearchParams({ text })}` : "#/forgot";
}
export const toServer = (): string => "#/server";
export function toSession(id: string, tab: Tab = "fabric", number: number | null = null, query: Record<string, string> = {}): string {
  const part = tab === "fabric" ? (number === null ? "" : "/fold") : `/${tab}`;
  const search = new URLSearchParams(query).toString();
  return `#/session/${encodeURIComponent(id)}${part}${number === null ? "" : `/${number}`}${search ? `?${search}` : ""}`;
}

/** Changes the address without another step of the back button and without drawing the page again. */
export function keepPlace(hash: string): void {
  if (location.hash !== hash) history.replaceState(null, "", hash);
}
export function go(hash: string): void {
  location.hash = hash;
}
