"""How forms, labels and charts show the settings and the workload of seed 003."""

from __future__ import annotations

from overlay.systems.presentation import Presentation
from overlay.systems.radiator.settings import USES

LINKS = tuple(f"{link}_link_{name}" for link in ("server", "peer") for name in ("delay_ms", "jitter_ms", "loss"))

PRESENTATION = Presentation(
    first_workload={"clients": 100, "messages_per_s": 50.0, "duration_s": 15.0, "stagger_ms": 10.0},
    main_workload=("clients", "messages_per_s", "bytes_low", "bytes_high", "content", "loop", "think_s", "duration_s"),
    form_sections={"Churn": ("churn", *(name for name, use in USES.items() if use.by == "churn"))},
    main_settings=("scenario", "aggregability", "aggregation", "echo", "codec", "chain_percent"),
    setting_sections={
        "Retention": ("flush", "retain_max_s", "retained_max", "on_error", "index"),
        "Chains": ("chain_base", "chainability", "report_every", "chain_wait_s", "chain_attempts"),
        "Uplink": ("uplink_bytes_per_s", "uplink_share", "uplink_share_of", "uplink_queue_bytes", "accounting"),
        "Datagrams": ("rto_ms", "tries", "segment_bytes", "max_blob_bytes"),
        "Registrations": ("alive_s", "silence_s", "forget_after_s", "seen_s"),
        "Links of clients": LINKS,
        "Tracing": ("trace_one_in",),
    },
    run_settings=("uplink_share", "uplink_share_of", "trace_one_in", *LINKS),
    value_words={"clients": ("client", "clients"), "messages_per_s": ("message/s", "messages/s")},
    axis_fields=("clients", "messages_per_s", "chain_percent"),
    title_fields=("scenario", "clients"),
    hue_field="aggregability",
)
