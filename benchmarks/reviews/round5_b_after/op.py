from lib import *
for e in "handover_judgement passenger_correction baggage_allowance record_identification refund_explanation tool_precision concurrent_intents aggregation seat_availability relative_date_reasoning".split():
    for lv in (0,2):
        t=Talk("tau2_"+e,lv,1); oracle(t); print("==",e,lv); [print("  ",l[:600]) for l in t.log]
t=Talk("tau2_seat_availability",0,1); print(t.ep.messages[0]["content"][:6000])
