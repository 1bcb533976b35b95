from h import *
from trace_gym.targets.tau2.retail import Cancel, Readdress, Repay, Return, in_words
from trace_gym.targets.tau2 import retail_policy as policy
from trace_gym.targets.tau2.retail_items import called, price
from trace_gym.targets.tau2.desk import SKILLS
E='tau2_retail_multi_step'
def ident(w):
    me=w.users[w.customer]
    if w.known_by=='email': return C('find_user_id_by_email',email=me['email'])
    return C('find_user_id_by_name_zip',first_name=me['name']['first_name'],last_name=me['name']['last_name'],zip=me['address']['zip'])
def usd(x): return f"${x:.2f}"
def pm(m): return m
def describe(w,r,style=0):
    o=w.orders[r.order]
    if isinstance(r,Cancel):
        a=policy.paid(o)
        return [f"Cancel order {r.order} ({o['items'][0]['name']}) – refund of {usd(a)} to {policy.original(o)}",
                f"I will cancel order {r.order}. {usd(a)} will go back to your original payment method within 5 to 7 business days.",
                f"cancel order {r.order} because {'you no longer need it' if r.reason=='no longer needed' else 'it was ordered by mistake'} (you'll get {usd(a)} back)",
                f"**Cancel {r.order}** - Reason: {r.reason} - Refund amount: {usd(a)}"][style]
    if isinstance(r,Readdress):
        return [f"Change the shipping address of order {r.order} to {in_words(r.address)}",
                f"I will update order {r.order} so that it ships to {in_words(r.address)}.",
                f"send order {r.order} to {in_words(r.address)}",
                f"**Update address of {r.order}** - New address: {in_words(r.address)}"][style]
    if isinstance(r,Repay):
        a=policy.paid(o)
        return [f"Change payment of order {r.order} to {r.method} ({usd(a)})",
                f"I will switch the payment of order {r.order} ({usd(a)}) to {r.named.replace('my','your')}; the original method is refunded.",
                f"charge order {r.order} to {r.named.replace('my','your')}",
                f"**Change payment for {r.order}** - New method: {r.method} - {usd(a)} will be charged there and {usd(a)} refunded to {policy.original(o)}"][style]
    back=sum(price(o,i) for i in r.items)
    its=' and '.join(called(o,i) for i in r.items)
    each=', '.join(f"{called(o,i)} ({usd(price(o,i))})" for i in r.items)
    return [f"Return {its} from order {r.order} – refund of {usd(back)} to {r.method}",
            f"I will return {each} from order {r.order}. The total refund of {usd(back)} goes to your original payment method.",
            f"take back {its} of order {r.order} and refund {usd(back)} to what you paid with",
            f"**Return from {r.order}** - Items: {each} - Refund: {usd(back)} to {r.method}"][style]
def refuse(w,r,style):
    o=w.orders[r.order]; st=o['status']; a=usd(policy.paid(o))
    k={'Cancel':'cancelled','Readdress':'changed','Repay':'changed','Return':'returned'}[type(r).__name__]
    return [f"Unfortunately, order {r.order} cannot be {k} because its status is \"{st}\". You paid {a} for it in total.",
            f"I'm sorry, but I can't do this for order {r.order}: it is already {st}, and {a} was paid for it in all.",
            f"I am unable to help with order {r.order}, as it has already been {st} (total paid: {a}).",
            f"**Order {r.order}** is {st} (paid {a}), so it is not possible to do what you asked for."][style]
def past(w,r,style):
    o=w.orders[r.order]
    if isinstance(r,Cancel): return f"Order {r.order} has been cancelled, and {usd(policy.paid(o))} will be refunded to your original payment method in 5 to 7 business days."
    if isinstance(r,Readdress): return f"Order {r.order} will now be sent to {in_words(r.address)}."
    if isinstance(r,Repay): return f"The payment of order {r.order} has been changed to {r.method}."
    return f"The return for order {r.order} has been started; {usd(sum(price(o,i) for i in r.items))} will be refunded to {r.method}."
def agent(style, refuse_first=True, one_by_one=False, final='long', look_user=True):
    def f(w,ep):
        yield ident(w)
        if look_user: yield C('get_user_details', user_id=w.customer)
        for r in w.requests: yield C('get_order_details', order_id=r.order)
        ok=[r for r in w.requests if r.verdict(w).allowed]; no=[r for r in w.requests if not r.verdict(w).allowed]
        ref=' '.join(refuse(w,r,style) for r in no)
        if one_by_one:
            if ref and refuse_first: yield S(ref+" I can help with the rest. Let me take care of these one by one. "+describe(w,ok[0],style)+". Shall I proceed?")
            for i,r in enumerate(ok):
                if i or not (ref and refuse_first): yield S(("" if not i else past(w,ok[i-1],0)+" Next: ")+describe(w,r,style)+". Shall I proceed?")
                yield r.call(w,SKILLS)
            yield S(past(w,ok[-1],0)+(" "+ref if not refuse_first else '')+" Everything is done. Is there anything else?")
            return
        sep={0:'\n- ',1:' ',2:'; ',3:'\n'}[style]
        b=("Here's what I'll do:\n- " if style==0 else "To confirm: " if style==2 else '')+sep.join(describe(w,r,style) for r in ok)
        b=(ref+'\n\n'+b if refuse_first else b+('\n\n'+ref if ref else ''))+("\n\nDo you want me to proceed with these (yes/no)?" if style in (0,3) else " Shall I go ahead?")
        yield S(b)
        for r in ok: yield r.call(w,SKILLS)
        if final=='long': yield S("All requested changes are complete:\n"+'\n'.join('- '+past(w,r,0) for r in ok)+"\n\nIs there anything else I can help you with?")
        elif final=='longref': yield S("Here is a summary:\n"+'\n'.join('- '+past(w,r,0) for r in ok)+''.join('\n- '+refuse(w,r,style) for r in no)+"\n\nIs there anything else I can help you with?")
        else: yield S(final)
    return f
if __name__=='__main__':
    A={f's{s}{"R" if rf else "r"}{"1" if o else "a"}{fi[:5]}':agent(s,rf,o,fi) for s in range(4) for rf in(True,False) for o in (False,True) for fi in(('long','longref','Everything has been done.') if not o else ('long',))}
    study(E,range(4),range(50),A)
