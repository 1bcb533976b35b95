"""Descriptions of the ToolSandbox capabilities, used by the router and the reports."""

DESCRIPTIONS = {
    "permission_error_recovery": "change the setting that a refusal names, and try again",
    "datetime_reasoning": "reckon dates and times from the phone's clock",
    "state_dependency_resolution": "order the parts of a task by the settings that they need and change",
    "insufficient_information": "ask for what is missing, or say that it cannot be done",
}
