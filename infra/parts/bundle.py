"""Make the one asset that all functions share, and keep it together with the architecture it was built for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import jsii
from aws_cdk import aws_lambda as lambda_

from infra.bundling import SOURCE, build_bundle, wheels_for

ARCHITECTURES = {
    "aarch64-manylinux2014": lambda_.Architecture.ARM_64,
    "x86_64-manylinux2014": lambda_.Architecture.X86_64,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """The asset's code and the architecture that its wheels were built for: one may not change without the other."""

    code: lambda_.Code
    architecture: lambda_.Architecture


@jsii.implements(cdk.ILocalBundling)
class UvBundling:
    """Build the asset with uv on this machine; a failure raises, so that CDK never falls back to Docker."""

    def __init__(self, wheels: str, *, with_crash_points: bool) -> None:
        """Remember what to build."""
        self._wheels = wheels
        self._with_crash_points = with_crash_points

    def try_bundle(self, output_dir: str, *_: Any, **__: Any) -> bool:
        """Fill ``output_dir`` and say that it was filled."""
        build_bundle(Path(output_dir), self._wheels, with_crash_points=self._with_crash_points)
        return True


def bundle_for(platform: str, *, with_crash_points: bool) -> Bundle:
    """Describe the asset for one platform; it is built when the stack is put together."""
    wheels = wheels_for(platform)
    bundling = cdk.BundlingOptions(
        image=cdk.DockerImage.from_registry("scratch"),  # never run: the local bundling fills the folder or raises
        # Read by nobody but CDK's cache of assets, which would else take two platforms in one app for one.
        environment={"WHEELS": wheels, "CRASH_POINTS": str(with_crash_points)},
        local=UvBundling(wheels, with_crash_points=with_crash_points),
    )
    # The hash is the output's: a new wheel under an unchanged source is a new asset.
    code = lambda_.Code.from_asset(str(SOURCE), asset_hash_type=cdk.AssetHashType.OUTPUT, bundling=bundling)
    return Bundle(code=code, architecture=ARCHITECTURES[wheels])
