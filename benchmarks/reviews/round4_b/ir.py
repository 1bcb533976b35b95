from h import *
from trace_gym.targets.tau2 import policy, records
E='tau2_intent_revision'
def st(ep):
    w=ep.world.copy(); G=type(w).generate.__func__.__globals__; wishes=G['follow'](w.first,w.revisions)
    pl={c:records.AIRPORTS[b['destination']] for c,b in w.reservations.items()}
    R={c:policy.refund(b) for c,b in w.reservations.items()}
    return w,[sorted(x,key=list(w.reservations).index) for x in wishes],pl,R
def agent(prop,end,reprop=False):
    def a(ep):
        w,W,pl,R=st(ep)
        yield Call("get_user_details",{"user_id":w.customer})
        for c in w.reservations: yield Call("get_reservation_details",{"reservation_id":c})
        ep.reps=[]
        for i in range(len(w.revisions)):
            r=yield Say(prop(w,W[i],pl,R)); ep.reps.append(r)
        if reprop: r=yield Say(prop(w,W[-1],pl,R)); ep.reps.append(r)
        for c in W[-1]: yield Call("cancel_reservation",{"reservation_id":c})
        r=yield Say(end(w,W[-1],pl,R)); ep.reps.append(r)
        yield Say("You're welcome! Get well soon.")
    return a
def lst(x): return x[0] if len(x)==1 else ', '.join(x[:-1])+' and '+x[-1]
def p0(w,S,pl,R): return "I'm sorry to hear that you're unwell. Here are the reservations I'll cancel:\n\n"+'\n'.join(f"{i}. **{c}** – trip to {pl[c]} – refund ${R[c]}" for i,c in enumerate(S,1))+f"\n\n**Total refund: ${sum(R[c] for c in S)}** to your original payment method(s), within 5 to 7 business days.\n\nDo you confirm that you'd like me to proceed? (yes/no)"
def e0(w,S,pl,R): return "All done! The following trips have been cancelled:\n\n"+'\n'.join(f"- {c} ({pl[c]}): ${R[c]}" for c in S)+f"\n\n**Total refund: ${sum(R[c] for c in S)}**, which will be returned to the original payment methods within 5 to 7 business days. I hope you feel better soon!"
def p1(w,S,pl,R): return f"All of these trips are insured, so they can be cancelled for health reasons. I will cancel {lst([f'{c} (to {pl[c]})' for c in S])}. Shall I go ahead?"
def e1(w,S,pl,R): return f"I've cancelled {lst([f'your trip to {pl[c]} ({c})' for c in S])}. The total amount you get back is ${sum(R[c] for c in S):,}."
def p2(w,S,pl,R):
    keep=[c for c in w.reservations if c not in S]
    return f"To summarize:\n\n**To cancel:** {', '.join(f'{pl[c]} ({c})' for c in S)}\n**To keep:** {', '.join(f'{pl[c]} ({c})' for c in keep)}\n\nIs that correct, and may I proceed with the cancellations?"
def e2(w,S,pl,R): return f"Your cancellations are complete. Total refund: "+' + '.join(f"${R[c]}" for c in S)+(f" = ${sum(R[c] for c in S)}" if len(S)>1 else '')+". Is there anything else I can help you with?"
def p3(w,S,pl,R): return f"Thank you for letting me know. So I'll now cancel the trip{'s' if len(S)>1 else ''} to {lst([pl[c] for c in S])}, and leave your other trips unchanged. Please confirm with a yes and I'll proceed."
def e3(w,S,pl,R): return f"The trips to {lst([pl[c] for c in S])} have been cancelled. You'll receive a total refund of {sum(R[c] for c in S)} dollars ("+', '.join(f"${R[c]} for {c}" for c in S)+"). Your other reservations remain unchanged."
S_=range(1000,1055)
if __name__=='__main__':
    rate(E,range(3),S_,{'i0':agent(p0,e0),'i1':agent(p1,e1),'i2':agent(p2,e2),'i3':agent(p3,e3),'i0r':agent(p0,e0,True),'i1r':agent(p1,e1,True),'i2r':agent(p2,e2,True),'i3r':agent(p3,e3,True)},show=2)
