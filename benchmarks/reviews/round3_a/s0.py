from h import *
for e,l,s in (('tau2_retail_precondition',2,3),('tau2_retail_precondition',3,4),('tau2_retail_precondition',1,5),('tau2_retail_desk',0,2),('tau2_retail_desk',1,0),('tau2_retail_desk',1,1)):
    print('##',e,l,s); show(e,l,s,lambda w:(x for x in w.oracle()))
