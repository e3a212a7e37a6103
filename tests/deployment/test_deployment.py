"""The deployment files are consistent: compose follows its schema, all commands parse, packages suffice."""

import re
import runpy
import shlex
import subprocess
import sys
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from types import ModuleType
from typing import Any, Self

import pytest

from tests.deployment import compose
from victor_spark import cli
from victor_spark import packing as archives

ROOT = Path(__file__).resolve().parents[2]
DAG = ROOT / "docs/examples/airflow_dag.py"
DOCS = ROOT / "docs/deploy.md"

# Of the compose specification: the keys that a service may have and what these hold, as far as we use them.
SERVICE = {
    "build": str,
    "command": str,
    "depends_on": list,
    "environment": dict,
    "hostname": str,
    "image": str,
    "init": bool,
    "ports": list,
    "profiles": list,
    "user": str,
    "volumes": list,
}


def test_compose_is_valid_by_the_schema_of_the_compose_specification() -> None:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec"]
    done = subprocess.run([*command, str(compose.PATH)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_compose_has_a_master_two_workers_minio_and_jobs_that_hold_together() -> None:
    content = compose.loaded()
    services: dict[str, dict[str, Any]] = content.pop("services")
    assert set(services) == {"master", "worker-1", "worker-2", "minio", "upload", "job"}
    assert all(key.startswith("x-") for key in content)
    for name, service in services.items():
        for key, value in service.items():
            assert isinstance(value, SERVICE[key]), (name, key)
        assert set(service.get("depends_on", [])) <= services.keys() - {name}
        assert all(isinstance(value, str) for value in service.get("environment", {}).values())
        assert all(re.fullmatch(r"127\.0\.0\.1:\d+:\d+", port) for port in service.get("ports", []))
        assert all(re.fullmatch(r"\./\w+:/\w+", volume) for volume in service["volumes"])
        named = set(re.findall(r"(?:spark|http)://([\w-]+):\d+", str(service)))
        assert named <= services.keys()
        assert "$" not in str(service)
    assert services["worker-1"] == services["worker-2"]


def parsed(command: list[str]) -> Any:
    """The parsed arguments of a `victor` command, or of those that spark-submit passes to the job."""
    if command[0] == "spark-submit":
        job = next(number for number, word in enumerate(command) if word.endswith("clean.py"))
        command = ["victor", "clean", *command[job + 1 :]]
    assert command[0] == "victor", command
    name = cli._command(command[1:])
    parser = cli.parser(name, cli.loaded(name))
    return parser.parse_args(command[1 + len(name.split()) :])


def test_the_job_of_compose_parses() -> None:
    job = parsed(shlex.split(compose.service("job")["command"]))
    assert (job.inputs, job.output) == (["s3://crawl/"], "/data/clean")


@dataclass
class Task:
    """Stands in for Airflow's BashOperator: records its arguments and its place in the order of tasks."""

    task_id: str
    bash_command: str
    retries: int
    trigger_rule: str = "all_success"
    after: list[str] = field(default_factory=list)

    def __rshift__(self, other: "Task") -> "Task":
        other.after.append(self.task_id)
        return other

    @property
    def command(self) -> list[str]:
        """The words of the command, with the date filled in."""
        rendered = self.bash_command.replace("{{ds_nodash}}", "20260101")
        assert "{" not in rendered
        return shlex.split(rendered.replace("\\\n", " "))


@dataclass
class Dag:
    """Stands in for Airflow's DAG."""

    dag_id: str
    start_date: datetime
    schedule: str
    catchup: bool
    default_args: dict[str, Any]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        pass


def test_the_tasks_of_the_airflow_dag_run_in_order_and_their_commands_parse(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    modules: dict[str, dict[str, Any]] = {
        "airflow": {"DAG": Dag},
        "airflow.providers": {},
        "airflow.providers.standard": {},
        "airflow.providers.standard.operators": {},
        "airflow.providers.standard.operators.bash": {"BashOperator": Task},
    }
    for name, members in modules.items():
        module = ModuleType(name)
        vars(module).update(members)
        monkeypatch.setitem(sys.modules, name, module)
    found = runpy.run_path(str(DAG))
    assert found["dag"].start_date.tzinfo is not None
    tasks = [value for value in found.values() if isinstance(value, Task)]
    assert [(task.task_id, task.after, task.retries) for task in tasks] == [
        ("plan", [], 0),
        ("clean", ["plan"], 5),
        ("status", ["clean"], 0),
    ]
    plan, clean, status = (parsed(task.command) for task in tasks)
    assert plan.cores == 400
    assert plan.inputs == clean.inputs == ["s3://crawl/20260101/warc.paths"]
    assert clean.output == status.output == "hdfs:///clean/20260101"
    given = vars(clean)
    assert (given["max_failed_shards"], given["max_failed_pages"]) == ("1%", "2%")


def commands(markdown: str) -> list[str]:
    """The commands of a page's indented blocks, lines that go on joined."""
    block = "\n".join(line[4:] for line in markdown.splitlines() if line.startswith("    "))
    joined = re.sub(r"\\\n\s*", "", block)
    return [line for line in joined.splitlines() if line.startswith(("victor ", "spark-submit "))]


@pytest.mark.parametrize("command", commands(DOCS.read_text(encoding="utf-8")))
def test_every_command_of_the_deployment_page_parses(command: str) -> None:
    assert parsed(shlex.split(command))


def test_the_properties_file_holds_names_and_values() -> None:
    lines = (ROOT / "conf/spark-defaults.conf").read_text().splitlines()
    pairs = [line.split(maxsplit=1) for line in lines if line and not line.startswith("#")]
    assert all(len(pair) == 2 and pair[0].startswith("spark.") for pair in pairs)
    assert len({name for name, _ in pairs}) == len(pairs)


def test_what_is_packed_is_what_we_need_and_not_spark_nor_what_only_developers_need() -> None:
    packages = archives.needed(frozenset({"s3"}))
    assert {"numpy", "pyarrow", "isal", "resiliparse", "s3fs", "aiobotocore"} <= set(packages)
    assert not {"pyspark", "py4j", "pytest", "moto", "catboost", "mypy"} & set(packages)
    assert "s3fs" not in archives.needed(frozenset())
