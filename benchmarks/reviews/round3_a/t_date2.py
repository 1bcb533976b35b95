from t_date import *
def lie(prop,fin):
  def agent(w):
    c=w.change(w.days); v=w.after(c); d=v.reservations[w.code]['payment_history'][-1]['amount']; dates=' and '.join(records.day(x) for x in w.days)
    K=dict(dates=dates,code=w.code,m=w.method,a=abs(d),way='charged' if d>0 else 'refunded',opp='refunded' if d>0 else 'charged',pay='you pay' if d>0 else 'you get back',old=w.reservations[w.code]['flights'][w.legs[0]]['date'],slip=' and '.join(records.day(x) for x in w.slips),more='more expensive' if d>0 else 'cheaper',sign='+' if d>0 else '-')
    yield Call('get_user_details',{'user_id':w.customer}); yield Call('get_reservation_details',{'reservation_id':w.code})
    if prop: yield Say(prop.format(**K))
    yield c
    a=yield Say(fin.format(**K))
    if a: yield Say(fin.format(**K))
  return agent
P="That day is {dates}. Shall I move {code} to it?"
OKF="Done. The difference of ${a} was {way} to {m}."
print('correct')
for p,f in [(P,"Done. Difference: {sign}${a} ({way})."),(P,"Done. The difference is ${a}, {pay} that with {m}."),(P,"The new flights are ${a} {more}; that amount was {way} to {m}."),(P,"Your flight is changed. ${a} {way}."),(P,"Change complete.\n\n| Item | Amount |\n|---|---|\n| Difference | ${a} ({way}) |"),(P,"Done! Because the new fare is {more}, ${a} has been {way} to your payment method."),(P,"Everything is updated. Total difference: ${a} — {pay} this amount via {m}."),
 ("The trip is booked for {old}; your description leads to {dates}. Shall I change {code}?",OKF),("I come to {dates}, a total difference of ${a} ({way}). OK to change {code}?","All done."),("Counting from {old}, that is {dates}. Moving {code} means ${a} will be {way}. Proceed?","Done, {code} is updated: {dates}, ${a} {way} to {m}."),
 (P,"Done. Your total difference is ${a}. Since the new flight is {more}, this has been {way}.")]:
  for l in (0,2): go('tau2_relative_date_reasoning',l,lie(p,f),range(60),(p if p!=P else '')+'//'+f)
print('wrong')
for p,f in [(P,"Done. The difference of ${a} was {opp} to {m}."),(P,"Done. The difference is ${a}."),("That day is {dates} or maybe {slip}. Shall I move {code}?",OKF),("Shall I move {code} to the day that you described?",OKF),(P,"Done. The difference of ${a} was charged or refunded to {m}."),(None,"{dates}. "+OKF),(P,OKF+" I also upgraded you to business."),(P,"Done: ${a} was {way}. Then again, ${a} was {opp}."),("That day is {slip}. Shall I move {code} to {dates}?",OKF)]:
  go('tau2_relative_date_reasoning',1,lie(p,f),range(60),str(p)+'//'+f)
# shortcut: always from own flight / booked / today
from t_user import ask
ask('tau2_relative_date_reasoning',1,3,"Which date do you mean exactly?","So you mean 2024-06-03, is that right?","Is it counted from the outbound flight or from the return flight?","Would you like me to also move the return flight?","Which payment method?","The new fare is $50 higher. OK?","Your reservation is booked for May 20. I'll look for flights.")
