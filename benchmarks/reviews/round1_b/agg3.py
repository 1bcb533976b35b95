from agg2 import *
print("=== agg3: all conversations played to their end (up to 15 good-byes)")
def full(e,k):
    ag(e,k)
    n=0
    while not e.done and n<15: e.step(Say(text="Thank you for contacting us. Goodbye!")); n+=1
    T[0]+=n; T[1]+=1
for k in ("colon","inline","table","paidfor","cost"):
    T=[0,0]; run("tau2_aggregation",range(4),range(100,180),full,k,show=0,k=k); print("mean good-byes needed",T[0]/T[1])
