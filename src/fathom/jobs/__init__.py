"""What every job shares: its program, the modules behind it, resources, the queue, changed inputs."""
