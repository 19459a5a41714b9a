# Two commands do everything on a fresh machine: `make climb` and `make test`.
PYTHON ?= python3
VENV ?= .venv
PIP = $(VENV)/bin/pip install --quiet --constraint constraints.txt

.PHONY: climb test check clean

climb: $(VENV)/.climb  ## record the GeGLU MLP in several variants and say what each does
	$(VENV)/bin/rung climb mlp

test: $(VENV)/.test  ## everything: behaviour, lint, types, import contract
	$(VENV)/bin/pytest -n auto

$(VENV)/bin/pip:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.climb: pyproject.toml constraints.txt | $(VENV)/bin/pip
	@echo "installing torch and the rest into $(VENV): a minute or more"
	$(PIP) --editable ".[torch,liger]"
	touch $@

# The browser tests drive Debian's Chromium; where it cannot be installed they are skipped and say so.
$(VENV)/.test: $(VENV)/.climb
	command -v chromium >/dev/null || { apt-get update -qq && apt-get install -qq -y --no-install-recommends chromium; } >/dev/null 2>&1 || true
	$(PIP) --editable ".[torch,liger,hub,models,test]"
	touch $@

clean:
	rm -rf $(VENV) traces
