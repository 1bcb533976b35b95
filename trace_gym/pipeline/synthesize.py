"""The synthesize stage of a run: one environment per missing capability."""

from __future__ import annotations

import json
from typing import Any

from trace_gym.diagnosis import Diagnosis
from trace_gym.errors import ConfigError
from trace_gym.files import write
from trace_gym.parsing import read_model
from trace_gym.pipeline import authoring, common, named
from trace_gym.pipeline.ledger import VERSION, Run
from trace_gym.settings import RunConfig
from trace_gym.types import Manifest


def _diagnosis_fix(config: RunConfig) -> str:
    """Return the advice to use a language model if the rules diagnose."""
    if config.diagnose.analyst != "rules":
        return ""
    return "set diagnose.analyst to a language model such as openai:MODEL, which finds capabilities without a rule, "


def synthesize(run: Run) -> None:
    """Find or generate one environment for each capability that was diagnosed or is listed in the settings."""
    source, out = run.path("diagnosis.json"), run.path("environments.json")
    config = run.config

    def work() -> str:
        target = common.target_of(config.target.env)
        wanted = (
            list(read_model(source, Diagnosis, "a diagnosis", common.REDO).selected)
            if config.diagnoses
            else named.capabilities(config)
        )
        found: dict[str, Manifest | str] = {m.capability: m for m in named.manifests(config)}
        if config.reuse:
            found |= {c.name: m for c in wanted if (m := named.registered(c.name, target))}
        missing = [c for c in wanted if c.name not in found]
        found |= dict.fromkeys((c.name for c in missing), "") | authoring.write_environments(run, missing, target)
        chosen = {
            manifest.id: {"capability": name, "author": manifest.author, "module": manifest.module_sha256}
            for name, manifest in found.items()
            if isinstance(manifest, Manifest)
        }
        unserved = {name: why for name, why in found.items() if isinstance(why, str)}
        unserved_notes = [f"{name} ({why})" if why else name for name, why in unserved.items()]
        if not chosen:
            fix = f"Check {source}, {_diagnosis_fix(config)}lower diagnose.delta or diagnose.rho, collect more rollouts"
            fix = fix if config.diagnoses else "List environments that train them under `environments`"
            if not unserved_notes:
                raise ConfigError(f"this run has no capability to train, because none was selected. {fix}")
            raise ConfigError(
                f"no environment trains a capability that this run selected: found {', '.join(unserved_notes)}. {fix}, "
                "or set author: llm to generate environments"
            )
        write(out, json.dumps({"environments": chosen, "unserved": list(unserved)}, indent=1) + "\n")
        return ", ".join(chosen) + (f"; no environment for {', '.join(unserved_notes)}" if unserved_notes else "")

    depends: dict[str, Any] = {"author": config.author, "reuse": config.reuse, "version": VERSION}
    if config.diagnoses:
        depends["source"] = source
    else:
        depends |= {"capabilities": config.capabilities, "target": config.target.env}
        depends |= {f"environment {manifest.id}": manifest.module_sha256 for manifest in named.manifests(config)}
    if config.author == "llm":
        depends["llm"] = config.llm.model_dump(mode="json")
    run.stage("synthesize", depends, [out], work)
