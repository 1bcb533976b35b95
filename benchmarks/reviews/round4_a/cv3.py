import sys; sys.argv=['x']
import io, contextlib
with contextlib.redirect_stdout(io.StringIO()):
    import cv2
from cv2 import *
for lv in range(4):
    print('cancel only',lv,{k:rate2(ENV,lv,short(k),range(120),canc)[0] for k in ('distrust','ins only','all','promise=no')},'bags only',{k:rate2(ENV,lv,short(k),range(120),bags)[0] for k in ('claimed','regular')},flush=True)
    print('   believing (ablated)', rate('tau2_claim_verification',lv,lambda w:w.ablated(),range(120))[:2])
