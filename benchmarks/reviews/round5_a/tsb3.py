from tsb import *
def base(w,kind):
    O=list(w.copy().oracle()); return O
def words_order(ep,w):
    for s in w.copy().ablated(): yield s
def always_restore(ep,w):
    if w.greeting: yield Say("How can I help you?")
    O=[s for s in w.copy().oracle()]
    on=[]
    for s in O:
        if isinstance(s,Call):
            if s.tool in SWITCHES.values() and s.arguments.get('on') is False and s.tool!=SWITCHES[LOW_BATTERY]: continue
            yield s
    for k in SERVICES:
        if not w.settings[k]: yield Call(SWITCHES[k],{'on':False})
    if w.settings[LOW_BATTERY]: yield Call(SWITCHES[LOW_BATTERY],{'on':True})
    for r in w.requests:
        if type(r).__name__=='Switch': yield Call(SWITCHES[r.setting],{'on':r.on})
    yield O[-1]
def all_on_first(ep,w):
    if w.greeting: yield Say("How can I help you?")
    seen=set(); O=[s for s in w.copy().oracle()]
    if w.settings[LOW_BATTERY]: yield Call(SWITCHES[LOW_BATTERY],{'on':False})
    for k in SERVICES: yield Call(SWITCHES[k],{'on':True})
    for s in O:
        if isinstance(s,Call) and s.tool not in SWITCHES.values() and str(s) not in seen:
            seen.add(str(s)); yield s
    for r in w.requests:
        if type(r).__name__=='Switch': yield Call(SWITCHES[r.setting],{'on':r.on})
    if w.restore:
        for k in SERVICES:
            if not w.settings[k]: yield Call(SWITCHES[k],{'on':False})
        if w.settings[LOW_BATTERY]: yield Call(SWITCHES[LOW_BATTERY],{'on':True})
    yield O[-1]
def tell(kind):
    def p(ep,w):
        O=list(w.copy().oracle())
        if w.greeting: yield Say("How can I help you?")
        for s in O:
            if isinstance(s,Call) : yield s
        end=w.served().phone.settings; v=val(w,w.requests[0]) if type(w.requests[0]).__name__!='Switch' else val(w,w.requests[-1]); last=O[-1].text
        m={'falsesetting':last+f" Wifi is now {'off' if end['wifi'] else 'on'}.",'falsesetting2':last+f" I turned cellular service {'off' if end['cellular'] else 'on'}.",
           'restored':last+" All settings are back as they were before.",'wrongnum':(last.replace(f"{v:.2f}".rstrip('0').rstrip('.'),f"{v+7:.2f}") if v else last+' '),
           'second':(last+f" In other words, it is {v+7:.2f}." if v else last),'stuff':last+" Or it may be 10, 20, 30, 40, 50, 100, 200, 300 or 400."}[kind]
        yield Say(m)
    return p
def low_only(ep,w):  # restore by low battery mode alone
    if w.greeting: yield Say("How can I help you?")
    O=list(w.copy().oracle())
    for s in O:
        if isinstance(s,Call) and w.restore and w.settings[LOW_BATTERY] and s.tool in SWITCHES.values() and s.arguments.get('on') is False and s.tool!=SWITCHES[LOW_BATTERY]: continue
        yield s
def proactive(ep,w): # turns on what is needed before trying
    from trace_gym.targets.toolsandbox.errands import NEEDED
    if w.greeting: yield Say("How can I help you?")
    kind={'Text':'text','Price':'price','Exchange':'exchange','Position':'position','Weather':'weather','Distance':'distance','Report':'report'}[[type(r).__name__ for r in w.requests if type(r).__name__!='Switch'][0]]
    need=NEEDED[kind]; off=[k for k in need if not w.settings[k]]
    yield Call('get_low_battery_mode_status',{})
    low=w.settings[LOW_BATTERY] and off
    if low: yield Call(SWITCHES[LOW_BATTERY],{'on':False})
    for k in off: yield Call(SWITCHES[k],{'on':True})
    seen=set(); O=list(w.copy().oracle())
    for s in O:
        if isinstance(s,Call) and s.tool not in SWITCHES.values() and str(s) not in seen:
            seen.add(str(s)); yield s
    for r in w.requests:
        if type(r).__name__=='Switch': yield Call(SWITCHES[r.setting],{'on':r.on})
    if w.restore:
        for k in off: yield Call(SWITCHES[k],{'on':False})
        if low: yield Call(SWITCHES[LOW_BATTERY],{'on':True})
    yield O[-1]
if __name__=='__main__':
    run(N,proactive,n=60,label='proactive preflight')
    for n,f in (('ablated',words_order),('always restore',always_restore),('everything on first',all_on_first)): run(N,f,n=100,label='WRONG '+n,examples=0)
