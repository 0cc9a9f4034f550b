#!/usr/bin/env python3
"""hermes-agent 0.19's context compressor as an engine for `midfold measure replay --engine`.

    midfold measure replay FILE --window 16000 --engine benches/peers/hermes_engine.py

Reads one JSON object a line, `{"messages": [...], "window": N}`, messages in Chat Completions form,
and answers each with one line, `{"messages": [...]}`, until its input ends. What cannot be answered
is answered with `{"error": "..."}`. Nothing else is ever written to standard output.

The compressor runs with its defaults, `window` as its context length, and its own deterministic
fallback in the place of a model's summary. *When* it runs is the measure's rule, the same for every
engine: above 0.8 of the window, in characters / 3.2 and 4 a message (docs/MEASURES.md). With
`--trigger own` it is the compressor's own: 0.85 of windows up to 64,000, else 0.75, in its own
estimate (characters of a Python dict / 4); then contexts may pass the window.

One compressor is held while requests go on from the one before, as its host holds it. A request goes
on where what was answered comes first (the stateless form), or where the messages of the request
before come first: then those are what was answered, and the rest is new. Any other request is a new
conversation.
"""

import argparse
import json
import os
import sys

import hermes_peer


def text_of(message):
    """A message's text as the measure defines it: its content, then a line for each call."""
    content = message.get("content") or ""
    if isinstance(content, list):
        content = "\n".join(part.get("text", "") for part in content if isinstance(part, dict))
    calls = [call.get("function") or {} for call in message.get("tool_calls") or []]
    lines = [f"{call.get('name', '')} {call.get('arguments', '')}" for call in calls]
    return "\n".join([content, *lines] if content else lines)


def measured(messages):
    """Tokens as the measure counts them: characters / 3.2, rounded up, and 4 a message."""
    return sum((len(text_of(message)) * 10 + 31) // 32 + 4 for message in messages)


class Engine:
    """One conversation after the other."""

    def __init__(self, module, own_trigger):
        self.module = module
        self.own_trigger = own_trigger
        self.compressor = None
        self.window = None
        self.asked, self.answered = (), ()

    def answer(self, messages, window):
        """The context that would be sent."""
        context = self.held(messages) if self.window == window else None
        if context is None:
            self.compressor = hermes_peer.compressor(self.module, window)
            self.window = window
            context = messages
        if self.fires(context):
            # `force` lifts the pause after a failed summary: replay's time is not the clock's.
            context = self.compressor.compress(context, force=True)
            context = hermes_peer.on_the_wire(context)
        self.asked, self.answered = messages, context
        return context

    def held(self, messages):
        """What is held now that these came; `None` where they do not go on from what came before."""
        if self.answered and messages[: len(self.answered)] == self.answered:
            return messages
        if self.asked and messages[: len(self.asked)] == self.asked:
            return self.answered + messages[len(self.asked) :]
        return None

    def fires(self, messages):
        """Whether it is time to compact."""
        if self.own_trigger:
            estimate = self.module.estimate_messages_tokens_rough(messages)
            return estimate >= self.compressor.threshold_tokens
        return measured(messages) > 0.8 * self.window


def parse(line):
    """A request's messages and window; raises `ValueError` where it is none."""
    request = json.loads(line)
    messages, window = request.get("messages"), request.get("window")
    if not isinstance(messages, list) or not all(isinstance(m, dict) for m in messages):
        raise ValueError("messages: a list of objects is wanted")
    if not isinstance(window, int) or window <= 0:
        raise ValueError("window: a number of tokens is wanted")
    return messages, window


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    options.add_argument("--trigger", choices=["measure", "own"], default="measure")
    options = options.parse_args()
    # Standard output is the answers' alone: whatever a library prints goes to standard error.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    engine = Engine(hermes_peer.load(), options.trigger == "own")
    for line in sys.stdin.buffer:
        if not line.strip():
            continue
        try:
            answer = {"messages": engine.answer(*parse(line))}
        except Exception as error:  # the process outlives what one request does to the peer
            answer = {"error": f"{type(error).__name__}: {error}"}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    hermes_peer.enter_environment(__file__)
    main()
