#!/usr/bin/env python3
"""hermes-agent's trajectory compressor over a folder of rows, in a process of its own.

    measure_trajectories.py CONFIG TOKENIZER IN-FOLDER OUT-FOLDER EMPTY-FOLDER

The rows are in OUT-FOLDER, with the peer's `compression_metrics` in them. Printed: the processor
time, user and system, from where everything is loaded, and EMPTY-FOLDER was gone through once, to
where all is written. The peer is given its best case:

- `tokenizer.json` is held by the `tokenizers` library itself. Through transformers, as the peer
  loads it, every call of it costs more;
- the summary costs nothing: what it would ask is not put together, and the one function through
  which it reaches a model returns a text that is there already, at once. It is as long as the
  summary may be;
- its input is a folder, which it reads once (a single file it would copy before and after).
"""

import logging
import os
import sys
import time
from pathlib import Path

import hermes_peer

# About 600 tokens, so that no row is over the target for want of a summary's length.
STUB = "[CONTEXT SUMMARY]: " + " ".join(f"Step {n} read and changed a file." for n in range(75))


class Tokenizer:
    """What the peer asks a tokenizer for: something whose length is the number of tokens."""

    def __init__(self, path):
        from tokenizers import Tokenizer as Loaded

        self.inner = Loaded.from_file(path)
        # Text that looks like a special token is text, as on the other side.
        self.inner.encode_special_tokens = True

    def encode(self, text):
        return self.inner.encode(text, add_special_tokens=False)


def main():
    config, tokenizer, folder, out, empty = map(Path, sys.argv[1:])
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    hermes_peer.home()
    logging.disable(logging.CRITICAL)
    import trajectory_compressor as module

    class Compressor(module.TrajectoryCompressor):
        def _init_tokenizer(self):
            self.tokenizer = Tokenizer(str(tokenizer))

        def _init_summarizer(self):
            pass

        def _extract_turn_content_for_summary(self, trajectory, start, end):
            return ""

        async def _generate_summary_async(self, content, metrics):
            metrics.summarization_api_calls += 1
            return STUB

    config = module.CompressionConfig.from_yaml(str(config))
    compressor = Compressor(config)
    # What is imported and made on first use is there then.
    compressor.process_directory(empty, out.parent / f"{out.name}-warm")
    start = time.process_time()
    compressor.process_directory(folder, out)
    return time.process_time() - start


if __name__ == "__main__":
    hermes_peer.enter_environment(__file__)
    sys.stdout, said = open(os.devnull, "w"), sys.stdout
    print(main(), file=said)
