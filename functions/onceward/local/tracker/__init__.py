"""The demonstration target of actions: a small task tracker, its own process, its tasks in a SQLite file.

It makes four different promises about a request that comes twice, one below each of its paths, and keeps a log of its
side effects: the witness of what really happened.

====================  ========================================================================================
``/by-header``        dedupes by Idempotency-Key: the same key gets the same answer, another body under it 422
``/by-natural-key``   one task for each ``source_ticket``: a second one is a 409, and can be read back
``/by-lookup``        makes a task for every request; one can be found by the ``external_id`` that it carried
``/plain``            makes a task for every request, and promises nothing
====================  ========================================================================================
"""

NAME = "onceward-tracker"
