"""What all plots share: axes, names, colors and files."""
