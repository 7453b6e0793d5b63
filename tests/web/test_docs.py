"""The commands of docs/how-to/serve.md work: `scuff serve ...` is understood, and every curl gets the answer that is promised."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from scuff.cli.main import parser
from scuff.web.playground import Playground
from web.served import serving

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "serve.md"


def blocks() -> list[str]:
    return re.findall(r"^```sh\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


def test_every_serve_command_is_understood() -> None:
    commands = [line for block in blocks() for line in block.splitlines() if line.startswith("scuff ")]
    assert len(commands) >= 6
    for command in commands:
        words = shlex.split(command, comments=True)[1:]
        assert parser("serve").parse_args(words).command == "serve"


@pytest.mark.skipif(not shutil.which("curl"), reason="needs curl")
def test_every_curl_works(playground: Playground, runs: Path) -> None:
    some = [block for block in blocks() if "curl" in block]
    assert len(some) == 3
    with serving(playground, runs) as address:
        found = [
            subprocess.run(
                ["bash", "-euc", block.replace("http://127.0.0.1:8421/", address).replace("\n\n", "\necho\n")],
                capture_output=True, text=True, check=True, timeout=60,
            ).stdout
            for block in some
        ]  # fmt: skip
    about, predicted, perturbed, shielded, listed = map(json.loads, found[0].splitlines())
    assert about["model"] == "toy:sentiment" and len(predicted["answers"]) == 2 and len(perturbed["rows"]) == 2
    assert shielded["mended"]["text"] == "The staff were friendly." and len(listed["runs"]) == 4
    assert "event: clean" in found[1] and "event: done" in found[1] and '"outcome"' in found[1]
    (promised,) = re.findall(r"^```json\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    assert json.loads(found[2]) == json.loads(promised)
