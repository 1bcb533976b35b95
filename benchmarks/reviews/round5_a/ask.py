from h import *
from collections import Counter
Q={
'tau2_itinerary_preservation':["Could you please confirm the reservation number?","Which payment method would you like to use for the difference?","Would you like to keep your other flights as they are?","Do you also want to change the cabin?","What date would you like to fly?","Which flight would you like to change?","Do you want me to look for the cheapest option instead?","The price difference is $120. Is that acceptable?","Could you provide your customer ID and the reason for the change?","Shall I change all passengers on the reservation?"],
'tau2_numerical_payment_reasoning':["Which payment method would you like to use?","How many bags do you have currently?","Could you confirm your membership level?","How many passengers are on the reservation?","Would you like me to use your gift card or your credit card?","It comes to $100 in total. Is it OK to use the credit card?","Do you want to proceed?","What is the balance of your gift card?"],
'tau2_conditional_instructions':["Is your trip insured?","How many passengers are travelling?","Which payment method should I use?","Should I cancel the trip or move it?","What is the reason for the cancellation?","Do you have a preferred date?","Would you like me to check the fares first?","Could you confirm the limit in dollars?","Which cabin would you like?"],
'tau2_precondition':["What is the reason for your cancellation?","Do you have travel insurance?","When did you book the trip?","Would you like to change the flight instead?","Are you sure you want to cancel?","Could you give me the reservation number and your customer ID?","Was the flight cancelled by the airline?","Would you like a travel certificate instead of the refund?","Do you want the refund to your original payment method?"],
'tau2_multi_step':["What is the reason for the cancellations?","Which reservation should I start with?","Could you confirm which reservations you would like to cancel?","Which payment method should I use for the upgrade?","Shall I process all of them?","Would you like me to continue with the next one?"],
'tau2_airline_desk':["What is the reason for the cancellation?","Which payment method should I use for the upgrade?","Do you have a preferred departure time?","Would you like me to proceed?","Do you mean the credit card or the gift card?","Could you confirm your reservation number?"],
'tau2_retail_structured_data':["Which variant would you like?","Could you verify your identity with email or name and zip code?","Do you have any preference regarding color or size?","How would you like to pay for the difference?","Is it important that the item is available right now?","Do you want to exchange or return the item?","Could you give me your order number?","Please note that items can be exchanged only once. Are there any other items you'd like to change?","Would you like to proceed?"],
'tau2_retail_tool_precision':["Which payment method would you like?","Which item do you mean?","Could you provide the last four digits of the card?","Could you give me your name and zip code?","Do you want to return all items of the order?","Are there any other items you'd like to include?","What is the reason for the return?"],
'tau2_retail_precondition':["What is the reason for your request?","Could you give me your email address?","Could you give me your name and zip code?","Is this order yours?","Could you confirm the order number?","Would you like the refund on a gift card instead?","What is the new address?","Can you confirm that you no longer need it?"],
'toolsandbox_state_dependency':["Should I turn wifi on for this?","Which contact do you mean?","What should the message say?","Do you want me to switch the settings back afterwards?","Shall I proceed?","Is it okay to turn off low battery mode?"],
}
import sys
for e,qs in Q.items():
    print('=====',e)
    for q in qs:
        c=Counter()
        for lv in range(registry.level_count(e)):
            for s in range(100,106):
                ep=registry.start_episode(Scenario(env=e,level=lv,seed=s))
                if getattr(ep.world,'greeting',''): ep.step(Say("How can I help you?"))
                out=ep.step(Say(q)); a=(out[-1]['content'] if out else '<END>')+(' [DONE]' if ep.done else '')
                import re
                a=re.sub(r'#?W?\d{4,}','N',a); a=re.sub(r'\b[A-Z0-9]{6}\b','CODE',a)
                c[a[:110]]+=1
        print(' Q:',q)
        for a,n in c.most_common(4): print('     ',n,a)
