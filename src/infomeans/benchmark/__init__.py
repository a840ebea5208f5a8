"""The paper's tables and figure, measured."""
