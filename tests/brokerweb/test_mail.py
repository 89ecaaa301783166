"""Where e-mail goes out, as the environment says it."""

from __future__ import annotations

import pytest

from brokerweb.mail import MailServer, mail_server


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, MailServer()),
        ({"EMAIL_URL": "smtp://mail.example.org"}, MailServer("mail.example.org", 25)),
        (
            {"EMAIL_URL": "smtp://a%40b:p%2Fq@mail:587?tls=1&from=w@example.org"},
            MailServer("mail", 587, "a@b", "p/q", starttls=True, sender="w@example.org"),
        ),
        ({"EMAIL_URL": "smtps://mail"}, MailServer("mail", 465, tls=True)),
        ({"EMAIL_URL": "http://mail"}, MailServer()),
        ({"EMAIL_URL": "smtp://mail:port"}, MailServer()),
        ({"EMAIL_HOST": "mail", "EMAIL_TLS": "1", "EMAIL_PORT": "2525"}, MailServer("mail", 2525, starttls=True)),
    ],
)
def test_the_mail_server_is_read_from_the_environment(environment: dict[str, str], expected: MailServer) -> None:
    assert mail_server(environment) == expected
