"""Scoring of {{ title }}."""
