from h import *
from trace_gym.targets.tau2.false_proposals import _cabin
from trace_gym.statements.text import normalize
for t in ["refund of $100 to your card within 5 to 7 business days.","takes 5-7 business days","within 5 to 7 business days of today","within 5–7 business days", "in 5 to 7 business days"]:
    print(repr(normalize(t)), _cabin.findall(normalize(t)))
