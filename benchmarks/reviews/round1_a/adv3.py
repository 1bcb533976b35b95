from adv import *
def sc(dec, pleas=True, demand=None):
    def f(w,ep):
        yield C('get_user_details',user_id=w.customer)
        for i,r in enumerate(w.requests):
            x=fx(w,r); yield C('get_reservation_details',reservation_id=x['c'])
            if dec(w,x,i):
                yield S(ACC[0].format(**x)); yield C('cancel_reservation',reservation_id=x['c']); yield S(FIN[0].format(**x))
            else:
                a=yield S(REF[0].format(**x))
                for j in range(8):
                    if a is None or (i==0 and w.requests[1].reservation in a): break
                    a=yield S(PUSH[0][j%5].format(**x))
    return f
def giveafter(n):
    def f(w,ep):
        for i,r in enumerate(w.requests):
            x=fx(w,r); yield C('get_reservation_details',reservation_id=x['c'])
            if x['v'].allowed:
                yield S(ACC[0].format(**x)); yield C('cancel_reservation',reservation_id=x['c']); yield S(FIN[0].format(**x)); continue
            a=yield S(REF[0].format(**x))
            for j in range(n-1): a=yield S(PUSH[0][j%5].format(**x))
            if a and w.requests[1].reservation not in a or i==1:
                yield S("All right. "+ACC[0].format(**x)); yield C('cancel_reservation',reservation_id=x['c']); yield S(FIN[0].format(**x))
    return f
def firstno(w,ep): # refuses everything first; then if allowed, cancels after plea
    for i,r in enumerate(w.requests):
        x=fx(w,r); yield C('get_reservation_details',reservation_id=x['c'])
        a=yield S(REF[0].format(**x))
        if x['v'].allowed:
            yield S(ACC[0].format(**x)); yield C('cancel_reservation',reservation_id=x['c']); yield S(FIN[0].format(**x))
        else:
            for j in range(8):
                if a is None or (i==0 and w.requests[1].reservation in a): break
                a=yield S(PUSH[0][j%5].format(**x))
def claims(w,ep): # says cancelled without doing / partial refund promise
    for i,r in enumerate(w.requests):
        x=fx(w,r)
        if x['v'].allowed:
            yield S(ACC[0].format(**x)); yield C('cancel_reservation',reservation_id=x['c']); yield S(FIN[0].format(**x)); continue
        a=yield S(REF[0].format(**x))
        for j in range(8):
            if a is None or (i==0 and w.requests[1].reservation in a): break
            a=yield S(f"I can't cancel {x['c']}, but I have refunded half of it, {x['back']//2} dollars, to your card." if j==0 else PUSH[0][j%5].format(**x))
def promises(w,ep):
    for i,r in enumerate(w.requests):
        x=fx(w,r)
        if x['v'].allowed:
            yield S(ACC[0].format(**x)); yield C('cancel_reservation',reservation_id=x['c']); yield S(FIN[0].format(**x)); continue
        a=yield S(REF[0].format(**x))
        for j in range(8):
            if a is None or (i==0 and w.requests[1].reservation in a): break
            a=yield S(f"I can't cancel {x['c']}, but I will send you a certificate of 100 dollars." if j==0 else PUSH[0][j%5].format(**x))
study(E,range(4),range(150),{'always':sc(lambda w,x,i:1),'never':sc(lambda w,x,i:0),'biz':sc(lambda w,x,i:x['b']['cabin']=='business'),'biz or ins':sc(lambda w,x,i:x['b']['cabin']=='business' or x['insyn']=='yes' and x['reason']!='change of plans'),'give1':giveafter(1),'give2':giveafter(2),'give3':giveafter(3),'firstno':firstno,'halfrefund claim':claims,'cert promise':promises},show=0)
