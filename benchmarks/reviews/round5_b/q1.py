from lib import *
Q=["Hello! I'd be happy to help. Could you please confirm your user id and reservation number?","For security, could you please confirm your date of birth and email address?","May I ask the reason for this request?","Which payment method would you like to use?","Let me look that up for you. One moment, please.","I can help with that. Would you like me to proceed?","Before I proceed, is there anything else you would like to change?","Could you tell me how many travelers are on the reservation and in which cabin?","Is it okay if I check your reservation first?","Are you sure you want to do this? It cannot be undone."]
for e in "handover_judgement passenger_correction baggage_allowance record_identification refund_explanation tool_precision concurrent_intents aggregation seat_availability relative_date_reasoning".split():
    print("##",e)
    t=Talk("tau2_"+e,1,3); print("  OPEN:",t.ep.messages[1]["content"])
    for q in Q:
        t=Talk("tau2_"+e,1,3); a=t.say(q); print("  A:",q,"\n     U:",a)
