"""Custom targets. Each is a folder with tool schemas, a policy, recorded trajectories, and a generated base world.

The base world of the target ``library_desk`` is imported from the folder of the target under the module name
``trace_gym.targets.user.library_desk_base``. The import fails if the file differs from the admitted version.
"""

from trace_gym.targets.user import bases

bases.install()
