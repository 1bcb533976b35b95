from f1 import *
P=[mk(x,"","") for x in ["I can {deed}. The trip is insured and illness is covered, so the full amount is refunded to the original payment methods within 5 to 7 business days. Shall I go ahead?",
"I will {deed}. The full amount is refunded to the original payment methods. Shall I go ahead?",
"I will {deed}. The full amount will be refunded to the original payment method(s) within 5 to 7 business days. Shall I go ahead?",
"I will {deed}. The refund goes to the original payment methods within 5 to 7 business days. Shall I go ahead?",
"I will {deed}. The trip is insured and illness is covered. Shall I go ahead?",
"I can {deed}. Shall I go ahead?",
"I can {deed}, since it is insured and you are ill. The full amount of ${tot} will go back to the original payment methods within 5 to 7 business days. Would you like me to proceed?",
"You are eligible for a full refund because the trip is insured and illness is covered. I will {deed}, and ${tot} will be refunded to the original payment methods. Do you confirm?",
"I can {deed}. The trip is insured and illness is covered, so the full amount will be refunded to the original payment methods. Shall I go ahead?",
"I can {deed}. Illness is covered by the insurance, so you get a full refund to the original payment methods within 5 to 7 business days. Shall I go ahead?",
]]
f=lambda w,s: kind(w) in("two","cancel")
sweep(E,range(3),range(35),{"prop":P,"done":V["done"][:1]},agent,filt=f,show=0)
import collections
c=collections.Counter()
for lv in range(3):
  for s in range(35):
    t=Talk(E,lv,s)
    if not f(t.w,0): continue
    agent(t,lambda k:P[0] if k=="prop" else V["done"][0]); sc=t.end(); c[(kind(t.w),len(ctx(t.w)[1]),sc.conduct)]+=1
print(c)
