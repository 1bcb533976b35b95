"""airline_desk Swap (cheapest flight of a day) with a refund 'within business days'; mixed wordings for swap/upgrade"""
from multi import *
from trace_gym.world import call_tool
def p(tail):
    def q(ep,w):
        r=w.requests[0]
        if type(r).__name__!="Swap": return
        b=w.reservations[r.record]
        for s in w.copy().oracle():
            if isinstance(s,Call) and s.tool.startswith(('get','search')): yield s
        c=r.call(w,SKILLS); ww=w.copy(); call_tool(ww,c.tool,c.arguments)
        d=sum(x['amount'] for x in ww.reservations[r.record]['payment_history'])-sum(x['amount'] for x in b['payment_history'])
        yield Say(f"The cheapest flight on {r.date} is {c.arguments['flights'][0]['flight_number']}. I would move {r.record} to it. "+(f"You would be charged ${d}." if d>0 else f"You would get ${-d} back{tail}.")+" Is that fine?")
        yield c; yield Say("Your flight has been changed.")
    return q
for t in ('',' within 5 to 7 business days'): run('tau2_airline_desk',p(t),n=120,levels=[0],label='swap'+t,only=lambda ep: type(ep.start.requests[0]).__name__=='Swap',examples=0)
