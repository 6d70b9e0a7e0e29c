"""What only containers have: isolation, images, and nothing left behind."""

import gc
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from docker.api.client import APIClient

import docker
from gen_bundle.codabench.versions import PlatformVersion
from gen_bundle.dry_run.engines.docker import DROPPED_CAPABILITIES, DockerEngine, connect, docker_run_line, traits
from gen_bundle.dry_run.layout import LABEL, PREFIX, new_run_id
from gen_bundle.dry_run.report import Results
from tests.engine import BUSYBOX_IMAGE, PYTHON_IMAGE, ROOT, require_image, unavailable
from tests.generator.dry_run.bundles import COMMAND, GOOD, Bundle, printed, replay_one, write_files, write_zip, writes
from tests.generator.dry_run.engine_proxy import EngineProxy

pytestmark = [pytest.mark.docker, pytest.mark.usefixtures("container_engine")]

SCORED = writes('{"acc": 1}')
FACTS = (
    SCORED
    + """
import json, os, pathlib, socket, sys
def can_write(folder):
    try:
        pathlib.Path(folder, "probe").touch()
    except OSError as error:
        return error.strerror
    return True
def reaches_network():
    try:
        socket.create_connection(("192.0.2.1", 80), timeout=2)
    except OSError as error:
        return error.strerror
    return True
status = dict(line.split(":", 1) for line in open("/proc/self/status") if ":" in line)
json.dump({
    "cwd": os.getcwd(), "uid": os.getuid(), "mounts": sorted(os.listdir("/app")), "network": reaches_network(),
    "capabilities": int(status["CapEff"], 16), "no_new_privileges": int(status["NoNewPrivs"]),
    "environment": {name: os.environ.get(name) for name in sys.argv[1].split(",")},
    "writes": {name: can_write(name) for name in sys.argv[2].split(",")},
}, open("/app/output/facts.json", "w"))
"""
)


@pytest.fixture
def client() -> Iterator[docker.DockerClient]:
    connected = connect()
    yield connected
    connected.close()


def fact_finder() -> Bundle:
    variables = "PYTHONUNBUFFERED,http_proxy,https_proxy,NLTK_DATA"
    folders = "/app/data,/app/shared,/app/input/ref,/app/program,/,/tmp"
    return Bundle(FACTS, metadata=f"command: {COMMAND} {variables} {folders}")


@pytest.fixture
def on_podman(client: docker.DockerClient) -> bool:
    return traits(client).is_podman


@pytest.fixture
def measures(client: docker.DockerClient) -> None:
    """An engine that measures; one without root often cannot, and says so (test_connection.py)."""
    known = traits(client)
    if not known.measures:
        unavailable(f"{known.version} measures nothing here")


def ours(client: docker.DockerClient) -> list[str]:
    return [str(container.name) for container in client.containers.list(all=True, filters={"label": LABEL})]


def replay(bundle: Bundle, tmp_path: Path, **wishes: Any) -> Results:
    options = {name: wishes.pop(name) for name in ("gpu", "network", "pull") if name in wishes}
    with closing(DockerEngine(connect(), new_run_id(), **options)) as engine:
        return replay_one(bundle, tmp_path, engine, **wishes)


def created(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, **wishes: Any
) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """What a dry run asks for and what the engine tells of it, of each container that runs a program."""
    found = []
    create = APIClient.create_container

    def recording(api: APIClient, *arguments: Any, **named: Any) -> Any:
        made = create(api, *arguments, **named)
        if "name" in named:  # not the one that gives the files back to who is not root
            found.append((named, api.inspect_container(made["Id"])))
        return made

    monkeypatch.setattr(APIClient, "create_container", recording)
    replay(Bundle(), tmp_path, **wishes)
    return found


