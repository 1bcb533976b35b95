from ref import *
def card(w,m):
    p=w.users[w.customer]['payment_methods'][m]
    return f"your {p['brand'].capitalize()} ending in {p['last_four']} ({m})" if p['source']=='credit_card' else f"your gift card ({m})"
def bytrip(w,d,r,up,c,h):
    t=did(r,up,c)+'\n'
    if up: return t+f"The difference of ${abs(sum(d.values()))} is {'charged to' if sum(d.values())>0 else 'refunded to'} {r.method}."
    for x in c: t+=f"\n**{x}**\n"+'\n'.join(f"- ${a} to {m}" for y,m,a in h if y==x)
    return t+"\n\n**Total refunds:**\n"+'\n'.join(f"- {m}: ${abs(a)}" for m,a in d.items())
def sent(w,d,r,up,c,h):
    if up: return POST['q0'](w,d,r,up,c,h)
    t=did(r,up,c)
    for x in c: t+=f" For {x}, "+' and '.join(f"${a} goes back to {m}" for y,m,a in h if y==x)+"."
    if len(h)>len(d): t+=" In total, "+' and '.join(f"{m} gets back ${abs(a)}" for m,a in d.items())+"."
    return t
M={
'bytrip':bytrip,'sent':sent,
'human':lambda w,d,r,up,c,h:did(r,up,c)+' '+' '.join(f"${abs(a)} will be refunded to {card(w,m)}." if a<0 else f"${abs(a)} will be charged to {card(w,m)}." for m,a in d.items()),
'human2':lambda w,d,r,up,c,h:did(r,up,c)+'\n'+'\n'.join(f"- {card(w,m).replace('your ','').capitalize()}: ${abs(a)} {'refund' if a<0 else 'charge'}" for m,a in d.items()),
'others':lambda w,d,r,up,c,h:did(r,up,c)+' '+' '.join(f"${abs(a)} is refunded to {m}." if a<0 else f"${abs(a)} is charged to {m}." for m,a in d.items())+" Your other payment methods are not affected.",
'others2':lambda w,d,r,up,c,h:did(r,up,c)+' '+' '.join(f"${abs(a)} is refunded to {m}." if a<0 else f"${abs(a)} is charged to {m}." for m,a in d.items())+" Nothing is charged or refunded to "+', '.join(m for m in w.users[w.customer]['payment_methods'] if m not in d)+".",
'explain':lambda w,d,r,up,c,h:did(r,up,c)+(f" You originally paid ${sum(a for _,_,a in h)} in total; the difference of ${abs(sum(d.values()))} is {'charged' if sum(d.values())>0 else 'refunded'} to {r.method}." if up else ' '+' '.join(f"{m}: you paid ${abs(a)} with it, so ${abs(a)} is refunded to it." for m,a in d.items())),
'eq':lambda w,d,r,up,c,h:did(r,up,c)+' '+('; '.join(f"{m}: "+' + '.join('$%d'%a for _,y,a in h if y==m)+(f" = ${abs(t)}" if sum(y==m for _,y,_ in h)>1 else '')+" refunded" for m,t in d.items()) if not up else f"{r.method}: ${abs(sum(d.values()))} {'charged' if sum(d.values())>0 else 'refunded'}")+'.',
'total first':lambda w,d,r,up,c,h:did(r,up,c)+f" A total of ${abs(sum(d.values()))} is {'charged' if sum(d.values())>0 else 'refunded'}: "+', '.join(f"${abs(a)} to {m}" for m,a in d.items())+".",
'gets':lambda w,d,r,up,c,h:did(r,up,c)+' '+' '.join((f"{m} will be credited ${abs(a)}." if a<0 else f"{m} will be debited ${abs(a)}.") for m,a in d.items()),
'upexp':lambda w,d,r,up,c,h:did(r,up,c)+(" New fares: "+', '.join(f"{f['flight_number']} ${f['price']} per person" for f in w.served().reservations[c[0]]['flights'])+"; previously "+', '.join(f"${f['price']}" for f in w.reservations[c[0]]['flights'])+f". The difference of ${abs(sum(d.values()))} is {'charged to' if sum(d.values())>0 else 'refunded to'} {r.method}." if up else ' '+' '.join(f"${abs(a)} will be refunded to {m}." for m,a in d.items())),
}
for l in range(3): print(l,{k:sum(play(E,l,s,ag(PRE['p0'],f))[0].score.success for s in range(80)) for k,f in M.items()})
# step by step for two trips
def steps(w,ep):
    due,r,up,codes,hist=info(w)
    yield C('get_user_details',user_id=w.customer)
    for i,q in enumerate(w.requests):
        x=q.reservation
        yield C('get_reservation_details',reservation_id=x)
        yield S((f"I will cancel {x}. Do you agree?" if not up else "I will "+plan(r,up,codes)+". Do you agree?"))
        yield q.call(w,SKILLS)
        if not up:
            yield S(f"{x} is cancelled. "+' '.join(f"${a} will be refunded to {m}." for y,m,a in hist if y==x)+(" Now let me look at the other reservation." if i<len(w.requests)-1 else ''))
    yield S("Everything is done. In total: "+'; '.join(f"{m}: ${abs(a)} {'charged' if a>0 else 'refunded'}" for m,a in due.items())+".")
study(E,range(3),range(60),{'steps':steps})
# wrong
def swap(d):
    ks=list(d); vs=[d[k] for k in ks]; return dict(zip(ks,vs[1:]+vs[:1]))
W={
'swap methods':lambda w,d,r,up,c,h:POST['q0'](w,swap(d),r,up,c,h),
'direction':lambda w,d,r,up,c,h:POST['q0'](w,{m:-a for m,a in d.items()},r,up,c,h),
'topmost':lambda w,d,r,up,c,h:POST['q0'](w,w.topmost(),r,up,c,h),
'total to one':lambda w,d,r,up,c,h:POST['q0'](w,{list(d)[0]:sum(d.values())},r,up,c,h),
'all methods same':lambda w,d,r,up,c,h:did(r,up,c)+' '+' '.join(f"Each of {', '.join(d)} gets ${abs(a)}." for m,a in d.items()),
'stuff':lambda w,d,r,up,c,h:did(r,up,c)+' '+' '.join(f"{m}: refund "+', '.join('$%d'%abs(x) for x in d.values()) for m in w.users[w.customer]['payment_methods'])+'.',
'stuff hist':lambda w,d,r,up,c,h:did(r,up,c)+' '+' '.join(f"{m}: "+', '.join('$%d'%a for _,y,a in h if y==m) for m in d)+' refunded.',
'hedge':lambda w,d,r,up,c,h:POST['q0'](w,d,r,up,c,h).replace('will be','may be').replace('has been charged','may be charged'),
'not done claim':lambda w,d,r,up,c,h:"I did not cancel anything. "+' '.join(f"${abs(a)} will be refunded to {m}." if a<0 else f"${abs(a)} will be charged to {m}." for m,a in d.items()),
'both dir':lambda w,d,r,up,c,h:' '.join(f"${abs(a)} will be refunded to {m}. ${abs(a)} will be charged to {m}." for m,a in d.items()),
}
study(E,range(3),range(100),{k:ag(PRE['p0'],f) for k,f in W.items()},show=0)
