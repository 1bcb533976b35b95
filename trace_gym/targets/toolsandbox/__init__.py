"""The ToolSandbox phone: interface, settings that depend on one another, base world.

Names, types, record shapes and dependencies are facts of apple/ToolSandbox; every wording is ours.
"""
