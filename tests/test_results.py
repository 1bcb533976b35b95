"""Results of both benchmarks and our own records read alike; anything else is refused with a reason."""

import gzip
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from trace_gym.errors import ReadError
from trace_gym.targets.results import read_results
from trace_gym.targets.tau2.log_format import KINDS, RENAMES
from trace_gym.types import Call, Trajectory, to_jsonl

DATA = Path(__file__).parent / "data"
TAU_BENCH, TAU2 = DATA / "tau_bench_airline.json", DATA / "tau2_retail.json"
SHARED = Path(__file__).parents[2] / "shared"
REAL = SHARED / "data" / "tau_bench_airline_gpt4o.json.gz"

needs_real = pytest.mark.skipif(not REAL.exists(), reason="the 100 recorded gpt-4o episodes are not at ../shared/data")


def test_tau_bench_episodes_become_trajectories() -> None:
    passed, failed, cut_off, crashed = read_results(TAU_BENCH, model="gpt-4o")
    assert [t.id for t in (passed, failed, cut_off, crashed)] == [
        "airline/0/0",
        "airline/0/1",
        "airline/1/0",
        "airline/1/1",
    ]
    assert (passed.success, passed.reward, passed.ended, passed.model) == (True, 1.0, "user", "gpt-4o")
    assert passed.source == "tau-bench airline"
    assert passed.gold == (
        Call("get_reservation_details", {"reservation_id": "AAA111"}),
        Call("cancel_reservation", {"reservation_id": "AAA111"}),
    )
    assert passed.tools["cancel_reservation"] == "write"
    assert (failed.success, failed.ended) == (False, "transfer")
    assert (cut_off.success, cut_off.ended, cut_off.outputs, cut_off.gold) == (False, "turn_limit", ("42",), ())
    assert (crashed.success, crashed.reward, crashed.ended, crashed.gold) == (None, None, "error", None)


def test_tau_bench_words_become_those_of_tau2() -> None:
    passed, failed, *_ = read_results(TAU_BENCH)
    address = json.loads(passed.messages[3]["content"])["address"]
    assert address["state"] == "CO"
    assert "province" not in address
    assert "province" in failed.calls[0][0].arguments["thought"], "what an agent wrote is left alone"


def test_repeated_call_ids_still_pair_each_call_with_its_own_answer() -> None:
    failed = read_results(TAU_BENCH)[1]
    assert [(c.tool, refused) for c, refused in failed.calls] == [
        ("think", False),
        ("cancel_reservation", True),
        ("drop_reservation", True),  # tau-bench answers an unknown tool without the word Error
        ("transfer_to_human_agents", False),
    ]
    ids = [m["tool_call_id"] for m in failed.messages if m["role"] == "tool"]
    assert len(set(ids)) == 4


def test_tau2_simulations_become_trajectories() -> None:
    passed, failed, infrastructure, limit, transfer = read_results(TAU2)
    assert (passed.id, passed.task, passed.success, passed.ended) == ("retail/0/0", "0", True, "user")
    assert (passed.source, passed.model, passed.outputs) == ("tau2 retail", "tiny-agent", ("13.46",))
    assert [(c.tool, refused) for c, refused in passed.calls] == [
        ("get_order_details", False),
        ("get_product_details", True),  # the error flag, without the word
        ("exchange_delivered_order_items", False),
    ]
    assert [c.tool for c in passed.gold or ()] == ["get_order_details", "exchange_delivered_order_items"]
    # The agent does not see the user's own call, nor what it answered.
    roles = ["assistant", "user", "assistant", "tool", "tool", "assistant", "tool", "assistant", "user"]
    assert [m["role"] for m in passed.messages] == roles
    assert (failed.success, failed.reward) == (False, 0.0)
    assert (infrastructure.success, infrastructure.reward, infrastructure.ended) == (None, None, "error")
    assert (limit.success, limit.ended, limit.gold) == (False, "turn_limit", ())
    assert (transfer.ended, transfer.gold) == ("transfer", None)


def test_tau2_messages_are_in_openai_shape() -> None:
    message = read_results(TAU2)[0].messages[2]
    assert message["tool_calls"][0] == {
        "id": "t1",
        "type": "function",
        "function": {"name": "get_order_details", "arguments": '{"order_id": "#W1"}'},
    }
    assert read_results(TAU2)[0].messages[3]["tool_call_id"] == "t1"


