"""Models: what answers a history. One protocol, and one module per kind of model."""
