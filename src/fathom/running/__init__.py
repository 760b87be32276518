"""Running programs: their sources, resources, the queue, changed inputs."""
