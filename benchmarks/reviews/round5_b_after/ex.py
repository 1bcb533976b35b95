import f1,d1
from lib import *
isc=lambda w: f1.kind(w) in("two","cancel")
t=Talk(f1.E,0,5); f1.agent(t,lambda k: f1.V["prop"][0] if k=="prop" else f1.mk("{did}. ","{m} gets back {det}, so ${a} in total",".","; ")); sc=t.end(); print(failed(sc)); print("\n".join(t.log[-3:]))
t=Talk(d1.E,0,0); d1.agent(t,lambda k: d1.V["done"][0] if k=="done" else d1.mk("The new date is ","{date}",". I will change {code}. Difference: ${per} per passenger x {n} passengers = ${a}, {vb} {meth}. Shall I proceed?")); sc=t.end(); print(failed(sc)); print("\n".join(l for l in t.log if "CALL" not in l))
