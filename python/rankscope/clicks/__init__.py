"""Click logs: how often ranks are looked at, and what another ranker would have got."""
