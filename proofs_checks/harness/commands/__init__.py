"""One module a command of the `refutable` script; each defines `command` (click) and is imported on use."""
