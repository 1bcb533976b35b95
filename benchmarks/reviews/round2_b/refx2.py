from refx import *
def base(final, prop=None, only=None):
    def f(w):
        due=w.moves(); r0=w.requests[0]; codes=[r.reservation for r in w.requests]; J=' and '.join(codes); up=isinstance(r0,Upgrade)
        yield Call('get_user_details',{'user_id':w.customer})
        for c in codes: yield Call('get_reservation_details',{'reservation_id':c})
        yield Say(text=prop(w) if prop else (f"I will change {J} to {r0.cabin} and settle the difference with {r0.method}. Do you agree?" if up else f"I will cancel {J}. Do you agree?"))
        for r in w.requests: yield r.call(w,SKILLS)
        did=f"{J} {'changed' if up else 'cancelled'}. "
        t=final(w); ts=t if isinstance(t,list) else [t]
        for i,t in enumerate(ts): yield Say(text=(did if i==0 else '')+t)
    return f
def hist(w): return [(p['payment_id'],p['amount'],r.reservation) for r in w.requests for p in w.reservations[r.reservation]['payment_history']]
V_=lambda w:'charged' if max(w.moves().values())>0 else 'refunded'
O_=lambda w:'refunded' if max(w.moves().values())>0 else 'charged'
def partsonly(w): 
    if isinstance(w.requests[0],Upgrade): return ' '.join(f"${abs(a)} {V_(w)} to {m}." for m,a in w.moves().items())
    return '\n'.join(f"- {m}: ${a} refunded ({c})" for m,a,c in hist(w))
def stuff(w):
    am=sorted({a for _,a,_ in hist(w)}|{abs(a) for a in w.moves().values()}|{sum(a for _,a,_ in hist(w))})
    return '\n'.join(f"- {m}: "+' or '.join(f"${a}" for a in am)+f" {V_(w)}" for m in w.users[w.customer]['payment_methods'])
def stuff2(w): # own methods, all sums
    import itertools
    out=[]
    for m in w.moves():
        ps=[a for mm,a,_ in hist(w) if mm==m] or [abs(w.moves()[m])]
        ss=sorted({sum(c) for k in range(1,len(ps)+1) for c in itertools.combinations(ps,k)}); out.append(f"- {m}: "+', '.join(f"${x}" for x in ss)+f" {V_(w)}")
    return '\n'.join(out)
def swap(w):
    it=list(w.moves().items()); 
    return '\n'.join(f"- {m}: ${abs(a)} {V_(w)}" for m,a in zip([m for m,_ in it][::-1],[a for _,a in it]))
def opp(w): return '\n'.join(f"- {m}: ${abs(a)} {O_(w)}" for m,a in w.moves().items())
def neutral(w): return '\n'.join(f"- {m}: ${abs(a)}" for m,a in w.moves().items())
def settled(w): return ' '.join(f"${abs(a)} was settled with {m}." for m,a in w.moves().items())
def either(w): return '\n'.join(f"- {m}: ${abs(a)} charged or refunded" for m,a in w.moves().items())
def total(w): return f"In total, ${abs(sum(w.moves().values()))} is {V_(w)} to "+' and '.join(w.moves())+'.'
def top(w): return '\n'.join(f"- {m}: ${abs(a)} {V_(w)}" for m,a in w.topmost().items())
def last(w):
    d={m:-a for m,a,_ in hist(w)} if not isinstance(w.requests[0],Upgrade) else w.moves(); return '\n'.join(f"- {m}: ${abs(a)} {V_(w)}" for m,a in d.items())
def extra(w):
    o=[m for m in w.users[w.customer]['payment_methods'] if m not in w.moves()]
    return '\n'.join(f"- {m}: ${abs(a)} {V_(w)}" for m,a in w.moves().items())+(f"\n- {o[0]}: $0 (no change)\n" if o else '')
def extra2(w):
    o=[m for m in w.users[w.customer]['payment_methods'] if m not in w.moves()]
    return '\n'.join(f"- {m}: ${abs(a)} {V_(w)}" for m,a in w.moves().items())+(f"\n\nYour other payment methods ({', '.join(o)}) are not affected.\n" if o else '')
def withpay(w):
    if isinstance(w.requests[0],Upgrade):
        (m,a),=w.moves().items(); h=hist(w); return f"You had originally paid "+' and '.join(f"${x} with {mm}" for mm,x,_ in h)+f". The difference of ${abs(a)} {'was charged to' if a>0 else 'will be refunded to'} {m}."
    return '\n'.join(f"- {m}: ${abs(a)} refunded" for m,a in w.moves().items())
def sett2(w):
    if isinstance(w.requests[0],Upgrade):
        (m,a),=w.moves().items(); return f"The difference of ${abs(a)} was {'charged' if a>0 else 'refunded'} to {m}."
    return '\n'.join(f"- {m}: ${abs(a)} refunded" for m,a in w.moves().items())
def psett(w):
    r0=w.requests[0]; J=' and '.join(r.reservation for r in w.requests)
    return f"I will change {J} to {r0.cabin}. The difference of ${abs(sum(w.moves().values()))} will be settled with {r0.method}. Do you agree?" if isinstance(r0,Upgrade) else f"I will cancel {J}. Do you agree?"
def tab(env,lv,name,f,n=80):
    g=rw=0;u=[0,0];many=[0,0]; ex=None
    for s in range(2000,2000+n):
        ep=start(env,lv,s); w=ep.world.copy(); run(ep,f(w),close=["Everything has been taken care of.","Goodbye!"]); g+=ok(ep); rw+=TS.reward(ep.score)
        k=u if isinstance(w.requests[0],Upgrade) else many
        k[1]+=1; k[0]+=ok(ep)
        if ex is None and not ok(ep): ex=ep
    print(env,lv,name,'success',g,'/',n,'reward',round(rw/n,2),'upgrades',u,'cancels',many,flush=True)
    return ex
if __name__=='__main__':
    for n,f in dict(partsonly=partsonly,stuff=stuff,stuff2=stuff2,swap=swap,opp=opp,neutral=neutral,settled=settled,either=either,total=total,top=top,last=last).items():
        for lv in range(3): tab('tau2_refund_explanation',lv,'WRONG '+n,base(f))
    for n,f,p in (('extra0',extra,None),('otherunaffected',extra2,None),('withpay',withpay,None),('settled_proposal',sett2,psett)):
        for lv in range(3): 
            ex=tab('tau2_refund_explanation',lv,'RIGHT '+n,base(f,p))
            if ex and lv==1: print(bad(ex),conv(ex)[-1200:])
