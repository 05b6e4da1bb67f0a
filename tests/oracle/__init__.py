"""A second, naive implementation of KIP, to hold the engine against: evaluator, model of writes, generators."""
