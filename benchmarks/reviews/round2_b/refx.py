from lib2 import *
import trace_gym.score as TS
from trace_gym.targets.tau2.airline import Upgrade,Cancel,SKILLS
from trace_gym.targets.tau2 import policy
def lab(w,m,st=0):
    x=w.users[w.customer]['payment_methods'][m]
    if x['source']=='gift_card': return [f"{m}",f"gift card ({m})",f"**{m}**",f"`{m}`"][st%4]
    return [f"{m}",f"{x['brand'].title()} ending in {x['last_four']} ({m})",f"**{m}**",f"`{m}`"][st%4]
def pl(k):
    def f(w):
        due=w.moves(); r0=w.requests[0]; codes=[r.reservation for r in w.requests]; J=' and '.join(codes)
        yield Call('get_user_details',{'user_id':w.customer})
        for c in codes: yield Call('get_reservation_details',{'reservation_id':c})
        tot=abs(sum(due.values())); pos=max(due.values())>0
        if isinstance(r0,Upgrade):
            P=[f"I will change reservation {J} to {r0.cabin.replace('_',' ')} on the same flights. The difference will be settled with {r0.method}. Do you want me to proceed?",
               f"To confirm: change {J} from {w.reservations[codes[0]]['cabin'].replace('_',' ')} to {r0.cabin.replace('_',' ')}, {'additional charge' if pos else 'refund'} of ${tot} {'on' if pos else 'to'} {lab(w,r0.method,1)}. Shall I go ahead?"][k%2]
            did=[f"Reservation {J} has been changed to {r0.cabin.replace('_',' ')}.",f"Done! Your cabin on {J} is now {r0.cabin.replace('_',' ')}."][k%2]
        else:
            P=[f"I can cancel {J} since {'they are' if len(codes)>1 else 'it is'} insured and you are ill. The full amount of ${tot} will be refunded to the original payment methods within 5 to 7 business days. Would you like me to proceed?",
               f"Here's what I found:\n"+'\n'.join(f"- {c}: paid "+', '.join(f"${p['amount']} with {p['payment_id']}" for p in w.reservations[c]['payment_history']) for c in codes)+f"\n\nI'll cancel {J}. Do you agree?"][k%2]
            did=[f"{J} {'have' if len(codes)>1 else 'has'} been cancelled.",f"Done! I've cancelled {J}."][k%2]
        yield Say(text=P)
        for r in w.requests: yield r.call(w,SKILLS)
        it=[(m,abs(a)) for m,a in due.items()]; v='charged' if pos else 'refunded'
        F=[f"{did} Here is the breakdown:\n\n"+'\n'.join(f"- {lab(w,m,0)}: ${a} {v}" for m,a in it),
           f"{did}\n\n"+'\n'.join(f"- **{lab(w,m,1)}**: ${a:,} {v}" for m,a in it)+(f"\n\nTotal {v}: ${tot:,}" if len(it)>1 else ''),
           f"{did} "+' and '.join(f"${a} {'was charged to' if pos else 'will be refunded to'} {lab(w,m,0)}" for m,a in it)+'. Is there anything else I can help you with?',
           f"{did}\n\n| Payment method | Amount | |\n|---|---|---|\n"+'\n'.join(f"| {lab(w,m,0)} | ${a} | {v} |" for m,a in it),
           f"{did} The {'total charge' if pos else 'refund'} goes to: "+', '.join(f"{m} (${a})" for m,a in it)+'.',
           f"{did}\n\n{'Charges' if pos else 'Refunds'}:\n"+'\n'.join(f"{i}. {lab(w,m,1)} – ${a}" for i,(m,a) in enumerate(it,1))+(f"\n\nThe refunds will be processed within 5 to 7 business days." if not pos else ''),
           f"{did} In total, "+' and '.join(f"{lab(w,m,0)} {'is charged' if pos else 'gets back'} ${a}" for m,a in it)+'.',
           f"{did} Summary:\n"+'\n'.join(f"- {lab(w,m,3)}: **{'-' if False else ''}${a}** {'charge' if pos else 'refund'}" for m,a in it)+"\nLet me know if there's anything else!",
           ][k]
        if k==8: pass
        yield Say(text=F)
    return f
def sums(w):
    """adds up the parts for each method"""
    due=w.moves(); r0=w.requests[0]; codes=[r.reservation for r in w.requests]; J=' and '.join(codes); pos=max(due.values())>0
    yield Call('get_user_details',{'user_id':w.customer})
    for c in codes: yield Call('get_reservation_details',{'reservation_id':c})
    if isinstance(r0,Upgrade):
        yield Say(text=f"I will change {J} to {r0.cabin} and settle the difference with {r0.method}. Do you agree?")
    else: yield Say(text=f"I will cancel {J}. Do you agree?")
    for r in w.requests: yield r.call(w,SKILLS)
    L=[]
    for m,a in due.items():
        ps=[(p['amount'],c) for c in codes for p in w.reservations[c]['payment_history'] if p['payment_id']==m] if not isinstance(r0,Upgrade) else []
        L.append(f"- {m}: "+(' + '.join(f"${x} ({c})" for x,c in ps)+f" = ${-a}" if len(ps)>1 else f"${abs(a)}")+(' refunded' if not pos else ' charged'))
    yield Say(text=f"All done! {J} {'changed' if isinstance(r0,Upgrade) else 'cancelled'}.\n\n"+'\n'.join(L))
def bytrip(w):
    due=w.moves(); r0=w.requests[0]; codes=[r.reservation for r in w.requests]; J=' and '.join(codes); pos=max(due.values())>0
    if isinstance(r0,Upgrade): return
    yield Call('get_user_details',{'user_id':w.customer})
    for c in codes: yield Call('get_reservation_details',{'reservation_id':c})
    yield Say(text=f"I will cancel {J}. Do you agree?")
    for r in w.requests: yield r.call(w,SKILLS)
    t="Both are cancelled. " if len(codes)>1 else "Your trip is cancelled. "
    t+="Refunds by reservation:\n"+'\n'.join(f"- {c}: "+', '.join(f"${p['amount']} to {p['payment_id']}" for p in w.reservations[c]['payment_history']) for c in codes)+"\n\nTotals per payment method:\n"+'\n'.join(f"- {m}: ${-a}" for m,a in due.items())
    yield Say(text=t)
def newold(w):
    due=w.moves(); r0=w.requests[0]
    if not isinstance(r0,Upgrade): return pl(0)(w)
    return newold_(w)
def newold_(w):
    due=w.moves(); r0=w.requests[0]; c=r0.reservation; (m,a),=due.items(); want=w.served().reservations[c]; b=w.reservations[c]; n=len(b['passengers'])
    o=sum(f['price'] for f in b['flights']); nn=sum(f['price'] for f in want['flights'])
    yield Call('get_user_details',{'user_id':w.customer}); yield Call('get_reservation_details',{'reservation_id':c})
    yield Say(text=f"I'd change {c} to {r0.cabin}; the fare goes from ${o} to ${nn} per passenger, so for {n} passenger{'s'*(n>1)} the difference is ${abs(a)}, which will be {'charged to' if a>0 else 'refunded to'} {m}. OK to proceed?")
    yield r0.call(w,SKILLS)
    yield Say(text=f"The change is complete. The new fare is ${nn} per passenger instead of ${o}, so ${abs(a)} {'has been charged to' if a>0 else 'will be refunded to'} {m}.")
V={f'v{k}':pl(k) for k in range(8)}|{'sums':sums,'bytrip':bytrip,'newold':newold}
if __name__=='__main__': table('tau2_refund_explanation',[0,1,2],V,n=60)
