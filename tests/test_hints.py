"""A hint goes from the plan into the prompt that some rollouts are sampled from, and into nothing that is trained."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from module_author import spec_of
from tiny_model import save_tiny, tiny_model, tiny_tokenizer
from toy_world import ToyBoxes, open_toy, toys

from trace_gym import registry
from trace_gym.episode import Episode
from trace_gym.errors import ConfigError
from trace_gym.policies import hints
from trace_gym.policies.hf import HFPolicy
from trace_gym.synthesis import ValidationConfig
from trace_gym.synthesis.hint import check_hint
from trace_gym.synthesis.repair_loop import AuthoringContext, Candidate
from trace_gym.trainers.advantage import advantages
from trace_gym.trainers.batch import batches
from trace_gym.trainers.config import GRPOConfig
from trace_gym.trainers.torch_grpo import train
from trace_gym.trainers.update import samples_of
from trace_gym.types import Finding, Manifest, Plan, Report, Scenario
from trace_gym.validation import PROPERTIES

HINT = "Zebras look before they leap."
TOKENIZER = tiny_tokenizer()
GUIDED = [HINT, "", HINT, "", ""]


class Hinted(ToyBoxes):
    hint = HINT


def opened(scenario: Scenario) -> Episode:
    return Episode(Hinted, scenario)


def policy(**limits: int) -> HFPolicy:
    return HFPolicy(tiny_model(len(TOKENIZER)), TOKENIZER, **{"max_turn_tokens": 8, "max_tokens": 480} | limits)


def rolled(given: list[str], **limits: int) -> list[Any]:
    scenarios = [*toys(3, 0), *toys(2, 2)]
    return policy(**limits).rollout(
        [open_toy(s) for s in scenarios], generator=torch.Generator().manual_seed(3), hints=given
    )


def test_a_hint_stands_in_the_prompt_that_is_sampled_from_and_in_no_token_that_is_kept() -> None:
    player = policy()
    for out, hint in zip(rolled(GUIDED), GUIDED, strict=True):
        assert out.hint == hint and len(out.ids) == len(out.mask) == len(out.logprobs)
        plain = player.chat.opening(out.episode.messages[:2], out.episode.tools)
        seen = player.chat.opening(hints.with_hint(out.episode.messages[:2], hint), out.episode.tools)
        assert out.ids[: len(plain)] == plain and not any(out.mask[: len(plain)])
        assert HINT not in TOKENIZER.decode(out.ids) and HINT not in str(out.episode.messages)
        assert (HINT in TOKENIZER.decode(seen)) == bool(hint)
        # The log-probabilities are those of the prompt that was seen, and of no other.
        after = out.ids[len(plain) :]
        for prompt, same in ((seen, True), (plain, not hint)):
            with torch.no_grad():
                logp = player.model(torch.tensor([[*prompt, *after]])).logits[0].log_softmax(-1)
            mine = [logp[len(prompt) + n - 1, t].item() for n, t in enumerate(after) if out.mask[len(plain) + n]]
            stored = [x for x, sampled in zip(out.logprobs, out.mask, strict=True) if sampled]
            assert (max(abs(a - b) for a, b in zip(mine, stored, strict=True)) < 1e-4) == same


def test_no_hint_leaves_everything_as_it_was() -> None:
    one, two = rolled([]), rolled([""] * 5)
    assert [(r.ids, r.logprobs) for r in one] == [(r.ids, r.logprobs) for r in two]


def test_the_budget_counts_the_hint() -> None:
    longest = max(len(r.ids) for r in rolled([HINT] * 5))
    extra = len(TOKENIZER(f"\n\n{HINT}")["input_ids"])
    assert all(len(r.ids) <= longest - 9 for r in rolled([HINT] * 5, max_tokens=longest + extra - 9))


def test_what_is_trained_on_has_no_hint() -> None:
    outs = rolled([HINT] * 5)[:4]
    gains = advantages(np.array([[0.0, 1.0, 0.0, 1.0]]), "grpo", best=1.0)
    samples = samples_of(outs, gains)
    assert [s.ids for s in samples] == [r.ids for r in outs]
    for batch in batches(samples, GRPOConfig(), torch.nn.Linear(1, 1)):
        assert all(HINT not in TOKENIZER.decode(row) for row in batch.ids_RL)


def test_a_seeded_fraction_gets_one() -> None:
    episodes = [opened(s) for s in toys(200, 0)]
    first, again, other = (hints.drawn(episodes, 0.3, seed) for seed in ("a", "a", "b"))
    assert first == again != other and {*first} == {"", HINT} and 40 <= first.count(HINT) <= 80
    assert hints.drawn(episodes, 0.0, "a") == [""] * 200 and hints.drawn(episodes, 1.0, "a") == [HINT] * 200


def test_training_asks_for_a_share_of_hints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save_tiny(tmp_path / "model")
    given: list[list[str]] = []
    rollout = HFPolicy.rollout

    def noted(self: HFPolicy, episodes: Any, **kw: Any) -> Any:
        given.append(list(kw["hints"]))
        return rollout(self, episodes, **kw)

    monkeypatch.setattr(HFPolicy, "rollout", noted)
    small = {"groups": 2, "samples": 4, "max_turn_tokens": 4, "max_tokens": 480, "max_idle_iterations": 9}
    for name, share in (("some", 0.5), ("again", 0.5), ("none", 0.0)):
        config = GRPOConfig(iterations=2, hints=share, lora_rank=2, lora_alpha=4, **small)
        folders: dict[str, Any] = {"model": tmp_path / "model", "out_dir": tmp_path / name}
        train(config, env=ToyBoxes.id, open_episode=opened, progress=False, **folders)
    assert given[:2] == given[2:4] and given[4:] == [[], []]
    assert {*given[0], *given[1]} == {"", HINT} and given[0] != given[1]


def only_precondition(episode: Episode) -> str:
    return HINT if episode.scenario.env == "tau2_precondition" else ""


def test_environments_without_a_hint_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hints, "hint_of", only_precondition)
    names = ["tau2_precondition", "tau2_multi_step"]
    assert hints.require_hints(names[:1], 0.5) == "" == hints.require_hints(names, 0.0)
    assert hints.require_hints(names, 0.5).startswith("hints has no effect in tau2_multi_step, because")
    mixture = hints.require_hints(["tau2_mixture"], 0.5)
    assert "in tau2_multi_step, tau2_structured_data, tau2_tool_precision, because" in mixture
    with pytest.raises(ConfigError, match="no hint was found in tau2_multi_step"):
        hints.require_hints(names[1:], 0.5)


# From the plan to the rollouts


def card_of(spec: Any, verdict: str) -> Manifest:
    finding = Finding(code="TG702", property=PROPERTIES["TG702"].name, verdict=verdict, message="so")  # type: ignore[arg-type]
    shipped = registry.manifest("tau2_precondition")
    return shipped.model_copy(update={"spec": spec, "report": Report(passed=True, findings=(finding,), scenarios=1)})


PLAN = Plan(entities=(), varies=(), families=(), near_misses=(), user="", oracle="", ablated="", hint=HINT)


@pytest.mark.parametrize(("verdict", "told"), [("passed", HINT), ("skipped", "")])
def test_a_planned_hint_is_shown_once_it_was_checked(verdict: str, told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = spec_of("tau2_precondition").model_copy(update={"plan": PLAN})
    card = card_of(spec, verdict)
    assert hints.planned(card) == told and hints.planned(card_of(None, verdict)) == ""
    monkeypatch.setattr(registry, "manifest", lambda name: card)
    assert hints.hint_of(registry.start_episode("tau2_precondition/0/1")) == told


@pytest.mark.parametrize(
    ("hint", "verdict"),
    [("Look at the booking before you answer.", "passed"), ("Check code {code} first.", "skipped")],
)
def test_a_hint_is_checked_in_the_module_that_passed(hint: str, verdict: str, tmp_path: Path) -> None:
    from trace_gym.targets.tau2 import records

    hint = hint.replace("{code}", " ".join(records.CODES[:60]))
    spec = spec_of("tau2_precondition").model_copy(update={"plan": PLAN.model_copy(update={"hint": hint})})
    finding = Finding(code="TG702", property=PROPERTIES["TG702"].name, verdict="skipped", message="no hint")
    report = Report(passed=True, findings=(finding,), scenarios=1, profile="quick")
    text, said = registry.module_path("tau2_precondition").read_text(), list[str]()
    author = SimpleNamespace(trusted=True)
    context = AuthoringContext(spec, author, tmp_path, ValidationConfig("quick", only=("TG702",)), said.append)  # type: ignore[arg-type]
    made = check_hint(context, Candidate(0, text, "checks", (), report))
    assert [f.verdict for f in made.findings] == [verdict] and bool(said) == (verdict != "passed"), said
