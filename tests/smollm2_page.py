"""Commands and settings of "A small pretrained model on a CPU" (docs/guides/models.md), shortened for `.ci/smollm2`.

    python tests/smollm2_page.py FOLDER

writes the settings files of the section and the script ``commands.sh`` to the folder.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from snippets import ROOT

PAGE = ROOT / "docs" / "guides" / "models.md"
TITLE = "A small pretrained model on a CPU"
SHORTER = {"-n 24": "-n 2", "groups: 8": "groups: 4", "iterations: 6": "iterations: 2"}
"""Parts of the page that take many minutes, and what replaces them."""


def files() -> dict[str, str]:
    """Return the files of the section, shortened: the settings, and the commands after the download of the model."""
    section = PAGE.read_text(encoding="utf-8").split(f"\n## {TITLE}\n")[1].split("\n## ")[0]
    for long, short in SHORTER.items():
        if long not in section:
            raise ValueError(f"{PAGE.name}: {long!r} was not found in the section {TITLE!r}; correct SHORTER")
        section = section.replace(long, short)
    model, training = re.findall(r"^```yaml\n(.*?)^```$", section, flags=re.S | re.M)
    _, commands = re.findall(r"^```sh\n(.*?)^```$", section, flags=re.S | re.M)  # the first block is the download
    return {"smollm2.yaml": model, "sft.yaml": training, "commands.sh": commands}


if __name__ == "__main__":
    for name, text in files().items():
        (Path(sys.argv[1]) / name).write_text(text, encoding="utf-8")
