"""Share of fitting reactions of the scripted users to messages by independent authors, by intent.

    python benchmarks/bench_dialogue.py                      # weights of the package
    python benchmarks/bench_dialogue.py --held-out author    # weights trained without the author of each message
    python benchmarks/bench_dialogue.py --base               # replies of the base worlds, without overrides
    python benchmarks/bench_dialogue.py --statements         # kinds of messages, with weights from the other authors

A reaction is fitting if it follows the rule for the intent: a question about the reason gets the reason, a proposal
gets consent, a progress report does not end the conversation, and so on. `wrong end` counts conversations that end
although the message gives no reason to end them.

With `--statements`, the messages of `dialogue_statements.jsonl` are used, in which every clause has a label. A kind is
right if the user reacts to the same kind as with the labels. `wrong end` counts messages that are taken for a report, a
refusal or a goodbye although no clause has such a label.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from trace_gym import registry
from trace_gym.episode import Episode
from trace_gym.types import Scenario

CORPUS = Path(__file__).with_name("dialogue_corpus.jsonl")
CONSENT = re.compile(r"\b(?:yes|agree|go ahead|fine|proceed)\b", re.IGNORECASE)
NOTED = re.compile(r"^(?:I see|All right|Thank|Thanks|Great|I will wait|I understand)", re.IGNORECASE)
PUZZLED = re.compile(r"^Sorry, |do not understand", re.IGNORECASE)
TOPICS = {
    "ask_identity": ("user_id", "identity"),
    "ask_record": ("reservation", "order"),
    "ask_reason": ("reason",),
    "ask_payment": ("payment",),
    "ask_who": ("which",),
    "ask_number": ("number",),
    "ask_content": ("content",),
    "ask_time": ("time",),
}
ENDS = {"refuse", "refuse_short", "refuse_again", "not_found", "complete", "complete_more", "closing"}

ENDING = {"completion", "closing", "refusal"}
"""Kinds that may end a conversation."""
STATEMENTS = Path(__file__).with_name("dialogue_statements.jsonl")
TESTED = range(10, 17)
"""Authors whose messages are tested. Those of authors 7 to 9 are only used for training."""

Reply = Callable[[Any, str], str | None]


def restored(row: dict[str, Any]) -> Any:
    """Return the world of a row in its state after the first ``row["steps"]`` steps of the oracle."""
    episode: Episode = registry.start_episode(Scenario(env=row["env"], level=row["level"], seed=row["seed"]))
    for step in list(episode.world.copy().oracle())[: row["steps"]]:
        episode.step(step)
    return episode.world


def facts(world: Any, intent: str) -> list[str]:
    """Return the facts that the user of a world can state about the topic of an intent."""
    known = getattr(world, "questions", {}).keys()
    told = (world.copy().tells(topic) for topic in TOPICS.get(intent, ()) if topic in known)
    return [fact for fact in told if fact]


def fits(row: dict[str, Any], world: Any, answer: str | None) -> bool:
    """Return whether an answer follows the rule for the intent of the message."""
    intent = row["intent"]
    if intent in ENDS:
        return answer is None or (not CONSENT.search(answer) and not PUZZLED.search(answer))
    if answer is None or PUZZLED.search(answer):
        return False
    if intent.startswith("ask_") or intent in ("empathy_ask", "choice", "clarify"):
        known = facts(world, intent)
        if any(fact in answer for fact in known):
            return True
        opening = world.opening()
        named = any(word in opening for word in re.findall(r"\w*\d\w*", row["text"]) if len(word) > 5)
        withheld = [fact for fact in known if not any(w in opening for w in re.findall(r"\S*\d\S+\b", fact))]
        return not withheld and not NOTED.search(answer) and (named or not re.match(r"Yes\b", answer))
    if intent in ("propose", "propose_short", "facts_then_question", "progress_ask", "refuse_and_propose"):
        return CONSENT.search(answer) is not None
    if intent == "transfer":
        return not re.match(r"Yes\b|What I want", answer)
    return not re.match(r"Yes\b|What I want|My |It is ", answer)


def run(rows: Iterable[dict[str, Any]], reply: Reply, verbose: bool) -> None:
    """Print the share of fitting reactions for each intent."""
    good, seen, ended = Counter[str](), Counter[str](), Counter[str]()
    worlds: dict[str, Any] = {}
    for row in rows:
        key = f"{row['env']}/{row['level']}/{row['seed']}/{row['steps']}"
        start = worlds[key] = worlds[key] if key in worlds else restored(row)
        world = start.copy()
        answer = reply(world, row["text"])
        fit = fits(row, start, answer)
        seen[row["intent"]] += 1
        good[row["intent"]] += fit
        ended[row["intent"]] += answer is None and row["intent"] not in ENDS
        if verbose and not fit:
            print(f"{row['author']} {row['intent']} {row['env']} | {row['text']!r} => {answer!r}")
    print(f"{'intent':20} {'messages':>8} {'fitting':>8} {'wrong end':>9}")
    for intent in sorted(seen):
        print(f"{intent:20} {seen[intent]:8} {good[intent] / seen[intent]:8.1%} {ended[intent]:9}")
    total = sum(seen.values())
    print(f"{'all':20} {total:8} {sum(good.values()) / total:8.1%} {sum(ended.values()):9}")


def hold_out(rows: list[dict[str, Any]], reply: Reply) -> Reply:
    """Return a reply that classifies each message with weights trained on the other authors."""
    from trace_gym.targets.dialogue import classifier, recognition, train

    made = {}
    for author in {row["author"] for row in rows}:
        others = "\n".join(json.dumps(row) for row in rows if row["author"] != author)
        made[author] = classifier.Classifier(train.train(train.read(others)))
    authors = {row["text"]: row["author"] for row in rows}

    def held_out(world: Any, text: str) -> str | None:
        recognition.trained = lambda: made[authors[text]]  # type: ignore[attr-defined,assignment]
        recognition.clear()
        return reply(world, text)

    return held_out


def base_reply(world: Any, text: str) -> str | None:
    """Return the answer of the environment's base world."""
    from trace_gym.targets.users import ScriptedUser

    return ScriptedUser.reply(world, text)


