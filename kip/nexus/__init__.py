"""Executes KIP requests on a store."""

from kip.nexus.nexus import Nexus
from kip.nexus.session import Session

__all__ = ["Nexus", "Session"]
