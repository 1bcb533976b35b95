import io,contextlib
with contextlib.redirect_stdout(io.StringIO()):
    from rsd2 import *
for p in (pol2(V['flip end F2']),pol2(F3,wi)):
    e,log=play('tau2_retail_structured_data',1,1,p); show([x for i,x in enumerate(log) if x[0] in('SAY','USER') or x[0]=='CALL' and 'order_items' in x[1] or x[0]=='  ->' and log[i-1][0]=='SAY'],900); print([c.description for c in e.finish().checks if not c.passed], e.finish().success)
