"""What vendor_openai.py does, with the SDK for TypeScript: vendor_openai.mjs."""

from common import node, run

run("vendor_openai_node", lambda: node("vendor_openai.mjs"))
