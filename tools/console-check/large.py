"""Writes many small conversations (one a line) and a long one, the same bytes every time.

    python3 large.py MANY.jsonl LONG.json
"""

import json
import sys

SESSIONS = 10_000
MESSAGES = 100_000

many, long = sys.argv[1:3]
with open(many, "w", encoding="utf-8") as out:
    for at in range(SESSIONS):
        messages = [
            {"role": "user", "content": f"Mend part {at} of the harbour and say what it took."},
            {"role": "assistant", "content": f"Part {at} is mended: {at % 17} planks, {at % 7} bolts."},
        ]
        out.write(json.dumps({"id": f"many-{at:05}", "messages": messages}) + "\n")

messages = [{"role": "user", "content": "Walk through all the logs, one after the other, and tell me what is odd."}]
for at in range((MESSAGES - 1) // 2):
    call = {"id": f"call_{at}", "type": "function"}
    call["function"] = {"name": "read_log", "arguments": json.dumps({"path": f"logs/{at // 100}/{at}.log"})}
    messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
    text = f"{at} lines read, worst latency {at * 7919 % 997} ms, host node-{at % 31}"
    messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})
messages.append({"role": "assistant", "content": "All of them are read."})
with open(long, "w", encoding="utf-8") as out:
    json.dump({"messages": messages}, out)
