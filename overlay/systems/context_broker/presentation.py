"""How forms, labels and charts show the settings and the workload of seed 000."""

from overlay.systems.presentation import Presentation

PRESENTATION = Presentation(
    # With the thesis' single entity, hardly any query would leave its broker.
    first_workload={"entities": 50},
    main_workload=(
        "providers",
        "consumers",
        "update_interval_s",
        "request_interval_s",
        "payload_bytes",
        "duration_s",
    ),
    form_sections={
        "Churn": (
            *("churn", "session_mean_s", "session_shape", "downtime_mean_s"),
            *("churn_leave_share", "churn_brokers_kept", "churn_schedule"),
        )
    },
    value_words={
        "providers": ("provider", "providers"),
        "consumers": ("consumer", "consumers"),
        "entities": ("entity", "entities"),
        "holders": ("holder", "holders"),
        "payload_bytes": ("bytes", "bytes"),
        "update_interval_s": ("s between updates", "s between updates"),
        "request_interval_s": ("s between requests", "s between requests"),
    },
    axis_fields=("consumers", "providers", "brokers", "request_interval_s", "update_interval_s", "payload_bytes"),
    title_fields=("providers", "consumers", "request_interval_s", "duration_s"),
    hue_field="search",
)
