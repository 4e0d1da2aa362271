"""``make prove`` asks for the profile ``thorough``: Hypothesis draws as many times more as the other fuzzes get."""

from hypothesis import settings

from tests.fuzz.runs import LONG

settings.register_profile("thorough", max_examples=LONG * settings.get_profile("default").max_examples)
