"""gen-bundle login: keeps a token for the other verbs of the live platform."""

import sys

import click

from gen_bundle.cli.messages import can_answer, say
from gen_bundle.cli.options import server_option
from gen_bundle.ground.errors import UserError

EPILOG = """\b
Examples:
  gen-bundle login
  gen-bundle login --username ada --server https://codabench.my-university.edu

\b
Asks for the password without showing it (or reads it from a pipe), exchanges it for a token, and keeps the token in a
file that only you can read. The password is not kept. Where no file is wanted, such as in continuous integration, set
CODABENCH_TOKEN instead.
Exit status: 0 logged in, 1 refused by the server, 2 wrong use.
"""


@click.command(epilog=EPILOG)
@server_option
@click.option("--username", help="User name or e-mail address; asked for if not given.")
def command(server: str, username: str | None) -> None:
    """Log in to a Codabench site, and keep the token for the other verbs."""
    from gen_bundle.live.connection import Connection
    from gen_bundle.live.credentials import Token, save_token, server_address

    address = server_address(server)
    if username is None and not can_answer():
        raise UserError("--username is missing, and nobody can be asked for it.")
    name = username or str(click.prompt("User name", err=True))
    if can_answer():
        password = str(click.prompt("Password", hide_input=True, err=True))
    else:
        password = sys.stdin.readline().rstrip("\r\n")
    if not password:
        raise UserError("no password arrived on standard input.")
    with Connection(address) as anonymous:
        answer = anonymous.exchange("api-token-auth/", {"username": name, "password": password})
    with Connection(address, Token(address, answer["token"])) as connection:
        user = connection.get("my_profile/")["username"]
    file = save_token(address, answer["token"])
    say(f"logged in to {address} as {user}; the token is in {file}", "green")
