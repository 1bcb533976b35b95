from s2 import mk
from h import *
A="I'll cancel {A} (refund of ${x}). "
for p in ["For {B}, the business fare is ${n} and you paid ${o}, so the difference of ${d} goes on your card.",
 "Business class on {B} is ${n}; you originally paid ${o}. Difference to pay: ${d}.",
 "Business on {B} currently costs ${n}, minus the ${o} already paid, leaving ${d} to be charged.",
 "{B} to business: new fare ${n}, old fare ${o}, difference ${d}.",
 "{B}: Business price: ${n}\n- Current price: ${o}\n- Difference: ${d}",
 "Upgrade {B} to business (${o} -> ${n}), charging ${d} to your card.",
 "Upgrade {B} from economy (${o}) to business (${n}), a difference of ${d}.",
 "Upgrade {B}: the cost is ${n} - ${o} = ${d}.",
 "The upgrade of {B} costs ${d} (${n} − ${o}).",
 "The business fare for {B} is ${n}, so you pay ${d} more than the ${o} you paid.",
 "Upgrading {B} costs ${d} more in total (the business fare is ${n}, your current fare is ${o}).",
 "| {B} | Business: ${n} | Paid: ${o} | Difference: ${d} |"]:
  print(repr(p)); go('tau2_airline_desk',1,mk(A+p,"Both are done."),range(220))
