"""Tests of budgets, prices and the ledger."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from llm_server import Server, drops, fails, message, slowly

from trace_gym.errors import BudgetSpent, ConfigError, ModelError, ReadError
from trace_gym.llm import Budget, Completion, ModelRequest, Price, Resolved, Usage, metered_client, open_model_uri
from trace_gym.llm.budget import Amount
from trace_gym.llm.ledger import Ledger, LedgerEntry, read_ledger


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(metered_client, "FIRST_PAUSE", 0.001)
    served = Server(message("Good.", usage={"prompt_tokens": 10, "completion_tokens": 90}))
    yield served
    served.close()


@pytest.fixture
def opened() -> Iterator[list[Resolved]]:
    models: list[Resolved] = []
    yield models
    for model in models:
        model.close()


def at(server: Server, opened: list[Resolved], **options: Any) -> Resolved:
    opened.append(open_model_uri(f"openai:tiny@{server.url}", log=options.pop("log", lambda line: None), **options))
    return opened[-1]


def request(n: int = 0, max_tokens: int | None = 100) -> ModelRequest:
    return ModelRequest(messages=({"role": "user", "content": f"{n:02}"},), purpose=f"step {n}", max_tokens=max_tokens)


MOST = len(json.dumps([request().messages, None])) + metered_client.PROMPT_MARGIN + 100
"""Tokens that are set aside for a request."""


def test_request_above_budget_is_not_sent(server: Server, opened: list[Resolved]) -> None:
    budget = Budget(tokens=101 + MOST)
    model = at(server, opened, budget=budget)
    model.complete(request(0))
    model.complete(request(1))  # the first took 100 of what was set aside for it
    with pytest.raises(BudgetSpent, match=f"'step 2' was not sent: it may take up to {MOST} tokens, and {MOST - 99} "):
        model.complete(request(2))
    assert len(server.requests) == 2 and budget.spent.tokens == 200
    with pytest.raises(BudgetSpent):
        model.complete(request(3, max_tokens=101))
    model.complete(request(4, max_tokens=1))  # to the last token


def test_dollars_are_counted_at_the_price_that_is_given(server: Server, opened: list[Resolved]) -> None:
    price = Price(prompt=2.0, completion=10.0)
    most = price.of(MOST - 100, 100)
    budget = Budget(dollars=most + 0.0001)
    model = at(server, opened, budget=budget, price=price)
    assert model.complete(request(0)).cost == pytest.approx(10 * 2e-6 + 90 * 10e-6)
    with pytest.raises(BudgetSpent, match=f"{most:.4f} dollars"):
        model.complete(request(1))
    with pytest.raises(ConfigError, match="requires a price for the model 'openai:tiny"):
        at(server, opened, budget=budget)
    for wrong in (-1.0, float("nan")):
        with pytest.raises(ConfigError, match="invalid price"):
            Price(wrong, 1.0)
        with pytest.raises(ConfigError, match="invalid budget"):
            Budget(dollars=wrong)


def test_one_budget_for_many_threads_and_models_is_never_exceeded(server: Server, opened: list[Resolved]) -> None:
    budget = Budget(tokens=MOST * 2 + 500)
    models = [at(server, opened, budget=budget, concurrency=4) for _ in range(2)]

    def step(n: int) -> bool:
        try:
            models[n % 2].complete(request(n))
        except BudgetSpent:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        sent = sum(pool.map(step, range(40)))
    assert sent == len(server.requests)
    # Whoever might fit once others are settled has waited, so the budget is used as far as one request allows.
    assert budget.tokens is not None
    assert budget.tokens - MOST < budget.spent.tokens == 100 * sent <= budget.tokens


def test_concurrent_requests_count_at_maximum_cost(server: Server, opened: list[Resolved]) -> None:
    whole = {"prompt_tokens": MOST - 100, "completion_tokens": 100}
    server.acts = [slowly(message("Good.", usage=whole), 0.05)]
    budget = Budget(tokens=2 * MOST + MOST // 2)
    model = at(server, opened, budget=budget, concurrency=6)
    with ThreadPoolExecutor(6) as pool:
        failed = [pool.submit(model.complete, request(n)).exception for n in range(6)]
    assert sorted(type(error()).__name__ for error in failed) == ["BudgetSpent"] * 4 + ["NoneType"] * 2
    assert budget.spent.tokens == 2 * MOST


def test_waiting_ends_where_nothing_can_come_back() -> None:
    budget = Budget(tokens=10)
    budget.count(Amount(5))
    with budget.reserved(Amount(5), "first") as charge:
        with pytest.raises(BudgetSpent), budget.reserved(Amount(6), "too much"):
            pass
        charge.amount = Amount(2)
    with budget.reserved(Amount(3), "third"):
        pass
    assert budget.spent.tokens == 10  # what was not settled counts in full


def test_an_answer_that_was_lost_counts_in_full(server: Server, opened: list[Resolved], tmp_path: Path) -> None:
    budget, ledger = Budget(tokens=10 * MOST), tmp_path / "ledger"
    model = at(server, opened, budget=budget, ledger=ledger, price=Price(1.0, 1.0))
    server.acts = [drops, fails(500), fails(504), message("Good.", usage={})]
    model.complete(request())
    assert [e.counted_tokens for e in read_ledger(ledger)] == [MOST, 0, MOST, MOST]
    assert budget.spent == pytest.approx(Amount(3 * MOST, 3 * MOST / 1e6))
    last = read_ledger(ledger)[-1]
    assert (last.outcome, last.prompt_tokens, last.cost) == ("answered", 0, None)
    assert Usage.read(ledger).cost is None


def test_every_attempt_has_to_fit(server: Server, opened: list[Resolved]) -> None:
    server.acts = [drops]
    with pytest.raises(BudgetSpent):
        at(server, opened, budget=Budget(tokens=2 * MOST)).complete(request())
    assert len(server.requests) == 2
    with pytest.raises(ModelError):
        at(server, opened, retries=3).complete(request())


def test_without_max_tokens_a_budget_sets_a_limit(server: Server, opened: list[Resolved]) -> None:
    at(server, opened, budget=Budget(tokens=100_000)).complete(request(0, max_tokens=None))
    at(server, opened, budget=Budget()).complete(request(1, max_tokens=None))
    assert [r.get("max_tokens") for r in server.requests] == [metered_client.DEFAULT_MAX_TOKENS, None]


def test_budget_counts_existing_ledger(server: Server, opened: list[Resolved], tmp_path: Path) -> None:
    files = {"ledger": tmp_path / "ledger", "cache": tmp_path / "cache"}
    limit = 100 + MOST
    first = at(server, opened, budget=Budget(tokens=limit), **files)
    first.complete(request(0))
    first.complete(request(1))
    budget = Budget(tokens=limit)
    again = [at(server, opened, budget=budget, **files) for _ in range(2)]  # counted once
    assert budget.spent.tokens == 200
    assert again[0].complete(request(1)).cached  # what is on disk costs nothing
    with pytest.raises(BudgetSpent):
        again[1].complete(request(2))
    told: list[str] = []
    at(server, opened, budget=Budget(dollars=1.0), price=Price(1, 1), log=told.append, **files)
    assert "contains 2 requests without a price" in told[0]


def entry(n: int) -> LedgerEntry:
    return LedgerEntry(
        purpose=f"step {n} " + "x" * 5000, key="k", model="m", outcome="answered", prompt_tokens=1, cost=0.5
    )


def test_lines_of_many_threads_do_not_mix(tmp_path: Path) -> None:
    ledgers = [Ledger(tmp_path / "folder" / "ledger") for _ in range(2)]
    threads = [threading.Thread(target=lambda n=n: ledgers[n % 2].write(entry(n))) for n in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    read = read_ledger(ledgers[0].path)
    assert sorted(e.purpose for e in read) == sorted(entry(n).purpose for n in range(40))
    assert Usage.read(ledgers[0].path) == Usage(requests=40, prompt_tokens=40, cost=20.0)


def test_incomplete_ledger_line_is_skipped(tmp_path: Path) -> None:
    path = tmp_path / "ledger"
    Ledger(path).write(entry(0))
    with path.open("ab") as file:
        file.write(b'{"purpose": "step 1", "ke')
    Ledger(path).write(entry(2))
    assert [e.purpose[:6] for e in read_ledger(path)] == ["step 0", "step 2"]
    assert read_ledger(tmp_path / "none") == []
    path.write_text('{"some": "thing"}\n')
    with pytest.raises(ReadError, match="ledger:1 is not a valid ledger entry"):
        read_ledger(path)


def test_usage_adds_up() -> None:
    paid = Completion(text="", model="m", prompt_tokens=3, completion_tokens=4, cost=0.5)
    known = Usage.of([paid, paid, paid.model_copy(update={"cached": True})])
    assert known == Usage(requests=2, cached=1, prompt_tokens=6, completion_tokens=8, cost=1.0)
    assert Usage.of([paid, paid.model_copy(update={"cost": None})]).cost is None
    assert Usage.of([]) == Usage()
