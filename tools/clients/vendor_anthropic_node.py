"""What vendor_anthropic.py does, with the SDK for TypeScript: vendor_anthropic.mjs."""

from common import node, run

run("vendor_anthropic_node", lambda: node("vendor_anthropic.mjs"))
