"""An Airflow that reads our DAG: in a virtual environment of its own, as its packages are many and pinned.

    python tests/deployment/airflow.py      installs one into .venv/airflow (a minute or two, 300 MB)

`./dev test-cluster` does that. $VICTOR_AIRFLOW names the Python of another one.
"""

import json
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import Any, Final

HOME: Final = Path(__file__).resolve().parents[2] / ".venv" / "airflow"
PACKAGES: Final = ("apache-airflow-core>=3.1,<4", "apache-airflow-providers-standard")

INSTALL_SECONDS: Final = 900

_READ: Final = """
import json, sys
from airflow.dag_processing.dagbag import DagBag

bag, tasks = DagBag(sys.argv[1]), {}
for dag in bag.dags.values():
    for task in dag.tasks:
        task.render_template_fields({"ds_nodash": "20260101"})
        tasks[task.task_id] = {
            "command": task.bash_command, "after": sorted(task.upstream_task_ids), "retries": task.retries}
print("READ " + json.dumps({"errors": bag.import_errors, "tasks": tasks}))
"""


def find() -> Path | None:
    """The Python that has an Airflow."""
    python = Path(os.environ.get("VICTOR_AIRFLOW") or HOME / "bin" / "python")
    return python if python.exists() else None


def read(python: Path, dag: Path) -> dict[str, Any]:
    """What Airflow itself makes of a file: its complaints, and the tasks with their templates filled in."""
    with tempfile.TemporaryDirectory() as home:
        variables = {
            "AIRFLOW_HOME": home,
            "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
            "HOME": home,
            "PATH": os.environ["PATH"],
        }
        command = [str(python), "-c", _READ, str(dag)]
        done = subprocess.run(command, env=variables, cwd=home, capture_output=True, text=True, check=False)
    told = [line for line in done.stdout.splitlines() if line.startswith("READ ")]
    assert told, done.stdout[-2000:] + done.stderr[-2000:]
    found: dict[str, Any] = json.loads(told[-1].removeprefix("READ "))
    return found


def install() -> None:
    """Makes .venv/airflow, whole or not at all."""
    made = HOME.with_name("airflow.new")
    venv.create(made, with_pip=False, clear=True)
    pip = [
        sys.executable,
        "-m",
        "pip",
        "--disable-pip-version-check",
        "--python",
        str(made / "bin" / "python"),
    ]
    subprocess.run([*pip, "install", *PACKAGES], check=True, timeout=INSTALL_SECONDS)
    made.rename(HOME)


if __name__ == "__main__":
    if find() is None:
        install()
