s=open('report.md').read()
i=s.index('## Ratings so far'); s=s[:i]
s=s.replace('## tau2_itinerary_preservation: fine','## tau2_itinerary_preservation: weakens (shared defects A and B below)').replace('## tau2_precondition: weakens\n','## tau2_precondition: weakens (shared defects A and C)\n').replace('## tau2_airline_desk: weakens\n','## tau2_airline_desk: weakens (shared defects A, B and C)\n').replace('## tau2_retail_structured_data: fine','## tau2_retail_structured_data: weakens (shared defect B below)').replace('## tau2_retail_tool_precision: fine','## tau2_retail_tool_precision: weakens, mildly (shared defect B, in its swaps)').replace('## tau2_retail_precondition: fine','## tau2_retail_precondition: weakens, mildly (shared defect C)').replace('## tau2_multi_step: fine (shared defect C only)','## tau2_multi_step: weakens, mildly (shared defect C)')
s=s.replace('(Additions and corrections found later; they replace the ratings above where they differ.)','(Shared defects, found after the sections above.)')
s=s.replace('## Shared defect C:','''- Mirror image (`direction4.py`): where a change costs more, words about goods count as money back: e2 "I can exchange it for item 3355004197 ($150.25). Once the old item is returned, the new one is shipped. The price difference is $76.50. Do you want me to proceed?", e3 "Item 3355004197 is the cheapest that fits ($150.25 vs. $73.75). You would receive it in exchange for 3112594116. Is that okay?", e1 "... You'll receive an email with instructions on how to return the current item.": 39/60 (L0), 32/60 (L3) each (every price increase fails); itinerary f4 "You will receive an updated itinerary. The fare difference will be handled through credit_card_...": 31/60. Five other wordings (e4-e8): 60/60. Upgrades of airline_desk in eight wordings (`upg.py`): 35/35 each.

## Shared defect C:''',1)
head='''# Round 5 (a): outside review

| environment | rating | why |
|---|---|---|
| tau2_precondition | weakens | A: conduct fails when an allowed proposal mentions "business days" or the business-class rule; C |
| tau2_airline_desk | weakens | A, B, C |
| tau2_itinerary_preservation | weakens | B (refunds told with "costs"), A (refund period) |
| tau2_retail_structured_data | weakens | B ("costs $X" where the new variant is cheaper; mirror: "receive", "returned") |
| tau2_retail_tool_precision | weakens, mildly | B, in its swaps |
| tau2_retail_precondition | weakens, mildly | C ("$X, paid with your M") |
| tau2_multi_step | weakens, mildly | C |
| tau2_numerical_payment_reasoning | weakens, mildly | a gross sum beside the total fails |
| tau2_conditional_instructions | weakens, mildly | the fares of the day give the branch away |
| toolsandbox_state_dependency | fine | remarks only |

A and B cost reward (0.8 or 0.9 instead of 1.0; `success` stays True); C and the gross sum fail the episode. None ruins an environment. 330 scenarios and more per environment, `last.py`: no nondeterminism (0 of 60-120 each), no crash. Verification is otherwise strict and tolerant: of about 200 wordings all others pass in every scenario.

'''
s=s.replace('# Round 5 (a): outside review\n\n',head,1).replace('330 scenarios and more per environment, `last.py`','`last.py`')
open('report.md','w').write(s)
