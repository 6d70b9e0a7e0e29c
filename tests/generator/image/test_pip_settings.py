import urllib.request
from pathlib import Path

import pytest

from gen_bundle.image.verbs import machine_settings, pip_settings

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("forked_python")]


@pytest.fixture(autouse=True)
def bare_pip(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FIND_LINKS", "INDEX_URL", "EXTRA_INDEX_URL", "TRUSTED_HOST", "DEFAULT_TIMEOUT", "TIMEOUT"):
        monkeypatch.delenv(f"PIP_{name}", raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")


def test_a_machine_without_settings_passes_none_on(tmp_path: Path) -> None:
    with pip_settings(tmp_path) as written:
        assert written is None


def test_a_folder_of_wheels_is_served_while_the_build_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheels = tmp_path / "my wheels"
    wheels.mkdir()
    (wheels / "thing-1-py3-none-any.whl").write_bytes(b"wheel")
    monkeypatch.setenv("PIP_FIND_LINKS", wheels.as_uri())
    with pip_settings(tmp_path) as written:
        assert written is not None
        head, line = written.read_text().splitlines()
        assert head == "[global]"
        key, _, address = line.partition(" = ")
        assert (key, written.stat().st_mode & 0o777) == ("find-links", 0o600)
        with urllib.request.urlopen(f"{address}thing-1-py3-none-any.whl") as answer:
            assert answer.read() == b"wheel"
    with pytest.raises(OSError, match="refused"):
        urllib.request.urlopen(address)


def test_addresses_are_passed_on_and_folders_that_mean_nothing_there_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "https://user:word@mirror.example/simple")
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", "file:///srv/simple https://wheels.example/cpu")
    monkeypatch.setenv("PIP_DEFAULT_TIMEOUT", "99")
    monkeypatch.setenv("PIP_CERT", "/etc/ssl/own.pem")
    with pip_settings(tmp_path) as written:
        assert written is not None
        assert sorted(written.read_text().splitlines()[1:]) == [
            "extra-index-url = https://wheels.example/cpu",
            "index-url = https://user:word@mirror.example/simple",
            "timeout = 99",
        ]


def test_the_environment_comes_before_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pip.conf").write_text(
        "[global]\nindex-url = https://file.example/simple\ntrusted-host = file.example\n"
    )
    monkeypatch.setenv("PIP_CONFIG_FILE", str(tmp_path / "pip.conf"))
    monkeypatch.setenv("PIP_INDEX_URL", "https://environment.example/simple")
    settings = machine_settings()
    assert settings["index-url"] == "https://environment.example/simple"
    assert settings["trusted-host"] == "file.example"
