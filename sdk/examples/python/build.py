"""Builds `dist/agenda.wasm` from Python, this domain's source and the contract's imports.

It uses componentize-py from the active virtual environment, or creates `.venv`.
"""

import os
import subprocess
import sys
from pathlib import Path

from domain import domain

HERE = Path(__file__).resolve().parent
WIT = HERE / "../../../wit"


def environment():
    """The folder of a virtual environment that has componentize-py."""
    folder = Path(os.environ.get("VIRTUAL_ENV") or HERE / ".venv")
    if not folder.exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    if not (folder / "bin/componentize-py").exists():
        install = [folder / "bin/pip", "install", "--quiet", "--requirement", HERE / "requirements.txt"]
        subprocess.run(install, check=True)
    return folder


def main():
    (HERE / "dist").mkdir(exist_ok=True)
    output = HERE / "dist" / f"{domain.name}.wasm"
    command = [environment() / "bin/componentize-py", "--quiet", "--wit-path", WIT, "--world", "component"]
    # A domain has access to its vault only: Python's system interfaces are replaced by stubs.
    command += ["componentize", "--stub-wasi", "--python-path", HERE, "--output", output, "component"]
    subprocess.run(command, check=True)
    print(f"{output.relative_to(HERE)}: {output.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
