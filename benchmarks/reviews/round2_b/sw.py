from retail2 import *
sw()
