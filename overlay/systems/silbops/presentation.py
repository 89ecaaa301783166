"""How forms, labels and charts show the settings and the workload of seed 002."""

from __future__ import annotations

from overlay.systems.presentation import Presentation

PRESENTATION = Presentation(
    first_workload={"subscribers": 100, "duration_s": 30.0},
    main_workload=(
        *("publishers", "subscribers", "filters_min", "filters_max", "mobility"),
        *("context_interval_s", "publish_interval_s", "duration_s"),
    ),
    form_sections={
        "Content": (
            *("attributes_min", "attributes_max", "constraints_min", "constraints_max", "attribute_names"),
            *("name_zipf", "string_values", "value_zipf", "int_values", "type_mix", "number_ops", "string_ops"),
        ),
        "Positions": ("square_km", "radius_km", "publisher_mobility", "speed_m_s", "handover_interval_s"),
        "Closed experiments": ("subscriptions", "changes", "notifications", "changing_subscribers", "change_scope"),
    },
    main_settings=("arm", "index"),
    setting_sections={
        "Matching": ("scope_batch", "covering", "siena_change"),
        "Contexts of publishers": ("publisher_scope", "publisher_context", "prune", "prune_after_s"),
        "Clients": ("ttl_s", "keep_messages", "keep_s", "handover_s"),
        "Channel": ("channel_window", "channel_queue", "channel_frame", "channel_tries"),
        "Checks and tracing": ("oracle_every", "trace_one_in"),
    },
    run_settings=("oracle_every", "trace_one_in"),
    value_words={"publishers": ("publisher", "publishers"), "subscribers": ("subscriber", "subscribers")},
    axis_fields=("subscriptions", "subscribers", "filters_max", "changes", "notifications", "brokers"),
    title_fields=("index",),
    hue_field="arm",
)
