# make demo · make test · make cluster · make perf: each makes .venv and installs the locked requirements on first use
PYTHON ?= python3
CORES ?= $(shell nproc 2>/dev/null || sysctl -n hw.ncpu)
BIN := .venv/bin

.PHONY: demo test cluster lint docs perf clean

demo: .venv/installed
	$(BIN)/snakemake -c$(CORES) --quiet rules host reason
	@$(BIN)/python scripts/scoring/print_summary.py --summary results/demo/summary.csv --groups results/demo/groups.csv --report results/demo/report.html

test: .venv/installed
	$(BIN)/python -m pytest -n $(CORES) --dist loadscope --no-loadscope-reorder

# a real Slurm on this machine, and everything that breaks; needs root and Debian's munge slurm-client slurmctld slurmd
cluster: .venv/installed
	$(BIN)/python -m pytest -m cluster -rs tests/cluster

lint: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/snakefmt --check Snakefile workflow/rules
	$(BIN)/mypy
	$(BIN)/snakemake --lint

# what is generated from the code: the schema, the tables of keys and columns, the picture of the workflow
docs: .venv/installed
	$(BIN)/python scripts/running/write_schema.py
	$(BIN)/python scripts/running/write_tables_doc.py
	$(BIN)/snakemake --forceall --rulegraph dot > docs/workflow.dot
	dot -Tsvg docs/workflow.dot -o docs/workflow.svg
	rm docs/workflow.dot

# against peers and limits, on the texts, pairs and models of `make demo`; a quarter of an hour or more
perf: export OMP_NUM_THREADS = 1
perf: .venv/installed
	$(BIN)/python perf/join.py
	$(BIN)/python perf/sentences.py
	$(BIN)/python perf/embedding.py
	$(BIN)/python perf/latex.py
	$(BIN)/python perf/phrases.py
	$(BIN)/python perf/scoring.py
	$(BIN)/python perf/layers.py
	$(BIN)/python perf/tuning.py
	$(BIN)/python perf/planning.py
	$(BIN)/python perf/memory.py

clean:
	rm -rf .venv results/demo

.venv/installed: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Python 3.11 or newer is needed: make PYTHON=python3.11 ...")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	touch $@
