"""Many runs by many measures in one table: ranks, groups, and signs against baselines."""
