#!/bin/sh
# What Spark on Kubernetes starts in a pod: `driver ARGUMENT...` or `executor`. Anything else is a command.
set -eu

case ${1:-} in
    driver)
        shift
        exec spark-submit --deploy-mode client --conf "spark.driver.bindAddress=$SPARK_DRIVER_BIND_ADDRESS" "$@"
        ;;
    executor)
        set --
        n=0
        while eval "option=\${SPARK_JAVA_OPT_$n-}" && [ -n "$option" ]; do
            set -- "$@" "$option"
            n=$((n + 1))
        done
        exec "${JAVA_HOME:+$JAVA_HOME/bin/}java" "$@" "-Xms$SPARK_EXECUTOR_MEMORY" "-Xmx$SPARK_EXECUTOR_MEMORY" \
            -cp "${SPARK_CONF_DIR:-$SPARK_HOME/conf}:${HADOOP_CONF_DIR:-}:${SPARK_CLASSPATH:-}:$SPARK_HOME/jars/*:$PWD" \
            org.apache.spark.scheduler.cluster.k8s.KubernetesExecutorBackend \
            --driver-url "$SPARK_DRIVER_URL" --executor-id "$SPARK_EXECUTOR_ID" --cores "$SPARK_EXECUTOR_CORES" \
            --app-id "$SPARK_APPLICATION_ID" --hostname "$SPARK_EXECUTOR_POD_IP" \
            --resourceProfileId "$SPARK_RESOURCE_PROFILE_ID" --podName "$SPARK_EXECUTOR_POD_NAME"
        ;;
    *) exec "$@" ;;
esac
