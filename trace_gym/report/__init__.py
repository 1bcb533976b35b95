"""HTML reports of runs and of validations."""

from trace_gym.report.data import Example, ReportData, RunInfo, Spent, Stage, Training
from trace_gym.report.page import render_page, write_report
from trace_gym.validation.variance import VariancePoint, variance_curve

__all__ = [
    "Example",
    "ReportData",
    "RunInfo",
    "Spent",
    "Stage",
    "Training",
    "VariancePoint",
    "render_page",
    "variance_curve",
    "write_report",
]
