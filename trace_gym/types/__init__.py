"""Data types of trace_gym.

Types that are written to disk are immutable pydantic models that are validated when they are read and written.
"""

from trace_gym.types.base import FORMAT_VERSION, Record, sha256, to_jsonl
from trace_gym.types.episode import Call, Check, Event, Interface, Message, NamedCheck, Say, Scenario, Score
from trace_gym.types.manifest import Adapter, Description, Manifest, Origin
from trace_gym.types.report import Bars, Curves, Exhibit, Finding, FindingVerdict, Replay, Report, Transcript
from trace_gym.types.spec import Family, Plan, Spec
from trace_gym.types.trajectory import Capability, Label, Trajectory, UserWords

__all__ = [
    "FORMAT_VERSION",
    "Adapter",
    "Bars",
    "Call",
    "Capability",
    "Check",
    "Curves",
    "Description",
    "Event",
    "Exhibit",
    "Family",
    "Finding",
    "Interface",
    "Label",
    "Manifest",
    "Message",
    "NamedCheck",
    "Origin",
    "Plan",
    "Record",
    "Replay",
    "Report",
    "Say",
    "Scenario",
    "Score",
    "Spec",
    "Trajectory",
    "Transcript",
    "UserWords",
    "FindingVerdict",
    "sha256",
    "to_jsonl",
]
