"""Judge, certificates, re-checker, report, pytest plugin, command line."""
