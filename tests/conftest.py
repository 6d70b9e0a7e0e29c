"""Settings for all tests: the same examples every time, and no reaching out."""

import os

from hypothesis import HealthCheck, settings

from tests.browser import browser as browser

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TRANSFORMERS_OFFLINE", "1")

settings.register_profile(
    "seeded", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
settings.load_profile("seeded")