def test_the_folder_of_a_tau2_run_reads_like_its_file(tmp_path: Path) -> None:
    data = json.loads(TAU2.read_text())
    (tmp_path / "simulations").mkdir()
    for run in data["simulations"]:
        (tmp_path / "simulations" / f"{run['id']}.json").write_text(json.dumps(run))
    index = [{"id": run["id"], "task_id": run["task_id"], "trial": run["trial"]} for run in data["simulations"]]
    meta = {k: v for k, v in data.items() if k != "simulations"} | {"simulation_index": index}
    (tmp_path / "results.json").write_text(json.dumps(meta))
    assert read_results(tmp_path) == read_results(TAU2)
    assert read_results(tmp_path / "results.json") == read_results(TAU2)
    (tmp_path / "simulations" / "s-fail.json").unlink()
    with pytest.raises(ReadError, match=r"1 of 5 are missing, for example s-fail\.json"):
        read_results(tmp_path)


@pytest.mark.parametrize("name", ["mine.jsonl", "mine.jsonl.gz"])
def test_our_own_records_round_trip(tmp_path: Path, name: str) -> None:
    records = read_results(TAU_BENCH)
    text = to_jsonl(records).encode() + b"\n"
    (tmp_path / name).write_bytes(gzip.compress(text) if name.endswith("gz") else text)
    assert read_results(tmp_path / name) == records
    assert {t.model for t in read_results(tmp_path / name, model="renamed")} == {"renamed"}


def test_gzip_is_told_by_content_not_by_name(tmp_path: Path) -> None:
    (tmp_path / "results.json").write_bytes(gzip.compress(TAU_BENCH.read_bytes()))
    assert read_results(tmp_path / "results.json") == read_results(TAU_BENCH)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.json", b"", "is empty"),
        ("a.json", b" \n", "is empty"),
        ("a.json", b"[]", "contains no episode"),
        ("a.json", b"{}", r"a JSON object with the keys \(none\)"),
        ("a.json", b'{"accuracy": 0.4, "model": "x"}', "the keys accuracy, model"),
        ("a.json", b'[{"task_id": "cut off inside a wo', "is truncated"),
        ("a.json", b"[1, 2]", "a JSON list whose first entry is a JSON int"),
        ("a.json", b'"text"', "a JSON str"),
        ("a.csv", b"task,reward\n1,0\n", "is not valid JSON .* it begins with 'task,reward"),
        ("a.json", b"\xff\xfe\x00bad", "not UTF-8 text"),
        ("a.json", b"[" * 100_000, "nested too deeply|truncated"),
        ("a.json.gz", b"\x1f\x8b\x08rubbish", "damaged or truncated gzip"),
        ("a.jsonl", b'{"id": "x"}\n', "line 1 is not a valid trajectory: task: Field required"),
        ("a.jsonl", b"not json\n", "line 1 is not valid JSON"),
        ("a.json", b'[{"task_id": 1, "reward": "much", "traj": [], "info": {}}]', "0.reward: .*valid number"),
        ("a.json", b'[{"task_id": 1, "reward": NaN, "traj": [], "info": {}}]', "0.reward: .*finite"),
        ("a.json", b'[{"task_id": 1, "reward": 1, "traj": ["hi"], "info": {}}]', "0.messages.0: "),
        ("a.json", b'{"info": {}, "tasks": [], "simulations": [{}]}', "info.environment_info: Field required"),
    ],
)  # fmt: skip
def test_files_that_are_no_results_are_refused_with_what_was_found(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ReadError, match=message) as refused:
        read_results(tmp_path / name)
    assert name in str(refused.value)


def test_a_refusal_names_what_is_expected_and_an_example(tmp_path: Path) -> None:
    with pytest.raises(
        ReadError, match=r"the file .* does not exist.*tau-bench results list.*For example: trace-gym diagnose"
    ):
        read_results(tmp_path / "missing.json")
    with pytest.raises(ReadError, match=r"the file .*results\.json does not exist"):
        read_results(tmp_path)


@pytest.mark.parametrize("cut", [0.3, 0.5, 0.999])
@pytest.mark.parametrize("path", [TAU_BENCH, TAU2], ids=lambda p: p.stem)
def test_truncated_files_are_called_truncated(tmp_path: Path, path: Path, cut: float) -> None:
    text = path.read_bytes()
    (tmp_path / "cut.json").write_bytes(text[: int(len(text) * cut)])
    with pytest.raises(ReadError, match="truncated"):
        read_results(tmp_path / "cut.json")
    packed = gzip.compress(text)
    (tmp_path / "cut.json.gz").write_bytes(packed[: int(len(packed) * cut)])
    with pytest.raises(ReadError, match="truncated gzip"):
        read_results(tmp_path / "cut.json.gz")


