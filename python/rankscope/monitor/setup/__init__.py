"""Projects as code: files that say how projects are measured and watched, and what differs."""
