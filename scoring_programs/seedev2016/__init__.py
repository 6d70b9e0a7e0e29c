"""SeeDev, BioNLP Shared Task 2016: events of plant seed development, binary and full."""
