"""How forms, labels and charts show the settings and the workload of seed 001."""

from __future__ import annotations

from overlay.systems.presentation import Presentation

PRESENTATION = Presentation(
    first_workload={"queries": 200, "rate_per_s": 20.0, "stagger_ms": 50.0},
    main_workload=("providers", "consumers", "kind", "queries", "subscriptions", "notifications", "rate_per_s"),
    form_sections={"Links of clients": ("client_delay_ms", "client_jitter_ms", "client_loss")},
    main_settings=("routing", "cache_cap", "keepalive_s", "mobile_brokers"),
    setting_sections={
        "Registrations": (
            *("keepalive_share", "implicit_keepalive", "grace_from", "broker_keepalive_s", "exchange_s"),
            *("out_of_turn", "discovery"),
        ),
        "Routing": ("cycles", "covering", "merging", "encoding", "give_up_s", "cache_validity_s", "domain", "exports"),
        "Mobile brokers": (
            *("mobile_factor", "bulk", "omega", "bulk_deadline", "device", "local_interface"),
            *("energy_model", "http_ms", "ipc_ms"),
        ),
        "Modelled processors": ("service_ms", "service_cv", "processors"),
        "Tracing": ("trace_one_in",),
    },
    run_settings=(
        *("service_ms", "service_cv", "processors", "mobile_factor"),
        *("device", "local_interface", "energy_model", "http_ms", "ipc_ms"),
        "trace_one_in",
    ),
    value_words={"providers": ("provider", "providers"), "consumers": ("consumer", "consumers")},
    axis_fields=("rate_per_s", "brokers", "cache_cap", "mobile_factor"),
    title_fields=("providers", "consumers", "routing"),
    hue_field="routing",
)