def reaction(kinds: Sequence[str]) -> str:
    """Return the kind to which a user reacts first. Work that follows a report makes it a progress report."""
    for kind in ("request", "choice", "proposal", "transfer", "refusal"):
        if kind in kinds:
            return kind
    reports = [n for n, kind in enumerate(kinds) if kind in ("completion", "progress")]
    if reports:
        return "progress" if "progress" in kinds or "hold" in kinds[reports[-1] :] else "completion"
    return next((kind for kind in ("closing", "offer", "hold") if kind in kinds), "inform")


def run_statements(rows: list[dict[str, Any]], verbose: bool) -> None:
    """Print the share of messages whose kind is right, for each author, with weights trained on the other authors."""
    from trace_gym.targets.dialogue import acts, classifier, statements, train
    from trace_gym.targets.dialogue.clarification import clarified

    known = frozenset(statements.KINDS.values())
    corpora = [path.read_text() for path in (CORPUS, CORPUS.with_name("dialogue_paraphrases.jsonl"))]
    right, ends, clauses = Counter[int](), Counter[int](), Counter[bool]()
    print(f"{'author':20} {'messages':>8} {'right':>8} {'wrong end':>9}")
    for author in TESTED:
        others = "\n".join(json.dumps(row) for row in rows if row["author"] != author)
        made = [train.read(text) for text in (others, *corpora)]
        examples = train.Examples([], [], [row for one in made for row in one.statements])
        held_out = classifier.Classifier(train.train_statements(examples), len(statements.KINDS))
        statements.trained = lambda weights=held_out: weights  # type: ignore[attr-defined,assignment,misc]
        statements.labels.cache_clear()
        clarified.cache_clear()
        tested = [row for row in rows if row["author"] == author]
        for row in tested:
            labels = [statements.KINDS[letter] for letter in row["labels"]]
            kinds = [act.kind if act.kind in known else "inform" for act in clarified(acts(row["text"]))]
            clauses.update(map(str.__eq__, kinds, labels))
            found, expected = reaction(kinds), reaction(labels)
            right[author] += found == expected
            ends[author] += found in ENDING and ENDING.isdisjoint(labels)
            if verbose and found != expected:
                print(f"{author} {row['id']} {expected} | {row['text']!r} => {found}")
        print(f"{author:<20} {len(tested):8} {right[author] / len(tested):8.1%} {ends[author]:9}")
    total = sum(row["author"] in TESTED for row in rows)
    print(f"{'all':20} {total:8} {right.total() / total:8.1%} {ends.total():9}")
    print(f"{'clauses':20} {clauses.total():8} {clauses[True] / clauses.total():8.1%}")
    twice = [(row["labels"], row["second_labels"]) for row in rows if "second_labels" in row]
    pairs = Counter(pair for both in twice for pair in zip(*both, strict=True))
    share, count = sum(n for (a, b), n in pairs.items() if a == b) / pairs.total(), pairs.total()
    ours, theirs = (Counter(letter for both in twice for letter in both[n]) for n in (0, 1))
    chance = sum(ours[letter] * theirs[letter] for letter in ours) / count**2
    print(f"{'second labels':20} {count:8} {share:8.1%}, Cohen's kappa {(share - chance) / (1 - chance):.2f}")


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", nargs="?", type=Path, default=CORPUS)
    parser.add_argument("--held-out", choices=["author"])
    parser.add_argument("--base", action="store_true")
    parser.add_argument("--verbose", action="store_true", help="print the reactions that do not fit")
    parser.add_argument("--statements", action="store_true")
    options = parser.parse_args()
    if options.statements:
        return run_statements([json.loads(line) for line in STATEMENTS.read_text().splitlines()], options.verbose)
    rows = [json.loads(line) for line in options.corpus.read_text().splitlines()]
    reply: Reply = base_reply if options.base else lambda world, text: world.reply(text)
    run(rows, hold_out(rows, reply) if options.held_out else reply, options.verbose)


if __name__ == "__main__":
    main()
