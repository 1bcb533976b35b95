from refx2 import *
def mk(t):
    def f(w):
        o=[m for m in w.users[w.customer]['payment_methods'] if m not in w.moves()]; (m,a),=list(w.moves().items())[:1]
        r=w.requests[0]; old=w.reservations[r.reservation]['cabin']
        return t.format(m=m,a=abs(a),v='charged' if a>0 else 'refunded',d='charge' if a>0 else 'refund',o=', '.join(o),o1=o[0],p=w.reservations[r.reservation]['payment_history'][0]['payment_id'],pa=w.reservations[r.reservation]['payment_history'][0]['amount'],t='to',x='An additional charge' if a>0 else 'A refund')
    return f
T=["${a} has been {v} to {m}. Your other payment methods ({o}) are not affected.","- {m}: ${a} {v}\n\nYour other payment methods ({o}) are not affected.","- {m}: ${a} {v}\n- No other payment method was charged or refunded.","**Payment method:** {m}\n**Amount {v}:** ${a}","- **{m}**: ${a} ({d} of the fare difference)\n\nThe original payment of ${pa} with {p} stays as it is.","{m}: ${a} {v} in total. No other method, such as {o1}, was charged or refunded.","{x} of ${a} was made to {m}.","Total {v}: ${a}\nPayment method: {m}"]
for t in T:
    g=n=0; ex=None
    for lv in range(3):
        for s in range(2000,2300):
            ep=start('tau2_refund_explanation',lv,s); w=ep.world
            if not isinstance(w.requests[0],Upgrade): continue
            if len([m for m in w.users[w.customer]['payment_methods'] if m not in w.moves()])<1: continue
            run(ep,base(mk(t))(w.copy()),close=[]); n+=1; g+=ok(ep)
    print(g,n,'of 900',repr(t))
