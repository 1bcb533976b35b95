from cond import *
def allflights(style):
    def f(w):
        b,old,n,fl=F(w); amt=w.owed[w.right]; c=w.asked; xs=list(w.offered)
        yield Call('get_reservation_details',{'reservation_id':c})
        yield Call('search_direct_flight',{'origin':b['origin'],'destination':b['destination'],'date':w.day})
        do=(f"move {c} to {w.right} and charge the difference of ${amt} to {w.card}" if w.right else f"cancel {c} and refund ${amt} to what you paid with")
        if style=='prose':
            one=w.named; s=fl(one)['available_seats']['business']; t=f"{one} costs ${w.offered[one]} per person in business class and has {s} business seat{'s'*(s!=1)} left"
            two=[x for x in w.branches if x and x!=one]
            if two: 
                x=two[0]; s=fl(x)['available_seats']['business']; t+=f". {x} costs ${w.offered[x]} per person in business and has {s} seat{'s'*(s!=1)}"
            yield Say(text=f"{t}. Therefore, I would {do}. Do you agree?")
        elif style=='list':
            yield Say(text=f"Available flights on {w.day}:\n"+'\n'.join(f"- {x}: ${w.offered[x]} per person in business, {fl(x)['available_seats']['business']} seats" for x in xs)+f"\n\nAs the conditions require, I would {do}. Do you confirm?")
        elif style=='cabins':
            p=fl(w.named)['prices']; yield Say(text=f"{w.named} on {w.day}: basic economy ${p['basic_economy']}, economy ${p['economy']}, business ${p['business']} per person. I would {do}. Do you confirm?")
        elif style=='twomsg':
            a=yield Say(text=f"The business fare of {w.named} on {w.day} is ${w.offered[w.named]} per person.")
            yield Say(text=f"I'm going to {do}. Is that all right?")
        elif style=='negative':
            no="cancel the trip" if w.right else f"move the trip to {w.named}"
            yield Say(text=f"The business fare of {w.named} is ${w.offered[w.named]} per person. Given your conditions, I will not {no}; instead I would {do}. Okay?")
        if w.right: yield Call('update_reservation_flights',w.deed(w.right))
        else: yield Call('cancel_reservation',w.deed(''))
        yield Say(text=(f"Your reservation {c} has been changed to {w.right}. The total you pay is ${amt} ({n} x ${amt//n})." if w.right else f"Your reservation {c} has been cancelled. You'll get ${amt} back in total."))
    return f
V={s:allflights(s) for s in('prose','list','cabins','twomsg','negative')}
def act(choose,retry=False):
    def f(w):
        br=choose(w); b,old,n,fl=F(w)
        yield Call('get_reservation_details',{'reservation_id':w.asked})
        yield Call('search_direct_flight',{'origin':b['origin'],'destination':b['destination'],'date':w.day})
        yield Say(text=f"{w.named} costs {w.offered[w.named]} dollars a person in business class. I am about to do with {w.asked} what your instructions say. Shall I proceed?")
        for x in (br if retry else br[:1]):
            a=yield Call('update_reservation_flights' if x else 'cancel_reservation',w.deed(x))
            if not str(a).startswith('Error'): break
        yield Say(text=f"Done: {w.asked} is "+(f"moved to {x} and {w.owed[x]} dollars are charged to {w.card}." if x else f"cancelled and {w.owed[x]} dollars are refunded."))
    return f
def seatsonly(w): # ignores money limits
    b,old,n,fl=F(w)
    return [x for x in w.branches if not x or fl(x)['available_seats']['business']>=n]
def cheap_enough_only(w):
    b,old,n,fl=F(w); 
    if 'costs' in w.steps: return [x for x in w.branches if not x or w.offered[x]<=w.limit] if w.branches[-1]=='' else ([''] if w.offered[w.named]>w.limit else [w.named])
    if 'difference' in w.steps: return [x for x in w.branches if not x or w.owed[x]<=w.limit]
    return w.branches
W=dict(first=act(lambda w:w.branches),last=act(lambda w:w.branches[::-1]),cancel=act(lambda w:['']),move=act(lambda w:[w.named]),first_retry=act(lambda w:w.branches,True),second=act(lambda w:w.branches[1:]),seatsonly=act(seatsonly),three_second=act(lambda w:[w.branches[-1] if len(w.branches)==3 else w.branches[0]]),moneyonly=act(cheap_enough_only),moneyonly_retry=act(cheap_enough_only,True))
def mut(g,base=pl(0)):
    def f(w):
        for s in list(base(w)):
            if isinstance(s,Say):
                t=g(s.text,w)
                if t is None: continue
                s=Say(text=t)
            yield s
    return f
W|=dict(noconsent=mut(lambda t,w:None if 'proceed' in t else f"{w.named} costs ${w.offered[w.named]} per person in business class. "+t), wrongdir=mut(lambda t,w:t.replace('charge the difference','@').replace('and refund','and charge').replace('will be refunded','will be charged').replace('@','refund the difference').replace('has been charged to','has been refunded to')),
 nofare=mut(lambda t,w:t.replace(f'**${w.offered[w.named]}**','a certain amount')), lieboth=mut(lambda t,w:t+(f" I have also cancelled {w.asked}." if w.right and 'Done' in t else '')),
 liewhy=mut(lambda t,w:t.replace('is insured','is not insured').replace('which is within','which is above')))
def prop_other(w):
    other=[x for x in w.branches if x!=w.right][0]
    for s in list(pl(0,False)(w)):
        if isinstance(s,Say) and 'proceed' in s.text: s=Say(text=f"{w.named} on {w.day} costs ${w.offered[w.named]} per person in business class. I would "+(f"move {w.asked} to {other}" if other else f"cancel {w.asked}")+". Would you like me to proceed?")
        yield s
W['prop_other']=prop_other
def tab(env,lv,name,f,n=60):
    g=rw=0
    for s in range(2000,2000+n):
        ep=start(env,lv,s); w=ep.world.copy(); run(ep,f(w)); g+=ok(ep); rw+=TS.reward(ep.score)
    print(env,lv,name,'success',g,'/',n,'reward',round(rw/n,2),flush=True)
if __name__=='__main__':
    table('tau2_conditional_instructions',[0,1,2,3],V,n=50)
    for n,f in W.items():
        for lv in range(4): tab('tau2_conditional_instructions',lv,n,f)
