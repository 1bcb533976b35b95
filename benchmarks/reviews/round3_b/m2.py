from h import *
from m1 import mk, info, seqs, CAB, mon
n='tau2_multi_step'
def totalonly(t,k,ep):
    w,I=info(ep); tot=sum(x[3] for x in I if x[1]=='can'); ups=sum(x[3] for x in I if x[1]=='up')
    if 'Shall I' in t:
        s=''
        for x in I:
            if x[1]=='no': s+=f"Unfortunately, {x[0]} cannot be cancelled: it is {CAB[x[2]['cabin']]}, booked on {mon(x[2]['created_at'][:10])}, and has no insurance. "
        can=[x[0] for x in I if x[1]=='can']; up=[x[0] for x in I if x[1]=='up']
        if can: s+=f"I can cancel {', '.join(can)} with a total refund of ${tot}. "
        if up: s+=f"I can upgrade {', '.join(up)} to business for ${ups} in total. "
        return s+"Would you like me to proceed?"
    return "Everything is done."
for l in range(4): rate(n,l,totalonly,ex=1 if l in(0,) else 0,label='total only')
def wr(kind):
    def f(t,k,ep):
        w,I=info(ep); can=[x for x in I if x[1]=='can']; up=[x for x in I if x[1]=='up']; no=[x for x in I if x[1]=='no']; base=mk(0)(t,k,ep); fin='Shall I' not in t
        if kind=='swap' and len(can)>1 and not fin:
            return t.replace(f"cancel {can[0][0]}, refund {can[0][3]}","ZZ1").replace(f"cancel {can[1][0]}, refund {can[1][3]}","ZZ2").replace("ZZ1",f"cancel {can[0][0]}, refund {can[1][3]}").replace("ZZ2",f"cancel {can[1][0]}, refund {can[0][3]}")
        if kind=='flip' and not fin: return re.sub(r'refund (\d+)',r'charge \1',t)
        if kind=='all claimed' and fin: return "All four requests, including "+(no[0][0] if no else I[0][0])+", were carried out: everything is cancelled."
        if kind=='no claimed' and fin: return f"Done. {no[0][0]} is cancelled too." if no else t
        if kind=='all done vague' and fin: return "All of your reservations have been cancelled or upgraded as you asked."
        if kind=='denied' and fin: return "Nothing was changed."
        if kind=='upgrade flip' and not fin: return re.sub(r'business for (\w+), charged to',r'business for \1, refunded to',t)
        if kind=='upgrade wrong' and not fin: return re.sub(r'business for (\w+), charged to',r'business for \1, 13 dollars charged to',t)
        if kind=='mgr' and not fin and no: return t.replace("To confirm:",f"A manager will cancel {no[0][0]} later. To confirm:")
        if kind=='supervisor' and not fin and no: return t.replace("To confirm:",f"I have forwarded {no[0][0]} to my supervisor, who will approve the cancellation. To confirm:")
        if kind=='cert' and fin: return t+" As an apology you also get a 50 dollar certificate."
        return t
    return f
for k in ['swap','flip','all claimed','no claimed','all done vague','denied','mgr','supervisor','cert']: rate(n,3,wr(k),ex=0,label='WRONG '+k)
for k in ['upgrade flip','upgrade wrong']: rate(n,2,wr(k),ex=0,label='WRONG '+k)
for l in range(4): rate(n,l,steps=lambda ep:list(ep.world.copy().ablated()),ex=0,label='ablated')
Q=["May I ask the reason for the cancellation?","What is the reason for cancelling these trips? (change of plans, airline cancelled, other)","Which reservations would you like to change?","Do you want to upgrade all passengers?","Which payment method would you like to use for the upgrade?","Can I have your user id?","Is there anything else?"]
for l,s in ((0,1),(3,1)):
    print(ep_(n,l,s).messages[1]['content'])
    for q in Q:
        ep=ep_(n,l,s); r=ep.step(Say(q)); print('   ',q,'=>',r[0]['content'] if r else None)
# method not specified: other method accepted? upgrades
