"""The scoring image of a competition: lock its models, build it, check it, push it; all by the docker command."""
