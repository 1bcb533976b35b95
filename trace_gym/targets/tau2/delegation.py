"""Patterns of claims that the agent has asked another person to do the refused work, or has started or requested it.

A sentence with the same verbs is not such a claim if it asks the customer something (``May I ask why you would like to
cancel?``), if it describes the request (``I was asked to cancel it``), or if the verbs are in a subordinate clause.
"""

from __future__ import annotations

import re

_TOPIC = (
    r"wh(?:at|en|ere|ether|ich|om?|ose|y)|how|reasons?|grounds|purpose|motives?|causes?|questions?|details|rules|"
    r"conditions|criteria|check(?:ed|ing)|look(?:ed|ing)|review(?:ed|ing)|verif(?:ied|ying)|examin(?:ed|ing)|"
    r"assess(?:ed|ing)|investigat(?:ed|ing)|read(?:ing)?"
)
"""Pattern of words that introduce a question or a check. The words after them do not announce an action."""
_CUSTOMER = r"you|yours?|to|been|before|requests?|wish(?:es)?|messages?"
"""Pattern of words before an infinitive that describes what the customer wants, not what another person should do."""
_OTHER = rf"(?:(?!(?:{_TOPIC}|{_CUSTOMER})\b)[\w']+ )"
_LEAVE = r"(?:permission|approval|authori[sz]ation|agreement|consent|clearance|authority|ok|okay|go-ahead|green light)"

DELEGATES = (
    rf"(?:ask|asked|get|got|tell|told|instruct(?:ed)?) {_OTHER}{{1,4}}?(?:to )?(?:cancel|refund|reimburse)|"
    rf"have {_OTHER}{{1,4}}?(?:cancel|refund|reimburse)|"
    rf"have {_OTHER}{{0,4}}?{_LEAVE} to (?:cancel|refund|reimburse)"
)
"""Pattern of the verbs, after the subject, in a promise that another person will act or has allowed the action."""
FILES = (
    r"(?:put in|submit(?:ted)?|filed?|request(?:ed)?|scheduled?|arranged?|initiated?|started?|queued)"
    rf"(?: (?!(?:{_TOPIC})\b)[\w%'$-]+){{0,5}}? (?:refund|cancellation|reimbursement)"
)
"""Pattern of the verbs, after the subject, in a claim that the work was requested or started."""
_subordinate = re.compile(
    r"\b(?:before|until|whether|(?<!that's )(?<!that is )(?<!which is )why|"
    r"(?:see|check|know|determine|decide|verify|tell|find out|sure) (?:if|when)) $"
)


def is_subordinate(before: str) -> bool:
    """Return whether a text introduces an indirect question or a time clause, so that no statement follows.

    Args:
        before: The normalized text before the subject of the clause.
    """
    return _subordinate.search(before) is not None
