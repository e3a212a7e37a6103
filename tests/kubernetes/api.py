"""The part of a Kubernetes API that Spark uses: it validates objects and starts pods as processes.

A pod runs as a process of this machine: the entry point of the image with the container's arguments, its
environment, and its volumes in a folder. Every pod has the address 127.0.0.1.
"""

import json
import os
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import yaml

from tests import loopback
from tests.cluster.runs import ROOT
from tests.cluster.standalone import Daemon

ENTRYPOINT: Final = ROOT / "deploy" / "kubernetes" / "entrypoint.sh"
SECONDS: Final = 240.0
_PATH: Final = re.compile(r"/(?:api|apis/[\w.]+)/v1/namespaces/([\w-]+)/(\w+)(?:/([\w.-]+))?")
_KINDS: Final = {
    "pods": "Pod",
    "configmaps": "ConfigMap",
    "services": "Service",
    "persistentvolumeclaims": "PersistentVolumeClaim",
}
_SERVICE: Final = re.compile(r"\b([\w-]+)\.victor\.svc\b")
_VARIABLE: Final = re.compile(r"\$\((\w+)\)")
Object = dict[str, Any]


@dataclass
class Api:
    """`objects` by kind and name; `image`: the environment of the image; `secrets` by name."""

    folder: Path
    image: Mapping[str, str]
    secrets: Mapping[str, Mapping[str, str]]
    validate: Callable[[Object], None]
    url: str = ""
    objects: dict[tuple[str, str], Object] = field(default_factory=dict)
    processes: dict[str, Daemon] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)
    problems: list[str] = field(default_factory=list)
    ended: threading.Event = field(default_factory=threading.Event)

    def create(self, namespace: str, kind: str, content: Object) -> Object:
        """Stores an object that is valid; pods start as soon as all that they name is there."""
        self.validate(content)
        name, now = content["metadata"]["name"], time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        of_server = {"uid": name, "namespace": namespace, "resourceVersion": "1", "creationTimestamp": now}
        content["metadata"] |= of_server
        with self.lock:
            self.objects[kind, name] = content
            for pod in [name for kind, name in self.objects if kind == "pods"]:
                spec = self.objects["pods", pod]["spec"]
                if pod not in self.processes and self._is_ready(spec):
                    self.processes[pod] = self._started(pod, spec)
            return self.found(kind, name)

    def _is_ready(self, spec: Object) -> bool:
        """Whether the config maps of a pod exist, and the services that it or they name."""
        maps = [one["configMap"]["name"] for one in spec.get("volumes", []) if "configMap" in one]
        if not all(("configmaps", name) in self.objects for name in maps):
            return False
        text = json.dumps([spec, *(self.objects["configmaps", name]["data"] for name in maps)])
        return all(("services", name) in self.objects for name in _SERVICE.findall(text))

    def found(self, kind: str, name: str) -> Object:
        """An object; a pod with its status."""
        content = self.objects[kind, name]
        if kind == "pods" and name not in self.processes:
            content["status"] = {"phase": "Pending"}
        elif kind == "pods":
            code = self.processes[name].process.poll()
            phase = "Running" if code is None else "Failed" if code else "Succeeded"
            state = {"running": {}} if code is None else {"terminated": {"exitCode": code}}
            container = {"name": content["spec"]["containers"][0]["name"], "ready": code is None}
            container |= {"image": "", "imageID": "", "restartCount": 0, "state": state}
            ready = {"type": "Ready", "status": str(code is None)}
            status = {"phase": phase, "podIP": "127.0.0.1", "conditions": [ready]}
            content["status"] = {**status, "containerStatuses": [container]}
        return content

    def selected(self, kind: str, selector: str) -> list[Object]:
        """The objects with labels such as `a=b,c!=d`."""
        parts = [part.partition("=") for part in filter(None, selector.split(","))]
        with self.lock:
            all_ = [self.found(*key) for key in self.objects if key[0] == kind]
        return [
            one
            for one in all_
            for labels in [one["metadata"].get("labels") or {}]
            if all((labels.get(name.rstrip("!")) == value) != ("!" in name) for name, _, value in parts)
        ]

    def delete(self, kind: str, name: str) -> None:
        """Removes an object; the process of a pod ends."""
        with self.lock:
            self.objects.pop((kind, name), None)
        if kind == "pods" and name in self.processes:
            self.processes[name].stop()

    def wait(self, name: str) -> int:
        """The exit code of a pod's process."""
        return self.processes[name].process.wait(SECONDS)

    def tails(self) -> str:
        """The ends of all logs."""
        return "\n".join([*self.problems, *(one.tail() for one in self.processes.values())])

    def _started(self, name: str, spec: Object) -> Daemon:
        (container,) = spec["containers"]
        mounts = self._mounts(name, spec, container)
        known = {"status.podIP": "127.0.0.1", "metadata.name": name, "spec.nodeName": "node"}
        variables = dict(self.image)
        for source in container.get("envFrom", []):
            variables |= self.secrets[source["secretRef"]["name"]]
        for one in container.get("env", []):
            if "valueFrom" in one:
                variables[one["name"]] = known[one["valueFrom"]["fieldRef"]["fieldPath"]]
            else:
                variables[one["name"]] = self._here(one.get("value", ""), mounts)
        arguments = [
            self._here(_VARIABLE.sub(lambda found: variables[found[1]], word), mounts)
            for word in container["args"]
        ]
        folder = self.folder / name
        command = ["/bin/sh", "-c", 'cd "$0" && exec "$@"', str(folder), str(ENTRYPOINT), *arguments]
        return Daemon.started(command, self.folder / f"{name}.log", variables)

    def _mounts(self, name: str, spec: Object, container: Object) -> dict[str, str]:
        """Folders by the paths that they have in the container."""
        (self.folder / name).mkdir()
        mounts = {}
        for mount in container.get("volumeMounts", []):
            (volume,) = [one for one in spec["volumes"] if one["name"] == mount["name"]]
            folder = self.folder / name / volume["name"]
            folder.mkdir(exist_ok=True)
            mounts[mount["mountPath"]] = str(folder)
            if "configMap" in volume:
                content = self.objects["configmaps", volume["configMap"]["name"]]["data"]
                chosen = volume["configMap"].get("items") or [{"key": key, "path": key} for key in content]
                for one in chosen:
                    (folder / one["path"]).write_text(content[one["key"]])
        for path in (path for path in (self.folder / name).rglob("*") if path.is_file()):
            path.write_text(self._here(path.read_text(), mounts))
        return mounts

    def _here(self, text: str, mounts: Mapping[str, str]) -> str:
        """A text with the paths and addresses of this machine instead of those of volumes and services."""
        for path, folder in mounts.items():
            text = text.replace(path, folder)
        return _SERVICE.sub("127.0.0.1", text)


