"""Generated environments, importable as ``trace_gym.generated_envs.<id>``.

Folders named in ``TRACE_GYM_ENVS`` are searched after this one, so an environment in a user's own
folder has the same module name, and pickles the same way, as one that ships here.
"""

import os

__path__ += [p for p in os.environ.get("TRACE_GYM_ENVS", "").split(os.pathsep) if p]
