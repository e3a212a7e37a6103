# Spark with victor-spark, for docker-compose.yml; any Python and Java that Spark supports would do.
FROM python:3.12-slim-bookworm AS build
RUN apt-get update && apt-get install --yes --no-install-recommends gcc libc6-dev && rm -rf /var/lib/apt/lists/*
COPY . /source
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels /source

FROM python:3.12-slim-bookworm
RUN apt-get update \
    && apt-get install --yes --no-install-recommends openjdk-17-jre-headless procps \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir "$(ls /wheels/*.whl)[s3,spark]"
COPY jobs /opt/victor/jobs
# Workers run the Python that has the package.
ENV PYSPARK_PYTHON=/usr/local/bin/python3 \
    SPARK_HOME=/usr/local/lib/python3.12/site-packages/pyspark
RUN useradd --uid 1000 --create-home victor && mkdir /data && chown victor /data
USER victor
WORKDIR /opt/victor
