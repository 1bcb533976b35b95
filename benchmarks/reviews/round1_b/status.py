from trace_gym.world import states_status
from trace_gym.targets.tau2.retail_records import STATUSES
print(STATUSES)
for st in ("processed","pending (item modified)"):
  for P in ["Order #W1 is {s}. Only orders that are just pending can be changed or cancelled.",
  "Because it is not just pending, #W1 ({s}) cannot be changed.",
  "Order #W1 is {s}, not pending, so I can't change it.",
  "Order #W1 is no longer pending: its status is {s}.",
  "Order #W1 has the status {s}. Nothing but an order that is simply pending can be changed.",
  "#W1: its status is {s} rather than plain pending.",
  "The address of #W1 can only be changed while the order is pending. It is {s}.",
  "Order #W1 is {s} and would have to be pending to be cancelled.",
  "Since the order #W1 is {s} (and not in a plain 'pending' state), I can't cancel it.",
  "Order #W1 is {s}. Once it has been delivered, you can return it.",
  "Order #W1 is {s}. It hasn't been delivered yet, so it can't be returned either.",
  "Order #W1 is {s} and has not shipped yet.",
  "#W1 has already had its items modified, so its status is {s}.",
  "The items in order #W1 have already been modified once, so I'm unable to change its address." if "mod" in st else "Order #W1 has already been processed, so I cannot change it.",
  "Order #W1 is already being processed; unfortunately I can't change the address." if st=="processed" else "Order #W1 already had an item change, so it cannot be cancelled.",
  ]: print(st[:9], states_status(st,[P.format(s=st)],STATUSES,"#W1",["#W1","#W2"]),P)
