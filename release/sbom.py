"""The software bill of materials of a wheel (CycloneDX), for its `.dist-info/sboms/` (PEP 770).

It lists what the wheel itself holds: the package, code of Cython in the compiled kernels, and models with
their hashes. Packages that pip installs beside it are in the wheel's metadata; `./dev licences` lists them.
"""

import email
import hashlib
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import PurePosixPath

from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom, BomMetaData
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.model.license import LicenseExpression
from cyclonedx.output import make_outputter
from cyclonedx.schema import OutputFormat, SchemaVersion
from packageurl import PackageURL

MODEL_FILES = (".npz", "/model-3.json")


def made(content: Mapping[str, bytes], folder: str, epoch: int) -> bytes:
    """The document, of the files of a wheel; `folder` is their .dist-info/, `epoch` the time it names."""
    metadata = email.message_from_bytes(content[f"{folder}METADATA"])
    licence = LicenseExpression(metadata["License-Expression"])
    name, release = metadata["Name"], metadata["Version"]
    package = Component(
        name=name,
        version=release,
        type=ComponentType.LIBRARY,
        bom_ref=f"{name}@{release}",
        purl=PackageURL("pypi", None, name, release),
        licenses=[licence],
    )
    parts = [_model(path, content[path], licence) for path in sorted(content) if path.endswith(MODEL_FILES)]
    if any(path.endswith((".so", ".pyd")) for path in content):
        parts.append(
            Component(
                name="cython",
                version=version("cython"),
                type=ComponentType.LIBRARY,
                bom_ref="cython",
                purl=PackageURL("pypi", None, "cython", version("cython")),
                licenses=[LicenseExpression("Apache-2.0")],
                description="code that its compiler puts into compiled kernels",
            )
        )
    seed = hashlib.sha256(
        b"".join(hashlib.sha256(content[path]).digest() for path in sorted(content))
    ).hexdigest()
    bom = Bom(
        components=parts,
        serial_number=uuid.uuid5(uuid.NAMESPACE_URL, seed),
        metadata=BomMetaData(component=package, timestamp=datetime.fromtimestamp(epoch, UTC)),
    )
    bom.register_dependency(package, parts)
    text: str = make_outputter(bom, OutputFormat.JSON, SchemaVersion.V1_6).output_as_string(indent=1)
    return text.encode()


def _model(path: str, content: bytes, licence: LicenseExpression) -> Component:
    """The component of a model's file, named as its folder in models/."""
    return Component(
        name=str(PurePosixPath(*PurePosixPath(path).parts[2:])),
        type=ComponentType.MACHINE_LEARNING_MODEL,
        bom_ref=path,
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=hashlib.sha256(content).hexdigest())],
        licenses=[licence],
        description="CARD.md beside it names the training data and their licences",
    )
