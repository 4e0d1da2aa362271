"""Tests, cheapest first; ``support`` holds what several of them share."""
