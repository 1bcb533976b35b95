from d1 import *
import collections
for x in ["Changed. You pay {a} dollars or get them back.","Changed. You get {a} dollars back or pay them.","Changed. The difference is {a} dollars. You pay it. You get it back.","Changed. The difference is {a} dollars. You get it back. You pay it.","Changed. The difference of {a} dollars was settled with {meth}. You pay it or get it back.","Changed. You pay {a} dollars.","Changed. The difference is {a} dollars; it is either charged or credited."]:
    c=collections.Counter()
    for lv in range(3):
        for s in range(40):
            t=Talk(E,lv,s); d=ctx(t.w)[0]["vb"][:7]; agent(t,lambda k: mk(x,"","") if k=="done" else V[k][0]); sc=t.end(); c[(d,sc.success,"FOLLOWUP" in t.log)]+=1
    print(x,dict(c))
print("--- proposal mentions that it is not business class")
for e in ("tau2_handover_judgement","tau2_record_identification","tau2_aggregation","tau2_refund_explanation"):
  for x in (" It is not business class, but the insurance covers illness. Do you agree?"," It isn't a business class booking, but it is insured and you are ill. Shall I proceed?"," The trip is not in business, was booked more than 24 hours ago, but it is insured and health is a covered reason. Shall I proceed?", " It can be cancelled because it is insured and you are ill. Shall I proceed?"," I have checked that the trip is eligible (booked within 24 hours, cancelled by airline, business class, or insured). Shall I proceed?"):
    c=collections.Counter(); m=None
    for lv in range(3):
      for s in range(25):
        t=Talk(e,lv,s); plan=list(t.w.copy().oracle()); w=[i for i,p in enumerate(plan) if isinstance(p,Call) and t.ep.interface.kinds[p.tool]=="write"]
        if not w: continue
        if plan[w[0]].tool!="cancel_reservation": continue
        b=t.w.reservations[plan[w[0]].arguments["reservation_id"]]
        if b["cabin"]=="business": continue
        i=max(i for i,p in enumerate(plan) if isinstance(p,Say) and i<w[0])
        plan[i]=Say(plan[i].text.replace("Shall I proceed?","").replace("Do you agree?","").rstrip()+x) 
        for p in plan: t.do(p)
        sc=t.end(); k=sc.conduct==1 and sc.success; c[k]+=1
        if not k and m is None: m=(plan[i].text,failed(sc))
    print(e,x,dict(c),m)
