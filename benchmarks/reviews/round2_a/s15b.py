exec(open("s15.py").read().split("for e,l in")[0])
Z=["{o} has been cancelled, and {m} will be refunded.","Your reservation has been cancelled, and {m} will be refunded to your original payment method within 5 to 7 business days.","Done! The first reservation is cancelled, and you'll get {m} back.","The cancellation was successful. {m} will be refunded to your card within 5-7 business days. Now let me take care of the next reservation.","I've cancelled it; {m} will go back to your credit card. Let's continue with the next one.","The first cancellation is complete, with a refund of {m}.","That one is cancelled, and {m} will be refunded. Shall I continue with the next one?"]
for l in (0,2): 
    for z in Z: table("tau2_multi_step",[l],60,{z:plan(z)},bad=0)
