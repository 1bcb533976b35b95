"""Adapter for reasoning-gym data sets, which consist of questions, answers and a scorer."""

from __future__ import annotations

from typing import Any, ClassVar

from trace_gym.errors import ConfigError, EnvNotFound
from trace_gym.validation.third_party.black_box import BlackBox, TurnResponse
from trace_gym.validation.third_party.uri import EnvironmentURI, creation_error, import_required

SIZE = 500
"""Default number of entries of a data set, as in reasoning-gym. The URI option ``size`` overrides it."""


class ReasoningBox(BlackBox):
    """A data set of reasoning-gym, with a URI such as ``reasoning-gym:chain_sum``.

    URI options are passed to the configuration of the data set.

    The problem with seed s is entry ``s % size`` of the data set whose seed is ``s - s % size``. The library generates
    an entry from the sum of these two numbers, which is s, so different seeds produce different entries.
    """

    missing_reference = 'the entries of this data set have no answer; let `entry["answer"]` contain one'
    kind: ClassVar[str] = "a data set of reasoning-gym"

    def __init__(self, address: EnvironmentURI) -> None:
        library = import_required("reasoning_gym", "reasoning-gym", address)
        if address.name not in (known := import_required("reasoning_gym.factory", "reasoning-gym", address).DATASETS):
            raise EnvNotFound(
                f"reasoning-gym has no data set {address.name}, expected one of {', '.join(sorted(known))}"
            )
        self.limit = 1
        self.dataset_name, self.options = address.name, {**address.options}
        self.size = self.options.pop("size", SIZE)
        if not isinstance(self.size, int) or self.size < 1 or "seed" in self.options:
            raise ConfigError(
                f"{address.text} has invalid options: the option size must be a positive integer, and the option seed "
                "is not allowed, because the validation sets the seed"
            )
        self._create = library.create_dataset
        self._block, self._entry = -1, dict[str, Any]()
        try:
            self._at(0)
        except (TypeError, AssertionError, ValueError) as error:
            raise creation_error(address.text, error) from error

    def _at(self, seed: int) -> dict[str, Any]:
        block, index = divmod(seed, self.size)
        if block != self._block:
            made = self._create(self.dataset_name, seed=block * self.size, size=self.size, **self.options)
            self._block, self._dataset = block, made
        entry: dict[str, Any] = self._dataset[index]
        return entry

    def begin(self, seed: int) -> str:
        self._entry = self._at(seed)
        self._score = self._dataset.score_answer
        return str(self._entry["question"])

    def act(self, text: str) -> TurnResponse:
        return TurnResponse("", float(self._score(text, self._entry)), True)

    def solution(self, seed: int) -> list[str] | None:
        answer = self._at(seed)["answer"]
        return None if answer is None else [str(answer)]
