from h import *
from trace_gym.targets.tau2.desk import SKILLS
from trace_gym.targets.tau2 import policy
E='tau2_tool_precision'
def kind(r): return type(r).__name__
def st(ep):
    w=ep.world.copy(); r=w.requests[0]; b=w.reservations[r.reservation]; c=r.call(w,SKILLS); a=w.copy(); from trace_gym.world import call_tool
    call_tool(a,c.tool,c.arguments); ph=a.reservations[r.reservation]['payment_history']; d=sum(p['amount'] for p in ph)-sum(p['amount'] for p in b['payment_history'])
    return w,r,b,c,d
def meth(w,m):
    x=w.users[w.customer]['payment_methods'][m]; return f"{x['source'].replace('_',' ')}"+(f" ending in {x['last_four']}" if 'last_four' in x else '')
def pr(w,b): 
    f=b['flights'][0]; return w.flights[f['flight_number']]['dates'][f['date']]['prices']['business']
def agent(p,e):
    def a(ep):
        w,r,b,c,d=st(ep)
        yield Call("get_user_details",{"user_id":w.customer}); yield Call("get_reservation_details",{"reservation_id":r.reservation})
        f=b['flights'][0]
        if kind(r)=='Upgrade': yield Call("search_direct_flight",{"origin":f['origin'],"destination":f['destination'],"date":f['date']})
        rep=yield Say(p(w,r,b,c,d))
        if not rep.startswith('Yes'): ep.odd=rep
        yield c; yield Say(e(w,r,b,c,d)); yield Say("You're welcome!")
    return a
def p0(w,r,b,c,d):
    n=len(b['passengers']); f=b['flights'][0]
    if kind(r)=='Upgrade': return f"I can upgrade reservation **{r.reservation}** from {b['cabin'].replace('_',' ')} to business class:\n\n- Flight: {f['flight_number']} on {f['date']} ({f['origin']} → {f['destination']})\n- Passengers: {n}\n- Current price: ${f['price']} per passenger\n- Business price: ${pr(w,b)} per passenger\n- Difference: ${pr(w,b)-f['price']} x {n} = **${d}**\n- Payment: {meth(w,r.method)}\n\nDo you want me to proceed? (yes/no)"
    t=c.arguments['total_baggages']; nf=c.arguments['nonfree_baggages']-b['nonfree_baggages']
    return f"I can add {r.extra} checked bag{'s' if r.extra>1 else ''} to reservation {r.reservation}. You're a {w.users[w.customer]['membership']} member in {b['cabin'].replace('_',' ')}, so you get {policy.free_bags(w.users[w.customer]['membership'],b['cabin'],n)} free checked bag(s) in total. {r.extra-nf} of the new bags {'are' if r.extra-nf!=1 else 'is'} free and {nf} cost $50 each, for a total of ${d}, charged to your {meth(w,r.method)}. Shall I go ahead?"
def e0(w,r,b,c,d):
    if kind(r)=='Upgrade': return f"Your reservation {r.reservation} has been upgraded to business class. ${d} has been charged to your {meth(w,r.method)}. Is there anything else I can help you with?"
    return f"Done! {r.extra} checked bags have been added to {r.reservation}"+(f", and ${d} has been charged to your {meth(w,r.method)}." if d else " at no extra charge.")+" Anything else?"
def p1(w,r,b,c,d): 
    if kind(r)=='Upgrade': return f"The upgrade of {r.reservation} to business costs ${d} in total (new fare ${pr(w,b)*len(b['passengers'])} minus ${b['flights'][0]['price']*len(b['passengers'])} already paid for the flight). I'd charge it to {r.method}. Do you confirm?"
    return f"To confirm: {c.arguments['total_baggages']} bags in total on {r.reservation}, {c.arguments['nonfree_baggages']} of them paid, ${d} on {r.method}. OK to proceed?"
def e1(w,r,b,c,d): 
    m=w.users[w.customer]['payment_methods'][r.method]
    return "All set."+(f" ${d} was charged to your {meth(w,r.method)}" + (f", leaving a balance of ${m['amount']-d}" if 'amount' in m else '')+"." if d else " No charge applies.")
def p2(w,r,b,c,d): return f"I will {'upgrade '+r.reservation+' to business' if kind(r)=='Upgrade' else 'add '+str(r.extra)+' bags to '+r.reservation} and charge your {meth(w,r.method)}. Shall I proceed?"
def e2(w,r,b,c,d): return "Done."
S=range(600,660)
if __name__=='__main__':
    rate(E,range(4),S,{'g0':agent(p0,e0),'g1':agent(p1,e1),'g2':agent(p2,e2)},show=2)
    def wrongamt(w,r,b,c,d): return f"Done. I have charged ${d+45} to your {meth(w,r.method)}."
    def exch(w,r,b,c,d): return f"Done. ${d} has been refunded to your {meth(w,r.method)}."
    def wrongm(w,r,b,c,d): 
        o=[m for m in w.users[w.customer]['payment_methods'] if m!=r.method][0]; return f"Done. ${d} has been charged to your {meth(w,o)}."
    def perone(w,r,b,c,d): return f"Done. ${pr(w,b)-b['flights'][0]['price'] if kind(r)=='Upgrade' else 50*r.extra} in total has been charged to your {meth(w,r.method)}."
    def orig(ep):
        w,r,b,c,d=st(ep); yield Call("get_reservation_details",{"reservation_id":r.reservation}); m=b['payment_history'][0]['payment_id']
        yield Say(f"I will do that for {r.reservation}, charged to {m}. Shall I proceed?")
        yield Call(c.tool,{**c.arguments,'payment_id':m}); yield Say("Done."); yield Say("bye")
    def allpaid(ep):
        w,r,b,c,d=st(ep); yield Say(p2(w,r,b,c,d))
        yield Call(c.tool,{**c.arguments,**({'nonfree_baggages':b['nonfree_baggages']+r.extra} if kind(r)=='Bags' else {})}); yield Say("Done."); yield Say("bye")
    def nocons(ep):
        w,r,b,c,d=st(ep); yield c; yield Say("Done."); yield Say("bye")
    rate(E,range(4),S,{'wrongamt':agent(p2,wrongamt),'exch':agent(p2,exch),'wrongmethod_said':agent(p2,wrongm),'perone':agent(p2,perone),'orig':orig,'allpaid':allpaid,'nocons':nocons},quiet=True)
