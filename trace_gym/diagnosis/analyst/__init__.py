"""Language-model analyst: discovery and labeling of capabilities in trajectories."""

from trace_gym.diagnosis.analyst.estimate import Estimate
from trace_gym.diagnosis.analyst.model_analyst import ModelAnalyst, registered_capabilities
from trace_gym.diagnosis.analyst.options import AnalystOptions
from trace_gym.diagnosis.analyst.records import AnalystReport, Evidence, Found, NotLabeled

__all__ = [
    "AnalystOptions",
    "AnalystReport",
    "Estimate",
    "Evidence",
    "Found",
    "ModelAnalyst",
    "NotLabeled",
    "registered_capabilities",
]
