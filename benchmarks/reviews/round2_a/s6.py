from w2 import *
E="tau2_baggage_allowance"
def upb(c,t,p,m): return Call(tool="update_reservation_baggages",arguments={"reservation_id":c,"total_baggages":t,"nonfree_baggages":p,"payment_id":m})
def info(w):
    m=w.users[w.customer]["membership"]; out=[]
    for c,tot in w.wanted.items():
        b=w.reservations[c]; n=len(b["passengers"]); fr=pol.free_bags(m,b["cabin"],n); had=b["total_baggages"]; was=b["nonfree_baggages"]
        paid=max(was,tot-fr); out.append(dict(c=c,tot=tot,n=n,fr=fr,had=had,was=was,paid=paid,fee=50*(paid-was),cab=CAB[b["cabin"]],add=tot-had))
    return m,out
def prop(k,m,I,card,tot):
    if k==0: return "Here's what I found:\n\n"+"\n\n".join(f"**Reservation {i['c']}** ({i['cab']}, {i['n']} passenger{'s'*(i['n']>1)}, {m} member)\n- Free allowance: {i['fr']} bags ({i['fr']//i['n']} per passenger)\n- Current bags: {i['had']} ({i['was']} paid)\n- New total: {i['tot']} bags, of which {i['paid']} are paid\n- Charge for the added bags: ${i['fee']}" for i in I)+f"\n\n**Total charge: ${tot}** to {card}\n\nShall I proceed?"
    if k==1: return " ".join(f"For {i['c']}, adding {i['add']} bag{'s'*(i['add']>1)} brings you to {i['tot']} bags. As a {m} member in {i['cab']} with {i['n']} passenger{'s'*(i['n']>1)} you have {i['fr']} free bags, so "+(f"{i['paid']-i['was']} of the added bags will cost $50 each (${i['fee']})." if i['fee'] else "the added bags are free of charge.") for i in I)+f" In total, you would pay ${tot} with {card}. Do you confirm?"
    if k==2: return f"The total cost for the added bags is ${tot}"+(f" ({' + '.join('$%d'%i['fee'] for i in I)})" if len(I)>1 else "")+f". I'll update "+" and ".join(f"{i['c']} to {i['tot']} bags" for i in I)+f" and use {card} for any charge. Is that okay?"
    if k==3: return f"With your {m} membership:\n"+"\n".join(f"- {i['c']}: {i['tot']} bags in total − {i['fr']} free = {max(0,i['tot']-i['fr'])} paid bag(s)"+(f"; {i['was']} already paid, so {i['paid']-i['was']} × $50 = ${i['fee']}" if i['was'] else f" × $50 = ${i['fee']}") for i in I)+f"\n\nTotal: ${tot}. Would you like me to go ahead?"
    if k==4: return "I can add the bags. "+" ".join(f"Reservation {i['c']} includes {i['fr']} free checked bags, and you'd have {i['tot']}. "+("No additional charge applies." if not i['fee'] else f"The additional charge is ${i['fee']}.") for i in I)+(f" Total: {tot} dollars." if len(I)>1 or not tot else "")+f" The payment method is {card}. OK to proceed?"
def fin(k,m,I,card,tot):
    if k==0: return "The bags have been added:\n"+"\n".join(f"- {i['c']}: {i['tot']} checked bags ({i['paid']} paid)" for i in I)+f"\n\nYou paid ${tot} in all for the added bags. Is there anything else I can help you with?"
    if k==1: return (f"All done! Your {card.replace('_',' ')} was charged ${tot} for the added bags." if tot else "All done! Your bags were added at no charge ($0).")
    if k==2: return f"I've updated your reservation{'s'*(len(I)>1)}. The added bags cost you {tot} dollars in all."
    if k==3: return f"Your bags are confirmed. Total charged for the added bags: ${tot}.00."
    if k==4: return "Done. "+" ".join(f"{i['c']} now has {i['tot']} checked bags, and you were charged ${i['fee']} for it." for i in I)+f" That's ${tot} in all."
def good(a,b):
  def f(ep,rng):
    w=ep.world.copy(); yield getu(w)
    for c in w.wanted: yield getr(c)
    m,I=info(w); tot=sum(i['fee'] for i in I)
    k=rng.randrange(5) if a is None else a; j=rng.randrange(5) if b is None else b
    yield S(prop(k,m,I,w.card,tot))
    for i in I: yield upb(i['c'],i['tot'],i['paid'],w.card)
    yield S(fin(j,m,I,w.card,tot))
  return f
def onebyone(ep,rng):
    w=ep.world.copy(); yield getu(w); m,I=info(w); tot=0
    for i in I:
        yield getr(i['c']); tot+=i['fee']
        yield S(f"For {i['c']}, the allowance is {i['fr']} free bags, so adding {i['add']} costs ${i['fee']}. May I proceed and use {w.card}?")
        yield upb(i['c'],i['tot'],i['paid'],w.card)
        last=i is I[-1]
        yield S(f"{i['c']} now has {i['tot']} bags. "+("" if not last else f"For all added bags you pay ${tot} in total."))
def silent(ep,rng):
    w=ep.world.copy(); m,I=info(w)
    yield S("I'll add the bags you asked for. OK?")
    for i in I: yield upb(i['c'],i['tot'],i['paid'],w.card)
    yield S("The bags are added.")
def believe(fn):
  def f(ep,rng):
    w=ep.world.copy(); m,I=info(w)
    for i in I: i['paid']=max(i['was'],min(i['tot'],fn(i)));i['fee']=50*(i['paid']-i['was'])
    tot=sum(i['fee'] for i in I)
    yield S(prop(2,m,I,w.card,tot))
    for i in I: yield upb(i['c'],i['tot'],i['paid'],w.card)
    yield S(fin(2,m,I,w.card,tot))
  return f
def wrongtell(t):
  def f(ep,rng):
    w=ep.world.copy(); m,I=info(w); tot=sum(i['fee'] for i in I)
    yield S(f"I'll add the bags to {' and '.join(i['c'] for i in I)}. OK?")
    for i in I: yield upb(i['c'],i['tot'],i['paid'],w.card)
    yield S(t(tot)); 
    if not ep.done: yield S(t(tot))
  return f
if __name__=="__main__":
    for k in range(5): table(E,[1,3],50,{f"prop{k}":good(k,2)},bad=1)
    for k in range(5): table(E,[1,3],50,{f"fin{k}":good(2,k)},bad=1)
    table(E,[0,2],50,{"mix":good(None,None)},bad=1)
    table(E,[1,2,3],50,{"onebyone":onebyone},bad=1)
    table(E,[1,3],60,{"silent":silent,"allfree":believe(lambda i:0),"allpaid":believe(lambda i:i['tot']),"one_per":believe(lambda i:i['tot']-i['n']),
      "refundtold":wrongtell(lambda t:f"Done. ${t} will be refunded to you in all."),"stuff":wrongtell(lambda t:"Done. The added bags cost 0, 50, 100, 150, 200, 250 or 300 dollars in all."),"wrong":wrongtell(lambda t:f"Done. You pay ${t+50} in all."),"free":wrongtell(lambda t:f"Done, it is free of charge.") },bad=0)
