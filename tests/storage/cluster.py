"""A stand-in for Kubernetes: it answers the calls of Snakemake's executor, and starts jobs as processes.

A job gets what a container would have: a folder and a home of its own, the command, and the secrets. It does
not see the folder of the run, which is hidden by a mount that it alone has.
"""

import base64
import json
import os
import re
import shlex
import shutil
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any


class Cluster:
    """Jobs and secrets by name, and the server that takes them.

    Parameters
    ----------
    place : Path
        Where jobs run.
    hidden : Path
        Folder of the run, which no job sees.
    **environment : str
        Variables that the image of the jobs sets.

    Attributes
    ----------
    jobs : dict of str to dict
        What was asked for, by name, in order.
    """

    def __init__(self, place: Path, hidden: Path, **environment: str) -> None:
        self.place, self.hidden, self.environment = place, hidden, environment
        self.jobs: dict[str, dict[str, Any]] = {}
        self.secrets: dict[str, dict[str, str]] = {}
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _make_handler(self))
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def write_config(self, path: Path) -> Path:
        """Write what clients find the cluster by."""
        names = {"name": "here", "cluster": {"server": f"http://127.0.0.1:{self._server.server_port}"}}
        user = {"name": "me", "user": {}}
        context = {"name": "this", "context": {"cluster": "here", "user": "me"}}
        values = {"apiVersion": "v1", "kind": "Config", "current-context": "this",
                  "clusters": [names], "users": [user], "contexts": [context]}  # fmt: skip
        path.write_text(json.dumps(values))
        return path

    def start(self, body: dict[str, Any]) -> None:
        """Start the container of a job."""
        name = body["metadata"]["name"]
        (container,) = body["spec"]["template"]["spec"]["containers"]
        folder = self.place / name
        for part in ("work", "home"):
            (folder / part).mkdir(parents=True)
        variables = {"PATH": os.environ["PATH"], "HOME": str(folder / "home"), **self.environment}
        for each in container.get("env", []):
            chosen = each["valueFrom"]["secretKeyRef"]
            variables[each["name"]] = self.secrets[chosen["name"]][chosen["key"]]
        hide = f"mount -t tmpfs tmpfs {shlex.quote(str(self.hidden))}; cd {shlex.quote(str(folder / 'work'))}"
        command = shlex.join([*container["command"], *container["args"]])
        with (self.place / f"{name}.log").open("wb") as log:
            self._processes[name] = subprocess.Popen(
                ["unshare", "--mount", "sh", "-ec", f"{hide}; exec {command}"],
                env=variables, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        self.jobs[name] = body

    def look(self, name: str) -> int | None:
        """Return the exit code of a job, None while it runs."""
        code = self._processes[name].poll()
        if code is not None:
            shutil.rmtree(self.place / name, ignore_errors=True)
        return code

    def stop(self) -> None:
        """End the server and jobs that still run."""
        self._server.shutdown()
        for process in self._processes.values():
            if process.poll() is None:
                os.killpg(process.pid, 9)


def _describe_job(cluster: Cluster, name: str) -> dict[str, Any]:
    """Return a job as the API shows it."""
    code = cluster.look(name)
    status = {"active": 1} if code is None else {"succeeded": 1} if code == 0 else {"failed": 1}
    return cluster.jobs[name] | {"status": status}


def _list_pods(cluster: Cluster, name: str) -> dict[str, Any]:
    """Return the one pod of a job as the API shows it."""
    code = cluster.look(name)
    state = {"running": {}} if code is None else {"terminated": {"exitCode": code}}
    container = {"name": "snakemake", "image": "fathom", "imageID": "fathom", "ready": True,
                 "restartCount": 0, "state": state}  # fmt: skip
    pod = {"metadata": {"name": name}, "status": {"containerStatuses": [container]}}
    return {"apiVersion": "v1", "kind": "PodList", "items": [pod]}


def _make_handler(cluster: Cluster) -> type[BaseHTTPRequestHandler]:
    """Return what answers requests to a cluster."""

    class Handler(BaseHTTPRequestHandler):
        def answer(self, value: Any, kind: str = "application/json") -> None:
            data = value if isinstance(value, bytes) else json.dumps(value).encode()
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if self.path.endswith("/secrets"):
                values = body["data"]
                cluster.secrets[body["metadata"]["name"]] = {
                    key: base64.b64decode(value).decode() for key, value in values.items()
                }
            else:
                cluster.start(body)
            self.answer(body)

        def do_GET(self) -> None:
            if found := re.search(r"/jobs/([^/?]+)/status", self.path):
                self.answer(_describe_job(cluster, found[1]))
            elif found := re.search(r"/pods/([^/?]+)/log", self.path):
                self.answer((cluster.place / f"{found[1]}.log").read_bytes(), "text/plain")
            elif found := re.search(r"labelSelector=job-name(?:=|%3D)([^&]+)", self.path):
                self.answer(_list_pods(cluster, found[1]))
            else:
                self.send_error(404)

        def do_DELETE(self) -> None:
            self.answer({"kind": "Status", "status": "Success"})

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    return Handler
