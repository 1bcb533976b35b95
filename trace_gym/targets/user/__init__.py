"""Targets of the user's own: a folder with tool schemas, a policy and trajectories, and a base world written for it.

The base world of the target ``library_desk`` is imported as ``trace_gym.targets.user.library_desk_base``, in every
process, from the target's folder, and only as it was admitted.
"""

from trace_gym.targets.user import bases

bases.install()
