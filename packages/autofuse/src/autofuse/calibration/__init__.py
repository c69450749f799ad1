"""Measuring this machine: probes, what they tell, and the overlay over a target that holds it."""
