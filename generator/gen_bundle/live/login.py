"""From a user name and password to a token that is kept."""

from pathlib import Path

from gen_bundle.live.connection import AnswerError, Connection
from gen_bundle.live.credentials import Token, save_token


def login(server: str, username: str, password: str) -> tuple[str, Path]:
    """Exchange a password for a token, try the token, and keep it; the user's name, and the token's file.

    Raises:
        AnswerError: the server refuses.
        UserError: the token cannot be kept.
    """
    with Connection(server) as anonymous:
        answer = anonymous.exchange("api-token-auth/", {"username": username, "password": password})
    token = answer.get("token") if isinstance(answer, dict) else None
    if not isinstance(token, str) or not token:
        raise AnswerError(f"{server}: gave no token. Is it a Codabench site?", 200)
    with Connection(server, Token(server, token)) as connection:
        profile = connection.get("my_profile/")
    return str(profile.get("username") or username), save_token(server, token)
