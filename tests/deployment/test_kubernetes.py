"""The Kubernetes manifests follow the published schemas and are consistent."""

import copy

import pytest

from tests.deployment import manifests
from tests.deployment.test_deployment import parsed
from victor_spark import errors

VERSIONS = ("1.31", "1.34")


@pytest.mark.parametrize("version", VERSIONS)
def test_every_object_is_valid_and_an_unknown_field_would_be_refused(version: str) -> None:
    validate = manifests.validator(version)
    found = manifests.loaded()
    assert set(found) == {"ServiceAccount", "Role", "RoleBinding", "ConfigMap", "Job", "Pod"}
    for one in found.values():
        validate(one)
        wrong = copy.deepcopy(one)
        (wrong.get("spec") or wrong)["invented"] = 1
        with pytest.raises(Exception, match="invented"):
            validate(wrong)


def test_names_agree_and_the_job_is_a_command_of_ours() -> None:
    found = manifests.loaded()
    job = found["Job"]["spec"]
    pod, executor = job["template"]["spec"], found["Pod"]["spec"]["containers"][0]
    (driver,) = pod["containers"]
    pairs = [line.split(None, 1) for line in found["ConfigMap"]["data"]["spark.properties"].splitlines()]
    conf = dict(pair for pair in pairs if pair)
    account = found["ServiceAccount"]["metadata"]["name"]
    assert (
        pod["serviceAccountName"]
        == account
        == conf["spark.kubernetes.authenticate.driver.serviceAccountName"]
    )
    assert found["RoleBinding"]["subjects"] == [{"kind": "ServiceAccount", "name": account}]
    assert found["RoleBinding"]["roleRef"]["name"] == found["Role"]["metadata"]["name"]
    assert driver["image"] == conf["spark.kubernetes.container.image"]
    assert driver["envFrom"] == executor["envFrom"], "driver and executors read the same store"
    (volume,), (mount,) = pod["volumes"], driver["volumeMounts"]
    assert volume["configMap"]["name"] == found["ConfigMap"]["metadata"]["name"]
    template = conf["spark.kubernetes.executor.podTemplateFile"]
    assert template == f"{mount['mountPath']}/executor.yaml"
    command = parsed(driver["args"])
    assert (command.inputs, command.output) == (["s3://crawl/warc.paths"], "s3://clean/out")


def test_the_job_ends_where_the_same_command_would_fail_again() -> None:
    job = manifests.loaded()["Job"]["spec"]
    (rule,) = job["podFailurePolicy"]["rules"]
    assert rule["action"] == "FailJob"
    assert rule["onExitCodes"]["values"] == [errors.EXIT_USAGE, errors.EXIT_BUDGET]
    assert job["template"]["spec"]["restartPolicy"] == "Never", "podFailurePolicy needs it"
