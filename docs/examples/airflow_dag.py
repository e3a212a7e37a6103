"""An Airflow DAG: plan the run, clean, and show the state of the run.

A task that is retried continues after the waves that are complete: the command is the same, and so is
OUT. A run over its failure budget (exit code 3) ends at once when retried, and cleans nothing until it gets a
larger budget. A test executes this file with a stand-in for Airflow and parses its commands.
"""

from datetime import UTC, datetime, timedelta

from airflow import DAG
from airflow.providers.standard.operators.bash import BashOperator

INPUTS = "s3://crawl/{{ds_nodash}}/warc.paths"
OUTPUT = "hdfs:///clean/{{ds_nodash}}"

PLAN = f"victor plan {INPUTS} --input-base-url s3://crawl/ --cores 400"

CLEAN = f"""\
spark-submit --master yarn --deploy-mode client --properties-file conf/spark-defaults.conf \\
    --archives dist/victor-env.tar.gz#env --conf spark.pyspark.python=./env/bin/python \\
    dist/clean.py {INPUTS} --input-base-url s3://crawl/ --output {OUTPUT} \\
    --max-failed-shards 1% --max-failed-pages 2%
"""

STATUS = f"victor status {OUTPUT}"

with DAG(
    "victor_clean",
    start_date=datetime(2026, 1, 1, tzinfo=UTC),
    schedule="@monthly",
    catchup=False,
    default_args={"retries": 5, "retry_delay": timedelta(minutes=10)},
) as dag:
    plan = BashOperator(task_id="plan", bash_command=PLAN, retries=0)
    clean = BashOperator(task_id="clean", bash_command=CLEAN, retries=5)
    status = BashOperator(task_id="status", bash_command=STATUS, trigger_rule="all_done", retries=0)
    plan >> clean >> status
