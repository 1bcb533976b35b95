from w2 import *
sys.path.insert(0,"TREE")
from generated_envs.tau2_intent_revision import follow
E="tau2_intent_revision"
def base(opts):
  def f(ep,rng):
    w=ep.world.copy(); yield getu(w)
    R=w.reservations
    for c in R: yield getr(c)
    pl=lambda c: rec.AIRPORTS[R[c]["destination"]]
    wishes=follow(w.first,w.revisions)
    order=lambda s:[c for c in R if c in s]
    def offer(s):
        s=order(s); tot=sum(pol.refund(R[c]) for c in s)
        if opts.get("brief"): return "I will cancel your trips to "+", ".join(f"{pl(c)} ({c})" for c in s)+". Would you like me to proceed?"
        return "Here's what I will cancel:\n\n"+"\n".join(f"{i+1}. **{c}** – {pl(c)} on {R[c]['flights'][0]['date']} (refund ${pol.refund(R[c])})" for i,c in enumerate(s))+f"\n\n**Total refund: ${tot:,}** to your original payment methods within 5–7 business days.\n\nDo you confirm? (yes/no)"
    a=yield S(offer(wishes[0]))
    if opts.get("dump") and False: pass
    for k in range(1,len(wishes)-1):
        a=yield S(("Understood. Here's the updated plan. " if rng.random()<.5 else "Thanks for letting me know. ")+offer(wishes[k]))
    if opts.get("reconfirm"):
        a=yield S("Got it, just to confirm the final list. "+offer(wishes[-1]))
    s=order(wishes[-1]); tot=sum(pol.refund(R[c]) for c in s)
    for c in s:
        yield can(c)
    bym={}
    for c in s:
        for p in R[c]["payment_history"]: bym[p["payment_id"]]=bym.get(p["payment_id"],0)+p["amount"]
    kept=[c for c in order(set(wishes[0])|{x for r in w.revisions for x in r}) if c not in s]
    fin=opts.get("fin","list")
    if fin=="list": t="Your trips have been cancelled:\n\n"+"\n".join(f"- {c} ({pl(c)}): ${pol.refund(R[c])}" for c in s)+f"\n\n**Total refund: ${tot:,}**, to the original payment methods within 5–7 business days. Is there anything else I can help you with?"
    if fin=="sum": t="All requested trips have been cancelled. In total you get "+" + ".join(f"${pol.refund(R[c])}" for c in s)+f" = ${tot} back."
    if fin=="method": t="I've cancelled your trips to "+" and ".join(pl(c) for c in s)+f". The total refund is ${tot}: "+" and ".join(f"${v} to {m}" for m,v in bym.items())+". Please allow 5 to 7 business days."
    if fin=="method2": t="I've cancelled your trips to "+" and ".join(pl(c) for c in s)+f".\n\nRefunds:\n"+"\n".join(f"- {m.replace('_',' ')}: ${v}" for m,v in bym.items())+f"\n\nTotal: ${tot}"
    if fin=="kept": t=f"All done. I cancelled "+", ".join(f"{pl(c)} ({c})" for c in s)+(f", and kept {', '.join(pl(c) for c in kept)}" if kept else "")+f". You will get back a total of ${tot:,}.00."
    if fin=="instead": t=f"The trips to {', '.join(pl(c) for c in s)} are cancelled. You'll receive ${tot} in total"+(f" (instead of the ${sum(pol.refund(R[c]) for c in wishes[0])} that I mentioned before)" if tot!=sum(pol.refund(R[c]) for c in wishes[0]) else "")+"."
    yield S(t)
  return f
P={}
for fin in ["list","sum","method","method2","kept","instead"]: P["d_"+fin]=base(dict(fin=fin)); 
P["reconf_list"]=base(dict(fin="list",reconfirm=1)); P["brief_sum"]=base(dict(fin="kept",brief=1)); P["brief_reconf"]=base(dict(fin="list",brief=1,reconfirm=1))
table(E,[0,1,2],50,P,bad=1)
