"""Values of sampled candidates, corrected."""
