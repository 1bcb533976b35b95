"""Parts of prompts that several stages use: the templates, and shortened trajectories as evidence."""