def facts(tmp_path: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((tmp_path / "out/test/main/team/output/facts.json").read_text())
    return content


@pytest.mark.parametrize("version", PlatformVersion)
def test_what_the_program_sees(
    version: PlatformVersion, tmp_path: Path, on_podman: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NLTK_DATA", "/somewhere")
    assert replay(fact_finder(), tmp_path, version=version).good
    seen = facts(tmp_path)
    assert (seen["cwd"], seen["uid"]) == ("/app/program", 0)
    since = ["ingested_program"] if version is PlatformVersion.V1_32 else []
    assert seen["mounts"] == ["data", *since, "input", "output", "program", "shared"]
    assert (seen["capabilities"], seen["no_new_privileges"]) == (0, 0 if on_podman else 1)
    assert seen["network"] == "Network is unreachable"
    assert seen["environment"] == {"PYTHONUNBUFFERED": "1", "http_proxy": "", "https_proxy": "", "NLTK_DATA": None}
    assert seen["writes"] == {
        "/app/data": "Read-only file system",
        **dict.fromkeys(("/app/shared", "/app/input/ref", "/app/program", "/tmp"), True),
        "/": "Permission denied" if on_podman else True,
    }


@pytest.mark.parametrize("version", PlatformVersion)
def test_the_create_call_is_the_workers(
    version: PlatformVersion, tmp_path: Path, on_podman: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fields as recorded from the worker; labels and the network are ours."""
    if on_podman:
        pytest.skip("Podman tells a container's settings in other words")
    [(_, container)] = created(tmp_path, monkeypatch, version=version)
    config, host = container["Config"], container["HostConfig"]
    assert config["Cmd"] == COMMAND.split()
    assert (config["Entrypoint"], config["User"], config["Tty"]) == (None, "", False)
    assert config["WorkingDir"] == "/app/program"
    assert config["Env"][:3] == ["PYTHONUNBUFFERED=1", "http_proxy=", "https_proxy="]
    assert set(host["CapDrop"]) == set(DROPPED_CAPABILITIES)
    assert (host["SecurityOpt"], host["UsernsMode"], host["AutoRemove"]) == (["no-new-privileges"], "host", False)
    assert not any(host[limit] for limit in ("Memory", "NanoCpus", "PidsLimit", "ReadonlyRootfs"))
    assert [bind.split(":", 1)[1] for bind in host["Binds"]] == [
        "/app/program:z",
        "/app/output:z",
        "/app/data:ro",
        *(["/app/ingested_program:ro"] if version is PlatformVersion.V1_32 else []),
        "/app/shared:rw",
        "/app/input:rw",
    ]


def test_network_is_left_on_when_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    [(asked, _)] = created(tmp_path, monkeypatch, network=True)
    assert (asked["host_config"].get("NetworkMode", "default"), asked["network_disabled"]) == ("default", False)


@pytest.mark.usefixtures("measures")
def test_memory_and_processor_are_measured(tmp_path: Path) -> None:
    scorer = "x = bytearray(100_000_000)\nimport time\nt = time.time()\nwhile time.time() - t < 2.5: pass\n" + SCORED
    [measured] = replay(Bundle(scorer), tmp_path).measured
    assert measured.usage.memory_bytes is not None
    assert measured.usage.cpu_seconds is not None
    assert measured.usage.memory_bytes > 90_000_000
    assert measured.usage.cpu_seconds > 0.1


def test_a_folder_replaced_by_a_link_is_given_to_nobody(tmp_path: Path) -> None:
    """The scorer may write beside `res`; the ingestion program that comes after it must not get what it put there.

    Since 1.27 that program gets the submission from a folder of its own, which no scorer can write to.
    """
    scorer = SCORED + "import os, shutil\nshutil.rmtree('/app/input/res')\nos.symlink('/etc', '/app/input/res')\n"
    bundle = Bundle(
        scorer,
        task={"ingestion_program": "ingestion", "ingestion_only_during_scoring": True},
        folders={"ingestion": {"metadata.yaml": "command: python3 -V"}},
        metadata="command: python3 score.py",
    )
    run = replay(bundle, tmp_path, version=PlatformVersion.V1_25).runs[0]
    assert (run.status, run.message) == ("Failed", "/app/ingested_program was replaced by a link")


def test_a_device_cannot_be_made(tmp_path: Path) -> None:
    makes = "import os\nos.mknod('../output/disk', 0o60666, os.makedev(8, 0))\n"
    run = replay(Bundle(SCORED + makes), tmp_path).runs[0]
    assert run.status == "Failed"
    assert "Operation not permitted" in run.message


def test_no_such_image(tmp_path: Path) -> None:
    results = replay(Bundle(), tmp_path, image="gen-bundle/nix:1")
    assert results.runs[0].status == "Failed"
    assert results.runs[0].message.startswith("Pull for gen-bundle/nix:1 failed! This machine has no such image")
    assert json.loads((tmp_path / "out/dry-run.json").read_text())["runs"][0]["exit_code"] is None


def test_an_image_that_cannot_be_pulled(tmp_path: Path) -> None:
    run = replay(Bundle(), tmp_path, image="registry.invalid/nix:1", pull=True).runs[0]
    assert run.message.startswith("Pull for registry.invalid/nix:1 failed! ")


def test_an_image_without_python(tmp_path: Path, client: docker.DockerClient) -> None:
    run = replay(Bundle(), tmp_path, image=require_image(client, BUSYBOX_IMAGE)).runs[0]
    assert (run.status, run.exit_code) == ("Failed", 127)
    assert "the image has no such program" in run.message


@contextmanager
def image(client: docker.DockerClient, name: str, changes: str | None = None) -> Iterator[str]:
    """The base image under another name, with changes."""
    made = client.containers.create(PYTHON_IMAGE)
    try:
        made.commit(name, tag="mine", changes=changes)
        yield f"{name}:mine"
    finally:
        made.remove()
        client.images.remove(f"{name}:mine")


def test_an_image_with_an_entrypoint(tmp_path: Path, client: docker.DockerClient) -> None:
    with image(client, "local/entrypoint", 'ENTRYPOINT ["python3"]') as name:
        results = replay(Bundle(), tmp_path, image=name)
    assert (results.runs[0].status, results.runs[0].exit_code) == ("Failed", 2)
    assert "can't open file '/app/program/python3'" in results.runs[0].message
    assert any("has the ENTRYPOINT ['python3']" in note for note in results.notes)


def test_an_image_that_was_never_pushed_is_noted(tmp_path: Path, client: docker.DockerClient) -> None:
    """Podman keeps what it builds itself under localhost/."""
    with image(client, "localhost/python") as name:
        results = replay(Bundle(), tmp_path, image=name)
    assert any("was never pushed" in note for note in results.notes)


def test_no_gpu_is_told_plainly(tmp_path: Path, on_podman: bool) -> None:
    run = replay(Bundle(), tmp_path, gpu=True).runs[0]
    if run.status == "Failed":
        how = "( by CDI; install| through its Docker socket)" if on_podman else ", neither by CDI nor by its NVIDIA"
        assert re.search(f"(gives no GPU|ignores requests for GPUs){how}", run.message)
    else:
        assert run.scores == {"acc": 1.0}


def test_the_older_gpu_request_is_the_second_try(tmp_path: Path, client: docker.DockerClient, on_podman: bool) -> None:
    """On an engine that offers a made-up GPU: dockerd does where it finds this hook."""
    if on_podman:
        pytest.skip("dockerd is tried, and Podman's image cannot be handed to it")
    if os.geteuid() != 0 or shutil.which("dockerd") is None:
        unavailable("only root can start an engine of its own, and dockerd must be installed")
    hook = write_files(tmp_path / "bin", {"nvidia-container-runtime-hook": "#!/bin/sh\nexit 0\n"})
    (hook / "nvidia-container-runtime-hook").chmod(0o755)
    archive = tmp_path / "busybox.tar"
    with archive.open("wb") as out:
        out.writelines(client.images.get(require_image(client, BUSYBOX_IMAGE)).save(named=BUSYBOX_IMAGE))
    script = '[ "$NVIDIA_VISIBLE_DEVICES" = all ] && echo \'{"acc": 1}\' > /app/output/scores.json\n'
    bundle = Bundle(program={"score.sh": script}, metadata="command: sh /app/program/score.sh", phase={"tasks": [0]})
    submission = write_zip(tmp_path / "team.zip", GOOD)
    program = (
        "import sys, docker\nfrom gen_bundle.cli import main\nclient = docker.from_env()\n"
        "client.images.load(open(sys.argv[1], 'rb').read())\nclient.close()\nmain(sys.argv[2:])\n"
    )
    arguments = ["dry-run", bundle.write(tmp_path / "bundle"), "--gpu", "--image", BUSYBOX_IMAGE]
    arguments += ["--submission", submission, "--out", tmp_path / "out"]
    ran = subprocess.run(
        [str(part) for part in (ROOT / "docker/with-engine", sys.executable, "-c", program, archive, *arguments)],
        env=os.environ
        | {"DOCKER_HOST": "unix:///nowhere/docker.sock", "PATH": f"{hook}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stderr
    assert json.loads((tmp_path / "out/dry-run.json").read_text())["runs"][0]["scores"] == {"acc": 1}


def test_podman_is_asked_for_gpus_by_cdi(tmp_path: Path, on_podman: bool) -> None:
    if not on_podman:
        pytest.skip("Docker is asked in its own two ways")
    scorer = SCORED + "import os\nprint('MADE_UP_GPU' in os.environ)\n"  # tests/docker/podman-engine offers it
    run = replay(Bundle(scorer), tmp_path, gpu=True).runs[0]
    if run.status == "Failed":
        pytest.skip("this Podman gives no GPU")
    assert printed(tmp_path) == "True\n"


def test_models_in_folders_are_mounted_read_only(tmp_path: Path) -> None:
    model = write_files(tmp_path / "cache/snapshots/abc", {"config.json": "{}"})
    weights = write_files(tmp_path / "cache/blobs", {"weights": "w"}) / "weights"
    (model / "weights").symlink_to(os.path.relpath(weights, model))
    scorer = SCORED + (
        f"assert open({str(model / 'weights')!r}).read() == 'w'\n"
        f"try:\n    open({str(model / 'new')!r}, 'w')\n    raise SystemExit('writable')\nexcept OSError:\n    pass\n"
    )
    options = {"options": {"nli": {"model": str(model)}, "device": "cpu"}}
    results = replay(Bundle(scorer, program={"program.json": json.dumps(options)}), tmp_path)
    assert results.good, results.runs
    assert any("is mounted read-only; on the platform it does not exist" in note for note in results.notes)


def test_a_cache_folder_is_mounted_writable(tmp_path: Path) -> None:
    cache = write_files(tmp_path / "cache", {"entry": "e"})
    scorer = SCORED + f"open({str(cache / 'new')!r}, 'w').write('n')\n"
    options = {"options": {"cache": str(cache), "device": "cpu"}}
    results = replay(Bundle(scorer, program={"program.json": json.dumps(options)}), tmp_path)
    assert results.good, results.runs
    assert (cache / "new").read_text() == "n"
    assert any("is mounted writable; on the platform it does not exist" in note for note in results.notes)


def test_the_printed_line_runs_the_same(tmp_path: Path) -> None:
    results = replay(Bundle(), tmp_path, command_line=partial(docker_run_line, gpu=False, network=False))
    [line] = results.commands
    ran = subprocess.run(line, shell=True, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    scores = tmp_path / "out/test/main/team/job/output/scores.json"
    assert json.loads(scores.read_text()) == results.runs[0].scores


@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")  # docker-py's, when a stream breaks
def test_the_engine_stops_half_way(
    tmp_path: Path, client: docker.DockerClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    with EngineProxy() as proxy:
        monkeypatch.setenv("DOCKER_HOST", proxy.host)
        scorer = "import time\nprint('started', flush=True)\ntime.sleep(5)\n"
        results = replay(Bundle(scorer), tmp_path, on_line=lambda _: threading.Thread(target=proxy.cut).start())
    assert results.runs[0].status == "Failed"
    assert results.runs[0].message.startswith("the container engine does not answer any more")
    assert (tmp_path / "out/dry-run.json").exists()
    [left] = client.containers.list(filters={"label": LABEL})
    for thread in threading.enumerate():
        if str(left.id) in thread.name:  # until then it holds the socket that broke
            thread.join(timeout=30)
    left.remove(force=True)
    gc.collect()


def test_nothing_is_left_behind(tmp_path: Path, client: docker.DockerClient) -> None:
    volumes = len(client.volumes.list())
    replay(Bundle("import time\ntime.sleep(30)\n", phase={"execution_time_limit": 1}), tmp_path)
    assert ours(client) == []
    assert len(client.volumes.list()) == volumes


def test_two_at_once_do_not_meet(tmp_path: Path, client: docker.DockerClient) -> None:
    results: dict[str, Results] = {}

    def one(name: str) -> None:
        results[name] = replay(Bundle("import time\ntime.sleep(1)\n" + SCORED), tmp_path / name)

    threads = [threading.Thread(target=one, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [results[name].good for name in "ab"] == [True, True]
    assert ours(client) == []


def started(tmp_path: Path, client: docker.DockerClient) -> subprocess.Popen[str]:
    """A dry run in a process of its own, whose scorer is at work; its scratch folders lie in `scratch`."""
    (tmp_path / "scratch").mkdir()
    bundle = Bundle("import time\ntime.sleep(60)\n").write(tmp_path / "bundle")
    submission = write_zip(tmp_path / "team.zip", GOOD)
    arguments = ["dry-run", bundle, "--engine", "docker", "--submission", submission, "--out", tmp_path / "out"]
    process = subprocess.Popen(
        [sys.executable, "-c", "from gen_bundle.cli import main; main()", *map(str, arguments)],
        env={**os.environ, "TMPDIR": str(tmp_path / "scratch")},
        stderr=subprocess.PIPE,
        text=True,
    )
    for _ in range(600):
        if ours(client):
            return process
        time.sleep(0.1)
    process.kill()
    raise AssertionError(process.communicate()[1])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_dry_runs_leave_nothing(tmp_path: Path, client: docker.DockerClient, number: int) -> None:
    process = started(tmp_path, client)
    process.send_signal(number)
    process.communicate(timeout=60)
    assert process.returncode != 0
    assert ours(client) == []
    assert list((tmp_path / "scratch").glob(f"{PREFIX}*")) == []
    assert json.loads((tmp_path / "out/dry-run.json").read_text())["runs"][0]["status"] == "Failed"


def test_what_a_killed_dry_run_left_is_removed_by_the_next(
    tmp_path: Path, client: docker.DockerClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    process = started(tmp_path, client)
    process.kill()
    process.communicate(timeout=60)
    assert len(ours(client)) == 1
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "scratch"))
    assert list((tmp_path / "scratch").glob(f"{PREFIX}*"))
    assert replay(Bundle(), tmp_path / "next").good
    assert ours(client) == []
    assert list((tmp_path / "scratch").glob(f"{PREFIX}*")) == []


AS_SOMEBODY = """
import os, sys
from pathlib import Path
import docker.types
from gen_bundle.dry_run.dry_run import DryRunRequest, dry_run
from gen_bundle.dry_run.engines.docker import connect
from gen_bundle.dry_run.engines.docker import DockerEngine
out, bundle, submission = map(Path, sys.argv[1:])
def replay(name):
    engine = DockerEngine(connect(), name)
    results = dry_run(DryRunRequest(bundle, out / name, [submission]), engine)
    engine.close()
    return results
replay("root")  # loads all that is imported late, which somebody else may not be allowed to read
(out / "somebody").mkdir()
os.chown(out / "somebody", 12345, 12345)
os.setegid(12345)
os.seteuid(12345)
results = replay("somebody")
sys.exit(0 if results.good else str(results.runs))
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_somebody_else_than_root(tmp_path: Path) -> None:
    """A container's root has no capabilities and writes files of root; we must read and remove them nevertheless."""
    scorer = SCORED + "import os\nos.makedirs('../output/deep', 0o700)\nopen('../output/deep/x', 'w')\n"
    bundle = Bundle(scorer).write(tmp_path / "bundle")
    submission = write_zip(tmp_path / "team.zip", GOOD)
    for folder in [tmp_path, *tmp_path.parents[:2]]:
        folder.chmod(0o755)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    scratch.chmod(0o777)
    with EngineProxy() as proxy:
        ran = subprocess.run(
            [sys.executable, "-c", AS_SOMEBODY, tmp_path / "out", bundle, submission],
            env={**os.environ, "DOCKER_HOST": proxy.host, "TMPDIR": str(scratch)},
            capture_output=True,
            text=True,
        )
    assert ran.returncode == 0, ran.stderr
    assert (tmp_path / "out/somebody/test/main/team/output/deep/x").exists()
    assert list(scratch.glob(f"{PREFIX}*")) == []
