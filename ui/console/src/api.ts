// Requests to midfold's own API, with the key where one is needed, and its errors in words.

import type { Problem } from "./types.js";

const KEY = "midfold-key";
let askForKey: ((problem: Problem) => Promise<boolean>) | null = null;

/** A refused request, with what the server says can be done about it. */
export class ApiError extends Error {
  constructor(readonly problem: Problem) {
    super(problem.detail || problem.title);
  }
  get status(): number {
    return this.problem.status;
  }
}

export const key = {
  get: (): string => sessionStorage.getItem(KEY) ?? "",
  set: (value: string): void => (value ? sessionStorage.setItem(KEY, value) : sessionStorage.removeItem(KEY)),
};

/** Whether another key would help: none was sent, it is not known, or it may be used for something else only. */
export const isAboutKey = ({ status, code }: Problem): boolean => status === 401 || (status === 403 && code === "wrong-scope");

/** What is called where the server wants another key; it says whether one was given. */
export function onKeyNeeded(ask: (problem: Problem) => Promise<boolean>): void {
  askForKey = ask;
}

export function headers(): Record<string, string> {
  const own = key.get();
  return own ? { [KEY]: own } : {};
}

export async function problemOf(response: Response): Promise<Problem> {
  const fallback: Problem = { title: `The server answered ${response.status}`, status: response.status, detail: "", hints: [], code: "" };
  try {
    const body = await response.json() as Partial<Problem>;
    return { ...fallback, ...body, status: response.status, hints: Array.isArray(body.hints) ? body.hints.map(String) : [] };
  } catch {
    return fallback;
  }
}

interface Options {
  body?: unknown; signal?: AbortSignal; method?: string;
  /** A key that may do something else is no reason to ask for another one at once: the rest of the page goes on with it. */
  isAside?: boolean;
}

/** One request. Where another key would help it asks for one and tries again; what else is refused is thrown. */
export async function request<T>(path: string, { body, signal, method, isAside = false }: Options = {}): Promise<T> {
  for (;;) {
    const sent = key.get();
    let response: Response;
    try {
      response = await fetch(path, {
        method: method ?? (body === undefined ? "GET" : "POST"), signal, cache: "no-store", credentials: "same-origin",
        headers: { ...headers(), accept: "application/json", ...(body === undefined ? {} : { "content-type": "application/json" }) },
        body: body === undefined ? undefined : JSON.stringify(body),
      });
    } catch (error) {
      if (signal?.aborted) throw error;
      throw new ApiError({ title: "No answer", status: 0, detail: "The server does not answer.", hints: ["Look whether midfold serve is still running."], code: "no-answer" });
    }
    if (response.ok) return await response.json() as T;
    const problem = await problemOf(response);
    if (!isAboutKey(problem) || !askForKey || (isAside && problem.status === 403)) throw new ApiError(problem);
    // Another key was given while this one was under way.
    if (key.get() !== sent) continue;
    if (!await askForKey(problem)) throw new ApiError(problem);
  }
}

/** A path with its parts encoded and the parameters that are there. */
export function path(parts: (string | number)[], query: Record<string, string | number | boolean | null | undefined> = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== null && value !== undefined && value !== "") search.set(name, String(value));
  const text = search.toString();
  return `/v1/${parts.map((part) => encodeURIComponent(part)).join("/")}${text ? `?${text}` : ""}`;
}

export const isAbort = (error: unknown): boolean => error instanceof DOMException && error.name === "AbortError";
