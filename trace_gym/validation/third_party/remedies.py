"""Fixes for failed properties of third-party environments, in terms of the code of these environments."""

from __future__ import annotations

from collections.abc import Mapping

from trace_gym.validation.constant_answers import MAX_SHARE
from trace_gym.validation.third_party.uri import SCHEMES

WORDS: Mapping[str, Mapping[str, str]] = {
    "gym": {
        "reset": "`reset`",
        "step": "`step`",
        "reward": "the code in `step` that computes the reward",
        "reference": "the result of `solution(seed)`",
        "add": "add `solution(seed)`",
        "seeded": "call `super().reset(seed=seed)` and draw only from `self.np_random`",
    },
    "reasoning-gym": {
        "reset": "`__getitem__` of the data set",
        "step": "`score_answer`",
        "reward": "`score_answer`",
        "reference": '`entry["answer"]`',
        "add": 'add `entry["answer"]`',
        "seeded": "draw only from a `Random` that is made from the data set's seed and the index",
    },
    "skyrl": {
        "reset": "`init`",
        "step": "`step`",
        "reward": "the code in `step` that computes the reward",
        "reference": "the `solution` or the ground truth of the row",
        "add": "add the field `solution` to the rows",
        "seeded": "take everything from the row of the data set",
    },
    "openenv": {
        "reset": "`reset` of the environment on the server",
        "step": "`step` of the environment on the server",
        "reward": "the code in `step` that sets the reward of the observation",
        "reference": "the reference solution",
        "add": "",
        "seeded": "use the `seed` that the client sends to make the only random generator",
    },
    "function": {
        "reset": "the file of cases",
        "step": "the reward function",
        "reward": "the reward function",
        "reference": "the reference in the file",
        "add": "add a column `reference`",
        "seeded": "use nothing but the arguments",
    },
    "verifiers": {
        "reset": "the data set or the taskset, and the setup of a rollout,",
        "step": "the environment",
        "reward": "the reward function",
        "reference": "the answer in the form that the option `reference` states",
        "add": "set the option `reference`",
        "seeded": "take everything from the row or the task",
    },
    "inspect": {
        "reset": "the data set and the solver",
        "step": "the scorer",
        "reward": "the scorer",
        "reference": "the target in the form that the option `reference` states",
        "add": "set the option `reference`",
        "seeded": "take everything from the sample",
    },
}
"""Names of the parts of an environment by URI scheme."""
REMEDIES: Mapping[str, str] = {
    "TG001": "Correct the exception that the constructor or {reset} raises, if there is one, and return a prompt "
    "that is not empty for every seed.",
    "TG101": "In {reset}, derive the whole problem from the seed: {seeded}. Count no earlier resets, read no clock, "
    "and let {step} use nothing that is left of earlier problems.",
    "TG102": "Sort what comes out of a set before you draw from it or print it, and use neither `hash()` of a text nor "
    "the time zone. Run the snippet with `PYTHONHASHSEED=0` and `PYTHONHASHSEED=1` to compare.",
    "TG103": "Let {reset} draw the problem from the seed, and draw from more possibilities: {seeded}.",
    "TG105": "Keep state in the instance, not in class attributes, module variables, caches or files that instances "
    "share.",
    "TG201": "Run the snippet. Either {reference} is wrong, or {reward} rejects a correct answer. If the most that can "
    "be earned is not 1, state it in the URI: `?high=...`.",
    "TG203": "Give the full reward only once the task is complete, or remove unnecessary turns from {reference}.",
    "TG207": "Strip white space from the answer before {reward} compares it, and remove every term from {reward} that "
    "counts characters, searches for words such as *verified*, or looks for headings and lists. Run the snippet to see "
    "the text that is rewarded.",
    "TG301": "Return 0 from {reward} for text that solves nothing. Look for credit for any answer, for a format alone, "
    "for single letters, or for each turn.",
    "TG303": "Return a finite number from {reward}, keep the sum over all turns between `low` and `high`, and give a "
    "correct answer more than a wrong one. State another range in the URI: `?low=...&high=...`.",
    "TG402": "Let {step} treat text that it cannot read as a wrong answer. Catch the exceptions of parsers, limit "
    "their time and the length of their input, and pass the text to neither `eval` nor `exec`.",
    "TG405": "Let {step} accept turns after the end: return the last observation with reward 0 and the end flag "
    "instead of raising an exception.",
    "TG304": "Run the snippet: it gives a wrong answer. Let {reward} compare everything that distinguishes answers: "
    "the sign, the decimal point, all digits, every element, their order if the task asks for one, all values of a "
    "record, and negations. If an error of a number is accepted on purpose, state it in the prompt or in the URI: "
    "`?tolerance=0.1`.",
    "TG501": "Make sure that {reference} gets the highest reward and that text which solves nothing gets the lowest; "
    "then reward steps in between, so that attempts at one problem differ.",
    "TG502": "Choose options of the environment that make its problems easier or harder for this policy, mix in "
    "problems that it solves sometimes, or train on demonstrations first.",
    "TG601": "Run the snippet: it answers without solving the problem. Let {reward} compare the whole answer, and "
    "reject text that contains several candidates instead of searching it for the right one. Only one place, such as "
    "the last line, should count as the answer.",
    "TG701": "Remove the answer from the prompt that {reset} returns, or put it at a place that differs from problem "
    "to problem among wrong ones. In an example of the answer format, write a placeholder such as `LETTER` instead of "
    "a possible answer.",
    "TG703": "Write other problems in place of those that the test contains, or remove them from the training data.",
    "TG704": "Let seeds that lie far apart make other problems: do not take the seed modulo a small number, and draw "
    "from more possibilities in {reset}.",
    "TG803": "Word the prompt that {reset} returns in several ways, and draw one of them from the seed.",
    "TG804": f"Draw the problems so that no single answer is correct in more than {MAX_SHARE:.0%} of them.",
    "TG901": "Run the snippet and correct what `check_env` reports about your `reset`, `step`, `render` or spaces.",
    "TG902": "Keep state in the instance, so that several environments can be stepped in turn, and let "
    "`reset(seed=...)` start from nothing but the seed.",
    "TG903": "Declare an `observation_space` and an `action_space` that contain every observation and every text, such "
    "as `gymnasium.spaces.Text` with `min_length=0`, a large `max_length` and a full `charset`, and take only options "
    "that JSON can hold.",
}
"""Fixes by property code, with one entry for each property that has a check for third-party environments."""


def remedy_for(code: str, address: str) -> str:
    """Return the fix for a property and a URI; an empty string for a property that does not apply."""
    words = WORDS.get(address.partition(":")[0], WORDS["gym"])
    return REMEDIES.get(code, "").format(**words)


def how_to_add_reference(address: str) -> str:
    """Return how to add a reference solution to the environment of a URI; an empty string if this is not possible."""
    return WORDS.get(address.partition(":")[0], {}).get("add", "")


def markdown(scheme: str = "gym") -> str:
    """Return the table of ``docs/guides/validate_others.md``."""
    assert scheme in SCHEMES
    rows = "".join(f"| {code} | {remedy_for(code, f'{scheme}:x')} |\n" for code in sorted(REMEDIES))
    return f"| Code | What to correct |\n|---|---|\n{rows}"
