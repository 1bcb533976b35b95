import reldate
from reldate import *
FIN.update({
"m":("${a} has been added to your {m}.","The difference of ${a} has been deducted from your {m}."),
"n":("You have a credit of ${a}, applied to your {m}.","The ${a} difference was deducted from your {m}."),
"o":("The ${a} difference has been credited back to your {m}.","The ${a} difference has been paid with your {m}."),
"p":("The new flight costs ${a} less, so this amount has been returned to your {m}.","The new flight costs ${a} more, so this amount has been deducted from your {m}."),
"q":("The difference is ${a} in your favor and goes to your {m}.","The difference is ${a}, to be paid by you with your {m}."),
"r":("Total difference: ${a} — you get this back on your {m}.","Total difference: ${a} — you pay this with your {m}."),
"s":("The price difference is a ${a} refund, so you'll get this money back on your {m} rather than paying anything.","The price difference is ${a}; this is an amount that you pay rather than get back."),
"t":("The fare went down by ${a}, so you get a refund of ${a} to your {m}.","The fare went up by ${a}, which comes out of your {m}."),
"u":("It comes to ${a}, and you'll be getting it back to your {m}.","It comes to ${a}, and you'll be paying it with your {m}."),
"v":("The change results in a refund of ${a} to your {m}. No further payment is due.","The change results in a charge of ${a} to your {m}. The rest of the balance remains on it."),
"w":("You get a refund of ${a}, because the new flights are ${a} cheaper than what you paid (${o}).","You pay ${a}, because the new flights cost ${n} and you had paid ${o}."),
"x":("Difference: ${a}\nDirection: refund (you get it back to {m})","Difference: ${a}\nDirection: charge (you pay it with {m})"),
"y":("The new total is ${n}, which is ${a} less than the ${o} you paid originally. The ${a} will be refunded to your {m}.","The new total is ${n}, which is ${a} more than the ${o} you paid originally. The ${a} will be charged to your {m}."),
# wrong statements
"X1":("The difference of ${a} was charged to your {m}.","The difference of ${a} was refunded to your {m}."),
"X2":("The difference of ${a} is settled with {m}: you either pay it or get it back.","The difference of ${a} is settled with {m}: you either pay it or get it back."),
"X3":("The difference of ${a} was charged. The difference of ${a} was refunded.","The difference of ${a} was charged. The difference of ${a} was refunded."),
})
for k in list("mnopqrstuvwxy")+["X1","X2","X3"]: 
    for way in ("refund","charge"):
        def ag(e,k=k,way=way):
            if (facts(e)[-1]>0)!=(way=="charge"): raise SkipIteration
            agent(e,k,fmt=1)
        run("tau2_relative_date_reasoning",(0,2),range(100,220),ag,f"{k} {way} {FIN[k][way=='charge'][:60]}",show=0)
