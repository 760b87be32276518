"""Studies of training: models followed over their training, controls, claims, stages, targets."""
