"""A wheel of this checkout, installed where nothing of the checkout can be seen. Used by the tests beside it."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Installed:
    """A virtual environment that holds the wheel, and a directory to work in."""

    python: Path
    directory: Path

    @property
    def command(self) -> str:
        return str(self.python.with_name("spectrace"))

    def run(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run `spectrace ARGUMENTS` there; show what it said where it fails."""
        done = subprocess.run(
            [self.command, *arguments],
            cwd=self.directory,
            env=clean_environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        if check and done.returncode:
            msg = f"spectrace {' '.join(arguments)}: exit {done.returncode}\n{done.stdout}\n{done.stderr}"
            raise AssertionError(msg)
        return done


def clean_environment() -> dict[str, str]:
    """Return this process's environment without what would lead back to the checkout or to another database."""
    led_back = ("PYTHON", "VIRTUAL_ENV", "SPECTRACE_", "COV_", "PYTEST_")
    return {name: value for name, value in os.environ.items() if not name.startswith(led_back)}


def build_wheel(directory: Path) -> Path:
    """Build the wheel of this checkout into the directory and return its path."""
    _run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(directory), str(ROOT))
    (wheel,) = directory.glob("spectrace-*.whl")
    return wheel


def install(wheel: Path, extras: str, directory: Path, interpreter: str = sys.executable) -> Installed:
    """Install the wheel with `[extras]` into a new environment under the directory."""
    _run(interpreter, "-m", "venv", str(directory / "venv"))
    python = directory / "venv" / "bin" / "python"
    constraints = str(ROOT / "constraints.txt")
    _run(str(python), "-m", "pip", "install", "--quiet", "-c", constraints, f"{wheel}{extras}")
    elsewhere = directory / "elsewhere"
    elsewhere.mkdir()
    return Installed(python, elsewhere)


def _run(*command: str) -> None:
    done = subprocess.run(command, cwd="/", env=clean_environment(), capture_output=True, text=True, check=False)
    if done.returncode:
        msg = f"{' '.join(command)}: exit {done.returncode}\n{done.stdout}\n{done.stderr}"
        raise AssertionError(msg)
