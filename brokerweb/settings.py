"""Django's settings. Everything that differs between machines is an environment variable, read here and nowhere else.

===================== =======================================================================================
``WAXWING_VAR``        where data lie; default ``var/`` beside ``manage.py``
``DATABASE_URL``       ``postgresql://user:password@host:5432/name``; without it SQLite in ``var/waxwing.sqlite3``
``REDIS_URL``          ``redis://:password@host:port``; without it queue, layer and cache live in this process
``WAXWING_HOST``       this host's name in rows and queues; default the machine's name
``WAXWING_DEBUG``      ``1`` for Django's debug pages
``WAXWING_RECONCILE_S`` seconds between two rounds of the reconciler; default 1
``WAXWING_HOSTS``      further host names the web answers to, comma separated
``WAXWING_HTTPS``      ``1`` behind TLS: secure cookies, HSTS and redirects
``WAXWING_SECRET_KEY`` instead of the one kept in ``var/secret_key``
``WAXWING_URL``        the address that readers open, for links in notifications
``WAXWING_WEBHOOKS``   private networks that webhooks may reach, comma separated: ``127.0.0.0/8,10.1.0.0/16``
``WAXWING_REST_RATE``  requests a second that REST takes of one token (50; 0 any), twice as many of an address without
``WAXWING_LOG_IN_RATE`` log-ins a second from one address, whatever names are tried (1; 0 any number)
``WAXWING_BODY_S``     seconds that the body of a request may take (60; 1 to 600)
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
    register_systems(os.environ)
except InvalidSetting as error:
    raise ImproperlyConfigured(str(error)) from error

# --- Limits ---------------------------------------------------------------------------------------------------------
MAX_BROKERS = 1_000
"""Of one topology: as many as one host launches within ``overlay.deployment.phases.LAUNCH_LIMIT_S``."""
MAX_UPLOAD_BYTES = 5_000_000
DATA_UPLOAD_MAX_MEMORY_SIZE = 2 * MAX_UPLOAD_BYTES
"""Of a request's body, with its files: a document in a form or in JSON, where quotes are written longer."""
DATA_UPLOAD_MAX_NUMBER_FIELDS = 5_000
"""The form of an experiment has 17 for each of its faults, of which 200 are allowed."""
BODY_SECONDS = number(os.environ, "WAXWING_BODY_S", 60)
"""From a request's head to the end of its body, from 1 to 600 s. Shorter, a slow connection cannot send a large
document: 60 s are 10 MB at 170 kB/s; longer, whoever sends slowly has one of the places below for longer."""
if not 1 <= BODY_SECONDS <= 600:
    raise ImproperlyConfigured(f"WAXWING_BODY_S must be from 1 to 600, not {BODY_SECONDS:g}")
BODIES_AT_ONCE = 50
"""That have begun and not ended, of 500 MB on the disk together at most; those that come in one piece are not counted.
More fill the disk; fewer refuse people who upload at the same time."""
BODIES_OF_ONE_ADDRESS = 10
"""Of these: who sends many slowly leaves room for others. More leave less; fewer refuse people behind one address."""
HEAD_SECONDS = 30
"""For the head of a request, which is small. Longer, whoever sends none has a connection, an open file, for longer."""
LEASE_SECONDS = 30
"""How long a run goes on without its worker: more than one takes to be started again, or is stopped for by a busy
machine. Shorter, a run ends for less; longer, its brokers run on longer for nobody."""
WORKER_MISSING_SECONDS = 15
RECONCILE_SECONDS = float(os.environ.get("WAXWING_RECONCILE_S", "1"))
"""Between two rounds of the reconciler, a quarter of it while runs are under way; from 0.1 to 10 s, less than
the two above. Tasks do not wait for it. Longer, what no task did is done later; shorter, the database is asked more."""
if not 0.1 <= RECONCILE_SECONDS <= 10:
    raise ImproperlyConfigured(f"WAXWING_RECONCILE_S must be from 0.1 to 10, not {RECONCILE_SECONDS:g}")
