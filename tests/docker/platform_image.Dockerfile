# Stands in for the platform's own image where no registry is reached: its Python packages, its entry point; the Python is
# the base image's. Compare codabench/worker.py.
FROM local/python:3.11
RUN python3 -m venv /opt/python
ENV PATH=/opt/python/bin:$PATH PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
COPY platform.txt /tmp/
RUN --mount=type=secret,id=pip_conf,target=/etc/pip.conf pip install --no-deps --require-hashes -r /tmp/platform.txt
ENV PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
COPY --chmod=755 tini /usr/bin/tini
ENTRYPOINT ["/usr/bin/tini", "--"]
CMD ["python3"]
