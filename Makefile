# each target makes .venv and installs the locked requirements on first use
PYTHON ?= python3
CORES ?= $(shell nproc 2>/dev/null || sysctl -n hw.ncpu)
BIN := .venv/bin
# hundreds of short programs: what they import is compiled once, also where an image says otherwise
export PYTHONDONTWRITEBYTECODE =

.PHONY: help demo test test-older cluster storage served rehearse lint docs walkthrough pictures site dist perf gpu-check clean

help: ## list these targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## */  make \1\t/' | expand -t 20

.DEFAULT_GOAL := help

demo: .venv/installed ## score a pretrained model and small ones, as they are and adapted; table and page in results/demo
	@$(BIN)/fathom demo --cores $(CORES)

test: .venv/installed ## run the tests
	$(BIN)/python -m pytest -n $(CORES) --dist loadscope --no-loadscope-reorder

# no AVX-512, no matrix units; what starts programs or lm-eval is left to `make test`
OLDER := ONEDNN_MAX_CPU_ISA=AVX2 ATEN_CPU_CAPABILITY=avx2
test-older: .venv/installed ## run the tests of numerics, embedding and scoring as on a processor without AVX-512
	$(OLDER) $(BIN)/python -m pytest -n $(CORES) tests/numerics tests/scoring tests/benchmark/test_embedding.py \
	  tests/benchmark/test_embedding_devices.py tests/benchmark/test_matches.py \
	  -k "not program and not processes and not killed and not example and not loading" --ignore tests/scoring/test_harness.py

# needs root and Debian's munge slurm-client slurmctld slurmd
cluster: .venv/installed ## run the workflow on a real Slurm on this machine, and break it
	$(BIN)/python -m pytest -m cluster -rs tests/cluster

# tests/storage/install.sh installs Snakemake's plug-ins and a server into build/storage; needs root
storage: .venv/installed ## run the workflow on stand-ins for S3 and Kubernetes, whose jobs share no file
	$(BIN)/python -m pytest -m storage -rs -s tests/storage

# tests/served/install.sh installs vLLM into build/vllm
served: .venv/installed ## ask a real vLLM and a real llama.cpp on this machine for ranks
	$(BIN)/python -m pytest -m served -rs -s tests/served

# a configuration is at fault or a figure is missing: its log is named, the others go on, the exit code is 1
REHEARSED := $(wildcard config/papers/*.yaml) config/arxiv.yaml config/arxiv-following.yaml config/arxiv-controls.yaml
rehearse: .venv/installed ## run every configuration of the papers, and those for an own dump, to the last figure, in small
	@failed=; for file in $(REHEARSED); do \
	  $(BIN)/fathom rehearse --configfile $$file --cores $(CORES) --table docs/results/rehearsal.csv || failed="$$failed $$file"; \
	done; if [ -n "$$failed" ]; then echo "did not go through:$$failed"; exit 1; fi

lint: .venv/installed ## ruff, snakefmt, mypy, snakemake --lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/snakefmt --check Snakefile workflow
	$(BIN)/mypy
	$(BIN)/snakemake --lint

docs: .venv/installed ## regenerate the schema, the pages of keys, columns, figures and paths, the archive's metadata, the numbers of plans, the picture of the workflow
	$(BIN)/python scripts/jobs/write_schema.py
	$(BIN)/python scripts/jobs/write_tables_doc.py
	$(BIN)/python scripts/jobs/write_figures_doc.py
	$(BIN)/python scripts/jobs/write_results_doc.py
	$(BIN)/python scripts/jobs/write_environments.py
	$(BIN)/python scripts/jobs/write_archive_metadata.py
	$(BIN)/python scripts/jobs/write_plans.py
	$(BIN)/snakemake --forceall --rulegraph dot > docs/workflow.dot
	dot -Tsvg docs/workflow.dot -o docs/workflow.svg
	rm docs/workflow.dot

# layers of small models alone, within minutes
LAYERED := toy-gpt2+machine-learning, toy-gpt2+scientific-computing, toy-gpt2+plotting, toy-gpt2+machine-learning+plotting
# some minutes more than the demo: figures by layer, coverage and rankings beside its own
walkthrough: .venv/installed ## docs/walkthrough.md anew, from the demo's run
	$(BIN)/snakemake -c$(CORES) --quiet rules host reason --config 'layers={models: [$(LAYERED)]}' -- \
	  all layers coverage rankings
	$(BIN)/python scripts/figures/write_walkthrough.py --results results/demo --page docs/walkthrough.md \
	  --domain machine-learning --models toy-gpt2 toy-gpt2+machine-learning toy-gpt2+plotting

# needs Chromium: tests/explorer/install.sh
pictures: .venv/installed ## README's table and pictures anew, from the demo's run
	$(BIN)/python scripts/figures/write_readme.py --results results/demo --page README.md --picture docs/demo.png
	$(BIN)/python -m tests.explorer.take_pictures results/demo/index.html

# asks the network for nothing; a broken link, a wrong anchor and a page that no menu has end it
site: build/site-venv/installed ## the documentation as a site, in build/site
	NO_MKDOCS_2_WARNING=1 build/site-venv/bin/mkdocs build --strict --quiet
	@echo "Open build/site/index.html in a browser."

build/site-venv/installed: docs/site/requirements.lock
	$(PYTHON) -m venv build/site-venv
	build/site-venv/bin/python -m pip install --quiet --disable-pip-version-check --requirement $<
	touch $@

# at first as `pip install fathom-lm` does, then with the workflow as locked: pip takes from its cache what .venv was made of
dist: ## wheel and sdist in build/dist; the wheel, installed in a fresh environment, makes pages, then runs the workflow without a clone
	rm -rf build/dist build/dist-venv build/wheel-venv
	$(PYTHON) -m venv build/dist-venv
	build/dist-venv/bin/python -m pip install --quiet --disable-pip-version-check build==1.6.1
	build/dist-venv/bin/python -m build --outdir build/dist > build/dist.log
	$(PYTHON) -m venv build/wheel-venv
	build/wheel-venv/bin/python -m pip install --quiet --disable-pip-version-check --constraint requirements.lock build/dist/*.whl
	@build/wheel-venv/bin/python tests/check_installed.py build/dist
	build/wheel-venv/bin/python -m pip install --quiet --disable-pip-version-check --constraint requirements.lock "$$(echo build/dist/*.whl)[workflow]"
	@build/wheel-venv/bin/python tests/check_workflow.py
	rm -rf build/dist-venv build/wheel-venv

# on the texts, pairs and models of `make demo`; a quarter of an hour or more
perf: export OMP_NUM_THREADS = 1
perf: .venv/installed ## measure speed against peers and limits
	$(BIN)/python -m perf.all

# from this checkout, with the PyTorch of $(PYTHON), such as a cluster's module: not that of .venv
gpu-check: ## check a GPU: ranks, memory, resuming, speed; twelve minutes, nothing is downloaded
	PYTHONPATH=src $(PYTHON) -m fathom.commands check-gpu

clean: ## remove .venv, build and results/demo
	rm -rf .venv build results/demo

.venv/installed: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(0 if (3, 11) <= sys.version_info[:2] <= (3, 13) else "Python 3.11, 3.12 or 3.13 is needed: make PYTHON=python3.13 ...")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	touch $@
