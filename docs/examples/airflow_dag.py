"""An Airflow DAG: plan, clean, and look at what came of it. Parsed by Airflow in a test, its commands by
our own parser; not run by us.

A task that is tried again goes on from the waves that are done: the command is the same, and so is OUT. A run
over its failure budget (exit code 3) ends at once when tried again: nothing is spent on it before somebody
gives it a larger one.
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
