"""The mutants as a language model would answer them: modules of their own, in which a fault is a line among others."""
