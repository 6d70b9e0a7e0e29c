"""PROCESS (ICASSP 2025 Signal Processing Grand Challenge): cognitive decline in spontaneous speech."""
