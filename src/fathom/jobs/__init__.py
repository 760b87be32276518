"""Shared by all jobs: programs, their modules, resources, the queue, changed inputs."""
