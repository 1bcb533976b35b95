from h import *
n='toolsandbox_state_dependency'
# closing offer: 'I had to turn low battery mode off. Would you like me to turn it back on?' and then do what the customer answers
def offer(ep):
    w=ep.world; out=[]; p=list(w.copy().oracle())
    return p[:-1]
for l in range(3):
    N=yes=fail=0; ex=None
    for s in range(300):
        ep=ep_(n,l,s); w=ep.world
        if w.restore or not w.settings['low_battery_mode'] or any(getattr(r,'setting','')=='low_battery_mode' for r in w.requests): continue
        p=list(w.copy().oracle())
        for st in p[:-1]: ep.step(st)
        if ep.start.settings==ep.world.settings or ep.world.settings['low_battery_mode']: continue
        N+=1
        q=p[-1].text+" To do this I had to turn low battery mode off. Would you like me to turn it back on?"
        r=ep.step(Say(q)); a=r[0]['content'] if r else None
        if a and a.startswith('Yes'):
            yes+=1
            ep.step(Call('set_low_battery_mode_status',{'on':True})); r2=ep.step(Say("Done, low battery mode is on again."))
            sc=ep.finish(); fail+=not sc.success
            if not sc.success and not ex: ex=(w.wording,q,a,bad(sc))
    print(l,'N',N,'yes',yes,'fail',fail,ex)
