"""QUIC between real processes, and where it is refused."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import pytest

from overlay.core.engines import SIMULATED
from overlay.core.errors import InvalidSetting
from overlay.deployment.deployment import Deployment, run_document
from overlay.experiment.definition import checked
from overlay.programs.contextnet import commands
from overlay.programs.contextnet.application import Application
from overlay.programs.contextnet.node import Inbox, NoAnswer, Node
from overlay.programs.running import DONE
from overlay.runtime.logs.valkey import instance
from overlay.systems.contextnet.nodes.node import Received
from overlay.systems.contextnet.settings import Settings
from tests.contextnet.standing import standing
from tests.contextnet.test_live import live
from tests.waiting import BOUND_S

OVER_QUIC = {"transport": "quic"}
BUS = b"bus".ljust(16, b"-")


def test_every_message_of_a_run_is_answered(tmp_path, valkey):
    status, measures = live(tmp_path, "valkey", valkey, {"drain_s": 8}, OVER_QUIC, record_mb=0)
    assert (status["phase"], status["reason"]) == ("finished", "")
    assert (measures["sent"], measures["te"], measures["duplicates"]) == (160, 100, 0)


def test_a_node_of_a_network_needs_its_secret_and_its_transport(capsys):
    async def story(network):
        inbox, settings = Inbox(), Settings(**OVER_QUIC)
        async with Application(network.log, within_s=BOUND_S) as application:
            node = Node(
                network.gateways,
                id=BUS,
                secret=network.secret(BUS),
                settings=settings,
                on_event=inbox.put,
                within_s=BOUND_S,
            )
            async with node:
                sent = await node.send(b"at the station")
                async for heard in application.messages():
                    assert heard.message.id == sent
                    await application.send(BUS, b"thank you")
                    application.settle(heard)
                    break
                async for event in inbox:
                    if isinstance(event, Received):
                        assert event.message.payload == b"thank you"
                        break
        with pytest.raises(NoAnswer, match="answers, but does not accept the node"):
            async with Node(network.gateways, id=BUS, secret=b"x" * 32, settings=settings, within_s=1):
                pass
        with pytest.raises(NoAnswer, match="did not answer within"):
            async with Node(network.gateways, id=BUS, secret=network.secret(BUS), within_s=1):
                pass

    with instance.own_instance() as url, standing(url, **OVER_QUIC) as network:
        asyncio.run(asyncio.wait_for(story(network), BOUND_S))
        who = [network.gateway, "--id", BUS.hex(), "--secret", network.secret(BUS).hex()]
        assert commands.main("node", [*who, "--transport", "quic", "--text", "hello"]) == DONE


def run(**named):
    return checked({"name": "run", "system": "contextnet", "settings": OVER_QUIC, **named}, {}.get)[1][0]


def test_no_simulated_run_has_it_and_no_recording():
    with pytest.raises(InvalidSetting, match=r"settings\.transport: quic runs live only; simulated runs need tether"):
        run(engine="simulated")
    with pytest.raises(InvalidSetting, match="record_mb: must be 0 with transport quic, which no replay repeats"):
        run(record_mb=4)
    document = run_document(run(), run="r1", seed=1, directory="/r1")
    assert Deployment.from_json(document).setup.settings.transport == "quic"
    with pytest.raises(InvalidSetting, match=r"settings\.transport: quic runs live only"):
        Deployment.from_json(document, SIMULATED)


def test_only_who_uses_it_pays_for_it():
    code = "import sys, overlay.systems.contextnet.gateway.gateway, overlay.systems.contextnet.nodes.node\n"
    code += "assert not {'aioquic', 'cryptography', 'ssl'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
