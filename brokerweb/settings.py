"""Django settings. Everything that differs between machines is an environment variable, read only here.

===================== =======================================================================================
``WAXWING_VAR``        data directory; default ``var/`` next to ``manage.py``
``DATABASE_URL``       ``postgresql://user:password@host:5432/name``; without it SQLite in ``var/waxwing.sqlite3``
``REDIS_URL``          ``redis://:password@host:port``; without it queue, channel layer and cache are in-process
``WAXWING_LOG_URL``    the same for the logs of systems that have one; read by the processes of runs and networks
``WAXWING_HOST``       this host's name in rows and queues; default the machine's name
``WAXWING_DEBUG``      ``1`` enables Django's debug pages
``WAXWING_RECONCILE_S`` seconds between two rounds of the reconciler; default 1
``WAXWING_LEASE_S``    seconds that a run goes on without its worker; default 30
``WAXWING_HOSTS``      further accepted host names, comma-separated
``WAXWING_HTTPS``      ``1`` behind TLS: secure cookies, HSTS and redirects
``WAXWING_SECRET_KEY`` replaces the key in ``var/secret_key``
``WAXWING_URL``        the public base URL, for links in notifications
``WAXWING_WEBHOOKS``   private networks that webhooks may reach, comma-separated: ``127.0.0.0/8,10.1.0.0/16``
``WAXWING_REST_RATE``  REST requests per second and token (50; 0: unlimited); twice as many per address without a token
``WAXWING_CONTEXT_RATE`` context operations per second and token (1000; 0: unlimited); a batch counts each of its own
``WAXWING_STREAMS``    streams of changes that an account may have at once (100)
``WAXWING_LOG_IN_RATE`` logins per second and address, for any user names (1; 0: unlimited)
``WAXWING_NETWORKS``   networks that an account may have (50)
``WAXWING_BROKERS``    brokers that a host may run for networks (2000)
``WAXWING_ANNOUNCE``   IPv4 address of the interface on which networks are announced by DNS-SD; default: not announced
``WAXWING_OPERATIONS`` rows of the operation log of each network (100000; 0: none is kept)
``WAXWING_OPERATION_DAYS`` their maximum age in days (14)
``WAXWING_BODY_S``     timeout of a request body in seconds (60; 1 to 600)
``WAXWING_OIDC_ISSUER`` an OpenID provider that may log in, with ``…_CLIENT_ID``, ``…_CLIENT_SECRET``, ``…_SCOPE`` and
                       ``…_ROLES``: ``groups: lab-admins=administrator, lab=operator, *=viewer``; default none
``EMAIL_URL``          ``smtp://user:password@host:587?tls=1&from=waxwing@example.org``; or ``EMAIL_HOST`` and
                       ``EMAIL_PORT``, ``EMAIL_USER``, ``EMAIL_PASSWORD``, ``EMAIL_TLS``, ``EMAIL_FROM``
===================== =======================================================================================
"""

import os
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from csp.constants import NONE, SELF, UNSAFE_INLINE
from django.core.exceptions import ImproperlyConfigured
from kombu import Exchange, Queue

import overlay
from brokerweb.databases import database
from brokerweb.mail import mail_server
from brokerweb.secret import keep_private, kept_secret
from brokerweb.up.parts import host_name
from brokerweb.variables import networks, number
from overlay.core.errors import InvalidSetting
from overlay.plugins import register_systems

BASE_DIR = Path(__file__).resolve().parent.parent
VAR = Path(os.environ.get("WAXWING_VAR") or BASE_DIR / "var").resolve()
keep_private(VAR)
RUNS = VAR / "runs"
LAKE = VAR / "lake"
REPORTS = VAR / "reports"
SUPERVISOR_SOCKET = VAR / "supervisor.sock"
HOST_NAME = host_name(os.environ)
VERSION = overlay.__version__
try:
    PLUGIN_APPS = [system.web_app for system in register_systems(os.environ) if system.web_app]
except InvalidSetting as error:
    raise ImproperlyConfigured(str(error)) from error

