"""Write the environments of the specs named, or of all that ship, into the folder for new environments."""

import sys

from trace_gym.registry import home
from trace_gym.synthesize import synthesize, template

for name in sys.argv[1:] or template.spec_names():
    synthesize(name, folder=home())
