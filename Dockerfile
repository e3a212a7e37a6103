# Spark with victor-spark, for docker-compose.yml and deploy/kubernetes; any Python and Java that Spark supports would do.
FROM debian:trixie-slim AS build
RUN apt-get update && apt-get install --yes --no-install-recommends gcc libc6-dev python3-dev python3-venv
RUN python3 -m venv /build
COPY . /source
RUN /build/bin/pip wheel --no-cache-dir --no-deps --wheel-dir /wheels /source

FROM debian:trixie-slim
RUN apt-get update \
    && apt-get install --yes --no-install-recommends openjdk-21-jre-headless procps python3-venv \
    && rm -rf /var/lib/apt/lists/*
ENV PATH=/opt/victor/env/bin:$PATH
RUN python3 -m venv /opt/victor/env
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir "$(ls /wheels/*.whl)[s3,spark]"
COPY jobs /opt/victor/jobs
COPY deploy/kubernetes/entrypoint.sh /opt/victor/entrypoint.sh
# Workers run the Python that has the package.
ENV PYSPARK_PYTHON=/opt/victor/env/bin/python3 \
    SPARK_HOME=/opt/victor/env/lib/python3.13/site-packages/pyspark
RUN useradd --uid 1000 --create-home victor && mkdir /data && chown victor /data
USER victor
WORKDIR /opt/victor
ENTRYPOINT ["/opt/victor/entrypoint.sh"]
