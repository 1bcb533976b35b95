from h1 import *
S={"no":["","  If you'd like, I can help you with changing the flights instead."," Is there anything else I can help you with?"," I understand this is disappointing and I'm sorry."," If the airline cancels a flight, you can contact us again."," Because of this, I'm also not able to hand you over to a colleague for this request."," No flight is standing in the way; all flights are still ahead."," A transfer to a human agent isn't possible in this case either."," The flights {lst1} are all fine, so no flight number is the problem.", " Only business class bookings, insured trips, trips booked within 24 hours, or trips with a flight cancelled by the airline can be cancelled."],
"flown":[""," A human agent will help you with the cancellation."," They will be able to assist you further with your request."," Please hold on while I transfer you."," Get well soon!"," The trip is in {ncab}."," Your trip is insured, but that makes no difference here." ,"  Trips with a flown flight can only be handled by a human colleague."," Trips with a flight that has already been flown can't be cancelled by me."]}
for slot in S:
    for x in S[slot]:
        for bi in (0,1):
            n=ok=0;ex=None
            for lv in range(3):
                for s in range(40):
                    t=Talk(E,lv,s)
                    if not filt(t.w,slot): continue
                    c,_=ctx(t.w); 
                    if "insured, but" in x and c["ins"]!="has": continue
                    y=x.replace("{lst1}",c["others"]).format(**c)
                    agent(t,lambda k: V[k][bi if k==slot else 0]+(y if k==slot else "")); sc=t.end(); n+=1; g=sc.success and sc.conduct==1; ok+=g
                    if not g and not ex: ex=(lv,s,failed(sc))
            print(f"{ok}/{n}",slot,bi,x,ex or "")
