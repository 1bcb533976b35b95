from t_num2 import *
print('numeric (a)');show(E,3,0,ag(S0+G[0],'bags'))
print('numeric (b)');show(E,1,9,ag(C[2],'cab'))
from t_con2b import *
print('concurrent'); show('tau2_concurrent_intents',0,0,mk2("As the flight of {R} has already been completed, no changes are allowed."))
from t_seat3 import *
print('seat'); show('tau2_seat_availability',1,0,sc(fits))
