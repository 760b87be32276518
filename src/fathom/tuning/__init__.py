"""Train-before-test: every model gets the same preparation for a task before it is scored."""
