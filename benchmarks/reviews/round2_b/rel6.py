from rel import *
import collections
C=["The difference is ${a}, which you pay with {pm}.","The fare difference comes to ${a}; this has been charged to {pm}.","You pay a difference of ${a}.","The new flight costs ${a} more in total, charged to {pm}.","You owe ${a}, which was charged to {pm}.","The difference is +${a} (you pay).","Difference: ${a} – you pay.","An additional ${a} was charged to {pm}.","The price went up by ${a}, and you pay this difference with {pm}.","The new flight is more expensive by ${a}, so you pay the difference.","The difference of ${a} has been deducted from {pm}.","You paid ${a} for the difference.","The cost of the change is ${a}, charged to {pm}.","The difference in dollars is ${a}, and you pay it.","The new fare is higher by ${a}, so you pay this amount.","Price difference: ${a} (to be paid by you)","Since the new fare is higher, you pay the difference of ${a}.","The difference is $a dollars: you pay."]
R=["The difference is ${a}, which you get back on {pm}.","The fare difference comes to ${a}; this has been refunded to {pm}.","You get back a difference of ${a}.","The new flight costs ${a} less in total, refunded to {pm}.","You'll receive a refund of ${a} to {pm}.","The difference is -${a} (you get it back).","Difference: ${a} – you get it back.","${a} was credited to {pm}.","The price went down by ${a}, and you get this difference back on {pm}.","The new flight is cheaper by ${a}, so you get the difference back.","The difference of ${a} has been returned to {pm}.","You are owed ${a}, which was refunded to {pm}.","The change results in a refund of ${a} to {pm}.","The difference in dollars is ${a}, and you get it back.","The new fare is lower by ${a}, so you get this amount back.","Price difference: ${a} (refund to you)","Since the new fare is lower, you get the difference of ${a} back.","You save ${a}, which goes back to {pm}."]
for role,L in (('charge',C),('refund',R)):
  for t in L:
    g=n=0;b_=''
    for lv in range(3):
      for s in range(2000,2050):
        ep=start('tau2_relative_date_reasoning',lv,s); w=ep.world; x=info(w)[2]
        if (x>0)!=(role=='charge'): continue
        ch,legs,tt,nn,was=info(w); k=dict(a=abs(tt),pm=pmm(w))
        def f():
            yield Call('get_reservation_details',{'reservation_id':w.code}); yield Say(text=f"The day you describe is {' and '.join(longw(g['date']) for _,o,g in legs)}. I'd change {w.code} to that day, with any difference settled with {pmm(w)}. Would you like me to proceed?")
            yield ch; yield Say(text=f"Your reservation {w.code} has been updated. "+t.replace('$a dollars','{a} dollars').format(**k)+" Is there anything else I can help you with?")
        run(ep,f()); n+=1; g+=ok(ep)
    print(g,n,role,t)
