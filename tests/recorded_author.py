"""A language model that returns recorded texts, as the author of environments in tests."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field

from trace_gym.errors import ModelError
from trace_gym.llm import Completion, ModelRequest

PLAN = {
    "title": "Look at a parcel before you hand it over.",
    "rationale": "The tools hand over whatever they are told.",
    "tools": ["get_parcel", "storage_fee", "hand_over"],
    "rules": ["At most 14 days."],
    "goals": ["The parcel is handed over."],
    "guards": ["Nothing else changes."],
    "levels": ["two parcels", "three parcels", "four parcels, near the limit"],
    "plan": {
        "entities": ["A parcel."],
        "varies": ["The days."],
        "families": [{"name": "fetch", "says": "Fetch parcels.", "weight": 1}],
        "near_misses": ["14 and 15 days."],
        "user": "Asks and hangs up.",
        "oracle": "Look, then hand over or refuse.",
        "ablated": "Hand over.",
    },
}
"""Plan of an environment for the parcel depot."""
PARTS = ("TG201", "TG205", "TG301", "TG401", "TG413", "TG501")
"""Properties that the environment is checked for here; it passes all others, too."""


@dataclass
class Parrot:
    """Answers with the next of its texts, and remembers what it was asked and whether a base world was loaded then."""

    texts: list[str]
    name: str = "files:parrot"
    asked: list[ModelRequest] = field(default_factory=list)
    loaded: list[bool] = field(default_factory=list)

    def complete(self, request: ModelRequest) -> Completion:
        if len(self.asked) == len(self.texts):
            raise ModelError(f"no answer is left to {request.purpose}, after {[a.purpose for a in self.asked]}")
        self.asked.append(request)
        self.loaded.append(any(name.endswith("parcel_depot_base") for name in sys.modules))
        return Completion(
            text=self.texts[len(self.asked) - 1], model=self.name, prompt_tokens=100, completion_tokens=10
        )


def block(code: str) -> str:
    return f"```python\n{code}\n```\n"
