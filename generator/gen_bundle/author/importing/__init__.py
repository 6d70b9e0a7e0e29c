"""What others wrote becomes a project: a bundle is opened, its files are put in places, and bundle.yaml is written."""
