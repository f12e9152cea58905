"""What one imports: structural models, actual causes, parents of a target."""
