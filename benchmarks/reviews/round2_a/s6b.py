exec(open("s6.py").read().split('if __name__')[0])
def extra(t,only=None):
  def f(ep,rng):
    w=ep.world.copy(); yield getu(w); m,I=info(w); tot=sum(i['fee'] for i in I)
    for i in I: yield getr(i['c'])
    yield S(prop(2,m,I,w.card,tot))
    for i in I: yield upb(i['c'],i['tot'],i['paid'],w.card)
    yield S(f"The bags are booked. "+t(m,I,tot))
  return f
def ask(q):
  def f(ep,rng):
    yield S(q)
    g=good(0,0)(ep,rng); st=next(g)
    while True:
        a=yield st
        try: st=g.send(a)
        except StopIteration: return
  return f
X={
"earlier":lambda m,I,t:f"The added bags cost ${t} in all."+"".join(f" The {i['was']} bag(s) you paid for before on {i['c']} ($%d) are not charged again."%(50*i['was']) for i in I if i['was']),
"without":lambda m,I,t:f"You pay ${t} for them in all. Thanks to your {m} membership you saved ${50*sum(i['tot']-i['was']-0 for i in I)-t}.",
"each":lambda m,I,t:f"The total for the added bags is ${t} (${50} per bag beyond your free allowance).",
"zero":lambda m,I,t:f"The additional bags come to {t} dollars in all"+(", so nothing was charged to your card." if not t else "."),
"words":lambda m,I,t:f"Total cost of the added bags: "+(f"${t}" if t else "$0 (all of them are within your free allowance)")+".",
"billed":lambda m,I,t:(f"I've billed ${t} to your credit card for the added bags." if t else "There is no charge for the added bags: $0."),
"paymentof":lambda m,I,t:(f"A payment of ${t} was made with your credit card." if t else "No payment was necessary; the cost is $0."),
"sum":lambda m,I,t:" + ".join(f"${i['fee']}" for i in I)+(f" = ${t}" if len(I)>1 else "")+" was charged to your card for the added bags.",
}
table(E,[1,3],50,{k:extra(v) for k,v in X.items()},bad=1)
table(E,[1,3],30,{q:ask(q) for q in ["Could you confirm the total number of bags you want on each reservation?","How many bags do you already have on the reservation?","Are the bags for all passengers?","Would you like to use your credit card for the payment?","Let me check your reservation details first."]},bad=1)
