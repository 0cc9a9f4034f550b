"""The types of what goes into midfold and comes out of it as plain dictionaries.

What a provider, a trainer or you define stays open (`Message`, `Tool`, `Row`). Everything that
midfold defines has its keys here: the policy, the record of a fold, a session's status, and more.

>>> import midfold
>>> from midfold.types import Policy, SessionStatus
>>> careful: Policy = {"base": "default", "tail": {"min_messages": 20}}
>>> status: SessionStatus = midfold.Session(window=16_000, policy=careful).status()
>>> status["context_length"], status["due"]["state"]
(16000, 'below')
"""

from __future__ import annotations

from ._arrow import *  # noqa: F403
from ._entry import *  # noqa: F403
from ._fold import *  # noqa: F403
from ._ledger import *  # noqa: F403
from ._narration import *  # noqa: F403
from ._plain import *  # noqa: F403
from ._policy import *  # noqa: F403
from ._recall import *  # noqa: F403
from ._rows import *  # noqa: F403
from ._session import *  # noqa: F403
from ._tool import *  # noqa: F403
