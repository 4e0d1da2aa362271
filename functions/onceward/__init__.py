"""Onceward: durable AI jobs on AWS Lambda.

The HTTP request creates and reads the job, the worker owns one attempt, the database owns the job.
Nothing is imported here: each handler pays only for what it uses.
"""

__version__ = "0.1.0"
