"""python play.py FILE ...    Success of the oracle's plans with rewritten messages, and the plans that fail.

Scenarios that an environment generates differently since the messages were written are skipped.
"""

import json
import sys

from trace_gym.registry import start_episode
from trace_gym.types import Say

count = succeeded = changed = 0
for path in sys.argv[1:]:
    for line in open(path, encoding="utf-8"):
        row = json.loads(line)
        episode = start_episode(row["scenario"])
        plan = list(episode.world.copy().oracle())
        spoken = {str(n): step.text for n, step in enumerate(plan) if isinstance(step, Say)}
        if episode.messages[1]["content"] != row["opening"] or not spoken.items() <= row["oracle"].items():
            changed += 1
            continue
        for number, step in enumerate(plan):
            if not episode.done:
                episode.step(Say(row["messages"][str(number)]) if isinstance(step, Say) else step)
        score = episode.finish()
        count, succeeded = count + 1, succeeded + score.success
        if not score.success:
            print(row["scenario"], score.broken, [c.description for c in score.checks if not c.passed])
print(f"{succeeded} of {count}" + (f" ({changed} scenarios have changed)" if changed else ""))
