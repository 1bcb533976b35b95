from trace_gym.targets.dialogue import acts
import sys
for t in ["HAT010: economy $262, business $729 per person. I will move 68S4ZM to HAT010 and charge credit_card_1957872 $194 in total. Confirm?","HAT010 costs $729 per person in business class. I will move 68S4ZM to HAT010 and charge credit_card_1957872 $194 in total. Confirm?","I will cancel X and refund $194 to your original payment method. Confirm?","The bags were added, and credit_card_1 was charged $200.","I've cancelled ABC123. $100 go back to credit_card_1, which you used for the booking.","Your refund goes to gift_card_123, which you paid with. Everything is done.","I will refund $100 to credit_card_1, which you used for the booking. Shall I proceed?"]:
    print([(a.kind,a.text,round(a.confidence,2)) for a in acts(t)])
