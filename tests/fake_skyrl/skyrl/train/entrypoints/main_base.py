from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import skyrl_gym

MODE = json.loads(os.environ.get("FAKE_SKYRL", "{}"))
"""Keys: ``dies_after`` (number of steps, in the first process) and ``adapter`` (whether adapters are saved)."""


class BasePPOExp:
    def __init__(self, cfg: Any) -> None:
        self.cfg = cfg

    def get_tracker(self) -> Any:
        raise NotImplementedError

    def run(self) -> None:
        options, tracker = self.cfg.options, self.get_tracker()
        rows = [json.loads(line) for line in Path(options["data.train_data"][0]).read_text().splitlines()]
        assert len(rows) == options["trainer.max_training_steps"] * options["trainer.train_batch_size"]
        for row in rows[:1]:
            env = skyrl_gym.make(row["env_class"], extras={**row, "max_turns": options["generator.max_turns"]})
            assert env.init(row["prompt"])[0] == row["prompt"]
        checkpoints = Path(options["trainer.ckpt_path"])
        saved = [int(p.name.rpartition("_")[2]) for p in checkpoints.glob("global_step_*")]
        start, dies = max(saved, default=0), 0 if saved else MODE.get("dies_after", 0)
        for step in range(start + 1, options["trainer.max_training_steps"] + 1):
            tracker.log({"reward/avg_raw_reward": step / 10, "environment/a/success": 0.5}, step=step)
            tracker.log({"timing/step": 2.0}, step=step)
            if step % options["trainer.ckpt_interval"] == 0 and MODE.get("adapter", True):
                save(checkpoints / f"global_step_{step}" / "policy" / "lora_adapter", options)
            if step == dies:
                print("CUDA out of memory")
                sys.exit(7)


def save(folder: Path, options: dict[str, Any]) -> None:
    folder.mkdir(parents=True)
    (folder / "adapter_model.safetensors").write_bytes(b"weights of " + folder.parts[-3].encode())
    settings = {"base_model_name_or_path": options["trainer.policy.model.path"], "r": 8, "peft_type": "LORA"}
    (folder / "adapter_config.json").write_text(json.dumps(settings))
