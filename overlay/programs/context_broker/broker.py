"""``python -m overlay broker``: one broker in the foreground. Its flags are generated from ``BrokerConfig``."""

from __future__ import annotations

import argparse
import os
import sys
from ipaddress import ip_address
from pathlib import Path

from overlay.core.addresses import Address, format_address, is_loopback, parse_host
from overlay.core.errors import InvalidSetting, WaxwingError, WireError
from overlay.core.settings import SettingInfo, build, describe
from overlay.programs.arguments import OneLineParser, address
from overlay.runtime.server_process import ServerProcess, Wrap, run_server
from overlay.runtime.udp import CannotBind
from overlay.systems.context_broker.broker.config import BrokerConfig
from overlay.systems.context_broker.profiles import PLAIN, PROFILE, PROFILES, resolved
from overlay.systems.context_broker.system import SYSTEM

OPEN_HELP = (
    "Allow binding to an address outside loopback. The protocol has no passwords: anyone who can reach an open broker "
    "can store and read data. Use this only on a network where you trust everyone, and list that network in "
    "--trusted-networks. Brokers and consumers outside it get little more than acknowledgements."
)

BOOTSTRAP_HELP = (
    "Join a network by a bootstrap list, read again when it is old: a file with one HOST:PORT a line, a URL (with the "
    "token in WAXWING_TOKEN), or HOST:PORT,HOST:PORT. The broker becomes a neighbour of the nearest neighbours_wanted "
    "brokers found, monitors them, and joins further ones when it has fewer than neighbours_least."
)

RECORD_HELP = (
    "Record all datagrams received and sent, up to this size, in FILE.1.recording next to the journal. "
    "python -m overlay replay repeats the recording."
)


def bind_address(text: str) -> Address:
    """``HOST:PORT``; with port 0 the system chooses one."""
    if text.endswith(":0"):
        host = "127.0.0.1" if text == "localhost:0" else text[:-2].removeprefix("[").removesuffix("]")
        try:
            return parse_host(host), 0
        except WireError as error:
            raise argparse.ArgumentTypeError(str(error)) from None
    return address(text)


def _record_mb(text: str) -> int:
    from overlay.systems.registry import RECORD  # imported here to save memory in other broker processes

    try:
        RECORD.check(int(text))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r:.40} is not a number of MB") from None
    except InvalidSetting as error:
        raise argparse.ArgumentTypeError(error.sentence) from None
    return int(text)


def make_parser() -> OneLineParser:
    parser = OneLineParser(prog="overlay broker", description="One broker in the foreground. SIGTERM makes it leave.")
    parser.add_argument(
        "--bind",
        type=bind_address,
        required=True,
        metavar="HOST:PORT",
        help="where to listen; port 0 chooses a free port",
    )
    parser.add_argument(
        "--address", type=address, metavar="HOST:PORT", help="the address that others use, if different"
    )
    parser.add_argument("--bootstrap", metavar="LIST", help=BOOTSTRAP_HELP)
    parser.add_argument("--open", action="store_true", help=OPEN_HELP)
    parser.add_argument(
        "--brokers", type=int, metavar="N", help="size of the network, sets a walk TTL of 4 x N (at most 4000)"
    )
    parser.add_argument("--seed", type=int, metavar="N", help="seed of its random walks; random by default")
    parser.add_argument("--journal", type=Path, metavar="FILE", help="append one tick a second and events to this file")
    parser.add_argument("--record", type=_record_mb, default=0, metavar="MB", help=RECORD_HELP)
    parser.add_argument("--profile", choices=PROFILES, default=PLAIN, help=f"{PROFILE.help} Default: {PLAIN}.")
    for info in describe(BrokerConfig):
        _add_flag(parser, info)
    return parser


