"""What an engine of Hermes Agent is a subclass of."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    Base = object
else:
    try:
        # Hermes Agent refuses an engine that is no subclass of this class.
        from agent.context_engine import ContextEngine as Base
    except ImportError:

        class Base:
            """Stands in where Hermes Agent is not installed."""


__all__ = ["Base"]
