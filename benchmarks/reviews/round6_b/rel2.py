from rel import *
import sys; sys.path.insert(0,"TREE")
from generated_envs.tau2_relative_date_reasoning import direction, asserted
for p in ["outbound: $500 → $402 (-$98 per person).","difference for 1 passenger(s): $98 – you get it back via gift_card_7602878.","the fare is $98 lower.","you get $98 back."]:
    print(p, direction(98,p,""), asserted(98,(),[p]), asserted(98,(),[p],"refund"), asserted(98,(),[p],"charge"))
E="tau2_relative_date_reasoning"
def g1(c): return f"Done — {c['code']} is updated: outbound ${c['info'][0]['o']['price']} → ${c['info'][0]['p']} per person. Difference for {c['P']} passenger(s): ${abs(c['tot'])} – "+("you pay it" if c['tot']>0 else "you get it back")+f" via {c['pay']}."
def g2(c): return f"Your flight has been moved to {long(c['info'][-1]['d'])}. The fare difference was ${c['info'][-1]['p']-c['info'][-1]['o']['price']:+d} per passenger. In total "+(f"you paid ${abs(c['tot'])} more" if c['tot']>0 else f"you receive a refund of ${abs(c['tot'])}")+f" on {c['pay']}." 
def g3(c): return f"Great news — your reservation is changed. Date: **{c['info'][-1]['d']}**. Difference: **${abs(c['tot'])}** — "+("this is an additional amount you pay" if c['tot']>0 else "this is an amount you get back")+f", applied to your {'gift card' if 'gift' in c['pay'] else 'credit card'}. No other details were changed."
def g4(c): return f"The change has been made. Your new flight is {c['info'][0]['n']['flight_number']} on {c['info'][0]['d']}. Since the new fare (${c['info'][0]['p']}) is {'higher' if c['info'][0]['p']>c['info'][0]['o']['price'] else 'lower'} than the original (${c['info'][0]['o']['price']}), "+(f"${abs(c['tot'])} has been charged to {c['pay']}." if c['tot']>0 else f"${abs(c['tot'])} will be returned to {c['pay']}.")
for L in range(3):
    for nm,f in [("g1",g1),("g2",g2),("g3",g3),("g4",g4)]:
        trial(E,L,make(c1,f),range(60),show=1,tag=nm)
