"""The exceptions of midfold: what is wrong, and in `hint` what to do about it."""

from __future__ import annotations


class Error(Exception):
    """Anything that midfold could not do.

    >>> import midfold
    >>> try:
    ...     midfold.compact([{"role": "user", "content": "hi"}], preset="hermse")
    ... except midfold.Error as error:
    ...     print(error.message)
    ...     print(error.hint.replace("; ", "\\n"))
    there is no preset `hermse`
    did you mean `hermes`?
    there are: default, generous, lean, verbatim, head-tail, hermes, nucleic, projection
    """

    message: str
    """What is wrong."""
    hint: str | None
    """What to do about it; `None` where that is not known."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        # Both are arguments, so that the exception crosses to another process as it is.
        super().__init__(message, hint)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return self.message if self.hint is None else f"{self.message}\nhint: {self.hint}"


class InputError(Error, ValueError):
    """What was given cannot be used: messages that are none, a name that there is not."""


class PolicyError(Error, ValueError):
    """The policy or the preset cannot be used."""


class BudgetError(Error):
    """Nothing that fits the window can be made: the message names what cannot be folded."""


class StoreError(Error):
    """The store did not do it. What was durable before still is."""


class TokenizerError(Error, ValueError):
    """There is no such tokenizer, or its file does not load."""
