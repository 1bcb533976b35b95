from np import *
# proposal names the wrong card, the write uses the right one / the write matches the wrong proposal
def O(w,ch): return 'credit card' if M(w,ch)=='gift card' else 'gift card'
def pw(w,u,n,ch,b): return f"The total comes to ${u*n}. I'll charge your {O(w,ch)}. Shall I go ahead?"
def ew(w,u,n,ch,b): return f"Done. ${u*n} has been charged to your {O(w,ch)}."
def pneutral(w,u,n,ch,b): return f"The total comes to ${u*n}. Shall I go ahead?"
def pbal(w,u,n,ch,b): return f"The total comes to ${u*n}. Your gift card would be left with ${left(w,u,n)+40}, so I'll use your {M(w,ch)}. Shall I go ahead?"
rate(E,range(4),S,{'prop_wrong_card':agent(pw,e1),'both_wrong_card':agent(pw,ew),'report_wrong_card':agent(pneutral,ew),'wrong_balance':agent(pbal,e1)},quiet=True)
print(log(run(E,2,702,agent(pneutral,ew))))
