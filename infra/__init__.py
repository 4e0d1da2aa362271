"""The CDK app: what a deploy creates. It never imports ``onceward``; names meet in ``tests/infra``."""
