"""gen-bundle login: a password becomes a token in a file, and is seen nowhere."""

import json
import stat

from gen_bundle.live.credentials import tokens_file
from tests.generator.live.conftest import Verb
from tests.live_server import PASSWORD, TOKEN, Site


def test_login_keeps_a_token_that_was_tried(site: Site, verb: Verb) -> None:
    done = verb("login", "--username", "ada@site.org", given=f"{PASSWORD}\n")
    assert done.exit_code == 0, done.output
    assert f"logged in to {site.address} as ada" in done.stderr
    assert json.loads(tokens_file().read_text()) == {site.address: TOKEN}
    assert stat.S_IMODE(tokens_file().stat().st_mode) == 0o600
    assert PASSWORD not in done.output
    assert TOKEN not in done.output
    assert [path for _, _, path, *_ in site.asked] == ["/api/api-token-auth/", "/api/my_profile/"]


def test_a_wrong_password(verb: Verb) -> None:
    done = verb("login", "--username", "ada", given="wrong\n")
    assert done.exit_code == 1
    assert "Unable to log in with provided credentials." in done.stderr
    assert "wrong" not in done.output
    assert not tokens_file().exists()


def test_no_name_and_no_terminal(verb: Verb) -> None:
    done = verb("login", given=f"{PASSWORD}\n")
    assert done.exit_code == 2
    assert "--username is missing" in done.stderr
