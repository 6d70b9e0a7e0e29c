"""All that is known of the platform: how it reads a bundle, runs submissions and shows scores."""
