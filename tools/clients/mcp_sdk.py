"""The Python SDK of the Model Context Protocol: finds, reads and explains a fact that was folded.

`CHECK_SERVER` is an address, or the command of a server as a JSON list; `CHECK_MODE` is how the SDK
finds the revision of the protocol; `CHECK_FACT` is what was said, and `CHECK_WORDS` are other words
of its message. Prints one line of JSON: what it saw.
"""

import asyncio
import json
import os

from mcp import Client, StdioServerParameters


def target():
    """What the SDK connects to."""
    server = os.environ["CHECK_SERVER"]
    if server.startswith("http"):
        return server
    command, *arguments = json.loads(server)
    home = {name: os.environ[name] for name in ("HOME", "PATH")}
    return StdioServerParameters(command=command, args=arguments, env=home)


async def look() -> dict:
    """One connection, and everything that the server offers."""
    fact, words = os.environ["CHECK_FACT"], os.environ["CHECK_WORDS"]
    async with Client(target(), mode=os.environ["CHECK_MODE"]) as client:

        async def call(tool: str, arguments: dict) -> tuple[str, bool]:
            result = await client.call_tool(tool, arguments)
            return result.content[0].text, bool(result.is_error)

        tools = await client.list_tools()
        hits, failed = await call("recall_find", {"query": words})
        at = next((word for word in hits.split() if word.startswith("@")), "@0")
        page, _ = await call("recall_show", {"messages": at})
        told = await client.call_tool("explain", {"text": fact})
        missing, is_error = await call("recall_find", {"session": "never"})
        resources = (await client.list_resources()).resources
        recap = await client.read_resource(resources[0].uri)
        return {
            "tools": [tool.name for tool in tools.tools],
            "found": fact in hits and not failed,
            "read": fact in page,
            "explained": told.structured_content["answers"][0]["answer"],
            "refused": is_error and missing.startswith("error: there is no session"),
            "recap": recap.contents[0].text[:200],
            "recap_has_it": fact in recap.contents[0].text,
        }


print(json.dumps(asyncio.run(look())), flush=True)
