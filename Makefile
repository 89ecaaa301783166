# Waxwing's two commands are `make up` and `make test`; `make help` lists all. Works with GNU make 3.81.
# The environment is in .venv and data in var/; both are created here and ignored by git.

PORT ?= 8000
PYTEST_ARGS ?=
PROCESSES ?= 5
BENCH_ARGS ?=
CALIBRATE_ARGS ?=
BIN := .venv/bin
# Sources are compiled once, not by each of many processes.
unexport PYTHONDONTWRITEBYTECODE
# The first interpreter that is new enough; `make PYTHON=...` selects another.
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
  if $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then echo $$p; break; fi; done)

.DEFAULT_GOAL := help
.PHONY: help up down test test-postgresql check types rules service clients accelerator lock search-table bench bench-compare bench-peers calibrate soak fuzz python runtime-environment test-environment

help: ## list these targets
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  make \1|\2/p' Makefile | awk -F'|' '{printf "%-22s %s\n", $$1, $$2}'

up: runtime-environment ## install the requirements, then run everything on http://127.0.0.1:PORT (8000)
	@exec $(BIN)/python -m brokerweb.up --port $(PORT)

down: ## stop everything that `make up` started here
	@if [ -x $(BIN)/python ]; then exec $(BIN)/python -m brokerweb.up --down; else echo "Nothing is installed, so nothing is running."; fi

test: test-environment ## install the requirements, then run all tests (PYTEST_ARGS="-k walk")
	@exec $(BIN)/python -m pytest -p tests.statements -n $(PROCESSES) --dist loadgroup --no-loadscope-reorder $(PYTEST_ARGS)

test-postgresql: test-environment ## run database tests on a temporary PostgreSQL server: those that make all statements that `make test` noted
	@exec $(BIN)/python -m tests.postgresql pytest -p tests.statements -n 3 --dist loadgroup --no-loadscope-reorder -m "database and not browser" $(PYTEST_ARGS)

check: types rules ## format, lint, types, import contracts, words, OpenAPI, migrations; with -j2 in two processes

types: test-environment
	$(BIN)/mypy overlay telemetry brokerweb benchmarks
	$(BIN)/mypy --config-file clients/python/pyproject.toml clients/python/src

# Whoever asks for migrations or the OpenAPI document has Django's system checks, too.
rules: test-environment
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/python clients/python/unasync.py --check
	$(BIN)/lint-imports --no-cache
	$(BIN)/python -m tests.words
	$(BIN)/python -m pytest --collect-only -qq >/dev/null  # processes of `make test` then find the tests compiled
	$(BIN)/python manage.py makemigrations --check --dry-run
	$(BIN)/python manage.py spectacular --validate --fail-on-warn --file /dev/null
	$(BIN)/python manage.py javascriptclient --check

clients: test-environment ## generate the synchronous Python client and the JavaScript client from their sources
	$(BIN)/python clients/python/unasync.py
	$(BIN)/python manage.py javascriptclient

accelerator: runtime-environment ## compile the hot paths and the extension for batched system calls, and print what is in use
	@$(BIN)/python -c "from overlay.runtime.datagrams import choose; print('datagrams:', choose())"
	@$(BIN)/python -c "from overlay.compiled.finder import is_used; print('hot paths:', 'compiled' if is_used() else 'Python')"

soak: runtime-environment ## run SEEDS (10000) random fault scenarios of each system in virtual time, then find every planted bug (SYSTEM=name FIRST=seed)
	@exec $(BIN)/python -m tests.soak $(if $(SEEDS),--seeds $(SEEDS)) $(if $(FIRST),--first $(FIRST)) $(if $(SYSTEM),--system $(SYSTEM))

service: test-environment ## use a network of 20 brokers in five ways for MINUTES (10) while parts of it are killed and replaced
	@exec $(BIN)/python -m tests.service $(if $(MINUTES),--minutes $(MINUTES))

fuzz: test-environment ## fuzz parsers, state machines and forms with Hypothesis for MINUTES (10)
	@exec $(BIN)/python -m tests.fuzz $(if $(MINUTES),--minutes $(MINUTES))

search-table: test-environment ## measure every search strategy on every topology, and write docs/results (one hour)
	@exec $(BIN)/python -m telemetry search-table

bench: test-environment ## compare brokers with C programs and other servers (20 min; BENCH_ARGS="--quick broker")
	@exec $(BIN)/python -m benchmarks $(BENCH_ARGS)

bench-compare: test-environment ## list what is slower than at REV=... or than the baseline (SECTIONS="broker messages" ROUNDS=n)
	@exec $(BIN)/python -m benchmarks.compare $(if $(REV),--rev $(REV),--baseline) $(if $(ROUNDS),--rounds $(ROUNDS)) $(SECTIONS)

bench-peers: python ## install the servers that `make bench` compares with: NATS, and Python's into .venv-bench
	@$(PYTHON) brokerweb/up/environment.py --nats --into .venv-bench requirements-bench.txt

calibrate: runtime-environment ## measure message costs on this machine for simulated runs (10 min; CALIBRATE_ARGS="--quick")
	@exec $(BIN)/python -m telemetry calibrate $(CALIBRATE_ARGS)

lock: test-environment ## pin requirements*.in in requirements*.txt, with hashes
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv==0.13.8
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --custom-compile-command "make lock" \
	  requirements.in --output-file requirements.txt
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --custom-compile-command "make lock" \
	  requirements-dev.in --output-file requirements-dev.txt
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --custom-compile-command "make lock" \
	  requirements-bench.in --output-file requirements-bench.txt

python:
	@if ! $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	  echo "Waxwing needs Python 3.11 or newer. On Debian or Ubuntu: apt-get install python3 python3-venv" >&2; exit 1; fi

runtime-environment: python
	@$(PYTHON) brokerweb/up/environment.py --accelerator --compiled --client requirements.txt

test-environment: python
	@$(PYTHON) brokerweb/up/environment.py --accelerator --compiled --client --browser --postgresql --mosquitto --nats requirements.txt requirements-dev.txt
