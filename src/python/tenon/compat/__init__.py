"""Layers under which programs written for other compilers run."""
