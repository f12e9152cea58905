"""One module a certificate kind, each with `check(certificate)`; standard library only, but for `replay`."""
