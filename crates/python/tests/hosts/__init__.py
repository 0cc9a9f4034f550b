"""Tests of the adapters, each with the real package of its host."""
