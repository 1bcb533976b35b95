from h import *
from trace_gym.targets.tau2 import policy
N='tau2_airline_desk'
def pol(style, N=None):
    def p(ep,w):
        O=list(w.copy().oracle()); R=w.requests
        texts={}
        for s in O:
            if isinstance(s,Call) and s.tool.startswith(('get','search')): yield s
        g=[r for r in R if r.verdict(w).allowed]; d=[r for r in R if not r.verdict(w).allowed and not r.verdict(w).transfer]
        tr=[r for r in R if r.verdict(w).transfer]
        if tr:
            for s in O: 
                if isinstance(s,Call) and not s.tool.startswith(('get','search')): yield s
            return
        SK=__import__('trace_gym.targets.tau2.desk',fromlist=['SKILLS']).SKILLS
        off=[]; rep=[]; ref=[]
        for r in g:
            b=w.reservations[r.record]; k=type(r).__name__; 
            ww=w.copy(); c=r.call(w,SK); from trace_gym.world import call_tool
            call_tool(ww,c.tool,c.arguments); nb=ww.reservations[r.record]
            if k=='Cancel':
                am=policy.refund(b); pm=b['payment_history'][0]['payment_id']
                off.append({'rich':f"**Cancel {r.record}**: the reservation ({b['origin']} to {b['destination']}, {b['cabin']}) is eligible for cancellation. You will receive a full refund of ${am} to {pm} within 5 to 7 business days.",
                            'prose':f"I can cancel reservation {r.record} and refund ${am} to your original payment method ({pm}); this takes 5-7 business days",
                            'short':f"cancel {r.record} (refund ${am})"}[style])
                rep.append({'rich':f"- Reservation {r.record} has been cancelled. ${am} will be refunded to {pm} within 5 to 7 business days.",'prose':f"Your trip {r.record} is cancelled and ${am} goes back to {pm} within 5 to 7 business days.",'short':f"{r.record} is cancelled."}[style])
            else:
                diff=sum(x['amount'] for x in nb['payment_history'])-sum(x['amount'] for x in b['payment_history'])
                pm=c.arguments['payment_id']; n=len(b['passengers'])
                dw=f"an additional charge of ${diff}" if diff>0 else f"a refund of ${-diff}"
                if k=='Upgrade':
                    off.append({'rich':f"**Upgrade {r.record}** to business class on the same flights. The new fare is ${nb['flights'][0]['price']} per passenger instead of ${b['flights'][0]['price']}, so for {n} passenger(s) the difference is ${diff}, charged to {pm}.",'prose':f"I can move {r.record} from {b['cabin'].replace('_',' ')} to business class for {dw} on {pm}",'short':f"upgrade {r.record} to business for ${diff} on {pm}"}[style])
                    rep.append({'rich':f"- Reservation {r.record} has been upgraded to business class. ${diff} was charged to {pm}.",'prose':f"{r.record} is now in business class, and {pm} was charged ${diff}.",'short':f"{r.record} is upgraded."}[style])
                else:
                    fn=c.arguments['flights'][0]['flight_number']
                    off.append({'rich':f"**Change {r.record}**: the cheapest {b['cabin'].replace('_',' ')} flight on {r.date} is {fn} at ${nb['flights'][0]['price']} per passenger (currently ${b['flights'][0]['price']}). For {n} passenger(s), this means {dw} to {pm}.",'prose':f"The cheapest option on {r.date} is {fn}. I would move {r.record} to it; {dw} would go to {pm}",'short':f"move {r.record} to {fn} on {r.date}"}[style])
                    rep.append({'rich':f"- Reservation {r.record} has been changed to flight {fn} on {r.date}. {'Charged' if diff>0 else 'Refunded'} ${abs(diff)} to {pm}.",'prose':f"{r.record} now flies with {fn} on {r.date}.",'short':f"{r.record} is moved."}[style])
        for r in d:
            b=w.reservations[r.record]; day=b['created_at'][:10]; cab=b['cabin'].replace('_',' ')
            import datetime
            dl=datetime.date.fromisoformat(day).strftime('%B %d, %Y')
            reason={'health':'health','weather':'weather','airline':'a flight cancelled by the airline'}.get(r.reason,'a change of plans')
            ref.append({'rich':f"**Reservation {r.record}** cannot be cancelled: it is a {cab} ticket, it was booked on {dl} (more than 24 hours ago), and it has {'travel insurance, but '+reason+' is not covered' if b['insurance']=='yes' else 'no travel insurance'}.",
             'prose':f"Unfortunately, I'm unable to cancel {r.record}. It was booked on {day}, which is more than 24 hours ago, it's in {cab} and {'although it is insured, the insurance covers only health and weather reasons' if b['insurance']=='yes' else 'there is no insurance on it'}.",
             'short':f"I'm sorry, but {r.record} does not qualify for cancellation ({cab}, booked {day}, {'insured' if b['insurance']=='yes' else 'not insured'})."}[style])
        if style=='rich':
            t="Here is what I found:\n\n"+"\n\n".join(ref+off)+("\n\nWould you like me to proceed with "+("this change" if len(off)==1 else "these changes")+"? (yes/no)" if off else "\n\nI'm sorry for the inconvenience. Is there anything else I can help you with?")
        elif style=='prose':
            t=" ".join(ref)+(" " if ref else "")+(". ".join(off)+". Do you confirm?" if off else "")
        else: t=" ".join(ref)+(" I will "+" and ".join(off)+". OK to go ahead?" if off else "")
        a=yield Say(t)
        for s in O:
            if isinstance(s,Call) and not s.tool.startswith(('get','search')): yield s
        if g:
            yield Say({'rich':"All done! Summary:\n"+"\n".join(rep)+("\n\n"+"\n".join(ref) if 0 else "")+"\n\nIs there anything else I can help you with?",'prose':" ".join(rep)+" Have a nice day!",'short':" ".join(rep)}[style])
        else:
            yield Say("I'm sorry, I cannot make an exception to these rules.")
    return p
if __name__=='__main__':
    import sys
    for st in ('rich','prose','short'):
        for n in sys.argv[1:] or [N]: run(n,pol(st),n=60,label=st)
