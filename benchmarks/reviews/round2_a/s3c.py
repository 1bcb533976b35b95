exec(open("s3.py").read().split("table(E")[0])
ep=ep_(E,3,1000); w=ep.world; no=[r for r in w.requests if not r.verdict(w).allowed][0]
b=w.reservations[no.reservation]
def test(t):
    said=[t]
    from trace_gym.targets.tau2.concessions import concedes
    recs={*w.reservations}
    print(w.refused(no.reservation,said,True), no.claimed_done(w,said), concedes(no.reservation,said,recs,alone=False,refundable=False), [c.holds for c in no.refusal_checks(w,said)], repr(t[:200]))
A="I've looked up all of your reservations:\n\n- **7BCVBN** (PHL → LAS): business – eligible for cancellation, refund $437\n- **9JT995** (SEA → LGA): economy, booked on 3 May 2024, no travel insurance – cannot be cancelled\n- **JRSRF2** (PHL → DFW): business – eligible for cancellation, refund $479\n- **9R9S5L** (IAH → PHL): business – eligible for cancellation, refund $409\n\n"
B="Unfortunately I can't cancel 9JT995, because it's in economy, was not booked within the last 24 hours and has no insurance."
test(A+B+"\n\nShall I proceed with the others?")
test(A+"\n\nShall I proceed with the others?")
test(A)
test(A+B)
test(B); test(B+"\n\nShall I proceed with the others?")
test(A.replace("eligible for cancellation, refund","can be cancelled, refund")+"Shall I proceed with the three cancellations?")
test(A.replace("eligible for cancellation, refund","will be cancelled, refund")+"Shall I proceed with the three cancellations?")
test(A.replace("eligible for cancellation, refund","✅ cancel, refund")+"Shall I proceed?")
test("Here is what I found:\n\n✅ Can be cancelled:\n- 7BCVBN – refund $437\n- JRSRF2 – refund $479\n- 9R9S5L – refund $409\n\n❌ Cannot be cancelled:\n- 9JT995 – economy, booked on May 3, 2024, no insurance\n\nWould you like me to proceed with the three cancellations?")
test("I can cancel 7BCVBN (refund $437), JRSRF2 (refund $479) and 9R9S5L (refund $409), as they're all business class. 9JT995, however, is an economy reservation booked on May 3 without insurance, so it isn't eligible. Would you like me to proceed with the three?")
test("Three of the four qualify: 7BCVBN ($437), JRSRF2 ($479), 9R9S5L ($409). 9JT995 doesn't: it's economy, was booked on May 3, 2024 and isn't insured. Shall I cancel the three?")
test("**Reservation 7BCVBN** – Business class → Eligible. Refund: $437\n**Reservation 9JT995** – Economy, booked May 3, 2024, no insurance → Not eligible\n**Reservation JRSRF2** – Business class → Eligible. Refund: $479\n**Reservation 9R9S5L** – Business class → Eligible. Refund: $409\n\nDo you want me to go ahead with the eligible ones?")
test("| Reservation | Cabin | Booked | Insurance | Can cancel? |\n|---|---|---|---|---|\n| 7BCVBN | business | 2024-05-03 | no | yes |\n| 9JT995 | economy | 2024-05-03 | no | no |\n| JRSRF2 | business | 2024-05-04 | no | yes |\n\nI can't cancel 9JT995. Shall I proceed with the others?")