# --- Limits ---------------------------------------------------------------------------------------------------------
MAX_BROKERS = 1_000
"""Maximum brokers of a topology: what one host launches within ``overlay.deployment.phases.LAUNCH_LIMIT_S``."""
MAX_NETWORKS = int(number(os.environ, "WAXWING_NETWORKS", 50))
"""Networks of one account, running or stopped. More fill the disk with their histories; fewer refuse new ones."""
MAX_HOST_BROKERS = int(number(os.environ, "WAXWING_BROKERS", 2_000))
"""Brokers that the networks of one host may run. More exhaust its memory; fewer refuse networks."""
MAX_BRIDGES = int(number(os.environ, "WAXWING_BRIDGES", 8))
"""Bridges of one network. Each is a process. More need its memory; fewer refuse new ones. At most 100."""
OPERATION_ROWS = int(number(os.environ, "WAXWING_OPERATIONS", 100_000))
"""Rows of the operation log of each network, 300 bytes each. More reach farther back (at 10 operations a second 100,000
are three hours) and fill the database; 0: nothing is logged.
"""
OPERATION_DAYS = int(number(os.environ, "WAXWING_OPERATION_DAYS", 14))
"""Their maximum age. Longer answers questions about the past; shorter keeps less about who did what."""
if not (0 <= OPERATION_ROWS <= 10_000_000 and 1 <= OPERATION_DAYS <= 3_650):
    raise ImproperlyConfigured(
        "WAXWING_OPERATIONS must be from 0 to 10,000,000, WAXWING_OPERATION_DAYS from 1 to 3,650"
    )
MAX_UPLOAD_BYTES = 5_000_000
DATA_UPLOAD_MAX_MEMORY_SIZE = 2 * MAX_UPLOAD_BYTES
"""Maximum request body including files: a document in a form or in JSON, where escaped quotes take more space."""
DATA_UPLOAD_MAX_NUMBER_FIELDS = 5_000
"""The experiment form has 17 fields per fault, and up to 200 faults."""
BODY_SECONDS = number(os.environ, "WAXWING_BODY_S", 60)
"""Timeout from a request's headers to the end of its body, 1 to 600 s. Shorter: slow connections cannot send large
documents (60 s allow 10 MB at 170 kB/s). Longer: slow senders occupy the slots below for longer.
"""
if not 1 <= BODY_SECONDS <= 600:
    raise ImproperlyConfigured(f"WAXWING_BODY_S must be from 1 to 600, not {BODY_SECONDS:g}")
BODIES_AT_ONCE = 50
"""Maximum number of incomplete bodies, together at most 500 MB on disk; bodies that arrive at once do not count.
More fill the disk; fewer refuse concurrent uploads.
"""
BODIES_OF_ONE_ADDRESS = 10
"""Maximum per address, so that one slow sender leaves slots to others. Fewer refuse users behind one address."""
HEAD_SECONDS = 30
"""Timeout of request headers. Longer: idle clients hold a connection, which is an open file, for longer."""
LEASE_SECONDS = float(os.environ.get("WAXWING_LEASE_S", "30"))
"""Time a run continues without its worker, 20 to 3,600 s: longer than a worker's restart, or a pause on a busy machine.
Shorter: runs fail needlessly. Longer: brokers of a lost run use the host for longer.
"""
if not 20 <= LEASE_SECONDS <= 3600:
    raise ImproperlyConfigured(f"WAXWING_LEASE_S must be from 20 to 3600, not {LEASE_SECONDS:g}")
WORKER_MISSING_SECONDS = 15
RECONCILE_SECONDS = float(os.environ.get("WAXWING_RECONCILE_S", "1"))
"""Interval of the reconciler, a quarter of it while runs are active; 0.1 to 10 s, less than the two above. Tasks do
not wait for it. Longer: work of lost tasks is done later. Shorter: more database queries.
"""
if not 0.1 <= RECONCILE_SECONDS <= 10:
    raise ImproperlyConfigured(f"WAXWING_RECONCILE_S must be from 0.1 to 10, not {RECONCILE_SECONDS:g}")