def _add_flag(parser: argparse.ArgumentParser, info: SettingInfo) -> None:
    """Omitted settings are ``None``, so that the profile's value applies."""
    unit = f" Unit: {info.unit}." if info.unit else ""
    if info.kind == "boolean":
        said = f"{info.help} Default: {'on' if info.default else 'off'}.".replace("%", "%%")
        parser.add_argument(_flag(info.name), action=argparse.BooleanOptionalAction, default=None, help=said)
        return
    parser.add_argument(
        _flag(info.name),
        type={"integer": int, "number": float}.get(info.kind, str),
        choices=info.choices or None,
        metavar=None if info.choices else (info.unit or "TEXT").upper(),
        help=f"{info.help}{unit} Default: {info.default}.".replace("%", "%%"),
    )


def main(argv: list[str]) -> int:
    parser = make_parser()
    options = vars(parser.parse_args(argv))
    bind, known_as = options["bind"], options["address"]
    try:
        config = _configuration(describe(BrokerConfig), options)
        _check_exposure(bind, known_as, is_open=options["open"])
    except InvalidSetting as error:
        parser.error(f"{_flag(error.field)}: {error.sentence}")
    if options["record"] and options["journal"] is None:
        parser.error("--record: the recording is written next to the journal; add --journal")
    try:
        wrap = _joining(options["bootstrap"], config)
    except WaxwingError as error:
        parser.error(f"--bootstrap: {error}")
    seed = options["seed"] if options["seed"] is not None else int.from_bytes(os.urandom(8), "big")
    try:
        process = ServerProcess(
            SYSTEM,
            config,
            bind,
            process="broker",
            seed=seed,
            journal=options["journal"],
            record_mb=options["record"],
            lifeline_fd=_lifeline(),
            wrap=wrap,
            address=known_as,
        )
        return run_server(process, _say_ready)
    except (CannotBind, InvalidSetting) as error:
        sys.stderr.write(f"{parser.prog}: {error}\n")
    except OSError as error:
        sys.stderr.write(f"{parser.prog}: cannot write {options['journal']}: {error.strerror}\n")
    return 1


def _configuration(infos: list[SettingInfo], options: dict[str, object]) -> BrokerConfig:
    names = [info.name for info in infos]
    given = {name: options[name] for name in names if options[name] is not None}
    config = build(BrokerConfig, resolved({PROFILE.name: options["profile"], **given}))
    brokers = options["brokers"]
    if brokers is None:
        return config
    if not isinstance(brokers, int) or brokers < 1:
        raise InvalidSetting("brokers", f"must be at least 1, not {brokers}")
    return config.among(brokers)


def _joining(text: str | None, config: BrokerConfig) -> Wrap | None:
    """Wraps a broker that joins by a list. Raises ``BadList``. Imported here to save memory in other brokers."""
    if text is None:
        return None
    from overlay.programs.bootstrap_lists import source_of
    from overlay.programs.context_broker.joining import JoiningServer

    source = source_of(text)
    return lambda server, _move: JoiningServer(server, config, source.read)


def _check_exposure(bind: Address, known_as: Address | None, *, is_open: bool) -> None:
    """Refuse to expose the broker to a network by mistake, and addresses that others cannot use."""
    is_wildcard = ip_address(bind[0]).is_unspecified
    if not is_loopback(bind[0]) and not is_open:
        raise InvalidSetting("bind", f"{bind[0]} can be reached from other machines; add --open to allow this")
    if is_wildcard and known_as is None:
        raise InvalidSetting("address", f"required for a broker bound to {bind[0]}: the address that others use")
    if known_as is not None and ip_address(known_as[0]).is_unspecified:
        raise InvalidSetting("address", f"{known_as[0]} is not an address to send to")


def _say_ready(known_as: Address) -> None:
    sys.stdout.write(f"ready {format_address(known_as)}\n")
    sys.stdout.flush()


def _lifeline() -> int | None:
    """The lifeline named in the environment. Its module is imported only if needed, to save memory."""
    if "WAXWING_LIFELINE_FD" not in os.environ:
        return None
    from overlay.runtime.lifeline import inherited_lifeline

    return inherited_lifeline()


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")
