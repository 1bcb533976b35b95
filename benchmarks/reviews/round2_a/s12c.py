exec(open("s12.py").read().split("for k in [")[0])
for k in ["q_dash","colon","q_cross"]:
    for s in range(30):
        ep=ep_(E,1,s)
        if not N(ep): continue
        drive(ep,ag(k,True)(ep,random.Random(s)))
        if not ep.score.success: show(ep,tools=False); break