REPORT_TIMEOUT_SECONDS = 15 * 60
NOTICE_TIMEOUT_SECONDS = 10.0
"""Timeout of one delivery attempt."""
CONTEXT_DEADLINE_SECONDS = 10.0
"""Timeout of a context query through REST, which blocks a thread of the web process: that of any client."""
REST_WINDOW_S = 10
"""Window in which REST requests and logins are counted: the allowed burst, and the longest wait for the next
request.
"""
REST_RATE = number(os.environ, "WAXWING_REST_RATE", 50)
"""Requests per second of a token or browser session; 0: unlimited. One core serves some 200: a busy script leaves
most of it to others, and a monitor with 50 requests per second is not refused.
"""
CONTEXT_RATE = number(os.environ, "WAXWING_CONTEXT_RATE", 1000)
"""The same for the context of networks, which has a budget of its own; each operation of a batch counts."""
STREAMS_OF_ONE_ACCOUNT = int(number(os.environ, "WAXWING_STREAMS", 100))
"""Streams of changes that an account may have at once."""
REST_ADDRESS_RATE = 2 * REST_RATE
"""Requests per second of an address, which several users may share, without login or valid token."""
LOG_IN_RATE = number(os.environ, "WAXWING_LOG_IN_RATE", 1)
"""Logins per second and address, for any user names, over the same window; 0: unlimited. Each takes half a second of
a core: more slow pages down; fewer delay users behind one address.
"""
PASSWORD_CHECKS_WAITING = 10
"""Maximum number of password checks that run or wait, one at a time, 5 s at most. More would wait longer, each in a
thread.
"""
WEBHOOK_NETWORKS = networks(os.environ, "WAXWING_WEBHOOKS")
"""Private networks, including loopback, that webhooks may reach; none by default, because users who create webhooks
could otherwise reach services that trust this machine. Link-local addresses, where clouds serve credentials, are
never allowed.
"""

# --- Django ---------------------------------------------------------------------------------------------------------
DEBUG = os.environ.get("WAXWING_DEBUG") == "1"
SECRET_KEY = os.environ.get("WAXWING_SECRET_KEY") or kept_secret(VAR / "secret_key")
_HOSTS = [name for name in os.environ.get("WAXWING_HOSTS", "").split(",") if name]
ALLOWED_HOSTS = ["127.0.0.1", "localhost", "[::1]", *_HOSTS]
ROOT_URLCONF = "brokerweb.urls"
ASGI_APPLICATION = "brokerweb.asgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = False

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "channels",
    "csp",
    "axes",
    "rest_framework",
    "knox",
    "django_filters",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "drf_standardized_errors",
    "django_celery_beat",
    "brokerweb.changelog",
    "brokerweb.accounts",
    "brokerweb.topologies",
    "brokerweb.networks",
    "brokerweb.operationlog",
    "brokerweb.alarms",
    "brokerweb.bridges",
    "brokerweb.experiments",
    "brokerweb.comparison",
    "brokerweb.reports",
    "brokerweb.storage",
    "brokerweb.notices",
    "brokerweb.hosting",
    "brokerweb.ngsi",
    "brokerweb.simulations",
    "brokerweb.live",
    *(f"brokerweb.systems.{path.parent.name}" for path in sorted(BASE_DIR.glob("brokerweb/systems/*/apps.py"))),
    *PLUGIN_APPS,
    "brokerweb.api",
]

MIDDLEWARE = [
    "brokerweb.kit.origin.request_ids",
    "brokerweb.middleware.known_methods",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    # Compresses pages and JSON to a tenth; Django adds a random length, so that sizes do not reveal secrets.
    "django.middleware.gzip.GZipMiddleware",
    "brokerweb.api.answers.rest_answers",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "brokerweb.middleware.rest_throttle",
    "brokerweb.accounts.lockout.password_throttle",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "axes.middleware.AxesMiddleware",
    "brokerweb.accounts.asking.PagesAsk",
    "brokerweb.api.idempotency.idempotent",
    "brokerweb.api.parameters.KnownParameters",
]

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "brokerweb.accounts.asking.may",
            ],
            "builtins": ["brokerweb.kit.tags", "brokerweb.systems.tags"],
        },
    }
]

DATABASES = {"default": database(os.environ, VAR)}

STATIC_URL = "static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_USE_FINDERS = True
"""Static files are served from the source tree, without a collection step."""

# --- Redis: queue, websocket layer, cache -----------------------------------------------------------------------------
REDIS_URL = os.environ.get("REDIS_URL", "")


def _redis(database: int) -> str:
    parts = urlsplit(REDIS_URL)
    return urlunsplit(parts._replace(path=f"/{database}"))


CHANNEL_LAYERS: dict[str, dict[str, Any]]
CACHES: dict[str, dict[str, Any]]
if REDIS_URL:
    CELERY_BROKER_URL = _redis(0)
    CHANNEL_LAYERS = {
        "default": {
            "BACKEND": "channels_redis.core.RedisChannelLayer",
            # The layer blocks 5 s in BZPOPMIN, and redis-py 8 times out after 5 s by default, which would drop every
            # idle websocket (channels_redis issue 422); hence no timeout here.
            "CONFIG": {"hosts": [{"address": _redis(1), "socket_timeout": None, "socket_connect_timeout": 2}]},
        }
    }
    CACHES = {
        "default": {
            "BACKEND": "django.core.cache.backends.redis.RedisCache",
            "LOCATION": _redis(2),
            "OPTIONS": {"socket_timeout": 2, "socket_connect_timeout": 2},
        }
    }
