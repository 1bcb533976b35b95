from t_air import *
for st,sd in ((1,3),(1,5),(2,3),(2,9)): print('== style',st,'seed',sd); show('tau2_airline_desk',1,sd,plan(st))