class Handler(BaseHTTPRequestHandler):
    """Answers one request."""

    api: Api
    protocol_version = "HTTP/1.1"

    def log_message(self, *args: object) -> None:
        """Logs nothing."""

    def do_GET(self) -> None:
        namespace, kind, name = self._place()
        options = {key: values[0] for key, values in parse_qs(urlsplit(self.path).query).items()}
        if options.get("watch") == "true":
            self._watch(kind, options)
        elif name is None:
            items = self.api.selected(kind, options.get("labelSelector", ""))
            metadata = {"resourceVersion": "1"}
            self._answer(
                200, {"kind": f"{_KINDS[kind]}List", "apiVersion": "v1", "metadata": metadata, "items": items}
            )
        elif (kind, name) in self.api.objects:
            self._answer(200, self.api.found(kind, name))
        else:
            self._answer(404, _status("Failure", f"{namespace}/{kind}/{name} not found", 404))

    def do_POST(self) -> None:
        try:
            namespace, kind, _ = self._place()
            content = yaml.safe_load(self._body())
            self._answer(201, self.api.create(namespace, kind, content))
        except Exception as error:  # noqa: BLE001 - the test shows it
            self.api.problems.append(f"{self.command} {self.path}: {error!r}")
            self._answer(422, _status("Failure", repr(error)[:500], 422))

    def do_PATCH(self) -> None:
        self.do_POST()  # server-side apply: the whole object

    def do_DELETE(self) -> None:
        self._body()
        _, kind, name = self._place()
        options = parse_qs(urlsplit(self.path).query)
        chosen = self.api.selected(kind, options.get("labelSelector", [""])[0]) if name is None else []
        for one in [one["metadata"]["name"] for one in chosen] or [name]:
            self.api.delete(kind, str(one))
        self._answer(200, _status("Success", "", 200))

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        parts = []
        while size := int(self.rfile.readline(), 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def _place(self) -> tuple[str, str, str | None]:
        found = _PATH.fullmatch(urlsplit(self.path).path)
        assert found, self.path
        return found[1], found[2], found[3]

    def _watch(self, kind: str, options: Mapping[str, str]) -> None:
        """Events of one connection; a request for a WebSocket is answered with 200, without one."""
        if "Upgrade" in self.headers:
            self._answer(200, {})
            return
        self.send_response_only(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Connection", "close")
        self.end_headers()
        sent: dict[str, str] = {}
        with suppress(OSError):
            while not self.api.ended.wait(0.2):
                for one in self.api.selected(kind, options.get("labelSelector", "")):
                    if sent.get(one["metadata"]["name"]) != (state := json.dumps(one)):
                        kind_ = "MODIFIED" if one["metadata"]["name"] in sent else "ADDED"
                        self.wfile.write(f'{{"type": "{kind_}", "object": {state}}}\n'.encode())
                        sent[one["metadata"]["name"]] = state
        self.close_connection = True

    def _answer(self, status: int, content: Object) -> None:
        body = json.dumps(content).encode()
        self.send_response_only(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _status(status: str, message: str, code: int) -> Object:
    return {"kind": "Status", "apiVersion": "v1", "status": status, "message": message, "code": code}


@contextmanager
def serving(
    folder: Path,
    image: Mapping[str, str],
    secrets: Mapping[str, Mapping[str, str]],
    validate: Callable[[Object], None],
) -> Iterator[Api]:
    """An API, until the end of the block; then the processes of all pods end."""
    api = Api(folder, {**os.environ, **image}, secrets, validate)
    try:
        with loopback.served(type("Bound", (Handler,), {"api": api})) as api.url:
            try:
                yield api
            finally:
                api.ended.set()
    finally:
        for process in api.processes.values():
            process.stop()
