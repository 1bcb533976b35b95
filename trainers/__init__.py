"""Trainers, one module per algorithm. Importing this package does not import torch."""
