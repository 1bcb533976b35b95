from rt import *
import copy
def mutate(I,kind,w):
    J=[dict(d) for d in I]; yes=[d for d in J if d['ok']]
    other=lambda d:next(m for m in w.users[w.customer]['payment_methods'] if m!=d.get('pm'))
    if kind=='othermethod':
        for d in yes:
            if 'm' in d: d['m']=mname(w,other(d)); d['pm']=other(d)
            else: d['old']='gift card' if 'gift' not in d['old'] else 'PayPal account'
    if kind=='rot amounts':
        ks=[d for d in yes if d['k'] in('Cancel','Return')]; v=[d['back'] if d['k']=='Return' else d['paid'] for d in ks]
        for d,x in zip(ks,v[1:]+v[:1]): d['back' if d['k']=='Return' else 'paid']=x
    if kind=='+20':
        for d in yes:
            if d['k']=='Return': d['back']+=20
            elif d['k']=='Swap': d['diff']+=20
            elif d['k'] in('Cancel','Repay'): d['paid']+=20
    if kind=='flip':
        for d in yes:
            if d['k']=='Swap': d['diff']=-d['diff']
            if d['k']=='Repay': d['m'],d['old']=d['old'],d['m']
    if kind=='wrongaddr':
        for d in yes:
            if d['k']=='Readdress': d['r']=copy.copy(d['r']); d['r'].address=dict(d['r'].address,address1='99 Nowhere Street',city='Denver')
    if kind=='wrongstatus':
        for d in J:
            if not d['ok']: d['st']='delivered'
    if kind=='wrongitem':
        for d in yes:
            if d['k']=='Return': 
                o=[i for i in d['o']['items'] if i not in d['items']]
                if o: d['items']=[dict(i,name=o[0]['name'],options=o[0]['options']) for i in d['items']]
    return J
def wr(kind,where='pf',s='a'):
    def p(w,e):
        yield from reads(w); I=[D(w,r) for r in w.requests]; J=mutate(I,kind,w)
        P=J if 'p' in where else I; Fn=J if 'f' in where else I
        if kind!='noconsent': yield Say("Here's what I'll do:\n\n"+"\n\n".join(prop(d,s) if d['ok'] else ref(d,s) for d in P)+"\n\nDo you want me to proceed?")
        for d in I:
            if d['ok']: yield d['call']
        if kind=='all done claim': yield Say("All of your requests have been completed, including "+", ".join(d['code'] for d in I)+"."); return
        if kind=='charged':
            yield Say("All done.\n"+"\n".join("- "+fin(d,s).replace('will be refunded to','was charged to').replace("you'll receive a refund of","you were charged") for d in I)); return
        if kind=='noreport':  yield Say("All done."); return
        yield Say("Everything has been processed:\n"+"\n".join("- "+(fin(d,s)+(" "+ref(d,s) if kind=='noconsent' and not d['ok'] else '')) for d in Fn))
    return p
has=lambda *k:(lambda w:any(type(r).__name__ in k and r.verdict(w).allowed for r in w.requests))
two=lambda w:len({D(w,r).get('back') or D(w,r)['paid'] for r in w.requests if r.verdict(w).allowed and type(r).__name__ in('Cancel','Return')})>1
bad=lambda w:any(not r.verdict(w).allowed for r in w.requests)
for env in ('tau2_retail_tool_precision','tau2_retail_multi_step'):
    multi='multi' in env
    T=[('noconsent','pf',None),('+20','pf',has('Return','Swap','Cancel','Repay')),('flip','pf',has('Swap','Repay')),('flip','f',has('Swap','Repay')),('othermethod','pf',None),('othermethod','p',None),('othermethod','f',None),('charged','f',has('Cancel','Return')),('wrongitem','p',has('Return'))]
    if multi: T+=[('rot amounts','pf',two),('wrongaddr','pf',has('Readdress')),('wrongaddr','f',has('Readdress')),('wrongstatus','pf',bad),('all done claim','pf',bad)]
    for k,wh,f in T:
        for lv in (1,3):
            try: r=rate2(env,lv,wr(k,wh),range(70),f)
            except ZeroDivisionError: continue
            print(env[12:],lv,k,wh,r[0],r[1],flush=True)
            if k in('othermethod','charged','wrongaddr','flip','wrongitem','rot amounts') and lv==3 and r[0].split('/')[0]!='0':
                s=next(s for s in range(70) if s not in r[2] and (f is None or f(ep(env,lv,s).world))); dump(env,lv,s,wr(k,wh),500)
