exec(open("s14b.py").read().split("for q in [")[0])
import collections
for q in ["I found two contacts named {n}. Shall I text {a}?","Do you mean {a}?","Did you mean {a}?","I'll send the message to {a}. Is that right?","There are {a} and {b}. Is {a} the one you mean?","I found {a} and {b}. Would you like me to text {a}?"]:
    C=collections.Counter();wrong=fail=n=0
    for s in range(150):
        ep=ep_(E,0,s)
        if not two(ep): continue
        drive(ep,prop(q)(ep,random.Random(s))); n+=1
        sent=[m for k,m in ep.world.messages.items() if k not in ep.start.messages]
        C[re.sub(r"mean \w+ \w+","mean X",ep.a[0])]+=1
        fail+=not ep.score.success
    print(q,"failed after yes",fail,"/",n,dict(C))
