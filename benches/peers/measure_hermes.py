#!/usr/bin/env python3
"""One measurement of hermes-agent's compressor, in a process of its own; prints one JSON object.

    measure_hermes.py compress|rest|call FILE WINDOW [--first]

Processor time (user and system, `time.process_time`) and peak memory of the process. The peer is
given its best case:

- it is imported, set up, and warm: its regular expressions are compiled and what it imports lazily
  is imported, by compacting a made-up conversation first (`--first` leaves that out);
- Python's garbage collector has put everything that was loaded aside (`gc.freeze`);
- `compress()` is told the tokens of the request, so that it need not estimate them first;
- no summary is waited for: the call of a model fails at once, and the peer's own deterministic
  fallback stands. Its log is off.

`compress`: the messages are Python objects already, as its host holds them. Measured is the
compressor's `compress()` and nothing else. `rest`: the same while the compressor rests after a
failed summary: it then does not even serialise what a model would be shown. `call`: what a host does
for one call on bytes in memory, from parsing over the estimate of the request to the bytes of the
new context.
"""

import argparse
import gc
import json
import resource
import sys
import time
from pathlib import Path

import hermes_peer


def warm_up(module, window):
    """Compacts a small conversation of the same kind, with another compressor."""
    messages = [{"role": "user", "content": "Read the files."}]
    for n in range(400):
        function = {"name": "read_file", "arguments": json.dumps({"path": f"src/{n}.rs"})}
        call = {"id": f"call_{n}", "type": "function", "function": function}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        body = f"line of file {n}\n" * 200
        messages.append({"role": "tool", "tool_call_id": f"call_{n}", "content": body})
    compressor = hermes_peer.compressor(module, 16_000)
    compressor.compress(messages, current_tokens=window)


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    options.add_argument("what", choices=["compress", "rest", "call"])
    options.add_argument("file", type=Path)
    options.add_argument("window", type=int)
    options.add_argument("--first", action="store_true")
    options = options.parse_args()

    module = hermes_peer.load()
    if not options.first:
        warm_up(module, options.window)
    text = options.file.read_bytes()
    compressor = hermes_peer.compressor(module, options.window)
    if options.what == "rest":
        compressor._summary_failure_cooldown_until = time.monotonic() + 600
    after = None
    if options.what == "call":
        gc.collect()
        gc.freeze()
        start = time.process_time()
        messages = json.loads(text)["messages"]
        tokens = module.estimate_messages_tokens_rough(messages)
        context = compressor.compress(messages, current_tokens=tokens)
        after = json.dumps(hermes_peer.on_the_wire(context), ensure_ascii=False).encode()
        took = time.process_time() - start
    else:
        messages = json.loads(text)["messages"]
        del text
        tokens = module.estimate_messages_tokens_rough(messages)
        gc.collect()
        gc.freeze()
        start = time.process_time()
        context = compressor.compress(messages, current_tokens=tokens)
        took = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    if not compressor._last_summary_fallback_used or len(context) >= len(messages):
        sys.exit("the peer compacted nothing: the figure would say nothing")
    after = after or json.dumps(hermes_peer.on_the_wire(context), ensure_ascii=False).encode()
    figures = {
        "ms": took * 1e3,
        "peak_mb": peak / 1e6,
        "messages": len(messages),
        "messages_after": len(context),
        "tokens": tokens,
        "tokens_after": module.estimate_messages_tokens_rough(context),
        "bytes": options.file.stat().st_size,
        "bytes_after": len(after),
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    hermes_peer.enter_environment(__file__)
    main()
