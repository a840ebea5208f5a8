"""What a command does, without a terminal: one module for each."""
