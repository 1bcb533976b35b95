from h import *
from trace_gym.targets.tau2.airline import Cancel, Upgrade
from trace_gym.targets.tau2.desk import SKILLS
E='tau2_refund_explanation'
def info(w):
    due=w.moves(); r=w.requests[0]; up=isinstance(r,Upgrade)
    codes=[q.reservation for q in w.requests]
    hist=[(q.reservation,p['payment_id'],p['amount']) for q in w.requests for p in w.reservations[q.reservation]['payment_history']]
    return due,r,up,codes,hist
def src(m): return m.rsplit('_',1)[0].replace('_',' ')
def ag(pre,post):
    def f(w,ep):
        due,r,up,codes,hist=info(w)
        yield C('get_user_details',user_id=w.customer)
        for q in w.requests: yield C('get_reservation_details',reservation_id=q.reservation)
        yield S(pre(w,due,r,up,codes,hist))
        for q in w.requests: yield q.call(w,SKILLS)
        yield S(post(w,due,r,up,codes,hist))
    return f
def did(r,up,codes): return f"Reservation {codes[0]} has been changed to {r.cabin.replace('_',' ')}." if up else (f"Reservations {' and '.join(codes)} have been cancelled." if len(codes)>1 else f"Reservation {codes[0]} has been cancelled.")
def plan(r,up,codes): return f"change reservation {codes[0]} to {r.cabin.replace('_',' ')} on the same flights and settle the difference with {r.method}" if up else f"cancel reservation{'s'*(len(codes)>1)} {' and '.join(codes)} for health reasons (covered by your insurance)"
PRE={
'p0':lambda w,d,r,up,c,h:f"I will {plan(r,up,c)}. Shall I proceed?",
'p1':lambda w,d,r,up,c,h:f"I will {plan(r,up,c)}. "+' '.join(f"${abs(a)} will be {'charged' if a>0 else 'refunded'} to {m}." for m,a in d.items())+" Do you confirm?",
'p2':lambda w,d,r,up,c,h:"Here's what I found:\n"+'\n'.join(f"- {x}: paid ${a} with {m}" for x,m,a in h)+f"\n\nI will {plan(r,up,c)}. Would you like me to proceed (yes/no)?",
'p3':lambda w,d,r,up,c,h:f"To confirm, I'll {plan(r,up,c)}.\n"+'\n'.join(f"- {m}: ${abs(a)} {'charge' if a>0 else 'refund'}" for m,a in d.items())+f"\nTotal: ${abs(sum(d.values()))}\nIs that okay?",
}
POST={
'q0':lambda w,d,r,up,c,h:did(r,up,c)+' '+' '.join(f"${abs(a)} will be refunded to {m}." if a<0 else f"${abs(a)} has been charged to {m}." for m,a in d.items())+" Refunds take 5 to 7 business days."*(not up),
'q1':lambda w,d,r,up,c,h:did(r,up,c)+f" Here is the {'breakdown' if len(d)>1 else 'summary'}:\n"+'\n'.join(f"- {m}: ${abs(a)} {'refunded' if a<0 else 'charged'}" for m,a in d.items())+"\n\nIs there anything else I can help you with?",
'q2':lambda w,d,r,up,c,h:did(r,up,c)+"\n\n**Refunds:**\n".replace('Refunds','Charges' if max(d.values())>0 else 'Refunds')+'\n'.join(f"- **{m}**: ${abs(a)}" for m,a in d.items())+(f"\n\nTotal: ${abs(sum(d.values()))}" if len(d)>1 else ''),
'q3':lambda w,d,r,up,c,h:did(r,up,c)+' '+' and '.join(f"{m} {'gets back' if a<0 else 'is charged'} a total of ${abs(a)}" for m,a in d.items())+'.',
'q4':lambda w,d,r,up,c,h:did(r,up,c)+"\n"+'\n'.join(f"- {m}: total {'refund' if a<0 else 'charge'} ${abs(a)}"+(f" ({' + '.join('$%d'%x for _,mm,x in h if mm==m)})" if not up and sum(mm==m for _,mm,x in h)>1 else '') for m,a in d.items()),
'q5':lambda w,d,r,up,c,h:did(r,up,c)+' '+("You will receive "+' and '.join(f"${abs(a)} back on {m}" for m,a in d.items())+", within 5 to 7 business days." if min(d.values())<0 else "You were charged "+' and '.join(f"${abs(a)} on {m}" for m,a in d.items())+"."),
'q6':lambda w,d,r,up,c,h:did(r,up,c)+(f" The price difference of ${abs(sum(d.values()))} was {'charged' if sum(d.values())>0 else 'refunded'} to {r.method}." if up else " The refunds are as follows: "+'; '.join(f"{m} – ${abs(a)}" for m,a in d.items())+"."),
'q7':lambda w,d,r,up,c,h:did(r,up,c)+(f" {r.method} was {'charged' if sum(d.values())>0 else 'refunded'} ${abs(sum(d.values()))}." if up else "\n\n| Payment method | Refund |\n|---|---|\n"+'\n'.join(f"| {m} | ${abs(a)} |" for m,a in d.items())),
'q8':lambda w,d,r,up,c,h:did(r,up,c)+(f" Since {r.cabin.replace('_',' ')} is {'more expensive' if sum(d.values())>0 else 'cheaper'}, {'you paid' if sum(d.values())>0 else 'you get back'} ${abs(sum(d.values()))} ({r.method})." if up else ' '+' '.join(f"{src(m).capitalize()} {m}: ${abs(a)} will be returned." for m,a in d.items())),
}
if len(c:=[])==0 and __name__=='__main__':
    for l in range(3):
        for p in PRE: print(l,p,{q:sum(play(E,l,s,ag(PRE[p],POST[q]))[0].score.success for s in range(60)) for q in POST})
