"""An operator's questions to brokers and the registration service, for programs on their host.

Counterpart: ``overlay.systems.federation.inspection`` answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from overlay.programs import inspection
from overlay.programs.inspection import Listed, NotInspected
from overlay.systems.federation.subjects import Subject


class Inspector(inspection.Inspector):
    what = "a server of a federation"

    def state(self) -> Mapping[str, Any]:
        """What ``broker.view`` and ``bdrs.view`` tell of the server itself."""
        return self.ask(Subject.STATE)


__all__ = ["Inspector", "Listed", "NotInspected", "Subject"]
