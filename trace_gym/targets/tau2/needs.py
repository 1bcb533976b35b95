"""Descriptions of the tau2 capabilities, used by the router and the reports."""

DESCRIPTIONS = {
    "precondition_verification": "check the rules before cancelling and refuse what they forbid",
    "multi_step_completion": "carry out every part of a request with several parts",
    "structured_data_reasoning": "find the best record among search results",
    "tool_precision": "charge exactly the payment method that the customer names",
}
