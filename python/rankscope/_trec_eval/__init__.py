"""`rankscope trec_eval`: evaluates a run with the arguments and the output of trec_eval."""
