"""Target for the ToolSandbox benchmark, a phone assistant: interface, interdependent settings and base world.

Names, types, record shapes and dependencies follow apple/ToolSandbox. All texts were written for this project.
"""
