"""Read synthesised templates: find resources, resolve what points to what, flatten for comparison."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

type Template = Mapping[str, Any]
type Resource = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Assembly:
    """One synthesis of several stages."""

    folder: Path

    def state(self, stage: str) -> Template:
        """Return the template of a stage's state stack."""
        return self._read(f"OncewardState-{stage}.template.json")

    def service(self, stage: str) -> Template:
        """Return the template of a stage's service stack."""
        return self._read(f"OncewardService-{stage}.template.json")

    def observability(self, stage: str) -> Template:
        """Return the template of a stage's dashboard and alarms."""
        return self._read(f"OncewardObservability-{stage}.template.json")

    def bundle(self, stage: str) -> Path:
        """Return the folder of the asset that all functions of a stage share."""
        keys = {function["Code"]["S3Key"] for function in properties(self.service(stage), "AWS::Lambda::Function")}
        (key,) = keys
        return self.folder / f"asset.{key.removesuffix('.zip')}"

    def templates(self, *stages: str) -> list[Path]:
        """Return the paths of the stages' templates."""
        return [path for stage in stages for path in sorted(self.folder.glob(f"*-{stage}.template.json"))]

    def _read(self, name: str) -> Template:
        template: Template = json.loads((self.folder / name).read_text(encoding="utf-8"))
        return template


def resources(template: Template, kind: str) -> dict[str, Resource]:
    """Find the resources of a type, by logical id."""
    return {name: resource for name, resource in template["Resources"].items() if resource["Type"] == kind}


def properties(template: Template, kind: str) -> list[Mapping[str, Any]]:
    """Return the properties of each resource of a type."""
    return [resource["Properties"] for resource in resources(template, kind).values()]


def only(template: Template, kind: str, name: str = "") -> Mapping[str, Any]:
    """Return the properties of the one resource of a type whose logical id contains ``name``."""
    ((_, resource),) = [item for item in resources(template, kind).items() if name in item[0]]
    found: Mapping[str, Any] = resource["Properties"]
    return found


def function(template: Template, name: str) -> Mapping[str, Any]:
    """Return the properties of a function by its construct's name."""
    return only(template, "AWS::Lambda::Function", f"{name}Function")


def environment(template: Template, name: str) -> dict[str, Any]:
    """Return the variables of a function."""
    variables: dict[str, Any] = function(template, name)["Environment"]["Variables"]
    return variables


def flattened(node: object, path: str = "") -> Iterator[tuple[str, object]]:
    """Walk a template and yield each value with the path that leads to it."""
    if isinstance(node, Mapping):
        for key, value in node.items():
            yield from flattened(value, f"{path}/{key}" if path else str(key))
    elif isinstance(node, list):
        for index, value in enumerate(node):
            yield from flattened(value, f"{path}/{index}")
    else:
        yield path, node
