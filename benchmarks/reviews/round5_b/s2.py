from s1 import *
def g1(x,c): return sorted(x["dear"],key=lambda g:g['prices'][c['cab']])[:1]
def F(g): return g['flight_number'],g['scheduled_departure_time_est'][:5]
T=" I'll move {code} to it in {cab}, with the difference on {card}. Shall I proceed?"
def alt(fmt,afull=None):
    def it(c,x):
        s=f"The cheapest suitable flight is {x['fl']} on {x['date']}, departing at {x['t']} (${x['p']} per person)."
        for g in g1(x,c): s+=" "+fmt.format(f=g['flight_number'],t=g['scheduled_departure_time_est'][:5],p=g['prices'][c['cab']],s=g['available_seats'][c['cab']],n=c['n'])
        return s
    return it
A=["The next cheapest with enough seats is {f} at {t} for ${p}.","Flight {f} is more expensive (${p}).","{f} at {t} would also have room, but it costs ${p}.","(The alternative, {f} at {t}, is ${p} per person.)","For comparison, {f} costs ${p} per person.","The other flight that day, {f} ({t}), is pricier at ${p}.","The only other one with room is {f} at ${p}."]
B=["{f} ({p} dollars) has just {s} seats left for {n} travelers.","{f} is cheaper at ${p} but only has {s} seats.","{f} at {t} costs ${p}, but it does not have {n} seats in this cabin.","{f} (${p}): {s} seats - not enough.","{f} at {t} is cheaper, but it can't take all {n} of you.","Note that {f} would be cheaper (${p}), but it has too few seats ({s}) for your party.","I ruled out {f} because it has only {s} seats.","{f} was the cheapest, however only {s} {w} left."]
def bf(fmt,after=False):
    def it(c,x):
        pre=" ".join(fmt.format(f=g['flight_number'],t=g['scheduled_departure_time_est'][:5],p=g['prices'][c['cab']],s=g['available_seats'][c['cab']],n=c['n'],w="seat is" if g['available_seats'][c['cab']]==1 else "seats are") for g in x["full"])
        m=f"The cheapest flight with room for all is {x['fl']} on {x['date']}, departing at {x['t']} (${x['p']} per person)."
        return (m+" "+pre) if after else (pre+" "+m)
    return it
props=[V["prop"][0]]+[mk("",alt(a),T,"\n") for a in A]+[mk("",bf(b),T,"\n") for b in B]+[mk("",bf(b,True),T,"\n") for b in B]
names=["base"]+["ALT "+a for a in A]+["FULLbefore "+b for b in B]+["FULLafter "+b for b in B]
if __name__=="__main__":
    import collections
    for nm,p in zip(names,props):
        n=ok=0;wy=collections.Counter();ex=None
        for lv in range(4):
            for s in range(20):
                t=Talk(E,lv,s); c,ws,_=ctx(t.w)
                if nm.startswith("ALT") and not any(x["dear"] for x in ws): continue
                if nm.startswith("FULL") and not any(x["full"] for x in ws): continue
                agent(t,lambda k:p if k=="prop" else V["done"][0]); sc=t.end(); n+=1; g=sc.success and sc.conduct==1; ok+=g
                if not g: wy.update(x[:40] for x in failed(sc)); ex=ex or (lv,s,[l for l in t.log if l.startswith("AGENT")][0])
        print(f"{ok}/{n}",nm,dict(wy)); 
        if ex and ok<n*.97: print("     ",ex)
