# `make demo` shows what the project does, `make test` checks it. Needed beforehand: git, make, and Python with venv,
# from 3.11 to 3.14: the first that is found, or PYTHON=path.
SUITS := import sys, ensurepip, venv; sys.exit(not (3, 11) <= sys.version_info < (3, 15))
NAMES := python3.11 python3.12 python3.13 python3.14 python3 python
FOUND = $(firstword $(shell for name in $(NAMES); do "$$name" -c "$(SUITS)" 2>/dev/null && echo "$$name"; done; true))
PYTHON ?= $(or $(FOUND),$(error no Python from 3.11 to 3.14 with venv is found. Install one, or name it: make PYTHON=path))
BIN := .venv/bin
# Bytecode is kept, also where the environment forbids it: the tests start some thousand processes of these programs.
unexport PYTHONDONTWRITEBYTECODE
# Written when a module is first imported: pip would compile all of torch and transformers, half of its time.
export PIP_COMPILE := 0
CODE := bundles docker docs generator research scoring_programs tests  # and not what is being tried in the checkout
PIP := -m pip --disable-pip-version-check --quiet

.PHONY: demo test test-without-models test-thorough test-scoring test-tf4 test-tf5 test-newest test-platform-image test-docker test-podman test-installed check quick bench lock schema docs pictures clean

demo: .venv/demo  ## Build CLPsych 2025, dry-run its model-free task; then the same for a task from a CSV.
	$(BIN)/gen-bundle clpsych2025 --out bundle.zip
	$(BIN)/gen-bundle clpsych2025 --layout separate --task a2 --out demo/clpsych2025-a2.zip
	$(BIN)/gen-bundle dry-run demo/clpsych2025-a2.zip --engine process --out demo/dry-run
	test -d demo/reviews || $(BIN)/gen-bundle new reviews --gold docs/reviews.csv --split 40:60 --yes --in demo
	$(BIN)/gen-bundle demo/reviews --out demo/reviews.zip
	$(BIN)/gen-bundle dry-run demo/reviews.zip --engine process --phase test --out demo/reviews-dry-run
	@printf '%s\n' '' \
	  'bundle.zip               CLPsych 2025 with all its tasks, as Codabench takes it' \
	  'demo/dry-run/            its model-free task, run as Codabench would: scores, logs, results pages' \
	  'demo/reviews/            a task of its own, made from docs/reviews.csv: change bundle.yaml and pages/' \
	  'demo/reviews.zip         its bundle; demo/reviews-dry-run/ is what running it gave' \
	  'docs/tutorial.md         from your own CSV to a competition: begin here'

test: .venv/dev  ## What needs no model, with style and types; of long sweeps a few cases.
	$(MAKE) --no-print-directory --jobs 2 check test-without-models

test-without-models: .venv/dev
	$(BIN)/pytest -n auto --dist worksteal -m "not models and not docker and not image and not platform and not thorough and not installed"

test-thorough: .venv/dev  ## The other cases of these sweeps.
	$(BIN)/pytest -n auto --dist worksteal -m "thorough and not models and not docker"

test-installed: .venv/dev  ## What pip and uv install, used as users do: in a clean environment, with bytecode.
	$(BIN)/pytest --timeout 900 -m installed tests/test_installed_by_pip.py tests/test_readme.py

test-scoring: test-tf4 test-tf5  ## The tests with models; what calls transformers under both its major versions (--jobs 2: at once).

test-tf4: .venv/models
	$(BIN)/pytest -m models

# What calls transformers; the image of the other model tests has version 4 alone, and a dry run only starts programs.
test-tf5: .venv-tf5/models
	.venv-tf5/bin/python -m pytest -m models tests/scoring_programs tests/generator/after/rescore

test-newest: .venv/models  ## The tests with the newest transformers, scikit-learn and click, over the packages of .venv.
	$(BIN)/python -m venv --clear .venv-newest
	below=$$(echo "$(CURDIR)"/.venv/lib/python*/site-packages); \
	echo "import site; site.addsitedir('$$below')" > "$$(echo .venv-newest/lib/python*/site-packages)/below.pth"
	.venv-newest/bin/python $(PIP) install --upgrade transformers scikit-learn click
	.venv-newest/bin/python $(PIP) list | grep -E "^(transformers|scikit-learn|click) "
	.venv-newest/bin/python -m pytest -n auto --dist worksteal -m "not models and not docker and not image and not platform and not thorough and not installed and not browser" tests/generator tests/scoring_programs
	.venv-newest/bin/python -m pytest -m models tests/scoring_programs tests/generator/after/rescore

