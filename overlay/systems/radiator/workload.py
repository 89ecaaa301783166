"""The workload: clients that register and call, and what their messages contain. Pure; the same live and simulated.

Counterparts: ``load`` has the clients, ``settings`` the network.

::

    0                         ramp_s                      ramp_s + duration_s
    |-- a client per stagger_ms --|-- 1 s --|                      |
    |<------------- warming --------------->|<---- measuring ----->|<- draining ->
                                               calls of all clients
"""

from __future__ import annotations

from dataclasses import dataclass

from overlay.core.errors import InvalidSetting
from overlay.core.settings import check, setting

LEAD_S = 1.0
"""A client may call so long after it began to register."""
MAX_CLIENTS = 60_000


@dataclass(frozen=True, slots=True)
class Workload:
    """The load of a run."""

    clients: int = setting(
        200,
        low=2,
        high=MAX_CLIENTS,
        help="Clients that register; each receives the messages of all. Cost grows with it.",
    )
    bytes_low: int = setting(300, unit="bytes", low=200, high=16_000, help="Smallest message, as canonical JSON.")
    bytes_high: int = setting(
        500, unit="bytes", low=200, high=16_000, help="Largest message. Lengths are drawn uniformly from the range."
    )
    messages_per_s: float = setting(
        10.0,
        unit="1/s",
        low=0.001,
        high=100_000,
        help="Messages of all clients together, in an open loop: kept even if earlier calls are late or fail.",
    )
    loop: str = setting(
        "open",
        choices=("open", "closed"),
        help="When clients call. open: at messages_per_s; closed: think_s after their last call returned, so that a "
        "slow server gets fewer messages.",
    )
    think_s: float = setting(
        1.0, unit="s", low=0.001, high=86_400, help="Pause of a client between two calls, in a closed loop."
    )
    arrivals: str = setting(
        "even",
        choices=("even", "poisson"),
        help="Times of messages in an open loop. even: at equal distances; poisson: at random, in bursts.",
    )
    content: str = setting(
        "hazards",
        choices=("hazards", "random", "constant"),
        help="Content of messages, which decides how well they compress. hazards: events at places; random: letters "
        "and digits, the worst; constant: one letter, the best.",
    )
    p2p_share: float = setting(
        1.0, unit="fraction", low=0, high=1, help="Share of clients that accept pushes from other clients, in chains."
    )
    friends: float = setting(
        5.0, low=0, high=1_000, help="Mean number of friends of a client, for functions that ask for friends."
    )
    moving: bool = setting(
        False,
        help="Whether location, friends and shares change with each message, which makes the server evaluate the "
        "aggregability for more kinds of recipients.",
    )
    audience: int = setting(
        0, low=0, high=MAX_CLIENTS, zero="all", help="Recipients of each message; 0 or “all” means every client."
    )
    duration_s: float = setting(
        60.0, unit="s", low=1, high=86_400, help="Duration of measuring, from when the last client may call."
    )
    stagger_ms: float = setting(
        200.0,
        unit="ms",
        low=0,
        high=60_000,
        help="Time between the registrations of clients, which determines the ramp.",
    )
    drain_s: float = setting(
        30.0, unit="s", low=0, high=3_600, help="Most time after measuring in which messages may still be delivered."
    )
    churn: str = setting(
        "none",
        choices=("none", "exponential", "weibull", "file"),
        help="Whether clients leave and return during measuring: after sessions drawn from a distribution, or as in "
        "churn_schedule. A client that crashes is found out when a push does not reach it.",
    )
    session_mean_s: float = setting(
        60.0, unit="s", low=1, high=31_536_000, help="With drawn churn: mean duration of a client's session."
    )
    session_shape: float = setting(
        0.6,
        low=0.2,
        high=20,
        help="With weibull: shape of the distribution of sessions. Below 1 many are short and a few very long; 1 is "
        "exponential.",
    )
    downtime_mean_s: float = setting(
        10.0,
        unit="s",
        low=0.1,
        high=31_536_000,
        help="With drawn churn: mean time that a client is away (exponential).",
    )
    churn_leave_share: float = setting(
        0.5, unit="fraction", low=0, high=1, help="With drawn churn: share of departures that unregister; others crash."
    )
    churn_schedule: str = setting(
        "",
        help="With file: “seconds client up|leave|crash”, separated by semicolons, such as “5 3 crash; 12.5 3 up”. "
        "Seconds are counted from the start of measuring.",
    )

    def __post_init__(self) -> None:
        check(self)
        if self.bytes_low > self.bytes_high:
            raise InvalidSetting("bytes_low", f"{self.bytes_low} is more than bytes_high, {self.bytes_high}")

    @property
    def churn_brokers_kept(self) -> int:
        """Every client may leave."""
        return 0

    def ramp_s(self) -> float:
        """Seconds from the start of the workload until its last client may call."""
        return (self.clients - 1) * self.stagger_ms / 1e3 + LEAD_S

    @property
    def messages(self) -> float:
        """Estimated calls."""
        if self.loop == "open":
            return self.messages_per_s * self.duration_s
        return self.clients * self.duration_s / self.think_s