else:
    CELERY_BROKER_URL = "memory://"
    CHANNEL_LAYERS = {"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}}
    CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}

# --- Celery -----------------------------------------------------------------------------------------------------------
# Tasks are short and idempotent; what one would have done is also in a row, so that a lost queue loses nothing.
HOST_QUEUE = f"host.{HOST_NAME}"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_SERIALIZER = "json"
CELERY_RESULT_SERIALIZER = "json"
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_SOFT_SHUTDOWN_TIMEOUT = 5.0
CELERY_WORKER_ENABLE_SOFT_SHUTDOWN_ON_IDLE = False
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = False
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_SEND_TASK_EVENTS = False
CELERY_BROKER_CONNECTION_RETRY = True
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
CELERY_BROKER_TRANSPORT_OPTIONS = {
    # Ten times the longest task, a report.
    "visibility_timeout": 10 * REPORT_TIMEOUT_SECONDS,
    "socket_timeout": 10,
    "socket_connect_timeout": 2,
    "socket_keepalive": True,
    "retry_policy": {"max_retries": 1, "interval_start": 0, "interval_step": 0.1, "interval_max": 0.2},
}
CELERY_TASK_PUBLISH_RETRY = False
CELERY_TASK_DEFAULT_QUEUE = "default"
CELERY_TASK_QUEUES = [Queue(name, Exchange(name), routing_key=name) for name in ("default", "spark", HOST_QUEUE)]
# Each queue has its own exchange: on a shared one with the default key, every queue would get every message.
CELERY_TASK_ROUTES = {
    "brokerweb.reports.tasks.run_report": {"queue": "spark"},
    "brokerweb.simulations.tasks.simulate": {"queue": "spark"},
    "brokerweb.experiments.tasks.collect": {"queue": HOST_QUEUE},
}
CELERY_TIMEZONE = "UTC"
CELERY_BEAT_SCHEDULER = "django_celery_beat.schedulers:DatabaseScheduler"
CELERY_BEAT_MAX_LOOP_INTERVAL = 5
CELERY_BEAT_SCHEDULE = {
    "reconcile": {
        "task": "brokerweb.experiments.tasks.reconcile",
        "schedule": 5.0,
        "options": {"queue": "default", "expires": 5.0},
    },
    "storage": {
        "task": "brokerweb.storage.tasks.look_after",
        "schedule": 60.0,
        "options": {"queue": "default", "expires": 60.0},
    },
    "notices": {
        "task": "brokerweb.notices.tasks.look_after",
        "schedule": 5.0,
        "options": {"queue": "default", "expires": 5.0},
    },
}

# --- Authentication and security ------------------------------------------------------------------------------------
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "django.contrib.auth.backends.ModelBackend",
    "brokerweb.accounts.asking.AdminAsks",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
] + [{"NAME": "brokerweb.accounts.passwords.EndsTokens"}]
OIDC_ISSUER = os.environ.get("WAXWING_OIDC_ISSUER", "")
OIDC_CLIENT_ID = os.environ.get("WAXWING_OIDC_CLIENT_ID", "")
OIDC_CLIENT_SECRET = os.environ.get("WAXWING_OIDC_CLIENT_SECRET", "")
OIDC_SCOPE = os.environ.get("WAXWING_OIDC_SCOPE", "openid profile email")
OIDC_ROLES = os.environ.get("WAXWING_OIDC_ROLES", "groups: *=viewer")
"""Log-in by an OpenID provider; without an issuer there is none."""
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "login"
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_AGE = 14 * 24 * 3600
AXES_FAILURE_LIMIT = 10
AXES_COOLOFF_TIME = timedelta(minutes=15)
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_RESET_ON_SUCCESS = True
AXES_LOCKOUT_CALLABLE = "brokerweb.accounts.lockout.locked_out"
AXES_VERBOSE = False
AXES_ENABLE_ACCESS_FAILURE_LOG = False