test-platform-image: .venv/dev .venv-platform/ready  ## Programs without models, under the versions of the platform's own image.
	$(BIN)/pytest -n auto --dist worksteal -m platform tests/platform_image

test-docker: .venv/models  ## The tests that need a container engine; starts one where none answers.
	docker/with-engine sh -c 'docker/base-image && $(BIN)/pytest --timeout 900 -m "docker or image"'

test-podman: .venv/dev  ## The dry run's tests through Podman's Docker socket, which is started for it (root on Debian).
	tests/docker/podman-engine sh -c 'docker/base-image && $(BIN)/pytest -m "docker and not image" tests/generator'

check: .venv/dev  ## Style and types.
	$(BIN)/ruff check $(CODE)
	$(BIN)/ruff format --check $(CODE)
	$(BIN)/mypy generator scoring_programs tests research docs

quick: .venv/dev
	$(BIN)/pytest -q -m "not models and not docker and not image and not platform and not thorough and not installed and not slow and not browser"

bench: .venv/models  ## Speed and memory, as ratios measured in one run; asserts nothing.
	$(BIN)/python -m research.benchmarks

schema: .venv/dev  ## Write the JSON Schema of bundle.yaml and docs/bundle-yaml.md anew.
	$(BIN)/python docs/make_bundle_yaml.py

docs: .venv/docs  ## Build the site of docs/ into build/site/; a dead link is an error.
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet

pictures: .venv/dev  ## Draw the README's pictures anew (needs Chromium: tests/install-browser).
	$(BIN)/python docs/make_pictures.py

lock: .venv/dev  ## Write the hashed locks anew.
	PATH="$(CURDIR)/$(BIN):$$PATH" requirements/lock.sh --upgrade

# Python 3.12 is the image's; without one, its packages under ours.
PLATFORM_PYTHON ?= $(or $(firstword $(shell for python in python3.12 "$$HOME"/.pyenv/versions/3.12*/bin/python; do "$$python" -c "$(SUITS)" 2>/dev/null && echo "$$python"; done; true)),$(PYTHON))
.venv-platform/ready: requirements/platform.txt
	$(PLATFORM_PYTHON) -m venv .venv-platform
	.venv-platform/bin/python $(PIP) install --require-hashes --no-deps -r requirements/platform.txt
	touch $@

clean:
	rm -rf .venv .venv-newest .venv-platform .venv-tf5 demo bundle.zip build dist

# Each stamp is one step further: base and model-free scoring, then development, then models.
.venv/pip:
	$(PYTHON) -m venv .venv
	touch $@

.venv/demo: .venv/pip requirements/base.txt requirements/score.txt pyproject.toml
	$(BIN)/python $(PIP) install --require-hashes --no-deps -r requirements/base.txt
	$(BIN)/python $(PIP) install --require-hashes --no-deps -r requirements/score.txt
	$(BIN)/python $(PIP) install --no-build-isolation --no-deps --editable .
	touch $@

.venv/dev: .venv/demo requirements/dev.txt
	$(BIN)/python $(PIP) install --require-hashes --no-deps -r requirements/dev.txt
	touch $@

.venv/docs: .venv/dev requirements/docs.txt
	$(BIN)/python $(PIP) install --require-hashes --no-deps -r requirements/docs.txt
	touch $@

TORCH := requirements/install-torch requirements/torch.txt docker/requirements.cpu.txt docker/requirements.cuda.txt

.venv/models: .venv/dev $(TORCH) requirements/models.txt requirements/encoder.txt
	requirements/install-torch $(BIN)/python
	for lock in models encoder; do $(BIN)/python $(PIP) install --require-hashes --no-deps -r requirements/$$lock.txt || exit 1; done
	touch $@

# Over the packages of .venv, of which those of version 5 come first.
.venv-tf5/models: .venv/dev $(TORCH) requirements/models-tf5.txt requirements/encoder.txt
	$(BIN)/python -m venv --clear .venv-tf5
	below=$$(echo "$(CURDIR)"/.venv/lib/python*/site-packages); \
	echo "import site; site.addsitedir('$$below')" > "$$(echo .venv-tf5/lib/python*/site-packages)/below.pth"
	requirements/install-torch .venv-tf5/bin/python
	for lock in models-tf5 encoder; do .venv-tf5/bin/python $(PIP) install --require-hashes --no-deps -r requirements/$$lock.txt || exit 1; done
	touch $@