def test_a_simulation_of_an_unknown_task_is_refused(tmp_path: Path) -> None:
    data = json.loads(TAU2.read_text())
    data["simulations"][0]["task_id"] = "77"
    (tmp_path / "a.json").write_text(json.dumps(data))
    with pytest.raises(ReadError, match="found task_id '77', expected the id of one of the 3 tasks"):
        read_results(tmp_path / "a.json")


def test_equal_addresses_in_one_file_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps(json.loads(TAU_BENCH.read_text()) * 2))
    ids = [t.id for t in read_results(tmp_path / "a.json")]
    assert len(set(ids)) == 8
    assert ids[4] == "airline/0/0#2"


def _stored(path: Path, change: Callable[[dict[str, Any]], None]) -> list[Trajectory]:
    data = json.loads(TAU2.read_text())
    change(data)
    path.write_text(json.dumps(data))
    return read_results(path)


def test_unscored_and_foreign_domains(tmp_path: Path) -> None:
    runs = _stored(tmp_path / "a.json", lambda d: d["simulations"][1].update(reward_info=None))
    assert (runs[1].success, runs[1].reward) == (None, None)
    runs = _stored(tmp_path / "b.json", lambda d: d["info"]["environment_info"].update(domain_name="telecom"))
    assert (runs[0].tools, runs[0].source) == ({}, "tau2 telecom")


@pytest.mark.parametrize("domain", sorted(KINDS))
def test_the_kinds_are_those_of_the_interface(domain: str) -> None:
    path = SHARED / "interfaces" / f"tau2_{domain}.json"
    if not path.exists():
        pytest.skip("the interface facts are not at ../shared/interfaces")
    facts = {t["name"]: t["kind"] for t in json.loads(path.read_text())["tools"]}
    assert {**facts, "think": "generic"} == KINDS[domain]


@needs_real
def test_the_recorded_episodes_read_whole() -> None:
    episodes = read_results(REAL)
    assert Counter(t.success for t in episodes) == {False: 57, True: 43}
    assert Counter(t.ended for t in episodes) == {"user": 76, "transfer": 22, "turn_limit": 2}
    assert (len({t.id for t in episodes}), len({t.task for t in episodes})) == (100, 50)
    assert sum(len(t.calls) for t in episodes) == 572
    assert sum(refused for t in episodes for _, refused in t.calls) == 33
    for t in episodes:
        answers = [m["tool_call_id"] for m in t.messages if m["role"] == "tool"]
        assert answers == [c["id"] for m in t.messages for c in m.get("tool_calls", ())], (
            "one answer per call, in order"
        )
        assert all(f'"{old}":' not in str(m["content"]) for m in t.messages for old in RENAMES if m["role"] == "tool")


@needs_real
def test_the_recorded_tools_and_arguments_are_those_of_tau2() -> None:
    path = SHARED / "interfaces" / "tau2_airline.json"
    known = {t["name"]: set(t["parameters"]["properties"]) for t in json.loads(path.read_text())["tools"]}
    known["think"] = {"thought"}
    for t in read_results(REAL):
        for call in (*(c for c, _ in t.calls), *(t.gold or ())):
            assert set(call.arguments) == known[call.tool]


@needs_real
def test_a_truncated_copy_of_the_recorded_file_is_refused(tmp_path: Path) -> None:
    raw = REAL.read_bytes()
    (tmp_path / REAL.name).write_bytes(raw[: len(raw) // 2])
    with pytest.raises(ReadError, match="truncated gzip"):
        read_results(tmp_path / REAL.name)


def test_an_answer_belongs_to_the_last_call_of_its_id() -> None:
    def call(name: str) -> dict[str, object]:
        return {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": name, "arguments": "{}"}}]}

    answers = [{"role": "tool", "tool_call_id": "c", "content": text} for text in ("Error: no", "fine")]
    messages = (call("first"), answers[0], call("second"), answers[1])
    made = Trajectory(id="t", task="t", messages=messages).calls
    assert [(c.tool, refused) for c, refused in made] == [("first", True), ("second", False)]
