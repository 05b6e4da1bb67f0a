"""kip: a knowledge-graph backed cognitive memory with which an agent learns from experience."""
