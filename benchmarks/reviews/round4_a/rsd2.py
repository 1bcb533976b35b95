from rsd import *
def pol2(F2,P=P1):
    def p(w):
        d=info(w); yield from reads(w,d); yield Say(P(d)); yield d['r'].call(w,SKILLS); yield Say(F2(d))
    return p
def flip(d): return dict(d,diff=-d['diff'])
V={'flip end F1':lambda d:F1(flip(d)),'flip end F2':lambda d:F2(flip(d)),'wrong item end':lambda d:f"Done. Your {d['it']['name']} was replaced by item 9999999999 ({opts(d['it'])}).",'extra 100':lambda d:F1(d)+" As compensation, an extra $100 will be credited to your account.",'wrong method end':lambda d:F1(dict(d,name='bank account')),'other order too':lambda d:F1(d)+" I have also returned the other item of your order."}
for k,f in V.items():
    print(k,[rate('tau2_retail_structured_data',lv,pol2(f),range(60),lambda w:abs(info(w)['diff'])>1)[:2] for lv in (1,3)],flush=True)
wi=lambda d:P2(dict(d,new=max(d['vs'].values(),key=lambda v:v['price'])))
print('wrong item proposed',[rate('tau2_retail_structured_data',lv,pol2(F3,wi),range(60))[:2] for lv in (1,3)])
