"""How a competition is written down for each platform."""
