"""Which hosts there are, where they come from, and what each is given to do.

To add one: an entry in `HOSTS`, a place in `PLACES` unless there is one, and the script
tools/hosts/NAME.py (or `script`), which tools/hosts/shared/host.py describes.
"""

from __future__ import annotations

from dataclasses import dataclass

from harness.registry import PLACES as CLIENT_PLACES
from harness.registry import Place

BARE, OWN, MIDFOLD = "bare", "own", "midfold"
ROOM = 12_000  # about five steps of 2,000 tokens and their answers


@dataclass(frozen=True)
class Host:
    """A host; its script is tools/hosts/NAME.py, or `script`, which may end in .mjs."""

    name: str
    title: str
    place: str
    version: str  # the package whose pin is its version
    modes: tuple[str, ...] = (BARE, OWN, MIDFOLD)
    steps: int = 14
    result_tokens: int = 2_000
    # The hard limit in tokens; 0 is `room` above the host's own prompt, which a run without a limit
    # tells first.
    limit: int = 0
    room: int = ROOM
    script: str | None = None
    normal: bool = True
    # Options of the scripted model, for a host that has another way to call and to end.
    upstream: tuple[str, ...] = ()
    seconds: int = 180  # one run

    @property
    def file(self) -> str:
        """The file name of its script."""
        return self.script or f"{self.name}.py"


# What DeepSeek Harness leaves to npm to find: npm takes forever to find it out, so it is told. Its
# cordis is the one that it was published with; newer ones lack what it calls.
_DSH = "0.1.0-rc.8"
_DSH_PEERS = (
    "anonymous-user-id",
    "atomic-write",
    "bash-local",
    "code-runtime",
    "compaction",
    "fs",
    "invariants",
    "output-retention",
    "sandbox",
    "scope",
    "session-telemetry",
    "session-title-llm",
    "shell",
    "spill",
    "subagent-in-process-driver",
    "timeout",
    "workflow",
)
_CORDIS = (
    "cordis@4.0.1",
    "cordis-plugin-group@1.0.1",
    "cordis-plugin-hmr@1.0.16",
    "cordis-plugin-include@1.0.6",
    "cordis-plugin-loader@1.0.2",
    "cordis-plugin-timer@1.1.3",
)

# Folders of packages beside those of the clients.
PLACES: dict[str, Place] = {
    **CLIENT_PLACES,
    "deepagents": Place("pip", ("deepagents==0.7.32", "langchain-openai==1.7.4")),
    "autogen": Place("pip", ("autogen-agentchat==0.7.5", "autogen-ext[openai]==0.7.5")),
    "strands": Place("pip", ("strands-agents[openai]==1.62.0",)),
    "inspect-ai": Place("pip", ("inspect-ai==0.3.285", "openai==3.57.0")),
    "litellm": Place("pip", ("litellm[proxy]==1.106.2", "mcp==2.3.0")),
    "adk": Place("pip", ("google-adk==2.13.0", "litellm==1.106.2", "mcp==2.3.0")),
    "dsh": Place(
        "npm",
        (
            f"@deepseek-ai/dsh@{_DSH}",
            *(f"@deepseek-ai/dsh-{name}@{_DSH}" for name in _DSH_PEERS),
            *(f"@deepseek-ai/{pin}" for pin in _CORDIS),
        ),
        node=22,
        flags=("--legacy-peer-deps",),
    ),
}

HOSTS = (
    Host(
        "hermes",
        "Hermes Agent, `ContextEngine`",
        "hermes",
        "hermes-agent",
        steps=16,
        result_tokens=8_000,
        # The least window that it takes.
        limit=64_000,
    ),
    Host("langchain", "LangChain, `AgentMiddleware`", "langchain", "langchain"),
    # It cannot be without its own.
    Host(
        "deepagents",
        "deepagents, `AgentMiddleware`",
        "deepagents",
        "deepagents",
        modes=(OWN, MIDFOLD),
        normal=False,
    ),
    # What they bring along compacts between runs, or nothing.
    Host(
        "openai_agents",
        "OpenAI Agents SDK, `call_model_input_filter`",
        "agents",
        "openai-agents",
        modes=(BARE, MIDFOLD),
    ),
    Host(
        "pydantic_ai",
        "Pydantic AI, `AbstractCapability`",
        "pydantic-ai",
        "pydantic-ai-slim[anthropic,openai]",
        modes=(BARE, MIDFOLD),
    ),
    Host(
        "openhands",
        "OpenHands SDK, `CondenserBase`",
        "openhands",
        "openhands-sdk",
        normal=False,
        upstream=("--summary-phrase", "context-aware state summary"),
    ),
    Host(
        "smolagents",
        "smolagents `CodeAgent`, `Model`",
        "smolagents",
        "smolagents[openai]",
        modes=(BARE, MIDFOLD),
        normal=False,
        upstream=(
            *("--script", "text-loop"),
            *("--fence", r'<code>\nprint(shell(r"""', r'"""))\n</code>'),
            *("--last-fence", r'<code>\nfinal_answer("', r'")\n</code>'),
        ),
    ),
    Host(
        "autogen",
        "AutoGen, `ChatCompletionContext`",
        "autogen",
        "autogen-agentchat",
        normal=False,
    ),
    Host("strands", "Strands Agents, `Plugin`", "strands", "strands-agents[openai]", normal=False),
    Host(
        "inspect_ai",
        "Inspect AI, `CompactionStrategy`",
        "inspect-ai",
        "inspect-ai",
        script="inspect_react.py",
        normal=False,
        upstream=("--summary-phrase", "tasked with summarizing conversations"),
    ),
    # A proxy runs no task of its own: its tests are what is run.
    Host("litellm", "LiteLLM, callback", "litellm", "litellm[proxy]", modes=(), normal=False),
    Host(
        "adk",
        "Google ADK, `BasePlugin`",
        "adk",
        "google-adk",
        normal=False,
        upstream=("--summary-phrase", "summarize the context so far"),
    ),
    Host(
        "pi",
        "pi, extension",
        "pi",
        "@earendil-works/pi-coding-agent",
        steps=24,
        room=20_000,
        normal=False,
    ),
    Host(
        "opencode",
        "opencode, plug-in",
        "opencode",
        "opencode-ai",
        steps=24,
        room=20_000,
        normal=False,
    ),
    Host(
        "dsh",
        "DeepSeek Harness, `CompactionEngine`",
        "dsh",
        "@deepseek-ai/dsh",
        steps=24,
        room=20_000,
        normal=False,
        upstream=("--summary-phrase", "now acting as a compaction engine"),
    ),
)


def version(host: Host) -> str:
    """The pinned version of a host."""
    for pin in PLACES[host.place].pins:
        name, _, number = pin.replace("==", "@").rpartition("@")
        if name == host.version:
            return number
    raise KeyError(host.version)
