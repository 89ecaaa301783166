"""The constants of both models. Power in W, energy in J, time in s.

``VERIFIED`` ones were compared with the source code of PowerTutor (github.com/msg555/PowerTutor, commit 6ba2d63,
phone/PassionConstants.java, phone/DreamConstants.java, components/Wifi.java, components/Threeg.java): the model of the
Nexus One. ``FROM_MEMORY`` ones are said to be in Balasubramanian et al.: Energy consumption in mobile phones, IMC 2009,
and could not be compared with the paper's text. ``OURS`` are assumptions.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Source(StrEnum):
    VERIFIED = "PowerTutor, source code"
    FROM_MEMORY = "Balasubramanian et al. 2009, not verified"
    OURS = "assumption"


class Radio(StrEnum):
    WIFI = "wifi"
    THREE_G = "3g"
    GSM = "gsm"


class PowerTutorWifi(NamedTuple):
    """Two states, by packets in both directions in each second."""

    low_w: float = 0.03437
    high_w: float = 0.40446
    high_above: int = 15
    """Packets in a second."""
    low_below: int = 8
    """With 8 to 15 the state stays."""
    w_per_mbit_s: float = 0.006427122
    """Of uplink in the high state, at a link of 54 Mbit/s; 0.047122645 at 1 Mbit/s."""


class PowerTutorThreeG(NamedTuple):
    """Three states. A second with traffic leads to the next higher one, silence back."""

    idle_w: float = 0.010
    fach_w: float = 0.40581
    dch_w: float = 0.90203
    dch_to_fach_s: int = 4
    """Of silence. These two are those of an unknown operator."""
    fach_to_idle_s: int = 6


class Transfer(NamedTuple):
    """Energy of one transfer, and power after it until the tail ends or the next one begins."""

    j_per_kb: float
    """Of 1,024 bytes."""
    ramp_j: float
    """If the radio was idle."""
    tail_s: float
    tail_w: float


POWERTUTOR_WIFI, POWERTUTOR_THREE_G = PowerTutorWifi(), PowerTutorThreeG()
CPU_W = 0.54818
"""Of a processor that is busy all the time: 5.4818 mW for each percent, at 998 MHz. PowerTutor."""
MBIT = 1 << 20
"""Bits in PowerTutor's rates."""
TRANSFERS = {
    Radio.THREE_G: Transfer(0.025, 3.5, 12.5, 0.62),
    Radio.GSM: Transfer(0.036, 1.7, 6.0, 0.25),
    Radio.WIFI: Transfer(0.007, 5.9, float("inf"), 0.0),  # 5.9 J are for the association, once
}
PACKETS = 10
"""Of an HTTP exchange over the radio, with those that open and close its connection."""

SOURCES = {
    "POWERTUTOR_WIFI": Source.VERIFIED,
    "POWERTUTOR_THREE_G": Source.VERIFIED,
    "CPU_W": Source.VERIFIED,
    "MBIT": Source.VERIFIED,
    "TRANSFERS": Source.FROM_MEMORY,
    "PACKETS": Source.OURS,
}
