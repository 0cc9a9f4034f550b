/** A tool, as a policy describes it. */
// Written by tools/door-types: change the sources that it reads.

/**
 * Whose words the result of a tool holds. `nobody`: The tool's own. `marked`: A person's where the client marks them
 * as such: a plan that is approved with a remark. `person`: A person's, all of them: a question to the user.
 */
export type AnswerSource = 'nobody' | 'marked' | 'person'

/**
 * What a tool does. `read`: Shows a file. `write`: Writes a whole file. `edit`: Changes a part of a file. `search`:
 * Looks for text or names. `list`: Lists a folder. `shell`: Runs a command or a program. `web`: Fetches or searches
 * the web, drives a browser. `task`: Hands work to another agent. `todo`: Keeps the list of what is to be done.
 * `other`: Anything else, and every unknown tool.
 */
export type ToolKind = 'read' | 'write' | 'edit' | 'search' | 'list' | 'shell' | 'web' | 'task' | 'todo' | 'other'

/** An argument whose value decides what a tool does. */
export interface ToolMode {
  /** The name of the argument. */
  arg?: string
  /** The kind of the tool for each value of the argument. */
  kinds?: Record<string, ToolKind>
}

/** An entry of the table of tools: tools that work alike. A policy adds tools in the same form. */
export interface ToolDefinition {
  /** Whose words the results of the tools hold. */
  answers?: AnswerSource
  /** Arguments that hold a program in another language. */
  code?: string[]
  /** Arguments that hold a shell command. */
  commands?: string[]
  /** Arguments that hold the last line of a partial read. */
  end?: string[]
  /** The kind of work that the tools do. */
  kind?: ToolKind
  /** Arguments that hold the number of lines of a partial read. */
  limit?: string[]
  /** The argument whose value decides the kind; left out if no argument does. */
  mode?: ToolMode | null
  /** The names of the tools; `*` at the end of a name means any rest. */
  names?: string[]
  /** Arguments that hold the first line of a partial read. */
  offset?: string[]
  /** Arguments that hold a patch. */
  patches?: string[]
  /** Arguments that hold the path of a file, or for a listing the path of the folder. */
  paths?: string[]
  /** Arguments that hold the text to search for. */
  queries?: string[]
  /** Arguments that hold the first and the last line of a partial read, as a pair. */
  range?: string[]
}
