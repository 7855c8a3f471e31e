# syntax=docker/dockerfile:1
# The image of Printworks: `docker build -t printworks:0.1.0 .` in the folder of a release, or
# `make image` without Docker. Nothing in it can be changed by the service, which is no root.

# The same as in requirements/build.txt and runtime.txt, whose hashes pip compares.
FROM debian:12.12-slim AS build
RUN apt-get update \
 && apt-get install -y --no-install-recommends python3-venv \
 && rm -rf /var/lib/apt/lists/*
RUN python3 -m venv /opt/printworks
COPY requirements/build.txt requirements/runtime.txt /src/requirements/
RUN /opt/printworks/bin/pip install --no-cache-dir --require-hashes \
    -r /src/requirements/build.txt -r /src/requirements/runtime.txt
COPY pyproject.toml README.md LICENSE /src/
COPY src /src/src
RUN /opt/printworks/bin/pip install --no-cache-dir --no-deps --no-build-isolation /src
COPY release /src/release
RUN cd /src && /opt/printworks/bin/python -m release.bill > /opt/printworks/sbom.cdx.json
RUN /opt/printworks/bin/pip uninstall --yes --quiet flit_core pip

FROM debian:12.12-slim
LABEL org.opencontainers.image.title="Printworks" \
      org.opencontainers.image.licenses="Apache-2.0"
RUN apt-get update \
 && apt-get install -y --no-install-recommends python3 ca-certificates \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --uid 10001 --user-group --no-create-home --home-dir /data printworks \
 && install -d -o printworks -g printworks -m 0700 /data \
 && install -d -o printworks -g printworks -m 0755 /run/printworks
COPY --from=build /opt/printworks /opt/printworks
ENV PATH=/opt/printworks/bin:/usr/bin:/bin \
    PYTHONDONTWRITEBYTECODE=1 \
    PRINTWORKS_DATA=/data \
    PRINTWORKS_HOST=0.0.0.0 \
    PRINTWORKS_LOG_FORMAT=json
USER 10001:10001
VOLUME /data
EXPOSE 8443
STOPSIGNAL SIGTERM
# For `serve` and `web`; `work` is watched by its heartbeats.
HEALTHCHECK --interval=30s --timeout=10s --start-period=30s --retries=3 \
    CMD ["printworks", "probe", "/livez"]
ENTRYPOINT ["printworks"]
CMD ["serve"]
