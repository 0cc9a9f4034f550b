"""What a person is told: the dictionary of Hermes Agent's manual compression."""

from __future__ import annotations

import midfold
import pytest


def summarize(before_messages, after_messages, before_tokens, after_tokens):
    """The source's rules, written out. Its text has lost the arrow between the counts."""
    before, after = len(before_messages), len(after_messages)
    noop = list(after_messages) == list(before_messages)
    change = f"~{before_tokens:,} → ~{after_tokens:,} tokens"
    if noop:
        headline = f"No changes from compression: {before} messages"
        if after_tokens == before_tokens:
            change = f"~{before_tokens:,} tokens (unchanged)"
    else:
        headline = f"Compressed: {before} → {after} messages"
    note = None
    if not noop and after < before and after_tokens > before_tokens:
        note = (
            "Note: fewer messages can still raise this rough transcript estimate "
            "when compression rewrites the transcript into denser summaries."
        )
    return {
        "noop": noop,
        "headline": headline,
        "token_line": f"Rough transcript estimate: {change}",
        "note": note,
    }


MESSAGES = [{"role": "user", "content": f"message {n}"} for n in range(5)]


@pytest.mark.parametrize("before", [0, 1, 5])
@pytest.mark.parametrize("after", [0, 1, 4, 5])
@pytest.mark.parametrize("tokens", [(0, 0), (999, 1_000), (1_234_567, 12), (40_000, 40_000)])
def test_it_says_what_the_source_says(before, after, tokens):
    before, after = MESSAGES[:before], tuple(MESSAGES[:after])
    assert midfold.feedback(before, after, *tokens) == summarize(before, after, *tokens)
    # The same number of messages, and yet others.
    other = [{"role": "user", "content": "other"}, *after[1:]]
    assert midfold.feedback(before, other, *tokens) == summarize(before, other, *tokens)


@pytest.mark.parametrize("other", [{"messages": MESSAGES}, "[]", b"[]", iter(MESSAGES)])
def test_only_lists_have_a_number_of_messages(other):
    for before, after in [(other, MESSAGES), (MESSAGES, other)]:
        with pytest.raises(midfold.InputError, match="not a list") as caught:
            midfold.feedback(before, after, 10, 5)
        assert 'body["messages"]' in str(caught.value.hint)


def test_what_was_compacted_tells_it(session_messages):
    session = midfold.Session(window=64_000)
    session.append(session_messages)
    size = len(session_messages)
    for done in [session.preview(), session.compact()]:
        fold = done.fold
        after = f"{fold['messages_before']} → {fold['messages_after']}"
        assert done.headline == f"Compressed: {after} messages"
        assert done.outcome == "folded" and "recap" in done.instead
    again = session.compact()
    assert again.outcome == "nothing" and again.instead is None
    assert again.token_line.endswith("(unchanged)")
    result = midfold.compact(session_messages, window=16_000)
    assert result.headline.startswith(f"Compressed: {size} → ")
    alone = midfold.compact(session_messages[:2])
    assert alone.headline == "No changes from compression: 2 messages"
