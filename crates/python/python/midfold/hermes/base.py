"""What an engine of Hermes Agent is a subclass of: the host refuses one that is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:

    class Base:
        """The host's class."""

else:
    try:
        from agent.context_engine import ContextEngine as Base
    except ImportError:

        class Base:
            """Stands in where Hermes Agent is not installed."""


__all__ = ["Base"]