HTTPS = os.environ.get("WAXWING_HTTPS") == "1"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT = HTTPS
SECURE_REDIRECT_EXEMPT = [r"^(healthz|readyz|metrics)$"]  # requested on loopback without TLS by the process manager
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = HTTPS
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
# Plain HTTP on loopback is the default; WAXWING_HTTPS=1 enables these.
SILENCED_SYSTEM_CHECKS = [] if HTTPS else ["security.W004", "security.W008", "security.W012", "security.W016"]

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "script-src": [SELF],
        "style-src": [SELF],
        # Charts position tooltips with style attributes.
        "style-src-attr": [UNSAFE_INLINE],
        "img-src": [SELF, "data:", "blob:"],
        "connect-src": [SELF],
        "object-src": [NONE],
        "base-uri": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    }
}

# --- E-mail of notifications ------------------------------------------------------------------------------------------
_MAIL = mail_server(os.environ)
EMAIL_HOST, EMAIL_PORT = _MAIL.host, _MAIL.port
EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = _MAIL.user, _MAIL.password
EMAIL_USE_TLS, EMAIL_USE_SSL = _MAIL.starttls, _MAIL.tls
EMAIL_TIMEOUT = NOTICE_TIMEOUT_SECONDS
DEFAULT_FROM_EMAIL = SERVER_EMAIL = _MAIL.sender
ANNOUNCE = os.environ.get("WAXWING_ANNOUNCE", "").strip()
PUBLIC_URL = os.environ.get("WAXWING_URL", "http://127.0.0.1:8000").rstrip("/")

# --- REST -------------------------------------------------------------------------------------------------------------
KNOX_TOKEN_MODEL = "accounts.Token"  # noqa: S105
REST_KNOX = {"AUTH_HEADER_PREFIX": "Bearer", "TOKEN_TTL": timedelta(days=90)}
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "brokerweb.accounts.bearer.BearerAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["brokerweb.accounts.asking.Permission"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "brokerweb.api.negotiation.Negotiation",
    "DEFAULT_PARSER_CLASSES": ["brokerweb.api.parsers.JSONParser"],
    "DEFAULT_PAGINATION_CLASS": "brokerweb.api.pages.CursorPages",
    "PAGE_SIZE": 50,
    "DEFAULT_FILTER_BACKENDS": [
        "brokerweb.api.filters.FilterBackend",
        "brokerweb.api.filters.Ordering",
    ],
    "EXCEPTION_HANDLER": "brokerweb.api.errors.handle",
    "DEFAULT_SCHEMA_CLASS": "brokerweb.api.schema.Schema",
    # `?format=` selects the format of samples (csv, json, parquet), which are streamed and bypass renderers.
    "URL_FORMAT_OVERRIDE": None,
}
DRF_STANDARDIZED_ERRORS = {"EXCEPTION_FORMATTER_CLASS": "brokerweb.api.errors.Formatter"}
SPECTACULAR_SETTINGS = {
    "TITLE": "Waxwing",
    "DESCRIPTION": "Networks of context brokers and the lab that measures it.",
    "VERSION": VERSION,
    "SERVE_INCLUDE_SCHEMA": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "COMPONENT_SPLIT_REQUEST": True,
    "SCHEMA_PATH_PREFIX": "/api/",
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
    "ENUM_NAME_OVERRIDES": {
        "RunState": "brokerweb.experiments.models.RunState",
        "AlarmState": "brokerweb.alarms.models.STATES",
        "BridgeState": "brokerweb.bridges.models.BridgeState",
        "NetworkState": "brokerweb.networks.models.NetworkState",
        "ReportState": "brokerweb.reports.models.ReportState",
        "ReportKind": "brokerweb.reports.models.ReportKind",
        "ScheduleKind": "brokerweb.reports.models.ScheduleKind",
        "FiringOutcome": "brokerweb.reports.models.FiringOutcome",
        "NoticeKind": "brokerweb.notices.models.NoticeKind",
        "DeliveryState": "brokerweb.notices.models.DeliveryState",
        "StudyVerdict": "telemetry.studies.criteria.VERDICTS",
        "StudyValueVerdict": "telemetry.studies.criteria.OF_VALUES",
    },
}

# --- Logs -------------------------------------------------------------------------------------------------------------
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {"()": "brokerweb.logs.OneLine", "format": "{asctime} {levelname} {name} {message}", "style": "{"}
    },
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": "INFO"},
    "loggers": {
        "django": {"handlers": ["stderr"], "level": "WARNING", "propagate": False},
        "axes": {"level": "WARNING"},
        "brokerweb.control.task_actions": {
            "level": "INFO"
        },  # results of tasks, although Celery sets the root logger to WARNING
        "kombu": {"level": "WARNING"},
        "uvicorn.access": {"level": "WARNING"},
    },
}
