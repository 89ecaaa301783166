"""How forms, labels and charts show the settings and the workload of seed 004."""

from __future__ import annotations

from overlay.systems.presentation import Presentation

PRESENTATION = Presentation(
    first_workload={"nodes": 100, "messages": 4, "connect_interval_ms": 10.0, "drain_s": 30.0},
    main_workload=(
        *("nodes", "gateways", "brokers", "direction", "rate_per_min", "messages", "duration_s"),
        *("disconnecting_share", "drain_s"),
    ),
    form_sections={
        "Coming and going": (
            *("start", "connect_interval_ms", "off_s", "on_s", "on_law", "disconnect", "reconnect_to"),
            "address_change_per_h",
        ),
        "Links of nodes": ("fleet_sockets", "link_delay_ms", "link_jitter_ms", "link_loss"),
        "Applications": ("applications", "app_service_ms", "app_pause_s", "app_pause_every_s"),
        "Load of gateways": ("gateway_capacity", "load_noise"),
        "Groups": ("definers", "groups", "context_change_per_min", "groupcast_per_min", "square_km", "speed_kmh"),
    },
    main_settings=("delivery", "mtd_enabled", "balancing", "resume"),
    setting_sections={
        "Messages that cannot be delivered": (
            *("mini_buffer", "presence_events", "ttl_default_s", "ttl_policy", "expiry_from"),
            *("per_node", "total_mb", "drain_per_s"),
        ),
        "Balancing": (
            *("rank", "round_s", "missed_reports", "smoothing", "band", "persistence", "budget", "hold_s", "list_s"),
            "load_report_s",
        ),
        "Pings": (
            *("ping_period_s", "ping_window_ms", "window_min_ms", "window_max_ms", "rescale_enabled", "rescale"),
        ),
        "Log": ("routing", "log_engine", "partitions", "member_timeout_s", "retention_s", "durability"),
        "Transport": (
            *(
                "transport",
                "rto_min_ms",
                "retries",
                "ack_delay_ms",
                "window",
                "keepalive_s",
                "idle_s",
                "linger_s",
                "validation",
            ),
            *("tag_bytes", "reconnect_ms", "repeat_share", "bound_repeats", "dedup_ids", "dedup_s"),
        ),
        "Limits of gateways": (
            *("pool_size", "queue_per_connection", "max_connections", "accept_per_s", "memory_limit_mb", "busy_ms"),
            *("evict_per_s", "hello_per_ip", "connections_per_ip"),
        ),
        "MQTT": ("mqtt_proxies", "mqtt_connections", "mqtt_topics"),
        "Access": ("auth", "allowed_topics", "trusted"),
        "Tracing": ("trace_one_in",),
    },
    run_settings=("trace_one_in",),
    value_words={"nodes": ("node", "nodes"), "gateways": ("gateway", "gateways")},
    axis_fields=("nodes", "gateways", "brokers", "disconnecting_share", "rate_per_min"),
    title_fields=("direction", "disconnecting_share"),
    hue_field="mtd_enabled",
)