REPORT_TIMEOUT_SECONDS = 15 * 60
NOTICE_TIMEOUT_SECONDS = 10.0
"""For one attempt at telling somebody."""
CONTEXT_DEADLINE_SECONDS = 10.0
"""For one answer through the REST front, which a thread of the web waits for: as long as any client asks a broker."""
REST_WINDOW_S = 10
"""Over which requests to REST, and log-ins, are counted: as many may come at once, and so long may it take until more
may."""
REST_RATE = number(os.environ, "WAXWING_REST_RATE", 50)
"""Requests a second of one token, or one person's browser; 0 for any number. One core answers some 200: a script that
asks without a pause leaves most of it to others, and what looks at fifty things each second is not refused."""
REST_ADDRESS_RATE = 2 * REST_RATE
"""Requests a second from one address, which several people may share, without a log-in or a valid token."""
LOG_IN_RATE = number(os.environ, "WAXWING_LOG_IN_RATE", 1)
"""Log-ins a second from one address, of any names, over the same window; 0 for any number. Each takes a core for half a
second: more slow pages down; fewer make people behind one address wait who come at the same time."""
PASSWORD_CHECKS_WAITING = 10
"""Passwords that are checked, one at a time, or wait for it, 5 s at most. More would wait longer, in a thread each."""
WEBHOOK_NETWORKS = networks(os.environ, "WAXWING_WEBHOOKS")
"""Private networks, loopback among them, that webhooks may reach; none by default, as who may set up a webhook may
otherwise have this machine post to whatever trusts it. Link-local addresses, where clouds keep keys, never."""

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
    "brokerweb.accounts",
    "brokerweb.topologies",
    "brokerweb.networks",
    "brokerweb.experiments",
    "brokerweb.comparison",
    "brokerweb.reports",
    "brokerweb.storage",
    "brokerweb.notices",
    "brokerweb.simulations",
    "brokerweb.live",
    *(f"brokerweb.systems.{path.parent.name}" for path in sorted(BASE_DIR.glob("brokerweb/systems/*/apps.py"))),
    "brokerweb.api",
]

MIDDLEWARE = [
    "brokerweb.entrance.known_methods",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    # Pages and JSON become a tenth; Django adds a random length, so that sizes do not tell of secrets in them.
    "django.middleware.gzip.GZipMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "brokerweb.entrance.rest_throttle",
    "brokerweb.accounts.lockout.password_throttle",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "axes.middleware.AxesMiddleware",
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
            ],
            "builtins": ["brokerweb.kit.tags", "brokerweb.systems.tags"],
        },
    }
]

DATABASES = {"default": database(os.environ, VAR)}

STATIC_URL = "static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_USE_FINDERS = True
"""Files are served from where they lie in the source: no collection step between a clone and a page."""

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
            # The layer blocks 5 s in BZPOPMIN and redis-py 8 gives up after 5 s by default, which would drop every idle
            # websocket (channels_redis issue 422); hence no time-out here.
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
    # Ten times the longest task; a report is the longest.
    "visibility_timeout": 10 * REPORT_TIMEOUT_SECONDS,
    "socket_timeout": 10,
    "socket_connect_timeout": 2,
    "socket_keepalive": True,
    "retry_policy": {"max_retries": 1, "interval_start": 0, "interval_step": 0.1, "interval_max": 0.2},
}
CELERY_TASK_PUBLISH_RETRY = False
CELERY_TASK_DEFAULT_QUEUE = "default"
CELERY_TASK_QUEUES = [Queue(name, Exchange(name), routing_key=name) for name in ("default", "spark", HOST_QUEUE)]
# Each with an exchange of its own: on a shared one with the default key every queue would get every message.
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

# --- Who may come in --------------------------------------------------------------------------------------------------
AUTHENTICATION_BACKENDS = ["axes.backends.AxesStandaloneBackend", "django.contrib.auth.backends.ModelBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
] + [{"NAME": "brokerweb.accounts.passwords.EndsTokens"}]
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
SECURE_REDIRECT_EXEMPT = [r"^(healthz|readyz|metrics)$"]  # asked on loopback by what watches the parts, without TLS
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = HTTPS
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
# Plain HTTP on loopback is the default; each of these is on under WAXWING_HTTPS=1.
SILENCED_SYSTEM_CHECKS = [] if HTTPS else ["security.W004", "security.W008", "security.W012", "security.W016"]

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "script-src": [SELF],
        "style-src": [SELF],
        # Charts place their tooltips by style attributes.
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
PUBLIC_URL = os.environ.get("WAXWING_URL", "http://127.0.0.1:8000").rstrip("/")

# --- REST -------------------------------------------------------------------------------------------------------------
KNOX_TOKEN_MODEL = "accounts.Token"  # noqa: S105
REST_KNOX = {"AUTH_HEADER_PREFIX": "Bearer", "TOKEN_TTL": timedelta(days=90)}
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "brokerweb.accounts.bearer.BearerAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["brokerweb.accounts.bearer.OperatorWrites"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "brokerweb.api.negotiation.Negotiation",
    "DEFAULT_PARSER_CLASSES": ["brokerweb.api.parsers.JSONParser"],
    "DEFAULT_PAGINATION_CLASS": "brokerweb.api.pages.Pages",
    "PAGE_SIZE": 50,
    "DEFAULT_FILTER_BACKENDS": [
        "brokerweb.api.filters.FilterBackend",
        "rest_framework.filters.OrderingFilter",
    ],
    "EXCEPTION_HANDLER": "brokerweb.api.errors.handle",
    "DEFAULT_SCHEMA_CLASS": "brokerweb.api.schema.Schema",
    # `?format=` chooses the form of samples (csv, json, parquet), which are streamed and never pass a renderer.
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
        "brokerweb.control.acting": {"level": "INFO"},  # what tasks did, though Celery sets the root to WARNING
        "kombu": {"level": "WARNING"},
        "uvicorn.access": {"level": "WARNING"},
    },
}
