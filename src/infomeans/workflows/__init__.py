"""The work behind the commands, without a terminal; one module each."""
