"""How things get decided. Every engine call returns a `Check`; `check.run()` gives the `Evidence`."""
