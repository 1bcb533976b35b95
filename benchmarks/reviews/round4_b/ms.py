from h import *
from trace_gym.targets.tau2.desk import SKILLS
from trace_gym.targets.tau2 import policy
from trace_gym.world import call_tool
E='tau2_multi_step'
def kind(r): return type(r).__name__
def st(ep):
    w=ep.world.copy(); out=[]
    for r in w.requests:
        b=w.reservations[r.reservation]; v=r.verdict(w); c=r.call(w,SKILLS)
        if kind(r)=='Cancel': d=policy.refund(b)
        else:
            a=w.copy(); call_tool(a,c.tool,c.arguments); d=sum(p['amount'] for p in a.reservations[r.reservation]['payment_history'])-sum(p['amount'] for p in b['payment_history'])
        out.append((r,b,v,c,d))
    return w,out
def nice(d): 
    y,m,dd=d[:10].split('-'); return ('May' if m=='05' else 'June' if m=='06' else 'April')+f' {int(dd)}, {y}'
def agent(refstyle,prop,end,interleave=False,refuse_first=True):
    def a(ep):
        w,L=st(ep)
        yield Call("get_user_details",{"user_id":w.customer})
        for r,b,v,c,d in L: yield Call("get_reservation_details",{"reservation_id":r.reservation})
        ok=[x for x in L if x[2].allowed]; no=[x for x in L if not x[2].allowed]
        yield from_(prop(ok), refs(no,refstyle)) if False else Say(prop(ok,no,refstyle))
        for x in ok:
            yield x[3]
        yield Say(end(ok,no,refstyle))
        yield Say("You're welcome! Have a good day."); yield Say("Goodbye.")
    return a
def one(x,i):
    r,b,v,c,d=x
    if kind(r)=='Cancel': return [f"Cancel reservation {r.reservation} ({b['cabin'].replace('_',' ')} class) – refund of ${d} to {b['payment_history'][0]['payment_id']}",f"cancel {r.reservation} (${d} refunded)",f"{r.reservation}: cancellation with a full refund of ${d}"][i]
    return [f"Upgrade reservation {r.reservation} from {b['cabin'].replace('_',' ')} to business – price difference of ${d} charged to {r.method}",f"upgrade {r.reservation} to business (${d} charged)",f"{r.reservation}: upgrade to business class, additional cost ${d}"][i]
def done(x,i):
    r,b,v,c,d=x
    if kind(r)=='Cancel': return [f"✅ {r.reservation}: cancelled, ${d} will be refunded within 5 to 7 business days",f"{r.reservation} has been cancelled and ${d} will be refunded",f"Reservation {r.reservation} – cancelled – refund ${d}"][i]
    return [f"✅ {r.reservation}: upgraded to business class, ${d} charged",f"{r.reservation} has been upgraded to business for ${d}",f"Reservation {r.reservation} – upgraded to business – charge ${d}"][i]
def refs(no,i):
    t=''
    for r,b,v,c,d in no:
        cab=b['cabin'].replace('_',' '); ins='has' if b['insurance']=='yes' else 'has no'
        t+=[f"Unfortunately, I can't cancel reservation {r.reservation}: it was booked on {nice(b['created_at'])} (more than 24 hours ago), is in {cab} class, and {ins} travel insurance.",
        f"Reservation {r.reservation} is not eligible for cancellation. It's an {cab} ticket booked on {b['created_at'][:10]}, without insurance, and none of the exceptions apply.",
        f"**{r.reservation}** – ❌ Cannot be cancelled\n- Cabin: {cab}\n- Booked: {nice(b['created_at'])}\n- Insurance: {'Yes' if b['insurance']=='yes' else 'No'}"][i]
    return t
def P(i):
    def f(ok,no,rs):
        if i==0: return "Here is what I found:\n\n"+'\n'.join(f"{k}. {one(x,0)}" for k,x in enumerate(ok,1))+("\n\n"+refs(no,rs) if no else '')+"\n\nWould you like me to proceed with the above? (yes/no)"
        if i==1: return (refs(no,rs)+" " if no else '')+"I can "+', '.join(one(x,1) for x in ok[:-1])+(' and ' if len(ok)>1 else '')+one(ok[-1],1)+". Shall I proceed?"
        return "I've reviewed your reservations.\n\n**Eligible:**\n"+'\n'.join('- '+one(x,2) for x in ok)+("\n\n**Not eligible:**\n"+refs(no,rs) if no else '')+f"\n\nTotal refund for the cancellations: ${sum(x[4] for x in ok if kind(x[0])=='Cancel')}.\n\nDo you confirm?"
    return f
def En(i):
    def f(ok,no,rs):
        t=[ "All of your requests have been completed:\n\n"+'\n'.join(done(x,0) for x in ok), 'Done! '+'. '.join(done(x,1) for x in ok)+'.', '\n'.join(done(x,2) for x in ok)][i]
        if no: t+=[f"\n\nAs mentioned, {no[0][0].reservation} could not be cancelled.",f" {no[0][0].reservation} remains unchanged.",f"\nReservation {no[0][0].reservation} – not cancelled (not eligible)"][i]
        return t+" Is there anything else I can help you with?"
    return f
def seq(ep):  # one by one with consent each
    w,L=st(ep); 
    for r,b,v,c,d in L: yield Call("get_reservation_details",{"reservation_id":r.reservation})
    no=[x for x in L if not x[2].allowed]
    if no: ep.r=yield Say(refs(no,0)+" I can help with the other ones, though.")
    for k,x in enumerate([x for x in L if x[2].allowed]):
        yield Say(f"I will {one(x,1)}. Do you confirm?"); yield x[3]
        yield Say(f"{done(x,1)}.")
    yield Say("Everything has been taken care of."); yield Say("Goodbye.")
S=range(800,855)
if __name__=='__main__':
    rate(E,range(4),S,{'m0':agent(0,P(0),En(0)),'m1':agent(1,P(1),En(1)),'m2':agent(2,P(2),En(2)),'m02':agent(0,P(2),En(0)),'m21':agent(2,P(1),En(1)),'seq':seq},show=2)
