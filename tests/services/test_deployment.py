"""The image, the Compose file and the unit of systemd are valid, and fit the program."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import yaml
from compose_spec import PyCompose
from packaging.requirements import Requirement
from rankscope._cli.commands import make_parser
from rankscope.monitor.notify.channels import PUBLIC_URL

from tests.services.running import run_service

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
DOCKERFILE = (DEPLOY / "Dockerfile").read_text()
UNIT = (DEPLOY / "rankscope.service").read_text()
COMPOSE = (DEPLOY / "compose.yaml").read_text()
STATE = "/var/lib/rankscope"
VARIABLE = re.compile(r"\$\{(\w+)[^}]*\}")


def run(*command):
    """Run a program in the root of the project, and return what it did."""
    return subprocess.run(list(command), capture_output=True, text=True, check=False, cwd=ROOT)


def services():
    return yaml.safe_load(COMPOSE)["services"]


def parse(words):
    """Read a command line as `rankscope` does; everything in it is known."""
    parser, _ = make_parser(words)
    options, unknown = parser.parse_known_args(words)
    assert unknown == []
    return options


def list_instructions():
    """The instructions of the image, each on one line."""
    text = re.sub(r"\\\n", " ", re.sub(r"(?m)^#.*\n", "", DOCKERFILE))
    lines = [line.partition(" ") for line in text.splitlines() if line]
    return [(name, rest.strip()) for name, _, rest in lines]


def last_stage():
    """The instructions of what is left in the image, the last of each."""
    instructions = list_instructions()
    starts = [at for at, (name, _) in enumerate(instructions) if name == "FROM"]
    return dict(instructions[starts[-1] :])


def test_hadolint_finds_nothing_to_improve_in_the_image():
    hadolint = Path(sys.executable).with_name("hadolint")
    done = run(str(hadolint), str(DEPLOY / "Dockerfile"))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_image_runs_as_a_fixed_user_on_a_slim_base_and_starts_the_service():
    stage = last_stage()
    assert re.fullmatch(r"python:3\.\d+-slim-\w+", stage["FROM"])
    assert re.fullmatch(r"(\d{5}):\1", stage["USER"])
    assert stage["VOLUME"] == stage["WORKDIR"] == STATE
    assert not any("apt-get" in rest for name, rest in stage.items() if name == "RUN")
    assert json.loads(stage["ENTRYPOINT"]) == ["rankscope"]
    options = parse(json.loads(stage["CMD"]))
    assert Path(options.store).parent == Path(STATE)
    assert (options.host, str(options.port)) == ("0.0.0.0", stage["EXPOSE"])  # noqa: S104 - of a container


def test_the_image_installs_the_versions_that_are_tested():
    (made,) = re.findall(r'RUN (python -c ".*?")', "\n".join(map(" ".join, list_instructions())))
    done = run("sh", "-c", made.replace("python", shlex.quote(sys.executable), 1))
    assert done.returncode == 0, done.stderr
    pins = {pin.name: pin for pin in map(Requirement, done.stdout.split())}
    for needed in ("starlette", "uvicorn", "sqlalchemy", "psycopg"):
        # A constraint of pip has no extras.
        assert re.fullmatch(r"==[\d.]+", str(pins[needed].specifier))
        assert pins[needed].extras == set()


def test_the_image_gets_all_that_it_copies_and_nothing_else():
    ignored = (DEPLOY / "Dockerfile.dockerignore").read_text().split()
    kept = {line.removeprefix("!") for line in ignored if line.startswith("!")}
    copied = {
        source
        for name, rest in list_instructions()
        if name == "COPY" and not rest.startswith("--from")
        for source in rest.split()[:-1]
    }
    assert kept == copied
    assert all((ROOT / source).exists() for source in copied)


def test_the_health_check_knows_whether_the_service_works(tmp_path):
    (check,) = re.findall(r"CMD (\[.*\])", last_stage()["HEALTHCHECK"])
    words = [sys.executable, *json.loads(check)[1:]]
    with run_service(tmp_path / "music.db") as url:
        place = url.removeprefix("http://")
        working = [word.replace("127.0.0.1:8000", place) for word in words]
        assert run(*working).returncode == 0
    assert run(*working).returncode == 1


def test_the_compose_file_follows_the_specification():
    PyCompose.from_yaml(COMPOSE).validate()


def test_the_variables_of_the_compose_file_are_those_of_the_example():
    secrets = yaml.safe_load(COMPOSE)["secrets"].values()
    used = set(VARIABLE.findall(COMPOSE)) | {secret["environment"] for secret in secrets}
    example = (DEPLOY / "example.env").read_text()
    assert used == set(re.findall(r"(?m)^(\w+)=", example))
    # Nothing runs with a password that everybody knows.
    assert not re.search(r"(?m)^\w*(PASSWORD|KEY)=.", example)


def test_the_compose_file_starts_the_service_as_prometheus_expects_it():
    service = services()["rankscope"]
    words = [VARIABLE.sub("rankscope.example.com", word) for word in service["command"]]
    options = parse(words)
    scraped = yaml.safe_load((DEPLOY / "prometheus" / "prometheus.yml").read_text())
    (job,) = scraped["scrape_configs"]
    (target,) = job["static_configs"][0]["targets"]
    assert target == f"rankscope:{options.port}"
    assert options.names == ["rankscope", "rankscope.example.com"]
    assert options.store.startswith("postgresql://rankscope@postgres/rankscope")
    assert PUBLIC_URL in service["environment"]
    (secret,) = services()["prometheus"]["secrets"]
    assert job["authorization"]["credentials_file"] == f"/run/secrets/{secret}"
    assert service["read_only"]
    assert service["cap_drop"] == ["ALL"]


def test_no_port_is_open_to_other_machines():
    ports = [port for service in services().values() for port in service.get("ports", ())]
    assert len(ports) == 3
    assert all(port.startswith("127.0.0.1:") for port in ports)


def test_what_containers_mount_is_there_and_grafana_finds_it():
    mounts = {}
    for service in services().values():
        for volume in service.get("volumes", ()):
            source, target = volume.split(":")[:2]
            mounts[target] = source
            if source.startswith("."):
                assert (DEPLOY / source).is_dir()
            else:
                assert source in yaml.safe_load(COMPOSE)["volumes"]
    provisioning = DEPLOY / mounts["/etc/grafana/provisioning"]
    (provider,) = yaml.safe_load((provisioning / "dashboards" / "rankscope.yaml").read_text())[
        "providers"
    ]
    dashboards = DEPLOY / mounts[provider["options"]["path"]]
    assert [path.name for path in dashboards.iterdir()] == ["rankscope.json"]
    (source,) = yaml.safe_load((provisioning / "datasources" / "prometheus.yaml").read_text())[
        "datasources"
    ]
    assert source["url"].removeprefix("http://").split(":")[0] in services()


def test_systemd_accepts_the_unit_and_finds_little_exposed(tmp_path):
    program = shutil.which("systemd-analyze")
    assert program is not None, "expected systemd-analyze, found none: run make test-services"
    unit = tmp_path / "rankscope.service"
    (started,) = re.findall(r"(?m)^ExecStart=(\S+)", UNIT)
    # There is no program at that place here.
    unit.write_text(UNIT.replace(started, shutil.which("true") or ""))
    done = run(program, "verify", "--man=no", str(unit))
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
    # Tenths of a level from 0, nothing exposed, to 10.
    done = run(program, "security", "--offline=yes", "--threshold=20", str(unit))
    assert done.returncode == 0, done.stdout


def test_the_unit_starts_the_service_with_a_store_that_it_may_write():
    (started,) = re.findall(r"(?m)^ExecStart=(.*)", UNIT)
    options = parse(shlex.split(started)[1:])
    (folder,) = re.findall(r"(?m)^StateDirectory=(.*)", UNIT)
    assert Path(options.store).parent == Path("/var/lib") / folder
