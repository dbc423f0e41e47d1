"""Sonde, a profiler for machine-learning programs: what a program uses to record itself."""

from . import _agent as _agent
