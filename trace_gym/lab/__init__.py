"""The embedded agent: a tiny language model that speaks the protocol and lacks the capabilities.

It lets the whole loop run on a laptop, with the real libraries and without a download. Needs the
``lab`` extra (torch, transformers, peft).
"""
